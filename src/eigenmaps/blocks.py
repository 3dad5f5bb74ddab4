"""Row blocks: what is computed for many rows is computed a block at a time."""

from __future__ import annotations

from collections.abc import Iterator

BUDGET = 64 * 2**20  # bytes of one block's working array


def row_blocks(n_rows: int, bytes_per_row: int, budget: int = BUDGET) -> Iterator[slice]:
    """Slices that cover ``n_rows`` rows, each of at most ``budget`` bytes (one row at least).

    >>> [(b.start, b.stop) for b in row_blocks(5, bytes_per_row=10, budget=20)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, budget // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
