"""Rows of a function of distances or products, times some columns, a tile at a time.

A tile of κ fits in a processor's cache: it is multiplied out by one BLAS call, put through the
function in place, and multiplied with its part of W, so that κ itself is never in memory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .gram import Array
from .threads import by_rows

Numbers = NDArray[np.floating]
ROWS, COLUMNS = 256, 1024


def product(
    A: Numbers, B: Numbers, function: Callable[[Numbers], object], W: Array, n_jobs: int | None
) -> tuple[Array, Array]:
    """``f(A Bᵀ) W``, and the sums of rows of f; f changes a tile in place.

    Tiles have the precision of A and B, sums over tiles have double.
    """
    out, total = np.zeros((len(A), W.shape[1])), np.zeros(len(A))
    columns = [slice(j, j + COLUMNS) for j in range(0, len(B), COLUMNS)]
    parts = [np.hstack([W[c], np.ones((len(W[c]), 1))]).astype(A.dtype) for c in columns]

    def work(rows: slice) -> None:
        own = A[rows]
        room = np.empty((len(own), COLUMNS), A.dtype)
        for c, part in zip(columns, parts, strict=True):
            tile = np.matmul(own, B[c].T, out=room[:, : len(part)])
            function(tile)
            found = tile @ part
            out[rows] += found[:, :-1]
            total[rows] += found[:, -1]

    by_rows(work, len(A), ROWS, n_jobs)
    return out, total


def squares(A: Numbers, B: Numbers, factor: float) -> tuple[Numbers, Numbers]:
    """Matrices whose product is ``factor ‖a − b‖²``."""
    a, b = (factor * np.einsum("ij,ij->i", P, P)[:, None] for P in (A, B))
    one = np.ones_like
    return np.hstack([-2 * factor * A, a, one(a)]), np.hstack([B, one(b), b])
