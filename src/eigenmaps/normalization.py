"""Additive and divisive normalisation: fitted on the base kernel, applied to its rows."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from .gram import Array, Matrix, Rows


class Centring(NamedTuple):
    """``K(a,b) = κ(a,b) − Ê κ(x,b) − Ê κ(a,x) + Ê Ê κ(x,x')``  (Bengio 2004 eq. 3, 6)."""

    column_means: Array
    grand_mean: float

    @classmethod
    def fit(cls, kappa: Array) -> Self:
        means = kappa.mean(axis=0)
        return cls(means, float(means.mean()))

    def rows(self, kappa: Array) -> Array:
        """Centre rows κ(x, ·), in place."""
        shift = kappa.mean(axis=1, keepdims=True) - self.grand_mean
        kappa -= self.column_means
        kappa -= shift
        return kappa

    def gram(self, kappa: Array) -> Array:
        """Centre the Gram matrix, in place."""
        shift = self.column_means - self.grand_mean / 2
        kappa -= shift
        kappa -= shift[:, None]
        return kappa


class Degrees(NamedTuple):
    """``K(a,b) = κ(a,b) / sqrt(S(a) S(b))``  (Bengio 2004 eq. 7, 8), S the row sums of κ.

    With ``include_self=False`` a point does not count in its own degree (footnote 2 of the
    2004 paper). For a point x that is not a training point the nearest one, i, stands for it:
    ``S(x) = Σ_j κ(x,x_j) − κ(x,x_i)²/κ(x_i,x_i)``, which is the same S on the training points,
    is continuous, and tends to the full sum away from them.
    """

    degree: Array
    diagonal: Array
    include_self: bool

    @classmethod
    def fit(cls, kappa: Matrix, include_self: bool = True) -> Self:
        degree = np.asarray(kappa.sum(axis=1)).ravel()
        diagonal = np.array(kappa.diagonal(), dtype=np.float64)
        return cls(degree if include_self else degree - diagonal, diagonal, include_self)

    def gram(self, kappa: Matrix) -> Matrix:
        """``S^-½ κ S^-½``; a dense κ is overwritten."""
        root = 1 / np.sqrt(self.degree)
        if sp.issparse(kappa):
            scale = sp.diags_array(root)
            return sp.csr_array(scale @ kappa @ scale)
        kappa *= root
        kappa *= root[:, None]
        return kappa

    def rows(self, kappa: Matrix, log_scale: Array) -> Rows:
        """Rows ``κ(x,·)/S(x)`` and S(x), from κ(x,·) given as ``kappa · exp(log_scale)``.

        The common factor of a row cancels in its weights, so that they stay defined where κ
        itself underflows. A row without any support is NaN.
        """
        kappa = sp.csr_array(kappa) if sp.issparse(kappa) else kappa
        total = np.asarray(kappa.sum(axis=1)).ravel()
        scale = np.exp(log_scale)
        if not self.include_self:
            total = total - scale * self._own_share(kappa)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = np.where(total > 0, 1 / total, np.nan)
        if sp.issparse(kappa):
            weights: Matrix = sp.csr_array(sp.diags_array(inverse) @ kappa)
        else:
            kappa *= inverse[:, None]
            weights = kappa
        return Rows(weights, np.where(total > 0, total * scale, np.nan))

    def _own_share(self, kappa: Matrix) -> Array:
        """``κ(x,x_i)²/κ(x_i,x_i)`` with i the training point most similar to x."""
        nearest = np.asarray(kappa.argmax(axis=1)).ravel()
        largest = np.asarray(kappa[np.arange(kappa.shape[0]), nearest]).ravel()
        own = self.diagonal[nearest]
        return np.asarray(np.divide(largest**2, own, out=np.zeros_like(own), where=own > 0))
