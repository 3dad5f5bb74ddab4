"""Hot loops: arrays in, arrays out."""
