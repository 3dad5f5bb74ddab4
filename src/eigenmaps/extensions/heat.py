"""Heat-kNN, "LELVM": ``y(x) = Σ κ(x,x_i) y_i / Σ κ(x,x_i)``  (Raducanu & Dornaika 2012 eq. 9;
Carreira-Perpiñán & Lu 2007)."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..gram import Array, Matrix
from ..graphs import directed_graph
from ..neighbors import Neighbors
from ..selection import mean_squared_distance
from .base import Extension, Model


class Heat(Extension):
    """A mean of the neighbours' coordinates, weighted by a heat kernel ``exp(−d²/β)``.

    It smooths: a training point is drawn to its neighbours.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        ε of the paper, which used 3, 5 and 7; None: all training points.
    beta : float, optional
        By default the mean squared distance over all pairs of training points.
    """

    serves = ("vectors", "distances")
    interpolates = False

    def __init__(self, n_neighbors: int | None = 5, beta: float | None = None):
        self.n_neighbors = n_neighbors
        self.beta = beta

    def fit(self, model: Model) -> Self:
        self.check(model)
        precomputed = model.kernel.takes == "distances"
        self.neighbors_ = Neighbors("precomputed" if precomputed else "euclidean").fit(model.X)
        self.embedding_ = model.embedding
        if self.beta is not None:
            self.beta_ = float(self.beta)
        elif precomputed:
            n = model.X.shape[0]
            self.beta_ = float((model.X**2).sum() / (n * (n - 1)))
        else:
            self.beta_ = mean_squared_distance(model.X)
        if not self.beta_ > 0:
            raise ValueError(f"beta={self.beta_} must be positive.")
        return self

    def __call__(self, X: Matrix) -> Array:
        n = self.neighbors_.n
        k = n if self.n_neighbors is None else min(self.n_neighbors, n)
        distances, index = self.neighbors_.of(X, k)
        # The nearest point's factor cancels: taken out first, it cannot underflow.
        squares = distances**2
        w = np.exp((squares.min(axis=1, keepdims=True) - squares) / self.beta_)
        w /= w.sum(axis=1, keepdims=True)
        return np.asarray(directed_graph(w, index, self.neighbors_.n) @ self.embedding_)
