"""A density of the data from one of its coordinates, ``y = y(x)``.

Where y is as many numbers as x, densities change with the volume that the map stretches:

    p(x) = p_Y(y(x)) |det ∂y/∂x| / Z        Z = ∫ p_Y(y(x)) |det ∂y/∂x| dx = ∫ p_Y(y) N(y) dy

N(y) is how many x have the coordinates y. A map that is one-to-one onto where p_Y lives has Z = 1.
One that folds has Z > 1: without Z the mass of p_Y at y counts at each of its preimages. However it
is shared out among them, no density that turns into p_Y exceeds ``p_Y |det ∂y/∂x|``: without Z the
likelihood is an upper bound of that of all of these.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.mixture import GaussianMixture

from ..eigenmap import Eigenmap
from ..gram import Array
from ..kernels import Gaussian, KernelPCA, Laplacian

SIDE, MARGIN = 200, 2.0  # points along each side of the grid; how far it goes beyond the data


class Placed(NamedTuple):
    """Points' coordinates, and their derivatives ``∂y_k/∂x_l``."""

    y: Array
    jacobian: Array

    def log_density(self, mixture: GaussianMixture) -> Array:
        """``log p_Y(y(x)) + log |det ∂y/∂x|``, without Z."""
        volume = np.linalg.slogdet(self.jacobian)[1]
        return np.asarray(mixture.score_samples(self.y) + volume)


class Chart:
    """Nyström's map for a Gaussian kernel, in units of the training points' spreads.

    Of Laplacian eigenmaps ``y = Σ p_i w_i``, ``p_i = κ(x,x_i)/Σκ``, and the derivative is 2γ times
    the covariance of w and x_i under p. Kernel PCA has ``y = Σ κ(x,x_i) (w_i − w̄)`` and a constant.
    """

    def __init__(self, X: Array, method: str, gamma: float) -> None:
        kernels = {
            "Laplacian": Laplacian(Gaussian(gamma)),
            "kernel PCA": KernelPCA("rbf", gamma=gamma),
        }
        model = Eigenmap(kernels[method], 2).fit(X)
        spreads = model.embedding_.std(axis=0)
        w = model.extension_.weights_ * model.extension_.scaling_.columns / spreads
        self.X, self.gamma, self.divided = X, gamma, method == "Laplacian"
        self.w = w if self.divided else w - w.mean(axis=0)
        self.embedding = model.embedding_ / spreads
        self.origin = np.zeros(2)
        self.origin = self.embedding[0] - self(X[:1]).y[0]

    def __call__(self, x: Array) -> Placed:
        exponent = -self.gamma * cdist(x, self.X, "sqeuclidean")
        if self.divided:
            exponent -= logsumexp(exponent, axis=1, keepdims=True)
        p = np.exp(exponent)
        y = p @ self.w
        centre = p @ self.X if self.divided else x
        both = (self.w[:, :, None] * self.X[:, None, :]).reshape(len(self.X), -1)
        mean = (p @ both).reshape(len(x), 2, -1)
        derivative = 2 * self.gamma * (mean - y[:, :, None] * centre[:, None, :])
        return Placed(y + self.origin, derivative)


class Grid(NamedTuple):
    """Points of the plane, evenly, around data."""

    points: Array
    cell: float

    @classmethod
    def around(cls, X: Array, margin: float = MARGIN, side: int = SIDE) -> Self:
        low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
        axes = [
            a + (b - a) * (np.arange(side) + 0.5) / side for a, b in zip(low, high, strict=True)
        ]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        return cls(points, float(np.prod((high - low) / side)))


def parzen(x: Array, centres: Array, width: float) -> float:
    """The mean log-likelihood of x under round Gaussians around the centres."""
    d = x.shape[1]
    total = logsumexp(cdist(x, centres, "sqeuclidean") / (-2 * width**2), axis=1)
    return float(total.mean() - np.log(len(centres)) - d / 2 * np.log(2 * np.pi * width**2))


def best_parzen(x: Array, centres: Array, held: Array) -> float:
    """The same, at the width that suits other points best."""
    widths = np.geomspace(0.01, 1, 20) * np.sqrt(held.var(axis=0).mean())
    return parzen(x, centres, max(widths, key=lambda width: parzen(held, centres, width)))
