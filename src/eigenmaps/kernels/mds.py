"""Classical MDS: ``K(a,b) = −½(d² − Ê d²(x,b) − Ê d²(a,x) + Ê Ê d²)``  (Bengio 2004 eq. 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..gram import Array, Border, Gram, Matrix, Rows, all_but
from ..neighbors import Neighbors
from ..normalization import Centring, row_means
from .base import Kernel, twin


class MDS(Kernel):
    """Double-centred squared distances; Torgerson's scaling, extended as by Gower (1968).

    Parameters
    ----------
    metric : str or callable, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`, or ``"precomputed"``.
    metric_params : dict, optional
        Further arguments of the metric.
    """

    def __init__(self, metric: Any = "euclidean", metric_params: dict[str, Any] | None = None):
        self.metric = metric
        self.metric_params = metric_params

    @property
    def takes(self) -> str:
        return "distances" if self.metric == "precomputed" else "vectors"

    @property
    def accepts_sparse(self) -> bool:
        return self.metric != "precomputed"

    origin_: Array | None

    def fit(self, X: Matrix) -> Gram:
        self.neighbors_ = Neighbors(self.metric, metric_params=self.metric_params).fit(X)
        if self.neighbors_.euclidean and isinstance(X, np.ndarray) and X.shape[1] < len(X):
            return self._flat(X)
        self.origin_ = None
        kappa = self._kappa(X)
        self.centring_ = Centring.fit(kappa)
        return Gram(self.centring_.gram(kappa))

    def _flat(self, X: Array) -> Gram:
        """``K(a,b) = z_a · z_b`` with z = x − Ê x: of Euclidean distances M is ZZᵀ, which is never
        formed, and ``Ê d²(x,b) = ‖z_b‖² + Ê‖z‖²``."""
        self.origin_ = X.mean(axis=0)
        Z = X - self.origin_
        squares = np.einsum("ij,ij->i", Z, Z)
        self.centring_ = Centring(-0.5 * (squares + squares.mean()), -float(squares.mean()))
        return Gram(root=Z)

    def product(self, X: Matrix, W: Array) -> tuple[Array, Array | None]:
        if self.origin_ is None:
            return super().product(X, W)
        ZW = self.neighbors_.X.T @ W - np.outer(self.origin_, W.sum(axis=0))
        return np.asarray((X - self.origin_) @ ZW), None

    def __call__(self, X: Matrix) -> Rows:
        return Rows(self.centring_.rows(self._kappa(X)))

    def border(self, X: Matrix) -> Border:
        return self.centring_.border(self._kappa(X), np.zeros(X.shape[0]))

    def join(self, X: Matrix) -> Border:
        return self.centring_.border(self._kappa(X), -0.5 * self.neighbors_.among(X) ** 2)

    def between(self, X: Matrix) -> Array:
        means = row_means(self._kappa, X, self.neighbors_.n)
        return self.centring_.between(means, -0.5 * self.neighbors_.among(X) ** 2)

    def grow(self, X: Matrix, everything: Matrix) -> Border:
        rows, own = self._kappa(X), -0.5 * self.neighbors_.among(X) ** 2
        before, self.centring_ = self.centring_, self.centring_.grown(rows, own)
        self.neighbors_ = self.neighbors_.with_more(X, everything)
        if self.origin_ is not None:
            self.origin_ = np.asarray(everything.mean(axis=0))
        return before.border(rows, own)

    def without(self, X: Matrix) -> Callable[[int], tuple[Kernel, Gram]]:
        if self.origin_ is not None:
            return super().without(X)
        kappa = self._kappa(X)

        def others(i: int) -> tuple[Kernel, Gram]:
            other, rest = twin(self), np.asarray(all_but(kappa, i, square=True))
            other.neighbors_ = self.neighbors_.without(i)
            other.centring_ = Centring.fit(rest)
            return other, Gram(other.centring_.gram(rest))

        return others

    def _kappa(self, X: Matrix) -> Array:
        D = self.neighbors_.distances(X)
        return -0.5 * D**2
