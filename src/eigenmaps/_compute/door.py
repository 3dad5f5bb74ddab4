"""The only door to numba: a loop is compiled at its first call, never at import."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``loop`` on first use, without the GIL, and keep the machine code on disk."""
    machine: list[Callable[..., Any]] = []

    @functools.wraps(loop)
    def call(*arrays: Any) -> Any:
        if not machine:
            import numba

            machine.append(numba.njit(nogil=True, cache=True)(loop))
        return machine[0](*arrays)

    return call
