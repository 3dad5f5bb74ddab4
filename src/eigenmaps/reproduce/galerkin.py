"""Eigenfunctions of a Gaussian kernel under a smooth density.

With p̂ the mean of Gaussians ``N(c_i, H)`` in place of points, and κ Gaussian of width s, the
operator ``(Ĝ f)(x) = ∫ κ(x,y) f(y) p̂(y) dy`` has eigenfunctions that are not combinations of n
rows of κ. The best that are, ``f = Σ_j a_j κ(·, x_j)``, solve ``A a = λ K a`` (Galerkin) with

    A_jk = ∫ κ(x_j,y) κ(x_k,y) p̂(y) dy = √|s²Q| W_jk · 1/n Σ_i E_ij E_ik       Q = (s²I + 2H)^-1
    E_ij = exp(−½ (c_i−x_j)ᵀQ(c_i−x_j))      W_jk = exp(−¼ (x_j−x_k)ᵀ(I/s² − Q)(x_j−x_k))

H = 0 and c = x give A = K²/n: Nyström. The width h of H is the root mean square by which points are
displaced, in spreads of the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import eval_hermite, logsumexp

from ..gram import Array, Border, Gram, Matrix, Rows, dense
from ..kernels import Kernel

FLOOR = 1e-10  # eigenvalues of K below this part of the largest are rounding noise


class Density(NamedTuple):
    """The mean of Gaussians: centres, and their common covariance H."""

    centres: Array
    H: Array

    def sample(self, copies: int, rng: np.random.Generator) -> Array:
        """As many points around each centre."""
        values, vectors = np.linalg.eigh(self.H)
        centres = np.repeat(self.centres, copies, axis=0)
        z = rng.standard_normal(centres.shape) * np.sqrt(np.maximum(values, 0))
        return np.asarray(centres + z @ vectors.T)


def rounded(X: Array, h: float) -> Density:
    """Round Gaussians."""
    d = X.shape[1]
    return Density(X, h**2 * X.var(axis=0).sum() / d * np.eye(d))


def shaped(X: Array, h: float) -> Density:
    """Gaussians of the shape of the data, whose centres move inwards: p̂ has the data's mean and
    covariance whatever h."""
    mean = X.mean(axis=0)
    covariance = np.cov(X.T, bias=True).reshape(2 * X.shape[1:])
    return Density(mean + np.sqrt(1 - h**2) * (X - mean), h**2 * covariance)


Shape = Callable[[Array, float], Density]
SHAPES: dict[str, Shape] = {"round": rounded, "shaped": shaped}


def kappa(X: Array, Y: Array, s: float) -> Array:
    return np.asarray(np.exp(cdist(X, Y, "sqeuclidean") / (-2 * s**2)))


def moments(X: Array, density: Density, s: float) -> Array:
    """A: how rows of κ go together under p̂."""
    values, vectors = np.linalg.eigh(density.H)
    Q = 1 / (s**2 + 2 * np.maximum(values, 0))
    x, c = X @ vectors, density.centres @ vectors
    E = np.exp(cdist(c * np.sqrt(Q), x * np.sqrt(Q), "sqeuclidean") / -2)
    rest = np.sqrt(np.maximum(1 / s**2 - Q, 0))
    W = np.exp(cdist(x * rest, x * rest, "sqeuclidean") / -4)
    return np.asarray(np.prod(s * np.sqrt(Q)) * W * (E.T @ E) / len(c))


class Smoothed(NamedTuple):
    """Eigenfunctions of Ĝ: of norm 1 in the space of κ; ``√λ`` times this under p̂."""

    X: Array
    s: float
    values: Array
    weights: Array

    @classmethod
    def fit(cls, X: Array, density: Density, s: float, m: int) -> Self:
        ell, V = np.linalg.eigh(kappa(X, X, s))
        kept = ell > FLOOR * ell[-1]
        T = V[:, kept] / np.sqrt(ell[kept])
        values, u = np.linalg.eigh(T.T @ moments(X, density, s) @ T)
        return cls(X, s, values[::-1][:m], T @ u[:, ::-1][:, :m])

    def unit(self, Z: Array) -> Array:
        return np.asarray(kappa(Z, self.X, self.s) @ self.weights)

    def __call__(self, Z: Array) -> Array:
        return np.asarray(self.unit(Z) / np.sqrt(self.values))


def quotients(F: Array, X: Array, s: float) -> float:
    """The sum of the Rayleigh quotients of κ/S between points, among functions F and constants:
    how much of the Laplacian's eigenvalues they hold."""
    F = np.column_stack([np.ones(len(F)), F])
    K = kappa(X, X, s)
    np.fill_diagonal(K, 0)
    return float(np.trace(np.linalg.pinv(F.T @ (K.sum(axis=1)[:, None] * F)) @ (F.T @ K @ F)))


def likelihood(X: Array, h: float) -> float:
    """Of each point under the round Gaussians around the others."""
    exponent = cdist(X, X, "sqeuclidean") / (-2 * (variance := rounded(X, h).H[0, 0]))
    np.fill_diagonal(exponent, -np.inf)
    return float(logsumexp(exponent, axis=1).sum() - len(X) * X.shape[1] * np.log(variance) / 2)


class Uncentred(Kernel):
    """κ as it is: the operator of the paper without any normalisation."""

    def __init__(self, s: float):
        self.s = s

    def fit(self, X: Matrix) -> Gram:
        self.X_ = dense(X)
        return Gram(kappa(self.X_, self.X_, self.s))

    def __call__(self, X: Matrix) -> Rows:
        return Rows(kappa(dense(X), self.X_, self.s))

    def border(self, X: Matrix) -> Border:
        return Border(self(X).weights, np.ones(X.shape[0]))


def hermite(spreads: Array, s: float, m: int, Z: Array) -> Array:
    """The leading eigenfunctions of κ under a Gaussian with these spreads, at Z: products of
    Hermite polynomials and a Gaussian (Zhu et al. 1997)."""
    a, b = 1 / (4 * spreads**2), 1 / (2 * s**2)
    c = np.sqrt(a**2 + 2 * a * b)
    fall = np.log(b / (a + b + c))  # of log λ with each degree
    degrees = np.array(list(itertools.product(range(m), repeat=len(spreads))))
    leading = degrees[np.argsort(-degrees @ fall, kind="stable")[:m]]
    H = eval_hermite(leading, (np.sqrt(2 * c) * Z)[:, None])
    return np.asarray(np.prod(H * np.exp((a - c) * Z**2)[:, None], axis=2))
