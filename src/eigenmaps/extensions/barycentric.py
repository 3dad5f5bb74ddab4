"""Barycentric: ``y(x) = Σ_i w(x,x_i) y_i``, LLE's own way  (Saul & Roweis; Bengio 2003 eq. 16)."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..barycenter import new_weights
from ..gram import Array, Matrix
from ..graphs import directed_graph
from ..neighbors import Neighbors
from .base import Extension, Model


class Barycentric(Extension):
    """The combination of coordinates that reconstructs x from its neighbours.

    Parameters
    ----------
    n_neighbors : int, default=10
    reg : float, default=1e-3
        Ridge of the weights, relative to the squared distances of the neighbours.
    """

    serves = ("vectors", "distances")

    def __init__(self, n_neighbors: int = 10, reg: float = 1e-3):
        self.n_neighbors = n_neighbors
        self.reg = reg

    def fit(self, model: Model) -> Self:
        self.check(model)
        metric = "precomputed" if model.kernel.takes == "distances" else "euclidean"
        self.neighbors_ = Neighbors(metric).fit(model.X)
        self.embedding_ = model.embedding
        return self

    def __call__(self, X: Matrix) -> Array:
        k = min(self.n_neighbors, self.neighbors_.n)
        distances, index = self.neighbors_.of(X, k)
        w = new_weights(self.neighbors_, X, distances, index, self.reg)
        return np.asarray(directed_graph(w, index, self.neighbors_.n) @ self.embedding_)
