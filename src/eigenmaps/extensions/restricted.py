"""Restricted reconstruction: old points stay, x goes where scalar products fit best
(Trosset & Priebe 2008, The out-of-sample problem for classical multidimensional scaling).

With b = K(D, x) and β = K(x, x), both centred by the n training points, and their coordinates
``Y = V ℓ^½``, the new row and column of the (n+1)-point matrix are matched by

    min_y 2‖b − Yy‖² + (β − yᵀy)²,

whose gradient vanishes where ``(ℓ_j + ρ − β) y_j = (Yᵀb)_j``, ρ = yᵀy. The minimum has no factor
below 0: ρ is the only root above max(0, β − ℓ_min) of

    Σ_j (Yᵀb)_j² / (ℓ_j + ρ − β)² = ρ.

Without the second term it is Nyström's formula, which divides by ℓ_j.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from ..gram import Array, Matrix
from ..roots import convex_root
from .base import Extension, Model


class Restricted(Extension):
    """The point whose scalar products with the old ones, and with itself, fit best.

    It is Nyström's with ℓ less what coordinates leave of x's own product, and needs no pairs
    beside those of the embedding. Where distances are Euclidean and the embedding keeps all their
    dimensions, it is exact. For methods of scalar products: MDS, Isomap and kernel PCA.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenmaps import ClassicalMDS
    >>> X = load_iris().data
    >>> model = ClassicalMDS(metric="manhattan", extension="restricted").fit(X[:100])
    >>> model.transform(X[100:]).shape
    (50, 2)
    """

    serves = ("vectors", "distances")  # similarities given leave out that of x to itself
    interpolates = False

    def fit(self, model: Model) -> Self:
        self.check(model)
        border = model.kernel.border(model.X[:1])
        if border is None or border.degree is not None:
            raise ValueError(
                "extension 'restricted' fits scalar products, and what "
                f"{type(model.kernel).__name__} embeds by are none: it serves MDS, Isomap and "
                "kernel PCA. Use 'refit'."
            )
        self.kernel_ = model.kernel
        self.scaling_ = model.scaling
        self.phi_ = model.phi
        self.ell_ = model.ell
        return self

    def __call__(self, X: Matrix) -> Array:
        border = self.kernel_.border(X)
        assert border is not None
        root = np.sqrt(self.ell_)
        products = np.asarray(border.row @ self.phi_) * root
        return self.scaling_.apply(reconstructed(products, border.own, self.ell_) / root, None)


def reconstructed(g: Array, beta: Array, ell: Array) -> Array:
    """y of many new points, ``g = Yᵀb`` of each in a row, with ρ = pole + t.

    Where g vanishes along ℓ_min there may be no root: of the two minima the positive one is taken.
    """
    last = int(ell.argmin())
    pole = np.maximum(beta - ell[last], 0)
    factor = ell - np.minimum(beta, ell[last])[:, None]  # ℓ − β + pole

    def y(t: Array) -> Array:
        return np.divide(g, factor + t[:, None], out=np.zeros_like(g), where=g != 0)

    def excess(t: Array) -> tuple[Array, Array]:
        square = y(t) ** 2
        slope = np.divide(square, factor + t[:, None], out=np.zeros_like(g), where=g != 0)
        return square.sum(axis=1) - pole - t, -2 * slope.sum(axis=1) - 1

    # Here the last term alone reaches ρ: pole + t ≤ 2 max(pole, t) ≤ g²/(factor + t)².
    size = np.abs(g[:, last])
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.fmin(size / np.sqrt(2 * pole), np.cbrt(size**2 / 2))
    found = y(convex_root(excess, np.maximum(near - factor[:, last], 0)))
    missing = np.maximum(pole - (found**2).sum(axis=1), 0)
    hard = (g[:, last] == 0) & (factor[:, last] == 0)
    found[hard, last] = np.sqrt(missing[hard])
    return found
