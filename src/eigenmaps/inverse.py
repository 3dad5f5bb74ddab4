"""From coordinates back to data: a linear map and Gaussians around some points, by ridge.

``x(y) = [1, y] Γ + κ(y, C) κ_CC^-½ B``, C a sample of the embedding, κ a Gaussian. B is penalised,
Γ is not: where the embedding is linear, so is the way back. With Q an orthonormal basis of [1, Y]
and F = U s Vᵀ the Gaussians' features off it, the fit is ``H X``, ``H = QQᵀ + U s²/(s²+α) Uᵀ``, and
the error on a point left out is ``(x − Hx)/(1 − H_ii)``: width and α are chosen by it.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from .gram import EPS, Array
from .neighbors import Neighbors

CENTRES = 500  # Gaussians at most
JUDGES = 2000  # points at most by which width and ridge are chosen
WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)  # in median distances to the 10th neighbour
RIDGES = 10.0 ** np.arange(-10, 2)


class Inverse:
    """A smooth map from coordinates to data, fitted without iteration.

    Attributes
    ----------
    error_ : float
        Root mean square distance of points to what the others make of their coordinates,
        relative to the root mean square distance of the data from their mean.
    width_, ridge_ : float
        Of the Gaussians.

    Examples
    --------
    >>> Y = np.linspace(-1, 1, 50)[:, None]
    >>> curve = np.hstack([Y, Y**2])
    >>> back = Inverse().fit(Y, curve)
    >>> bool(np.abs(back(np.array([[0.35]])) - [0.35, 0.35**2]).max() < 1e-3)
    True
    """

    def fit(self, Y: Array, X: Array) -> Self:
        rng = np.random.default_rng(0)
        self.centres_ = _sample(Y, CENTRES, rng)
        judges = rng.permutation(len(Y))[:JUDGES]
        near, _ = Neighbors().fit(self.centres_).of_training(min(10, len(self.centres_) - 1))
        unit = float(np.median(near[:, -1])) or float(np.ptp(Y)) or 1.0
        errors = {
            (width, ridge): error
            for width in unit * np.array(WIDTHS)
            for ridge, error in self._left_out(Y[judges], X[judges], width)
        }
        (self.width_, self.ridge_), best = min(errors.items(), key=lambda item: item[1])
        self.error_ = float(np.sqrt(best / ((X[judges] - X[judges].mean(axis=0)) ** 2).sum()))
        self._solve(Y, X)
        return self

    def __call__(self, Y: Array) -> Array:
        gaussians = rbf_kernel(Y, self.centres_, gamma=0.5 / self.width_**2)
        return np.asarray(_affine(Y) @ self.linear_ + gaussians @ self.coefficients_)

    def _left_out(self, Y: Array, X: Array, width: float) -> list[tuple[float, float]]:
        """For each ridge the sum of squared errors on points left out."""
        Q, F = self._basis(Y, width)
        U, s, _ = np.linalg.svd(F, full_matrices=False)
        rest = X - Q @ (Q.T @ X)
        along, own = U.T @ rest, (Q**2).sum(axis=1)
        errors = []
        for ridge in RIDGES:
            shrink = s**2 / (s**2 + ridge)
            free = 1 - own - U**2 @ shrink
            residual = rest - U @ (shrink[:, None] * along)
            # A point that alone determines its own value says nothing about others.
            safe = np.where(free > 1e-8, free, np.inf)
            error = float(((residual / safe[:, None]) ** 2).sum())
            errors.append((ridge, error if (free > 1e-8).all() else np.inf))
        return errors

    def _basis(self, Y: Array, width: float) -> tuple[Array, Array]:
        """Q and the features off it."""
        Q, _ = np.linalg.qr(_affine(Y))
        F = rbf_kernel(Y, self.centres_, gamma=0.5 / width**2) @ self._whitening(width)
        return Q, F - Q @ (Q.T @ F)

    def _whitening(self, width: float) -> Array:
        """``κ_CC^-½``, without directions that are rounding noise."""
        values, vectors = np.linalg.eigh(rbf_kernel(self.centres_, gamma=0.5 / width**2))
        kept = values > len(values) * EPS * values[-1]
        return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))

    def _solve(self, Y: Array, X: Array) -> None:
        Q, F = self._basis(Y, self.width_)
        normal = F.T @ F
        normal.flat[:: len(normal) + 1] += self.ridge_
        B = np.linalg.solve(normal, F.T @ (X - Q @ (Q.T @ X)))
        self.coefficients_ = self._whitening(self.width_) @ B
        gaussians = rbf_kernel(Y, self.centres_, gamma=0.5 / self.width_**2)
        self.linear_ = np.linalg.lstsq(_affine(Y), X - gaussians @ self.coefficients_, rcond=None)[
            0
        ]


def _affine(Y: Array) -> Array:
    return np.hstack([np.ones((len(Y), 1)), Y])


def _sample(Y: Array, count: int, rng: np.random.Generator) -> Array:
    """Different rows, at most so many."""
    distinct = np.unique(Y, axis=0)
    return distinct[np.sort(rng.permutation(len(distinct))[:count])]
