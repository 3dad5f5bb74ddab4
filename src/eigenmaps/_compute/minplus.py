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
