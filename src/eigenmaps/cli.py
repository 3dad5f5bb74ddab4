"""The command line: ``eigenmaps demo``, ``eigenmaps reproduce``."""

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
    _demo(commands)
    _reproduce(commands)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (OSError, ImportError) as error:
        print(f"eigenmaps: {error}", file=sys.stderr)
        return 1


def _demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    show = commands.add_parser(
        "demo",
        help="six methods on handwritten digits, half of them new: a table and pictures",
        description="Fit six methods on half of the handwritten digits and try them on the rest.",
    )
    _output(show, "eigenmaps-demo", "pictures")
    show.add_argument("--no-pictures", action="store_true", help="the table alone")
    show.set_defaults(run=_show_demo)


def _show_demo(arguments: argparse.Namespace) -> int:
    demo.run(None if arguments.no_pictures else arguments.output)
    return 0


def _reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from .reproduce import EXPERIMENTS

    redo = commands.add_parser(
        "reproduce",
        help="the papers' figures and tables, and what goes past them",
        description="Run an experiment and write its results (JSON) and pictures. What was "
        "interrupted goes on where it stopped.",
    )
    redo.add_argument("experiment", choices=[*EXPERIMENTS, "all"], metavar="experiment",
                      help=", ".join([*EXPERIMENTS, "all"]))  # fmt: skip
    _output(redo, "eigenmaps-papers", "results")
    redo.add_argument(
        "--data", type=Path, metavar="DIR",
        help="the folder of the papers' data sets (default: the variable EIGENMAPS_DATA)",
    )  # fmt: skip
    redo.add_argument("--quick", action="store_true", help="small sizes, to try that all runs")
    redo.set_defaults(run=_run_experiments)


def _run_experiments(arguments: argparse.Namespace) -> int:
    from .reproduce import EXPERIMENTS, Absent, Lab

    lab = Lab(arguments.output, arguments.data, arguments.quick)
    names = list(EXPERIMENTS) if arguments.experiment == "all" else [arguments.experiment]
    missing, failed = [], []
    for name in names:
        try:
            EXPERIMENTS[name](lab)
        except Absent as absent:
            print(f"eigenmaps: {name}: {absent}", file=sys.stderr)
            missing.append(name)
        except Exception as error:
            if len(names) == 1:
                raise
            print(f"eigenmaps: {name}: {type(error).__name__}: {error}", file=sys.stderr)
            failed.append(name)
    for what, which in (("without their data", missing), ("failed", failed)):
        if which and len(names) > 1:
            print(f"eigenmaps: {what}: {', '.join(which)}", file=sys.stderr)
    return int(bool(failed) or len(missing) == len(names))


def _output(command: argparse.ArgumentParser, folder: str, what: str) -> None:
    command.add_argument(
        "--output", type=Path, default=Path(folder), metavar="DIR",
        help=f"where the {what} go (default: %(default)s)",
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
