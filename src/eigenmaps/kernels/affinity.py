"""Base similarities κ(a,b) ≥ 0 of Laplacian eigenmaps and spectral clustering.

Each gives κ on the training points, and its rows for new points as ``kappa · exp(log_scale)``:
the scale keeps a row of very small similarities from vanishing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from ..gram import Array, Border, Matrix, all_but, dense, stack
from ..graphs import joined_nearest, mirrored
from ..neighbors import Neighbors
from ..selection import check_bandwidth, local_gamma, mean_squared_distance
from .base import twin


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

    def fixed(self) -> Self:
        """An unfitted copy with the bandwidth in use as its parameter."""
        return clone(self) if self.gamma_ is None else clone(self).set_params(gamma=self.gamma_)

    @abstractmethod
    def fit(self, X: Matrix) -> Matrix:
        """κ on the training points, a new array."""

    @abstractmethod
    def rows(self, X: Matrix) -> tuple[Matrix, Array]:
        """``kappa, log_scale`` with ``κ(x, x_i) = kappa · exp(log_scale)``."""

    @property
    def reacts(self) -> bool:
        """Whether a point that joins changes κ between others."""
        return False

    def border(self, X: Matrix) -> Border | None:
        """What each new point, alone, would add to κ; None where κ(x, x) is not known."""
        return Border(unscaled(*self.rows(X)), np.ones(X.shape[0]))

    def join(self, X: Matrix) -> Border | None:
        """What new points, all together, would add to κ."""
        return None

    @property
    def any_two(self) -> bool:
        """Whether ``between`` knows κ between any two points."""
        return self.takes == "vectors" and type(self).between is not Affinity.between

    def between(self, X: Matrix) -> Array:
        """κ between any points, given D alone, a new array."""
        raise NotImplementedError

    def grow(self, X: Matrix, everything: Matrix) -> Border | None:
        """Take new points in: what they add to κ. None: κ is to be fitted anew on all points."""
        return None

    def without(self, X: Matrix) -> Callable[[int], tuple[Affinity, Matrix]]:
        """Leave one out: what gives the fit to all training points but i, and its κ, of any i."""
        square = self.takes != "vectors"

        def others(i: int) -> tuple[Affinity, Matrix]:
            affinity = self.fixed()
            return affinity, affinity.fit(all_but(X, i, square))

        return others

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

    def join(self, X: Matrix) -> Border:
        return Border(unscaled(*self.rows(X)), self.between(X))

    def between(self, X: Matrix) -> Array:
        return np.asarray(np.exp(-self.gamma_ * self.neighbors_.among(X) ** 2))

    def grow(self, X: Matrix, everything: Matrix) -> Border:
        border = self.join(X)
        self.neighbors_ = self.neighbors_.with_more(X, everything)
        return border

    def without(self, X: Matrix) -> Callable[[int], tuple[Affinity, Matrix]]:
        exponent = self._exponent(X)
        kappa = np.exp(exponent, out=exponent)

        def others(i: int) -> tuple[Affinity, Matrix]:
            other = twin(self)
            other.neighbors_ = self.neighbors_.without(i)
            return other, all_but(kappa, i, square=True)

        return others

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

    @property
    def reacts(self) -> bool:
        return True

    def fit(self, X: Matrix) -> Array:
        self.neighbors_ = Neighbors(self.metric).fit(X)
        self.nearest_ = np.sort(self.neighbors_.of(X, self.n_neighbors)[0], axis=1)
        widths = self.nearest_[:, -1]
        if not widths.any():
            raise ValueError(
                f"Every training point has {self.n_neighbors - 1} or more exact copies, so that "
                "no local scale can be taken. Remove duplicates or raise n_neighbors."
            )
        self.widths_ = floored(widths)
        kappa = np.exp(self._exponent(self.neighbors_.distances(X), self.widths_, self.widths_))
        check_bandwidth(kappa)
        return kappa

    def rows(self, X: Matrix) -> tuple[Array, Array]:
        distances = self.neighbors_.distances(X)
        return _from_log(self._exponent(distances, self._widths(X), self.widths_))

    def between(self, X: Matrix) -> Array:
        widths = self._widths(X)
        return np.asarray(np.exp(self._exponent(self.neighbors_.among(X), widths, widths)))

    def _widths(self, X: Matrix) -> Array:
        widths = self.neighbors_.of(X, self.n_neighbors)[0].max(axis=1)
        return np.maximum(widths, self.widths_.min())

    def border(self, X: Matrix) -> Border:
        return stacked([self.join(X[i : i + 1]) for i in range(X.shape[0])])

    def join(self, X: Matrix) -> Border:
        among = self.neighbors_.among(X)
        return self._joined(X, among, self._with(X, among))

    def grow(self, X: Matrix, everything: Matrix) -> Border:
        among = self.neighbors_.among(X)
        nearest = self._with(X, among)
        border = self._joined(X, among, nearest)
        self.nearest_, self.widths_ = nearest, floored(nearest[:, -1])
        self.neighbors_ = self.neighbors_.with_more(X, everything)
        return border

    def _with(self, X: Matrix, among: Array) -> Array:
        """The nearest distances of old and new points once new ones have joined."""
        _, reach, own = self.neighbors_.around(X, self.n_neighbors, self.nearest_[:, -1])
        return joined_nearest(self.nearest_, reach, own, among)

    def _joined(self, X: Matrix, among: Array, nearest: Array) -> Border:
        """With points that join, the widths of those around them shrink."""
        near = self.neighbors_
        widths, own = np.split(floored(nearest[:, -1]), [near.n])
        fewer = np.flatnonzero(widths < self.widths_)
        D = near.distances(near.X[fewer]) if len(fewer) else np.empty((0, near.n))
        now = np.exp(self._exponent(D, widths[fewer], widths))
        was = np.exp(self._exponent(D, self.widths_[fewer], self.widths_))
        return Border(
            np.exp(self._exponent(near.distances(X), own, widths)),
            np.exp(self._exponent(among, own, own)),
            changes=[mirrored(fewer, now - was, near.n)],
        )

    def cure(self) -> str:
        return f"Raise n_neighbors (in use: {self.n_neighbors})."

    @staticmethod
    def _exponent(D: Array, widths: Array, others: Array) -> Array:
        return np.asarray(-(D**2) / others / widths[:, None])


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

    def border(self, X: Matrix) -> None:
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

    def border(self, X: Matrix) -> Border:
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        own = np.array([dense(self.function(row, row))[0, 0] for row in rows])
        return Border(self.rows(X)[0], own)

    def join(self, X: Matrix) -> Border:
        return Border(self.rows(X)[0], self.between(X))

    def between(self, X: Matrix) -> Array:
        return dense(_checked(self.function(X, X)))

    def grow(self, X: Matrix, everything: Matrix) -> Border:
        border = self.join(X)
        self.X_ = everything
        return border


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


def unscaled(kappa: Matrix, log_scale: Array) -> Matrix:
    """``kappa · exp(log_scale)``; a dense κ is overwritten."""
    scale = np.exp(log_scale)
    if isinstance(kappa, np.ndarray):
        kappa *= scale[:, None]
        return kappa
    return sp.csr_array(sp.diags_array(scale) @ kappa)


def floored(widths: Array) -> Array:
    """Widths, at least the smallest positive one."""
    return np.maximum(widths, widths[widths > 0].min())


def stacked(borders: list[Border]) -> Border:
    """What points add each alone, from what each one adds."""
    row = stack(*(border.row for border in borders))
    own = np.array([border.own[0, 0] for border in borders])
    return Border(row, own, changes=[change for border in borders for change in border.changes])


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
