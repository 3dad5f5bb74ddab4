"""The only door to numba: a loop is compiled at its first call, never at import."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Loop = Callable[..., Any]


def compiled(loop: Loop, parts: tuple[Loop, ...] = ()) -> Loop:
    """Compile ``loop`` on first use, without the GIL, and keep the machine code on disk.

    ``parts`` are plain functions of the same file that it calls. ``call.__wrapped__`` is the loop
    as it is written, for Python to run.
    """
    machine: list[Loop] = []

    @functools.wraps(loop)
    def call(*arrays: Any) -> Any:
        if not machine:
            import numba

            for part in parts:
                numba.extending.register_jitable(part)
            machine.append(numba.njit(nogil=True, cache=True)(loop))
        return machine[0](*arrays)

    return call


def compiled_with(*parts: Loop) -> Callable[[Loop], Loop]:
    """:func:`compiled`, for a loop that calls others."""
    return functools.partial(compiled, parts=parts)
