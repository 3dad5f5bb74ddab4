"""Kernel PCA: ``K(a,b) = κ(a,b) − Ê κ(x,b) − Ê κ(a,x) + Ê Ê κ``  (Bengio 2004 eq. 3, 4)."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from .. import tiles
from ..blocks import row_blocks
from ..gram import Array, Border, Gram, Matrix, Rows, all_but
from ..neighbors import Neighbors
from ..normalization import Centring, row_means
from ..selection import check_bandwidth
from .base import Kernel, twin

MANY = 64  # new points from which tiles pay
FEW = 32  # rows whose similarities to themselves are taken at once, with those to one another


class KernelPCA(Kernel):
    """A centred kernel of scikit-learn's, or a function of two rows.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, ``"precomputed"``, or a
        function ``κ(a, b)`` of two rows.
    gamma : float, optional
        Of ``"rbf"``, ``"laplacian"``, ``"poly"``, ``"sigmoid"`` and ``"chi2"``; ``1/n_features``
        by default.
    degree, coef0 : float
        Of ``"poly"`` and ``"sigmoid"``.
    kernel_params : dict, optional
        Further arguments of a callable kernel.
    n_jobs : int, optional
        Of the kernel's evaluation.
    """

    def __init__(
        self,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs

    @property
    def takes(self) -> str:
        return "products" if self.kernel == "precomputed" else "vectors"

    @property
    def accepts_sparse(self) -> bool:
        return self.kernel != "precomputed"

    def fit(self, X: Matrix) -> Gram:
        if self.gamma is not None and not (isinstance(self.gamma, Real) and self.gamma > 0):
            raise ValueError(f"gamma={self.gamma!r} must be a positive number, or None.")
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else float(self.gamma)
        self.X_ = None if self.kernel == "precomputed" else X
        self.neighbors_ = Neighbors().fit(X) if self.kernel == "rbf" else None
        kappa = self._kappa(X)
        if self.kernel in ("rbf", "laplacian"):
            # Only of the Gaussian is a better gamma known from Euclidean distances.
            known = X if self.kernel == "rbf" else None
            check_bandwidth(kappa, self.gamma_, known, refuse=False)
        self.centring_ = Centring.fit(kappa)
        return Gram(self.centring_.gram(kappa))

    def __call__(self, X: Matrix) -> Rows:
        return Rows(self.centring_.rows(self._kappa(X)))

    def product(self, X: Matrix, W: Array) -> tuple[Array, Array | None]:
        near = self.neighbors_
        if near is None or not isinstance(X, np.ndarray) or len(X) < MANY:
            return super().product(X, W)
        A, B = tiles.squares(near.moved(X), near.near, -self.gamma_)
        found, total = tiles.product(A, B, lambda tile: np.exp(tile, out=tile), W, self.n_jobs)
        return self.centring_.product(found, total / near.n, W), None

    def border(self, X: Matrix) -> Border | None:
        if self.kernel == "precomputed":
            return None
        blocks = row_blocks(X.shape[0], 1, FEW)
        own = np.concatenate([np.diag(self._kappa(X[b], X[b])) for b in blocks])
        return self.centring_.border(self._kappa(X), own)

    def join(self, X: Matrix) -> Border | None:
        if self.kernel == "precomputed":
            return None
        return self.centring_.border(self._kappa(X), self._kappa(X, X))

    def between(self, X: Matrix) -> Array:
        means = row_means(self._kappa, X, len(self.centring_.column_means))
        return self.centring_.between(means, self._kappa(X, X))

    def grow(self, X: Matrix, everything: Matrix) -> Border:
        rows, own = self._kappa(X), self._kappa(X, X)
        before, self.centring_ = self.centring_, self.centring_.grown(rows, own)
        self.X_ = everything
        if self.neighbors_ is not None:
            self.neighbors_ = self.neighbors_.with_more(X, everything)
        return before.border(rows, own)

    def without(self, X: Matrix) -> Callable[[int], tuple[Kernel, Gram]]:
        kappa = self._kappa(X)

        def others(i: int) -> tuple[Kernel, Gram]:
            other, rest = twin(self), np.asarray(all_but(kappa, i, square=True))
            if self.X_ is not None:
                other.X_ = all_but(self.X_, i)
            if self.neighbors_ is not None:
                other.neighbors_ = self.neighbors_.without(i)
            other.centring_ = Centring.fit(rest)
            return other, Gram(other.centring_.gram(rest))

        return others

    def _kappa(self, X: Matrix, towards: Matrix | None = None) -> Array:
        """κ between rows of X and the training points, or other points."""
        if self.kernel == "precomputed":
            return np.array(X, dtype=np.float64)
        if self.neighbors_ is not None:
            near = self.neighbors_ if towards is None else Neighbors().fit(towards)
            return np.exp(-self.gamma_ * near.distances(X) ** 2)
        if callable(self.kernel):
            settings, filter_params = self.kernel_params or {}, False
        else:
            settings = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
            filter_params = True
        kappa = pairwise_kernels(
            X,
            self.X_ if towards is None else towards,
            metric=self.kernel,
            filter_params=filter_params,
            n_jobs=self.n_jobs,
            **settings,
        )
        return np.asarray(kappa, dtype=np.float64)
