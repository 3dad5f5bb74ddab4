"""Base similarities κ(a,b) ≥ 0 of Laplacian eigenmaps and spectral clustering.

Each gives κ on the training points, and its rows for new points as ``kappa · exp(log_scale)``:
the scale keeps a row of very small similarities from vanishing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..gram import Array, Matrix, dense
from ..neighbors import Neighbors, cure_by_neighbors, union
from ..selection import check_bandwidth, local_gamma, mean_squared_distance


class Affinity(BaseEstimator, ABC):
    """A similarity κ, fitted on the training points."""

    #: the bandwidth in use, where there is one
    gamma_: Any = None

    @property
    def takes(self) -> str:
        """What X is, as in :attr:`eigenmaps.kernels.Kernel.takes`."""
        return "vectors"

    @property
    def accepts_sparse(self) -> bool:
        return True

    @property
    def peaked(self) -> bool:
        """Whether κ(x,x) is larger than κ(x,y) for every other y."""
        return True

    @abstractmethod
    def fit(self, X: Matrix) -> Matrix:
        """κ on the training points, a new array."""

    @abstractmethod
    def rows(self, X: Matrix) -> tuple[Matrix, Array]:
        """``kappa, log_scale`` with ``κ(x, x_i) = kappa · exp(log_scale)``."""

    def own(self, X: Matrix) -> Array | None:
        """κ(x, x), where it is known."""
        return np.ones(X.shape[0])

    def cure(self) -> str:
        """What connects a graph of this kind."""
        return "Use a wider kernel."


class Gaussian(Affinity):
    """``κ(a,b) = exp(−γ‖a−b‖²)``: Gaussian with γ = 1/(2σ²), heat kernel with γ = 1/β.

    Parameters
    ----------
    gamma : float, "mean" or None
        None: σ is the median distance to the n_neighbors-th nearest point. ``"mean"``: β is
        the mean squared distance over all pairs. The value in use is ``gamma_``.
    n_neighbors : int, default=10
    """

    def __init__(self, gamma: float | str | None = None, n_neighbors: int = 10):
        self.gamma = gamma
        self.n_neighbors = n_neighbors

    def fit(self, X: Matrix) -> Array:
        self.gamma_ = choose_gamma(self.gamma, X, self.n_neighbors)
        self.neighbors_ = Neighbors().fit(X)
        kappa = self._exponent(X)
        np.exp(kappa, out=kappa)
        check_bandwidth(kappa, self.gamma_, X)
        return kappa

    def rows(self, X: Matrix) -> tuple[Array, Array]:
        return _from_log(self._exponent(X))

    def cure(self) -> str:
        return f"Lower gamma (in use: {self.gamma_:.4g})."

    def _exponent(self, X: Matrix) -> Array:
        D = self.neighbors_.distances(X)
        return -self.gamma_ * D**2


class SelfTuning(Affinity):
    """``κ(a,b) = exp(−‖a−b‖²/(σ_a σ_b))``, σ the distance to the n_neighbors-th nearest
    training point, the point itself counted (Zelnik-Manor & Perona 2004)."""

    def __init__(self, n_neighbors: int = 7, metric: Any = "euclidean"):
        self.n_neighbors = n_neighbors
        self.metric = metric

    @property
    def takes(self) -> str:
        return "distances" if self.metric == "precomputed" else "vectors"

    @property
    def accepts_sparse(self) -> bool:
        return self.metric != "precomputed"

    def fit(self, X: Matrix) -> Array:
        self.neighbors_ = Neighbors(self.metric).fit(X)
        widths = self._widths(X)
        positive = widths[widths > 0]
        if len(positive) == 0:
            raise ValueError(
                f"Every training point has {self.n_neighbors - 1} or more exact copies, so that "
                "no local scale can be taken. Remove duplicates or raise n_neighbors."
            )
        self.floor_ = float(positive.min())
        self.widths_ = np.maximum(widths, self.floor_)
        kappa = self._exponent(X)
        np.exp(kappa, out=kappa)
        check_bandwidth(kappa)
        return kappa

    def rows(self, X: Matrix) -> tuple[Array, Array]:
        return _from_log(self._exponent(X))

    def cure(self) -> str:
        return f"Raise n_neighbors (in use: {self.n_neighbors})."

    def _widths(self, X: Matrix) -> Array:
        return self.neighbors_.of(X, self.n_neighbors)[0].max(axis=1)

    def _exponent(self, X: Matrix) -> Array:
        D = -(self.neighbors_.distances(X) ** 2)
        D /= self.widths_
        D /= np.maximum(self._widths(X), self.floor_)[:, None]
        return D


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
        kappa, log_scale = self._weights(union(near, sp.csr_array(near.T)), self.radii_)
        kappa.data *= np.repeat(np.exp(log_scale), np.diff(kappa.indptr))
        return kappa

    def rows(self, X: Matrix) -> tuple[sp.csr_array, Array]:
        near, radii = self.neighbors_.ball(X, self.n_neighbors)
        near = union(near, self.neighbors_.within(X, self.radii_))
        return self._weights(near, np.maximum(radii, self.floor_))

    def cure(self) -> str:
        soft = self.edge == "soft"
        return cure_by_neighbors(self.neighbors_, self.n_neighbors - 1, own=1, open_ball=soft)

    def _weights(self, graph: sp.csr_array, radii: Array) -> tuple[sp.csr_array, Array]:
        counts = np.diff(graph.indptr)
        d2 = graph.data**2
        log_weight = -self.gamma_ * d2 if self.weights == "heat" else np.zeros_like(d2)
        if self.edge == "soft":
            R2 = np.maximum(np.repeat(radii, counts), self.radii_[graph.indices]) ** 2
            inside = np.maximum(1 - np.divide(d2, R2, out=np.zeros_like(d2), where=d2 > 0), 0)
            with np.errstate(divide="ignore"):
                log_weight = log_weight + np.log(inside)
        log_scale = np.maximum.reduceat(log_weight, graph.indptr[:-1])
        log_scale[np.isneginf(log_scale)] = 0
        weight = np.exp(log_weight - np.repeat(log_scale, counts))
        kappa = sp.csr_array((weight, graph.indices, graph.indptr), graph.shape)
        kappa.eliminate_zeros()
        return kappa, log_scale


class PrecomputedAffinity(Affinity):
    """κ given: square and symmetric at fit, (n_new, n_train) for new points."""

    @property
    def takes(self) -> str:
        return "similarities"

    def fit(self, X: Matrix) -> Matrix:
        kappa = _checked(X)
        check_bandwidth(kappa)
        return kappa

    def rows(self, X: Matrix) -> tuple[Matrix, Array]:
        return _checked(X), np.zeros(X.shape[0])

    def own(self, X: Matrix) -> None:
        return None

    def cure(self) -> str:
        return "Give an affinity with more or wider links."


class CallableAffinity(Affinity):
    """κ a function of two matrices of points, returning the matrix of similarities."""

    def __init__(self, function: Callable[[Matrix, Matrix], Any]):
        self.function = function

    def fit(self, X: Matrix) -> Matrix:
        self.X_ = X
        kappa = self.rows(X)[0]
        check_bandwidth(kappa)
        return kappa

    def rows(self, X: Matrix) -> tuple[Matrix, Array]:
        kappa = self.function(X, self.X_)
        expected = (X.shape[0], self.X_.shape[0])
        if kappa.shape != expected:
            raise ValueError(
                f"The affinity function returned shape {kappa.shape} for {expected[0]} × "
                f"{expected[1]} points; it must return one row per point of its first argument "
                "and one column per point of its second."
            )
        return _checked(kappa), np.zeros(X.shape[0])

    def own(self, X: Matrix) -> Array:
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        return np.array([dense(self.function(row, row))[0, 0] for row in rows])


def by_name(
    affinity: str | Callable[..., Any] | Affinity,
    gamma: float | str | None,
    n_neighbors: int,
    n_jobs: int | None,
) -> Affinity:
    """The affinity object of a name, made once, here."""
    if isinstance(affinity, Affinity):
        return affinity
    if affinity == "nearest_neighbors":
        return NeighborGraph(n_neighbors, n_jobs=n_jobs)
    if affinity == "rbf":
        return Gaussian(gamma, n_neighbors)
    if affinity == "self_tuning":
        return SelfTuning(n_neighbors)
    if affinity == "precomputed":
        return PrecomputedAffinity()
    if callable(affinity):
        return CallableAffinity(affinity)
    raise ValueError(
        f"affinity={affinity!r} is not known; use 'nearest_neighbors', 'rbf', 'self_tuning', "
        "'precomputed', a function of two matrices, or an object of eigenmaps.kernels."
    )


def choose_gamma(gamma: float | str | None, X: Matrix, n_neighbors: int) -> float:
    """γ as given, or by the data."""
    if gamma is None:
        return local_gamma(X, n_neighbors)
    if isinstance(gamma, str):
        if gamma != "mean":
            raise ValueError(f"gamma={gamma!r} is not known; use a number, 'mean' or None.")
        return 1 / mean_squared_distance(X)
    if not gamma > 0:
        raise ValueError(f"gamma={gamma} must be positive.")
    return float(gamma)


def _from_log(exponent: Array) -> tuple[Array, Array]:
    """``kappa, log_scale`` of exponentials, the largest of a row scaled to 1."""
    log_scale = exponent.max(axis=1)
    exponent -= log_scale[:, None]
    return np.exp(exponent, out=exponent), log_scale


def _checked(kappa: Any) -> Matrix:
    """A copy of a given similarity, refused where it is negative or not finite."""
    if sp.issparse(kappa):
        kappa = sp.csr_array(kappa, dtype=np.float64, copy=True)
        values = kappa.data
    else:
        kappa = values = np.array(kappa, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            "Negative values in data, or values that are not finite: of the "
            f"{values.size} similarities {int((values < 0).sum())} are negative and "
            f"{int((~np.isfinite(values)).sum())} not finite. If these are distances, turn them "
            "into similarities first, for example exp(−d²/β)."
        )
    return kappa
