"""Refit: the coordinates x would have had, had it been among the training points.

The eigenproblem of n + 1 points, ``κ φ = S φ μ``, is solved within the span of the leading
eigenvectors Φ of the n points, of the part r of x's row that they miss, and of x itself:

    g = Φᵀk     r = k/S − Φg     ρ² = ‖r‖²_S     r̂ = r/ρ

    A = [[Λ, 0, g], [0, r̂ᵀκr̂, ρ], [gᵀ, ρ, κ(x,x)]]
    B = [[I + Φᵀdiag(k)Φ, Φᵀ(k∘r̂), 0], [·, 1 + Σ k r̂², 0], [0, 0, S(x)]]

(B: the degrees after x has joined; the identity where a method has none.) The top pairs of
``A u = μ B u`` are rotated back into the fitted frame; the last entry of u is φ(x). Nyström leaves
the corner κ(x,x) and ρ out, and so shrinks new points.
"""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..eigen import eigenpairs
from ..gram import Array, Matrix
from .base import Extension, Model
from .nystrom import Nystrom

NOISE = 1e-12  # ρ² below this part of ‖k/S‖²_S is rounding error
ALONE = 1e-6  # κ(x, D) below this part of κ(x,x): x would be a component of its own


class Refit(Extension):
    """A Rayleigh–Ritz step towards the fit that has the new point among its training points.

    Every row is answered as if it alone had joined. It does not interpolate: a row that is a
    training point is a second copy of it. For LLE the kernel's own row is the refit, and a point
    too far from all others to share a component with them keeps Nyström's coordinates.

    Parameters
    ----------
    n_pairs : int, default=16
        Eigenpairs kept beside those of the embedding: more come closer to the refit.
    """

    serves = ("vectors", "distances")  # similarities given leave out that of x to itself
    interpolates = False

    def __init__(self, n_pairs: int = 16):
        self.n_pairs = n_pairs

    def fit(self, model: Model) -> Self:
        self.check(model)
        self.nystrom_ = Nystrom().fit(model)
        self.kernel_ = model.kernel
        self.scaling_ = model.scaling
        if model.kernel.row_is_refit:
            return self
        if model.kernel.border(model.X[:1]) is None:
            raise ValueError(
                f"extension 'refit' asks {type(model.kernel).__name__} what a new point adds to "
                "its matrix, and its border() does not say. Define it, or use 'nystrom'."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the model was fitted
            gram = clone(model.kernel).fit(model.X)
            wanted = min(model.phi.shape[1] + self.n_pairs, gram.n - gram.drop)
            pairs = eigenpairs(gram, wanted)
        degree = np.ones(gram.n) if gram.degree is None else gram.degree
        trivial = np.empty((gram.n, 0)) if gram.known is None else gram.known[:, : gram.drop]
        V = np.hstack([trivial, pairs.vectors])
        Phi = V / np.sqrt(degree)[:, None]
        self.drop_ = gram.drop
        self.values_ = np.einsum("ij,ij->j", V, gram.dot(V))
        self.Phi_ = Phi
        self.inverse_degree_ = 1 / degree
        # Φᵀdiag(k)Φ of many rows k is one product with the products of the columns of Φ.
        self.upper_ = np.triu_indices(Phi.shape[1])
        self.products_ = Phi[:, self.upper_[0]] * Phi[:, self.upper_[1]]
        self.frame_ = model.phi.T @ (degree[:, None] * Phi)
        self.target_ = model.ell**model.scaling.power
        self.base_ = None
        if sp.issparse(gram.matrix):
            root = sp.diags_array(np.sqrt(degree))
            self.base_ = sp.csr_array(root @ gram.matrix @ root)
        return self

    def __call__(self, X: Matrix) -> Array:
        Y = self.nystrom_(X)
        if self.kernel_.row_is_refit:
            return Y
        border = self.kernel_.border(X)
        assert border is not None
        total = np.asarray(border.row.sum(axis=1)).ravel()
        joins = np.isfinite(Y).all(axis=1)
        if border.degree is not None:
            joins &= total > ALONE * border.own
        if joins.any():
            degree = None if border.degree is None else border.degree[joins]
            mu, U = self._solve(border.row[joins], border.own[joins], degree)
            Y[joins] = self.scaling_.size * self._into_frame(mu, U)
            if degree is not None and self.scaling_.by_degree:
                Y[joins] *= np.sqrt(degree)[:, None]
        return Y

    def _solve(self, k: Matrix, own: Array, degree: Array | None) -> tuple[Array, Array]:
        """μ (decreasing) and u of ``A u = μ B u``, for every row k."""
        m, (n, p) = k.shape[0], self.Phi_.shape
        g = np.asarray(k @ self.Phi_)
        kS = k * self.inverse_degree_[None, :]
        kk = k * kS  # k²/S
        squares = np.asarray(kk.sum(axis=1)).ravel()
        rho2 = squares - (g**2).sum(axis=1)
        missed = rho2 > NOISE * squares
        rho = np.sqrt(np.where(missed, rho2, 1))
        A = np.zeros((m, p + 2, p + 2))
        A[:, range(p), range(p)] = self.values_
        # Without r, a direction of its own that stays below all others.
        A[:, p, p] = np.where(missed, self._tail(kS, g) / rho**2, self.values_.min() - 1)
        # A centre moves when x joins; by ΦᵀI1 = 0 this changes the border only.
        centre = n / (n + 1) if degree is None else 1.0
        A[:, :p, -1] = A[:, -1, :p] = centre * g
        A[:, p, -1] = A[:, -1, p] = np.where(missed, centre * rho, 0)
        A[:, -1, -1] = centre**2 * own
        if degree is None:
            mu, U = np.linalg.eigh(A)
            return mu[:, ::-1], U[:, :, ::-1]
        C = np.zeros((m, p, p))
        C[:, self.upper_[0], self.upper_[1]] = np.asarray(k @ self.products_)
        C[:, self.upper_[1], self.upper_[0]] = C[:, self.upper_[0], self.upper_[1]]
        Cg = np.einsum("mij,mj->mi", C, g)
        c = np.asarray(kk @ self.Phi_)
        third = np.asarray((kk * kS).sum(axis=1)).ravel()  # Σ k (k/S)²
        B = np.zeros_like(A)
        B[:, :p, :p] = C + np.eye(p)
        B[:, :p, p] = B[:, p, :p] = np.where(missed, 1 / rho, 0)[:, None] * (c - Cg)
        krr = third - 2 * (g * c).sum(axis=1) + (g * Cg).sum(axis=1)
        B[:, p, p] = 1 + np.where(missed, np.maximum(krr, 0) / rho**2, 0)
        B[:, -1, -1] = degree
        half = np.linalg.inv(np.linalg.cholesky(B))
        mu, U = np.linalg.eigh(half @ A @ half.transpose(0, 2, 1))
        return mu[:, ::-1], (half.transpose(0, 2, 1) @ U)[:, :, ::-1]

    def _tail(self, kS: Matrix, g: Array) -> Array:
        """``rᵀκr = Σ λ_j g_j²`` over the pairs that are not kept. Of a dense kernel these are
        small, and left out."""
        if self.base_ is None:
            return np.zeros(len(g))
        whole = np.asarray(((kS @ self.base_) * kS).sum(axis=1)).ravel()
        return np.asarray(whole - (self.values_ * g**2).sum(axis=1))

    def _into_frame(self, mu: Array, U: Array) -> Array:
        """φ(x), scaled, turned such that the old points lie on their old coordinates."""
        q, p = self.frame_.shape
        chosen = slice(self.drop_, self.drop_ + q)
        weight = np.maximum(mu[:, None, chosen], 0) ** self.scaling_.power
        old = (self.frame_ @ U[:, :p, chosen]) * weight
        left, _, right = np.linalg.svd(old.transpose(0, 2, 1) * self.target_)
        new = U[:, -1:, chosen] * weight
        return np.asarray((new @ (left @ right))[:, 0])
