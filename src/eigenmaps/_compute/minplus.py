"""Min-plus products: the last step of a shortest path that enters the training set."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .door import compiled


@compiled
def min_plus(indptr, indices, steps, paths):
    """``out[q, i] = min_j steps[q, j] + paths[j, i]`` over the stored entries j of row q."""
    m, n = len(indptr) - 1, paths.shape[1]
    out = np.full((m, n), np.inf)
    for q in range(m):
        row = out[q]
        for e in range(indptr[q], indptr[q + 1]):
            step, path = steps[e], paths[indices[e]]
            for i in range(n):
                length = step + path[i]
                if length < row[i]:
                    row[i] = length
    return out


@compiled
def min_plus_squares(indptr, indices, steps, paths, W, out, total):
    """``out = R² W`` and ``total = R² 1``, R the result of :func:`min_plus`, a row at a time."""
    n = paths.shape[1]
    row, square = np.empty(n, paths.dtype), np.empty((1, n))
    for q in range(len(indptr) - 1):
        row[:] = np.inf
        for e in range(indptr[q], indptr[q + 1]):
            step, path = paths.dtype.type(steps[e]), paths[indices[e]]
            for i in range(n):
                row[i] = min(row[i], step + path[i])
        for i in range(n):
            square[0, i] = np.float64(row[i]) * np.float64(row[i])
        out[q] = np.dot(square, W)[0]
        total[q] = square.sum()


def min_plus_plain(
    indptr: NDArray[np.integer],
    indices: NDArray[np.integer],
    steps: NDArray[np.float64],
    paths: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The same in plain NumPy: the reference that the compiled loop is tested against."""
    out = np.full((len(indptr) - 1, paths.shape[1]), np.inf)
    for q, (a, b) in enumerate(pairwise(indptr)):
        if b > a:
            out[q] = (steps[a:b, None] + paths[indices[a:b]]).min(axis=0)
    return out
