"""The symmetric graph of nearest neighbours, as a continuous function of its points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..gram import Array, Border, Matrix, all_but
from ..graphs import cure_by_neighbors, joined_nearest, mirrored, smallest, union
from ..neighbors import TIES, Around, Neighbors
from .affinity import Affinity, choose_gamma, floored, stacked
from .base import twin

SAME = 1e-14  # weights that differ by less are the same


class NeighborGraph(Affinity):
    """The symmetric graph of k nearest neighbours, with weights and an edge of choice.

    ``R(x)`` is the distance from x to its k-th nearest training point, where a training point
    counts as its own nearest; it is at least the smallest positive one of the training set, so
    that a stack of identical points does not part from what lies beside it. Points are joined
    when either lies within the other's radius, ``‖a−b‖ ≤ R = max(R(a), R(b))``.

    Parameters
    ----------
    n_neighbors : int, default=10
        k, the point itself included.
    weights : {"binary", "heat"}, default="binary"
        1, or ``exp(−γ‖a−b‖²)``.
    edge : {"soft", "hard"}, default="soft"
        Soft: weights are multiplied by ``1 − ‖a−b‖²/R²`` and fade out towards the edge of the
        neighbourhood, so that coordinates are continuous functions of x. Hard: a plain cut, at
        which they jump.
    gamma : float, "mean" or None
        γ of the heat weights; None: ``1/(2σ²)``, σ the median radius.
    metric, metric_params, n_jobs
        Of the neighbour search.
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        weights: str = "binary",
        edge: str = "soft",
        gamma: float | str | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.edge = edge
        self.gamma = gamma
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @property
    def takes(self) -> str:
        return "distances" if self.metric == "precomputed" else "vectors"

    @property
    def accepts_sparse(self) -> bool:
        return self.metric != "precomputed"

    @property
    def reacts(self) -> bool:
        return True

    @property
    def peaked(self) -> bool:
        return self.edge == "soft" or self.weights == "heat"

    def fit(self, X: Matrix) -> sp.csr_array:
        for name, known in (("weights", ("binary", "heat")), ("edge", ("soft", "hard"))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not known; use one of {known}."
                )
        if self.n_neighbors < 2:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} joins nothing: a point is its own nearest "
                "neighbour here, so that n_neighbors must be at least 2."
            )
        self.neighbors_ = Neighbors(
            self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs
        ).fit(X)
        near, radii = self.neighbors_.ball(X, self.n_neighbors)
        if not radii.any():
            raise ValueError(
                f"Every training point has {self.n_neighbors - 1} or more exact copies, so that "
                "the graph joins copies only. Remove duplicates or raise n_neighbors."
            )
        self.radii_ = floored(radii)
        if self.weights == "heat":
            sigma = float(np.median(radii[radii > 0]))
            self.gamma_ = 0.5 / sigma**2 if self.gamma is None else choose_gamma(self.gamma, X, 1)
        graph = self._graph(near, radii)
        self._known: tuple[sp.csr_array, Array] | None = graph, smallest(near, self.n_neighbors)
        return self._kappa(graph, self.radii_, self.radii_)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_known": None}

    def rows(self, X: Matrix) -> tuple[sp.csr_array, Array]:
        near, reach, nearest = self._around(X)
        radii = np.maximum(nearest[:, -1], self.radii_.min())
        return self._weights(union(near, reach), radii, self.radii_)

    def border(self, X: Matrix) -> Border:
        near, reach, own = self._around(X)
        alone = np.zeros((1, 1))
        each = (Around(near[[i]], reach[[i]], own[[i]]) for i in range(X.shape[0]))
        return stacked([self._joined(around, alone, self._with(around, alone)) for around in each])

    def join(self, X: Matrix) -> Border:
        around, among = self._around(X), self.neighbors_.among(X)
        return self._joined(around, among, self._with(around, among))

    def between(self, X: Matrix) -> Array:
        R = np.maximum(self.neighbors_.of(X, self.n_neighbors)[0].max(axis=1), self.radii_.min())
        among = self.neighbors_.among(X)
        return np.asarray(np.exp(self._log_weight(among, np.maximum(R, R[:, None]))))

    def grow(self, X: Matrix, everything: Matrix) -> Border:
        around, among = self._around(X), self.neighbors_.among(X)
        nearest = self._with(around, among)
        border = self._joined(around, among, nearest)
        radii = floored(nearest[:, -1])
        R = radii[self.neighbors_.n :]
        row, column = np.nonzero(among <= np.maximum(R, R[:, None]))
        links = sp.csr_array((among[row, column], (row, column)), among.shape)
        new = union(around.near, around.reach)
        edges = sp.csr_array(sp.block_array([[self._edges[0], new.T], [new, links]]))
        self.radii_, self._known = radii, (edges, nearest)
        self.neighbors_ = self.neighbors_.with_more(X, everything)
        return border

    def _around(self, X: Matrix) -> Around:
        return self.neighbors_.around(X, self.n_neighbors, self.radii_)

    def _with(self, around: Around, among: Array) -> Array:
        """The k nearest distances of old and new points once new ones have joined.

        A point that joins counts itself, and takes the place of the k-th nearest of each point
        that it comes nearer to.
        """
        _, reach, own = around
        return joined_nearest(self._edges[1], reach, own, among)

    def _joined(self, around: Around, among: Array, nearest: Array) -> Border:
        """With points that join, radii shrink: edges grow lighter, or end."""
        n = self.neighbors_.n
        radii, R = np.split(floored(nearest[:, -1]), [n])
        shrunk = np.flatnonzero(radii < self.radii_)
        edges = sp.csr_array(self._edges[0][shrunk])
        change = self._kappa(edges, radii[shrunk], radii)
        change -= self._kappa(edges, self.radii_[shrunk], self.radii_)
        change.data[np.abs(change.data) < SAME] = 0
        change.eliminate_zeros()
        between = np.exp(self._log_weight(among, np.maximum(R, R[:, None])))
        row = self._kappa(union(around.near, around.reach), R, radii)
        return Border(row, between, changes=[mirrored(shrunk, change, n)])

    def without(self, X: Matrix) -> Callable[[int], tuple[Affinity, Matrix]]:
        """The k nearest of a point, but i, are among its k + 1 nearest."""
        k = self.n_neighbors
        if k >= self.neighbors_.n:
            return super().without(X)
        wider, _ = self.neighbors_.ball(X, k + 1)

        def others(i: int) -> tuple[Affinity, Matrix]:
            other, near = twin(self), sp.csr_array(all_but(wider, i, square=True))
            other.neighbors_ = self.neighbors_.without(i)
            nearest = smallest(near, k)
            radii = nearest[:, -1]
            row = np.repeat(np.arange(len(radii)), np.diff(near.indptr))
            inside = near.data <= radii[row] * (1 + TIES)
            edges = (near.data[inside], (row[inside], near.indices[inside]))
            other.radii_ = floored(radii)
            graph = other._graph(sp.csr_array(edges, near.shape), radii)
            other._known = graph, nearest
            return other, other._kappa(graph, other.radii_, other.radii_)

        return others

    def cure(self) -> str:
        soft = self.edge == "soft"
        return cure_by_neighbors(self.neighbors_, self.n_neighbors - 1, own=1, open_ball=soft)

    @property
    def _edges(self) -> tuple[sp.csr_array, Array]:
        """The edges' lengths, and each point's k nearest distances; found when first needed."""
        if self._known is None:
            X, k = self.neighbors_.X, self.n_neighbors
            near, radii = self.neighbors_.ball(X, k)
            self._known = self._graph(near, radii), smallest(near, k)
        return self._known

    def _graph(self, near: sp.csr_array, radii: Array) -> sp.csr_array:
        if (radii == 0).any():
            X, reach = self.neighbors_.X, np.where(radii > 0, -1, self.radii_)
            near = union(near, self.neighbors_.within(X, reach))
        return union(near, sp.csr_array(near.T))

    def _log_weight(self, d: Array, R: Array) -> Array:
        """``log κ`` of an edge of length d whose longer radius is R."""
        log_weight = -self.gamma_ * d**2 if self.weights == "heat" else np.zeros_like(d)
        if self.edge == "soft":
            inside = np.maximum(1 - np.divide(d, R, out=np.zeros_like(d), where=d > 0) ** 2, 0)
        else:
            inside = 1.0 * (d <= R * (1 + TIES))
        with np.errstate(divide="ignore"):
            return np.asarray(log_weight + np.log(inside))

    def _weights(
        self, graph: sp.csr_array, radii: Array, others: Array
    ) -> tuple[sp.csr_array, Array]:
        """κ along the edges of a graph, from points of some radii to others, as rows and scale."""
        counts = np.diff(graph.indptr)
        log_weight = self._along(graph, radii, others)
        log_scale = np.maximum.reduceat(log_weight, graph.indptr[:-1])
        log_scale[np.isneginf(log_scale)] = 0
        return _graph_like(graph, np.exp(log_weight - np.repeat(log_scale, counts))), log_scale

    def _kappa(self, graph: sp.csr_array, radii: Array, others: Array) -> sp.csr_array:
        """κ along the edges."""
        return _graph_like(graph, np.exp(self._along(graph, radii, others)))

    def _along(self, graph: sp.csr_array, radii: Array, others: Array) -> Array:
        R = np.maximum(np.repeat(radii, np.diff(graph.indptr)), others[graph.indices])
        return self._log_weight(graph.data, R)


def _graph_like(graph: sp.csr_array, weight: Array) -> sp.csr_array:
    """The edges of a graph with these weights, but for those of weight 0."""
    kappa = sp.csr_array((weight, graph.indices, graph.indptr), graph.shape, copy=True)
    kappa.eliminate_zeros()
    return kappa
