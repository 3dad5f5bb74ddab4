"""Barycentric: ``y(x) = Σ_i w(x,x_i) y_i``, LLE's own way  (Saul & Roweis; Bengio 2003 eq. 16)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

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
        ``Σφ = ¾ (n_neighbors + 1)``: coordinates are twice continuously differentiable functions
        of x; merely continuous ones where more than 500 points are within h. Otherwise all of the
        nearest count alike, the others not at all, as in the papers: coordinates jump where the
        nearest change.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenmaps import Isomap, extensions
    >>> X, _ = make_swiss_roll(500, random_state=0)
    >>> walk = X[0] + np.linspace(0, 1, 1001)[:, None] * (X[1] - X[0])
    >>> model = Isomap(n_neighbors=10).fit(X)
    >>> for smooth in (True, False):
    ...     Y = model.with_extension(extensions.Barycentric(smooth=smooth)).transform(walk)
    ...     print(f"largest step of {np.ptp(Y[:, 0]):.0f}: {abs(np.diff(Y[:, 0])).max():.1f}")
    largest step of 25: 0.3
    largest step of 26: 19.5
    """

    serves = ("vectors", "distances")

    def __init__(self, n_neighbors: int = 10, reg: float = 1e-3, smooth: bool = True):
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.smooth = smooth

    def fit(self, model: Model) -> Self:
        self.check(model)
        k: Any = self.n_neighbors
        if not (isinstance(k, Integral) and int(k) >= 1):
            raise ValueError(
                f"n_neighbors={k!r} of Barycentric must be a whole number, at least 1."
            )
        if not self.reg > 0:
            raise ValueError(
                f"reg={self.reg} must be positive: without a ridge weights may not exist."
            )
        metric = "precomputed" if model.kernel.takes == "distances" else "euclidean"
        self.neighbors_ = Neighbors(metric).fit(model.X)
        self.embedding_ = model.embedding
        return self

    def __call__(self, X: Matrix) -> Array:
        w = new_rows(self.neighbors_, X, self.n_neighbors, self.reg, self.smooth)
        return np.asarray(w @ self.embedding_)
