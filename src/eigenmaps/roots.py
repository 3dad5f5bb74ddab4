"""Roots of many decreasing convex functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .gram import Array

LIMIT = 100


def convex_root(f: Callable[[Array], tuple[Array, Array]], start: Array) -> Array:
    """By Newton's method from the left, where ``f ≥ 0``: a tangent of a convex function lies below
    it, so that no step passes the root. ``f`` gives values and slopes.

    >>> convex_root(lambda x: (1 / x - 2, -1 / x**2), np.array([0.1, 0.5]))
    array([0.5, 0.5])
    """
    x = start
    for _ in range(LIMIT):
        value, slope = f(x)
        step = np.divide(-value, slope, out=np.zeros_like(x), where=(value > 0) & (slope < 0))
        if (x + step == x).all():
            break
        x = x + step
    return x
