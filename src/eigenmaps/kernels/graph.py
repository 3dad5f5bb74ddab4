"""The symmetric graph of nearest neighbours, as a continuous function of its points."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..gram import Array, Matrix
from ..neighbors import TIES, Neighbors, cure_by_neighbors, union
from .affinity import Affinity, choose_gamma, unscaled


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
        positive = radii[radii > 0]
        if len(positive) == 0:
            raise ValueError(
                f"Every training point has {self.n_neighbors - 1} or more exact copies, so that "
                "the graph joins copies only. Remove duplicates or raise n_neighbors."
            )
        self.floor_ = float(positive.min())
        self.radii_ = np.maximum(radii, self.floor_)
        if (radii == 0).any():
            near = union(near, self.neighbors_.within(X, np.where(radii > 0, -1, self.radii_)))
        if self.weights == "heat":
            sigma = float(np.median(positive))
            self.gamma_ = 0.5 / sigma**2 if self.gamma is None else choose_gamma(self.gamma, X, 1)
        graph = union(near, sp.csr_array(near.T))
        return sp.csr_array(unscaled(*self._weights(graph, self.radii_)))

    def rows(self, X: Matrix) -> tuple[sp.csr_array, Array]:
        near, radii = self.neighbors_.ball(X, self.n_neighbors)
        near = union(near, self.neighbors_.within(X, self.radii_))
        return self._weights(near, np.maximum(radii, self.floor_))

    def cure(self) -> str:
        soft = self.edge == "soft"
        return cure_by_neighbors(self.neighbors_, self.n_neighbors - 1, own=1, open_ball=soft)

    def _log_weight(self, d: Array, R: Array) -> Array:
        """``log κ`` of an edge of length d whose longer radius is R."""
        log_weight = -self.gamma_ * d**2 if self.weights == "heat" else np.zeros_like(d)
        if self.edge == "soft":
            inside = np.maximum(1 - np.divide(d, R, out=np.zeros_like(d), where=d > 0) ** 2, 0)
        else:
            inside = 1.0 * (d <= R * (1 + TIES))
        with np.errstate(divide="ignore"):
            return np.asarray(log_weight + np.log(inside))

    def _weights(self, graph: sp.csr_array, radii: Array) -> tuple[sp.csr_array, Array]:
        """κ along the edges of a graph, from points of some radii to training points."""
        counts = np.diff(graph.indptr)
        R = np.maximum(np.repeat(radii, counts), self.radii_[graph.indices])
        log_weight = self._log_weight(graph.data, R)
        log_scale = np.maximum.reduceat(log_weight, graph.indptr[:-1])
        log_scale[np.isneginf(log_scale)] = 0
        weight = np.exp(log_weight - np.repeat(log_scale, counts))
        kappa = sp.csr_array((weight, graph.indices, graph.indptr), graph.shape)
        kappa.eliminate_zeros()
        return kappa, log_scale
