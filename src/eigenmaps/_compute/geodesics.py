"""Shortest paths in a sparse graph, from many points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from .door import compiled


@compiled
def shortest_paths(indptr, indices, steps, sources, out):
    """``out[s, i]``: the length of the shortest path from ``sources[s]`` to i; infinite if none.

    Dijkstra with a heap of four children a node, ``place`` telling where in it a point is (−1: not
    met yet). The row of lengths is the heap's keys as well.
    """
    n = out.shape[1]
    heap = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    for s in range(len(sources)):
        row = out[s]
        row[:] = np.inf
        place[:] = -1
        row[sources[s]] = 0
        heap[0] = sources[s]
        size = 1
        while size > 0:
            near = heap[0]
            size -= 1
            last = heap[size]
            key, hole = row[last], 0
            while 4 * hole + 1 < size:  # the last one sinks from the top
                child = 4 * hole + 1
                best, least = child, row[heap[child]]
                for c in range(child + 1, min(child + 4, size)):
                    if row[heap[c]] < least:
                        best, least = c, row[heap[c]]
                if least >= key:
                    break
                heap[hole] = heap[best]
                place[heap[hole]] = hole
                hole = best
            heap[hole] = last
            place[last] = hole
            for e in range(indptr[near], indptr[near + 1]):
                to, length = indices[e], row[near] + steps[e]
                if length < row[to]:
                    if place[to] < 0:
                        place[to] = size
                        size += 1
                    row[to] = length
                    hole = place[to]
                    while hole > 0 and row[heap[(hole - 1) // 4]] > length:
                        heap[hole] = heap[(hole - 1) // 4]
                        place[heap[hole]] = hole
                        hole = (hole - 1) // 4
                    heap[hole] = to
                    place[to] = hole


def shortest_paths_plain(
    indptr: NDArray[np.integer],
    indices: NDArray[np.integer],
    steps: NDArray[np.floating],
    sources: NDArray[np.integer],
    out: NDArray[np.floating],
) -> None:
    """The same by SciPy: the reference that the compiled loop is tested against."""
    n = len(indptr) - 1
    graph = sp.csr_array((steps.astype(np.float64), indices, indptr), (n, n))
    out[:] = dijkstra(graph, indices=sources)
