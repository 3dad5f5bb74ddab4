"""The command line: ``eigenmaps demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__, demo


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all went well, 1 if not, 2 if the command is not one."""
    parser = argparse.ArgumentParser(
        prog="eigenmaps", description="Spectral embeddings that work on new data."
    )
    parser.add_argument("--version", action="version", version=f"eigenmaps {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    show = commands.add_parser(
        "demo",
        help="six methods on handwritten digits, half of them new: a table and pictures",
        description="Fit six methods on half of the handwritten digits and try them on the rest.",
    )
    show.add_argument(
        "--output",
        type=Path,
        default=Path("eigenmaps-demo"),
        metavar="DIR",
        help="where the pictures go (default: %(default)s)",
    )
    show.add_argument("--no-pictures", action="store_true", help="the table alone")
    arguments = parser.parse_args(argv)
    try:
        demo.run(None if arguments.no_pictures else arguments.output)
    except OSError as error:
        print(f"eigenmaps: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
