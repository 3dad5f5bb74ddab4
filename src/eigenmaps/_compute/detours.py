"""Shortest paths once a point has gone."""

from __future__ import annotations

import numpy as np

from .door import compiled

SAME = 1 + 1e-10  # lengths as close as this are the same but for rounding


@compiled
def detours(indptr, indices, steps, paths, gone):
    """All shortest paths of a symmetric graph without one of its points; infinite where none is.

    ``paths`` are those of the whole graph, its edges given as CSR arrays. From each start only the
    points that ``gone`` lies on the way to are found anew, by relaxations among them.
    """
    n = len(paths)
    out = paths.copy()
    lost = np.empty(n, np.int64)
    for start in range(n):
        row = out[start]
        there, count = row[gone], 0
        row[gone] = np.inf
        if start == gone:
            row[:] = np.inf
            continue
        for end in range(n):
            if end not in (start, gone) and there + paths[gone, end] <= row[end] * SAME:
                lost[count] = end
                count += 1
        for c in range(count):
            row[lost[c]] = np.inf
        shorter = True
        while shorter:
            shorter = False
            for c in range(count):
                end = lost[c]
                best = row[end]
                for e in range(indptr[end], indptr[end + 1]):
                    best = min(best, row[indices[e]] + steps[e])
                if best < row[end]:
                    row[end] = best
                    shorter = True
    return out
