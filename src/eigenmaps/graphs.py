"""Graphs of neighbours: their edges, their components, and what connects them."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ._compute.geodesics import shortest_paths
from .blocks import row_blocks
from .gram import EPS, Array, Index, Matrix
from .neighbors import Neighbors
from .threads import by_rows

TILE = 64  # starts of paths that a thread takes at once


def directed_graph(distances: Array, index: Index, n: int) -> sp.csr_array:
    """The graph i → its neighbours, edges as long as the distance (zeros are stored)."""
    m, k = index.shape
    return sp.csr_array(
        (distances.ravel(), index.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n)
    )


def union(*graphs: sp.csr_array) -> sp.csr_array:
    """The edges of any of the graphs, each once; zero lengths stay stored entries."""
    edges = [graph.tocoo() for graph in graphs]
    shape = graphs[0].shape
    code = np.concatenate([e.row.astype(np.int64) * shape[1] + e.col for e in edges])
    length = np.concatenate([e.data for e in edges])
    order = np.lexsort((length, code))
    code, length = code[order], length[order]
    first = np.ones(len(code), dtype=bool)
    first[1:] = code[1:] != code[:-1]
    row, column = np.divmod(code[first], shape[1])
    return sp.csr_array((length[first], (row, column)), shape=shape)


def geodesics(graph: sp.csr_array, n_jobs: int | None) -> Array:
    """The lengths of shortest paths between all points; infinite where there is none."""
    n = graph.shape[0]
    paths = np.empty((n, n))
    edges = graph.indptr.astype(np.int32), graph.indices.astype(np.int32), graph.data

    def work(block: slice) -> None:
        sources = np.arange(block.start, block.stop, dtype=np.int32)
        shortest_paths(*edges, sources, paths[block])

    by_rows(work, n, TILE, n_jobs)
    return paths


def joined_nearest(nearest: Array, reach: sp.csr_array, own: Array, among: Array) -> Array:
    """The k nearest distances of training points, then of new ones, once these have joined them.

    ``nearest`` are the training points' before, sorted, each point its own nearest; ``reach`` are
    the distances of new points to those that they come near to, ``own`` to the nearest training
    points, ``among`` to each other.
    """
    nearest, k = nearest.copy(), nearest.shape[1]
    for q in range(len(own)):
        i, d = row_of(reach, q)
        nearest[i] = np.sort(np.column_stack([nearest[i], d]), axis=1)[:, :k]
    return np.vstack([nearest, np.sort(np.hstack([own, among]), axis=1)[:, :k]])


def smallest(graph: sp.csr_array, k: int) -> Array:
    """The k smallest entries of each row, sorted."""
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    data = graph.data[np.lexsort((graph.data, row))]
    return np.asarray(data[graph.indptr[:-1, None] + np.arange(k)])


def row_of(graph: sp.csr_array, i: int) -> tuple[Index, Array]:
    """The columns of a row's entries, and the entries."""
    part = slice(graph.indptr[i], graph.indptr[i + 1])
    return graph.indices[part], graph.data[part]


def mirrored(rows: Index, part: Matrix, n: int) -> sp.csr_array:
    """The symmetric (n, n) matrix that has these rows, and 0 where neither row nor column is."""
    entries = sp.coo_array(part)
    row, column = rows[entries.row], entries.col
    own = np.zeros(n, dtype=bool)
    own[rows] = True
    twin = ~own[column]
    index = np.concatenate([row, column[twin]]), np.concatenate([column, row[twin]])
    return sp.csr_array((np.concatenate([entries.data, entries.data[twin]]), index), (n, n))


def components(graph: Matrix) -> Index:
    """The component of each point; a dense matrix has an edge where it is not rounding noise."""
    if sp.issparse(graph):
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
    labels = np.full(len(graph), -1, dtype=np.int64)
    label = 0
    while (labels < 0).any():
        frontier = np.flatnonzero(labels < 0)[:1]
        while len(frontier):
            labels[frontier] = label
            reached = np.zeros(len(graph), dtype=bool)
            for block in row_blocks(len(frontier), 8 * len(graph)):
                reached |= (graph[frontier[block]] > EPS).any(axis=0)
            frontier = np.flatnonzero(reached & (labels < 0))
        label += 1
    return labels


def connecting_k(
    neighbors: Neighbors, k: int, open_ball: bool = False, budget: int = 4_000_000
) -> int | None:
    """The smallest number of neighbours above k whose graph is connected.

    With ``open_ball`` points at exactly the distance of the k-th neighbour are not joined by
    it. None where more than ``budget`` distances would have to be listed to tell.
    """
    n, low, high = neighbors.n, k, k
    while True:
        high = min(2 * high, n - 1)
        if n * high > budget:
            return None
        distances, index = neighbors.of_training(high)

        def connected(j: int, d: Array = distances, i: Index = index) -> bool:
            graph = directed_graph(d[:, :j].copy(), i[:, :j].copy(), n)
            if open_ball:
                radii = d[:, j - 1]
                reach = np.maximum(np.repeat(radii, j), radii[graph.indices])
                graph.data = 1.0 * ((graph.data < reach) | (graph.data == 0))
                graph.eliminate_zeros()
            return not components(graph).any()

        if connected(high):
            break
        if high == n - 1:
            return None
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if connected(middle) else (middle, high)
    return high


def describe_components(labels: Index) -> str:
    """``"3 components of sizes 50, 30, 20"``, largest first."""
    sizes = np.sort(np.bincount(labels))[::-1]
    shown = ", ".join(map(str, sizes[:6])) + (", …" if len(sizes) > 6 else "")
    return f"{len(sizes)} components of sizes {shown}"


def warn_disconnected(labels: Index, consequence: str, cure: str) -> None:
    """Warn that the neighbourhood graph falls apart, with what follows and what helps."""
    if labels.any():
        warnings.warn(
            f"The neighbourhood graph has {describe_components(labels)}. {consequence} {cure}",
            UserWarning,
            stacklevel=2,
        )


def cure_by_neighbors(neighbors: Neighbors, k: int, own: int = 0, open_ball: bool = False) -> str:
    """What to do about a graph of k nearest others that falls apart.

    ``own`` is 1 where n_neighbors counts the point itself.
    """
    enough = connecting_k(neighbors, k, open_ball)
    if enough is None:
        return (
            f"Connecting it takes far more than n_neighbors={k + own}: fit each component on its "
            "own, or bring the parts of the data closer together."
        )
    return f"The smallest n_neighbors that connects it is {enough + own}."


def bridges(neighbors: Neighbors, labels: Index) -> sp.csr_array:
    """Edges between the closest points of every two components, both ways."""
    X, n = neighbors.X, neighbors.n
    row, column, length = [], [], []
    members = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
    for a, own in enumerate(members[:-1]):
        others = np.flatnonzero(labels > a)
        nearest = np.empty(len(others), dtype=np.int64)
        gap = np.empty(len(others))
        here = Neighbors(neighbors.metric, neighbors.p, neighbors.metric_params)
        precomputed = isinstance(neighbors.metric, str) and neighbors.metric == "precomputed"
        here.fit(X[own][:, own] if precomputed else X[own])
        for block in row_blocks(len(others), 8 * len(own)):
            far = others[block]
            D = here.distances(X[far][:, own] if precomputed else X[far])
            nearest[block], gap[block] = own[D.argmin(axis=1)], D.min(axis=1)
        for b in range(a + 1, len(members)):
            best = np.flatnonzero(labels[others] == b)
            best = best[gap[best].argmin()]
            row += [nearest[best], others[best]]
            column += [others[best], nearest[best]]
            length += [gap[best]] * 2
    return sp.csr_array((length, (row, column)), shape=(n, n))
