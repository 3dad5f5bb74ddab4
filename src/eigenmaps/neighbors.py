"""Nearest neighbours of training points and of new points."""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.spatial import KDTree
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

from .blocks import row_blocks
from .gram import Array, Index, Matrix, all_but

EUCLIDEAN = ("euclidean", "l2")
FAR = 1e4  # squared distance of the mean from the origin, in squared widths of the data
LISTED = 20_000_000  # neighbours that may be listed at once
FLAT = 12  # dimensions up to which a tree is quick
MANY = 2000  # points from which it pays
COMMON = 0.98  # share of the points, those of the smaller radii, that are looked for in it
TIES = 1e-10  # distances this close to a radius lie on it


def is_euclidean(metric: Any, p: float, metric_params: dict[str, Any] | None) -> bool:
    """Whether a metric, as scikit-learn names it, is the Euclidean distance."""
    if metric_params or not isinstance(metric, str):
        return False
    return metric in EUCLIDEAN or (metric == "minkowski" and p == 2)


class Around(NamedTuple):
    """What lies around some points, as sparse matrices of distances to the training points.

    ``near`` are those not farther than the k-th nearest, ``reach`` those that are within the
    training point's own radius; zero distances are stored entries. ``nearest`` are the k smallest
    distances, sorted.
    """

    near: sp.csr_array
    reach: sp.csr_array
    nearest: Array


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
        self.squares = _squares(self.moved(X)) if self.euclidean else np.zeros(0)
        self._near: Matrix | None = None
        self._search: NearestNeighbors | None = None
        self._tree: KDTree | None = None
        return self

    def of_others(self, X: Matrix) -> Neighbors:
        """The same search among other training points."""
        settings = self.metric, self.p, self.metric_params, self.algorithm, self.n_jobs
        return Neighbors(*settings).fit(X)

    def with_more(self, X: Matrix, everything: Matrix) -> Neighbors:
        """The same search once ``X`` has joined the training points, which makes ``everything``."""
        more = copy.copy(self)
        more.X, more._near, more._search, more._tree = everything, None, None, None
        if self.euclidean:
            more.squares = np.concatenate([self.squares, _squares(self.moved(X))])
        return more

    def without(self, i: int) -> Neighbors:
        """The same search among all training points but one."""
        others = copy.copy(self)
        square = isinstance(self.metric, str) and self.metric == "precomputed"
        others.X, others._near = all_but(self.X, i, square), None
        others._search, others._tree = None, None
        if self.euclidean:
            others.squares = np.delete(self.squares, i)
        return others

    @property
    def rounding(self) -> float:
        """What distances by the expansion of ``‖a − b‖²`` may be off, by rounding of ``‖a‖²``."""
        return 1e-7 * float(np.sqrt(self.squares.max(initial=0)))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_search": None, "_near": None, "_tree": None}

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
            self._near = self.moved(self.X)
        return self._near

    def moved(self, Q: Matrix) -> Matrix:
        """Points as ``near`` has them."""
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
        distances, index = self.search.kneighbors(self.moved(Q), n_neighbors=k)
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
        all_in_reach = self._reaching(radii, Q.shape[0])
        for block in row_blocks(Q.shape[0], 8 * self.n):
            r, c, rough = all_in_reach(Q[block])
            d = self._exact(Q[block], rough[:, None], c[:, None], r).ravel()
            keep = d <= radii[c] * (1 + TIES)
            rows.append(r[keep] + block.start)
            columns.append(c[keep])
            values.append(d[keep])
        entries = np.concatenate(rows), np.concatenate(columns)
        return sp.csr_array((np.concatenate(values), entries), shape=(Q.shape[0], self.n))

    def _reaching(self, radii: Array, m: int) -> Callable[[Matrix], tuple[Index, Index, Array]]:
        """A function that gives pairs of a query and a training point, all of those within its
        radius among them, and their rough distances."""

        def by_distance(Q: Matrix, near: Neighbors, own: Array) -> tuple[Index, Index, Array]:
            D = near.distances(Q)
            r, c = np.nonzero((own * (1 + 1e-7) + self.rounding >= D) & (own >= 0))
            return r, c, D[r, c]

        flat = self.euclidean and isinstance(self.X, np.ndarray) and self.X.shape[1] <= FLAT
        if not flat or self.n < MANY or m == 1:
            return lambda Q: by_distance(Q, self, radii)
        limit = max(float(np.quantile(radii, COMMON)), 0.0)
        wide = np.flatnonzero(radii > limit)
        few = self.of_others(self.X[wide]) if len(wide) else None
        tree = self.tree

        def by_tree(Q: Matrix) -> tuple[Index, Index, Array]:
            reach = limit * (1 + 1e-7) + self.rounding
            pairs = KDTree(self.moved(Q)).sparse_distance_matrix(tree, reach, output_type="ndarray")
            own = radii[pairs["j"]]
            inside = (own >= 0) & (own <= limit) & (own * (1 + 1e-7) + self.rounding >= pairs["v"])
            r, c, d = pairs["i"][inside], pairs["j"][inside], pairs["v"][inside]
            if few is None:
                return r, c, d
            more_r, more_c, more = by_distance(Q, few, radii[wide])
            columns = np.concatenate([c, wide[more_c]])
            return np.concatenate([r, more_r]), columns, np.concatenate([d, more])

        return by_tree

    @property
    def tree(self) -> KDTree:
        """A tree of the training points, built when first needed."""
        if self._tree is None:
            self._tree = KDTree(self.near)
        return self._tree

    def around(self, Q: Matrix, k: int, radii: Array) -> Around:
        """:meth:`ball` and :meth:`within` at once: each distance is taken one time."""
        parts = []
        for block in row_blocks(Q.shape[0], 8 * self.n):
            D = self.distances(Q[block])
            kth = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
            reach = np.where(radii >= 0, radii, -np.inf)
            r, c = np.nonzero(np.maximum(kth, reach) * (1 + 1e-7) + self.rounding >= D)
            d = self._exact(Q[block], D[r, c][:, None], c[:, None], r).ravel()
            parts.append((r + block.start, c, d))
        r, c, d = (np.concatenate(part) for part in zip(*parts, strict=True))
        first = np.searchsorted(r, np.arange(Q.shape[0]))
        nearest = d[np.lexsort((d, r))][first[:, None] + np.arange(k)]
        shape = Q.shape[0], self.n
        near, reach = (
            sp.csr_array((d[keep], (r[keep], c[keep])), shape=shape)
            for keep in (d <= nearest[r, -1] * (1 + TIES), d <= radii[c] * (1 + TIES))
        )
        return Around(near, reach, nearest)

    def among(self, Q: Matrix) -> Array:
        """All distances between the rows of ``Q``."""
        if Q.shape[0] == 1:  # of precomputed distances nothing else can be told
            return np.zeros((1, 1))
        D = self.of_others(Q).distances(Q)
        np.fill_diagonal(D, 0)
        return np.maximum(D, D.T)

    def distances(self, Q: Matrix) -> Array:
        """All distances from the rows of ``Q`` to the training points."""
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return np.asarray(Q, dtype=np.float64)
        if self.euclidean:
            D = self._expanded(self.moved(Q))
            r, c = np.nonzero(self.rounding >= D)
            D[r, c] = self._exact(Q, D[r, c][:, None], c[:, None], r).ravel()
            return D
        settings = dict(self.metric_params or {})
        if self.metric == "minkowski":
            settings.setdefault("p", self.p)
        return np.asarray(pairwise_distances(Q, self.X, metric=self.metric, **settings))

    def _expanded(self, Q: Matrix) -> Array:
        """``‖a − b‖² = ‖a‖² + ‖b‖² − 2ab``."""
        if not isinstance(Q, np.ndarray):
            return np.asarray(euclidean_distances(Q, self.near))
        D = Q @ self.near.T
        D *= -2
        D += _squares(Q)[:, None]
        D += self.squares
        np.maximum(D, 0, out=D)
        return np.sqrt(D, out=D)

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


def lists_without(distances: Array, index: Index, i: int) -> tuple[Array, Index]:
    """Lists of the k nearest of all points but i, and among these, from lists of k + 1."""
    n, more = index.shape
    keep = index != i
    keep[keep.all(axis=1), -1] = False
    d, j = (part[keep].reshape(n, more - 1) for part in (distances, index))
    return np.delete(d, i, axis=0), np.delete(j - (j > i), i, axis=0)


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
