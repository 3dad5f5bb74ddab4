"""Additive and divisive normalisation: fitted on the base kernel, applied to its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from .blocks import row_blocks
from .gram import Array, Border, Index, Matrix, Rows


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

    def product(self, kappa_W: Array, means: Array, W: Array) -> Array:
        """Centred rows times W, given ``κ(x, ·) W``, in place, and the means of κ(x, ·)."""
        kappa_W -= self.column_means @ W
        kappa_W -= np.outer(means - self.grand_mean, W.sum(axis=0))
        return kappa_W

    def between(self, means: Array, own: Array) -> Array:
        """Centre κ between points, in place, given the means of their rows κ(x, ·)."""
        shift = means - self.grand_mean / 2
        own -= shift
        own -= shift[:, None]
        return own

    def border(self, kappa: Array, own: Array) -> Border:
        """Rows κ(x, ·), in place, and κ(x, x) or κ between new points, centred by the training
        points."""
        means = kappa.mean(axis=1)
        others = means if own.ndim == 1 else means[:, None]
        return Border(self.rows(kappa), own - means - others + self.grand_mean)

    def grown(self, kappa: Array, own: Array) -> Self:
        """The centring by more points, whose rows κ(x, ·) and κ among themselves are given."""
        old = len(self.column_means) * self.column_means + kappa.sum(axis=0)
        means = np.concatenate([old, kappa.sum(axis=1) + own.sum(axis=1)])
        means /= len(means)
        return type(self)(means, float(means.mean()))

    def gram(self, kappa: Array) -> Array:
        """Centre the Gram matrix, in place."""
        shift = self.column_means - self.grand_mean / 2
        kappa -= shift
        kappa -= shift[:, None]
        return kappa


def row_means(kappa: Callable[[Matrix], Array], X: Matrix, n: int) -> Array:
    """The means of rows κ(x, ·) over n training points, a block of rows at a time."""
    return np.concatenate([kappa(X[b]).mean(axis=1) for b in row_blocks(X.shape[0], 8 * n)])


SELF = ("kept", "off-degree", "dropped")


class Degrees(NamedTuple):
    """``K(a,b) = κ(a,b) / sqrt(S(a) S(b))``  (Bengio 2004 eq. 7, 8), S the row sums of κ.

    A point's similarity to itself is ``"kept"``; or it is ``"off-degree"``, not counted in S
    (footnote 2 of the 2004 paper); or ``"dropped"`` from κ altogether, as scikit-learn does.
    In the latter two, the training point i most similar to a new x takes the part of x itself:
    ``κ(x,x_i)²/κ(x_i,x_i)`` is left out. This is all of ``κ(x_i,x_i)`` at x = x_i, so that K is
    one function, continuous there, and nothing for x far from all training points. Where rows
    are given by the user, ``"dropped"`` leaves them as they are.
    """

    degree: Array
    diagonal: Array
    own: str

    @classmethod
    def fit(cls, kappa: Matrix, own: str = "kept", given: bool = False) -> Self:
        diagonal = np.array(kappa.diagonal(), dtype=np.float64)
        # The sum without the diagonal, not a difference: of an outlier little would be left.
        others = kappa if own == "kept" else _with_diagonal(kappa, 0.0)
        degree = np.asarray(others.sum(axis=1)).ravel()
        if own == "off-degree":
            _with_diagonal(kappa, diagonal)
        if own == "dropped" and given:
            diagonal = np.zeros_like(diagonal)
        return cls(degree, diagonal, own)

    def gram(self, kappa: Matrix) -> Matrix:
        """``S^-½ κ S^-½``; κ is overwritten."""
        root = 1 / np.sqrt(self.degree)
        if self.own == "dropped":
            kappa = _with_diagonal(kappa, 0.0)
        if sp.issparse(kappa):
            scale = sp.diags_array(root)
            return sp.csr_array(scale @ kappa @ scale)
        kappa *= root
        kappa *= root[:, None]
        return kappa

    def rows(self, kappa: Matrix, log_scale: Array) -> Rows:
        """Rows ``κ(x,·)/S(x)`` and S(x), from κ(x,·) given as ``kappa · exp(log_scale)``.

        The common factor of a row cancels in its weights, so that they stay defined where κ
        itself underflows. A row without any support has a degree of NaN.
        """
        scale = np.exp(log_scale)
        total = np.asarray(kappa.sum(axis=1)).ravel()
        if self.own != "kept":
            nearest = np.asarray(kappa.argmax(axis=1)).ravel()
            largest = np.asarray(kappa[np.arange(kappa.shape[0]), nearest]).ravel()
            own = self.diagonal[nearest]
            share = np.divide(largest * scale, own, out=np.zeros_like(own), where=own > 0)
            others = _with_entries(kappa, nearest, largest * (1 - share))
            total = np.asarray(others.sum(axis=1)).ravel()
            kappa = others if self.own == "dropped" else _with_entries(others, nearest, largest)
        supported = total > 0
        inverse = np.divide(1, total, out=np.zeros_like(total), where=supported)
        if sp.issparse(kappa):
            weights: Matrix = sp.csr_array(sp.diags_array(inverse) @ kappa)
        else:
            kappa *= inverse[:, None]
            weights = kappa
        return Rows(weights, np.where(supported, total * scale, np.nan))


def _with_diagonal(kappa: Matrix, value: Array | float) -> Matrix:
    """Another diagonal: in place where κ is dense, a copy where it is sparse."""
    if isinstance(kappa, np.ndarray):
        np.fill_diagonal(kappa, value)
        return kappa
    kappa = sp.csr_array(kappa - sp.diags_array(kappa.diagonal() - value))
    kappa.eliminate_zeros()
    return kappa


def _with_entries(kappa: Matrix, column: Index, value: Array) -> Matrix:
    """Another value in one column of each row: in place where κ is dense."""
    row = np.arange(kappa.shape[0])
    if isinstance(kappa, np.ndarray):
        kappa[row, column] = value
        return kappa
    change = value - np.asarray(kappa[row, column]).ravel()
    return sp.csr_array(kappa + sp.csr_array((change, (row, column)), shape=kappa.shape))
