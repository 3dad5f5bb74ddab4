"""Barycentric: ``y(x) = Σ_i w(x,x_i) y_i``, LLE's own way  (Saul & Roweis; Bengio 2003 eq. 16)."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..barycenter import new_rows
from ..gram import Array, Matrix
from ..neighbors import Neighbors
from .base import Extension, Model


class Barycentric(Extension):
    """The combination of coordinates that reconstructs x from its neighbours.

    Weights are penalised by the square of a neighbour's distance: next to a training point they
    tend to 1 there and 0 elsewhere, so that it keeps its coordinates.

    Parameters
    ----------
    n_neighbors : int, default=10
    reg : float, default=1e-3
        Ridge of the weights, relative to the squared distances of the neighbours.
    smooth : bool, default=True
        Neighbours fade out with their distance, by ``φ = (1 − d²/h²)³`` with h such that
        ``Σφ = (n_neighbors + 1)/2``: coordinates are twice continuously differentiable functions
        of x. Otherwise all of the nearest count alike, the others not at all, as in the papers:
        coordinates jump where the nearest change.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from eigenmaps import Isomap, extensions
    >>> X = load_iris().data
    >>> line = X[0] + np.linspace(0, 1, 1001)[:, None] * (X[40] - X[0])
    >>> for smooth in (True, False):
    ...     way = extensions.Barycentric(smooth=smooth)
    ...     Y = Isomap(n_neighbors=60, extension=way).fit(X).transform(line)
    ...     print(bool(abs(np.diff(Y, axis=0)).max() < 0.01))
    True
    False
    """

    serves = ("vectors", "distances")

    def __init__(self, n_neighbors: int = 10, reg: float = 1e-3, smooth: bool = True):
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.smooth = smooth

    def fit(self, model: Model) -> Self:
        self.check(model)
        metric = "precomputed" if model.kernel.takes == "distances" else "euclidean"
        self.neighbors_ = Neighbors(metric).fit(model.X)
        self.embedding_ = model.embedding
        return self

    def __call__(self, X: Matrix) -> Array:
        w = new_rows(self.neighbors_, X, self.n_neighbors, self.reg, self.smooth)
        return np.asarray(w @ self.embedding_)
