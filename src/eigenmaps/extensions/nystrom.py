"""Nyström: ``y_k(x) = 1/ℓ_k Σ_i v_ik K(x, x_i)``  (Bengio 2003 eq. 9–12, 2004 eq. 1)."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..gram import Array, Matrix
from .base import Extension, Model


class Nystrom(Extension):
    """The eigenfunction itself, of which the embedding is the values on the training set."""

    def fit(self, model: Model) -> Self:
        self.kernel_ = model.kernel
        self.scaling_ = model.scaling
        self.weights_ = np.ascontiguousarray(model.phi / model.ell)
        return self

    def __call__(self, X: Matrix) -> Array:
        phi, degree = self.kernel_.product(X, self.weights_)
        if degree is not None:
            phi[np.isnan(degree)] = np.nan
        return self.scaling_.apply(phi, degree)
