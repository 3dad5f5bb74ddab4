"""Nearest neighbours of training points and of new points, and the graphs they form."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

from .blocks import row_blocks
from .gram import Array, Index, Matrix, stack

EUCLIDEAN = ("euclidean", "l2")
EPS = float(np.finfo(np.float64).eps)
FAR = 1e4  # squared distance of the mean from the origin, in squared widths of the data
LISTED = 20_000_000  # neighbours that may be listed at once
TIES = 1e-10  # distances this close to a radius lie on it


def is_euclidean(metric: Any, p: float, metric_params: dict[str, Any] | None) -> bool:
    """Whether a metric, as scikit-learn names it, is the Euclidean distance."""
    if metric_params or not isinstance(metric, str):
        return False
    return metric in EUCLIDEAN or (metric == "minkowski" and p == 2)


class Neighbors:
    """The training points nearest to any point.

    Distances of Euclidean neighbours are taken from differences, not from the expansion
    ``‖a‖²+‖b‖²−2ab``, so that a training point lies at distance exactly 0 from itself. Where the
    expansion is used, data far from the origin are centred first.

    Parameters
    ----------
    metric, p, metric_params, algorithm, n_jobs
        As in :class:`sklearn.neighbors.NearestNeighbors`. With ``metric="precomputed"`` the
        training set is the square matrix of distances, a set of queries its (m, n) block.
    """

    def __init__(
        self,
        metric: Any = "euclidean",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def fit(self, X: Matrix) -> Self:
        self.X = X
        self.euclidean = is_euclidean(self.metric, self.p, self.metric_params)
        self.origin = _far_origin(X) if self.euclidean else None
        # The expansion of ‖a − b‖² is off by rounding errors of ‖a‖².
        self.rounding = 1e-7 * float(np.sqrt(_squares(self._moved(X)).max())) * self.euclidean
        self._near: Matrix | None = None
        self._search: NearestNeighbors | None = None
        return self

    def with_more(self, X: Matrix) -> Neighbors:
        """The same among more training points."""
        settings = self.metric, self.p, self.metric_params, self.algorithm, self.n_jobs
        return Neighbors(*settings).fit(stack(self.X, X))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_search": None, "_near": None}

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def search(self) -> NearestNeighbors:
        """scikit-learn's index over the training points, built when first needed."""
        if self._search is None:
            self._search = NearestNeighbors(
                algorithm=self.algorithm,
                metric=self.metric,
                p=self.p,
                metric_params=self.metric_params,
                n_jobs=self.n_jobs,
            ).fit(self.near)
        return self._search

    @property
    def near(self) -> Matrix:
        """The training points, moved to the origin where they lie far from it."""
        if self._near is None:
            self._near = self._moved(self.X)
        return self._near

    def _moved(self, Q: Matrix) -> Matrix:
        return Q if self.origin is None else Q - self.origin

    def of_training(self, k: int) -> tuple[Array, Index]:
        """Distances and indices of each training point's k nearest *other* points."""
        _whole(k)
        if k >= self.n:
            raise ValueError(
                f"n_neighbors={k} needs at least {k + 1} training points, but "
                f"n_samples = {self.n}: give more rows or set n_neighbors ≤ {self.n - 1}."
            )
        distances, index = self.search.kneighbors(n_neighbors=k)
        return self._exact(self.X, distances, index), index

    def of(self, Q: Matrix, k: int) -> tuple[Array, Index]:
        """Distances and indices of the k training points nearest to each row of ``Q``.

        A row that is a training point finds itself first, at distance 0.
        """
        _whole(k)
        if k > self.n:
            raise ValueError(
                f"n_neighbors={k} asks for more points than there are: n_samples = {self.n}. "
                f"Give more rows or set n_neighbors ≤ {self.n}."
            )
        distances, index = self.search.kneighbors(self._moved(Q), n_neighbors=k)
        return self._exact(Q, distances, index), index

    def ball(self, Q: Matrix, k: int) -> tuple[sp.csr_array, Array]:
        """All training points not farther than the k-th nearest, and that distance.

        Unlike :meth:`of` it has no arbitrary choice among equally distant points.
        """
        more = 1
        while True:
            distances, index = self.of(Q, max(k, min(k + more, self.n)))
            radii = np.partition(distances, k - 1, axis=1)[:, k - 1]
            inside = distances <= radii[:, None] * (1 + TIES)
            if k + more >= self.n or not inside.all(axis=1).any():
                break
            more *= 2
            if more * len(index) > LISTED:
                raise ValueError(
                    f"Of some points more than {more // 2} training points are as near as the "
                    f"{k}-th nearest: many of the {self.n} rows are identical. Remove duplicates "
                    "(numpy.unique(X, axis=0)), or raise n_neighbors above their number."
                )
        counts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        graph = sp.csr_array((distances[inside], index[inside], counts), (len(index), self.n))
        return graph, radii

    def within(self, Q: Matrix, radii: Array) -> sp.csr_array:
        """Distances d(q, x_i) ≤ ``radii[i]``, as a sparse (m, n) matrix: each training point
        reaches as far as its own radius (none where it is negative). Zero distances are stored
        entries."""
        rows, columns, values = [], [], []
        for block in row_blocks(Q.shape[0], 8 * self.n):
            D = self.distances(Q[block])
            r, c = np.nonzero((radii * (1 + 1e-7) + self.rounding >= D) & (radii >= 0))
            d = self._exact(Q[block], D[r, c][:, None], c[:, None], r).ravel()
            keep = d <= radii[c] * (1 + TIES)
            rows.append(r[keep] + block.start)
            columns.append(c[keep])
            values.append(d[keep])
        entries = np.concatenate(rows), np.concatenate(columns)
        return sp.csr_array((np.concatenate(values), entries), shape=(Q.shape[0], self.n))

    def among(self, Q: Matrix) -> Array:
        """All distances between the rows of ``Q``."""
        m = Q.shape[0]
        if m == 1:
            return np.zeros((1, 1))
        company = Neighbors(self.metric, self.p, self.metric_params).fit(Q)
        return np.asarray(company.within(Q, np.full(m, np.inf)).toarray())

    def distances(self, Q: Matrix) -> Array:
        """All distances from the rows of ``Q`` to the training points."""
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return np.asarray(Q, dtype=np.float64)
        if self.euclidean:
            D = np.asarray(euclidean_distances(self._moved(Q), self.near))
            r, c = np.nonzero(self.rounding >= D)
            D[r, c] = self._exact(Q, D[r, c][:, None], c[:, None], r).ravel()
            return D
        settings = dict(self.metric_params or {})
        if self.metric == "minkowski":
            settings.setdefault("p", self.p)
        return np.asarray(pairwise_distances(Q, self.X, metric=self.metric, **settings))

    def _exact(self, Q: Matrix, distances: Array, index: Index, rows: Index | None = None) -> Array:
        """Euclidean distances again, from differences; other metrics as they are."""
        if not self.euclidean:
            return np.asarray(distances, dtype=np.float64)
        rows = np.arange(Q.shape[0]) if rows is None else rows
        out = np.empty(index.shape)
        for block in row_blocks(len(index), 8 * index.shape[1] * Q.shape[1]):
            k = index.shape[1]
            if isinstance(Q, np.ndarray):
                difference = Q[rows[block], None, :] - self.X[index[block]]
                out[block] = np.sqrt(np.einsum("ijk,ijk->ij", difference, difference))
            else:
                difference = Q[np.repeat(rows[block], k)] - self.X[index[block].ravel()]
                out[block] = np.sqrt(_squares(difference)).reshape(-1, k)
        return out


def _whole(k: Any) -> None:
    if not isinstance(k, Integral) or k < 1:
        raise ValueError(f"n_neighbors={k!r} must be a whole number, at least 1.")


def _squares(X: Matrix) -> Array:
    """``‖x_i‖²``."""
    return np.asarray(row_norms(X, squared=True), dtype=np.float64)


def _far_origin(X: Matrix) -> Array | None:
    """The mean of dense data, where it is farther from the origin than the data are wide."""
    if sp.issparse(X):
        return None
    mean = X.mean(axis=0)
    width = float(_squares(X[: min(len(X), 1000)] - mean).mean())
    return mean if float(mean @ mean) > FAR * width else None


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


def joined_nearest(
    nearest: Array, reach: sp.csr_array, own: Array, among: Array
) -> tuple[Array, Array]:
    """The k nearest distances of training points, and of new ones, once these have joined them.

    ``nearest`` are the training points' before, sorted, each point its own nearest; ``reach`` are
    the distances of new points to those that they come near to, ``own`` to the nearest training
    points, ``among`` to each other.
    """
    nearest, k = nearest.copy(), nearest.shape[1]
    for q in range(len(own)):
        i, d = row_of(reach, q)
        nearest[i] = np.sort(np.column_stack([nearest[i], d]), axis=1)[:, :k]
    return nearest, np.sort(np.hstack([own, among]), axis=1)[:, :k]


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
