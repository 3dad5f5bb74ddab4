"""Refit where ``M = −RᵀR``, R = I − W: the smallest singular vectors once x has joined.

x has its row w of W. Adding [−wᵀ, 1] to R changes M by what vanishes on [Y; wᵀY], so that wᵀY is
the refit, but for the points T that take x for a neighbour and have new rows. In z = (z_D, z_x)

    R'z = [(R − C) z_D − ω z_x;  z_x − wᵀz_D],      C, ω: the change of the rows T, zero elsewhere.

R takes constants to 0. Bordered by any s, and with one value of z pinned to 0, it is regular, and
one factorisation of

    K = [[R, s], [e₁ᵀ, 0]]

serves all new points: without z_x, R' differs from R by ``C + ωwᵀ``, of rank |T|, so that systems
with R' and R'ᵀ are solved by Woodbury's formula. Inverse iteration ``V ← R'^-1 R'^-T V`` from the
old vectors and their means wᵀV at x then converges within a few steps. R'ᵀR' is not formed: its
small eigenvalues would drown.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import orthogonal_procrustes
from scipy.sparse.linalg import SuperLU, splu

from ..gram import EPS, Array, Rewiring
from .base import Model

SPARE = 4  # pairs beside those of the embedding: steps converge fast, and each costs two solves
STEPS = 2  # of inverse iteration
CONNECTED = 1e4 * EPS  # smaller singular values are components: K is then singular


class Rewired:
    """R, its leading right singular vectors, and the coordinates made of them."""

    def fit(self, model: Model, n_pairs: int) -> Self:
        gram, pairs = model.solved(model.phi.shape[1] + min(n_pairs, SPARE))
        assert gram.factor is not None
        self.kernel_ = model.kernel
        self.scaling_ = model.scaling
        self.embedding_ = model.embedding
        self.factor_ = gram.factor
        self.vectors_ = pairs.vectors
        self.connected_ = bool(np.sqrt(-pairs.values[0]) > CONNECTED)
        self._solver: SuperLU | None = None
        return self

    def __call__(self, rewiring: Rewiring, Y: Array, refine: int) -> Array:
        """Coordinates of new points; Y, where points fall into components, with x or without."""
        q = Y.shape[1]
        for i, change in enumerate(rewiring.changes if self.connected_ else ()):
            values, U = self.joined(rewiring.row[[i]], change, STEPS + refine)
            if values[0] < CONNECTED:
                continue
            ell = self.kernel_.ell(-(values[:q] ** 2))
            y = self.scaling_.size_of(len(U)) * ell**self.scaling_.power * U[:, :q]
            turn, _ = orthogonal_procrustes(y[:-1], self.embedding_)
            Y[i] = y[-1] @ turn
        return Y

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_solver": None}

    @property
    def solver(self) -> SuperLU:
        """K, factorised when first needed."""
        if self._solver is None:
            n = self.factor_.shape[0]
            s = np.random.RandomState(0).uniform(-1, 1, (n, 1))
            pin = sp.csr_array(([1.0], ([0], [0])), (1, n))  # 1ᵀ would fill the factors
            K = sp.block_array([[self.factor_, s], [pin, None]])
            self._solver = splu(sp.csc_array(K))
        return self._solver

    def joined(self, w: sp.csr_array, change: sp.csr_array, steps: int) -> tuple[Array, Array]:
        """Singular values of R' that follow 0, in increasing order, and right vectors."""
        n = self.factor_.shape[0]
        lu, T = self.solver, np.unique(change.nonzero()[0])
        omega = change[T][:, [n]].toarray().ravel()
        D = sp.csr_array(change[T][:, :n] + sp.csr_array(omega[:, None]) @ w)
        E = np.zeros((n + 1, len(T)))
        E[T, np.arange(len(T))] = 1
        DT = np.vstack([D.T.toarray(), np.zeros((1, len(T)))])
        G, H = lu.solve(E), lu.solve(DT, trans="T")
        core = np.linalg.pinv(np.eye(len(T)) - D @ G[:n])

        def solve(b: Array) -> Array:
            """R'z = b, up to a constant."""
            rhs = np.vstack([b[:n], np.zeros((1, b.shape[1]))])
            rhs[T] += omega[:, None] * b[n]
            z = lu.solve(rhs)
            z = (z + G @ (core @ (D @ z[:n])))[:n]
            return np.vstack([z, b[n] + w @ z])

        def solve_transposed(b: Array, last: float = 0) -> Array:
            """R'ᵀz = b, up to the left null vector, which ``b = 0, last = 1`` gives."""
            z = lu.solve(np.vstack([b[:n] + w.T * b[n], np.full((1, b.shape[1]), last)]), trans="T")
            z += H @ (core.T @ z[T])
            return np.vstack([z[:n], b[n] + omega @ z[T]])

        null = solve_transposed(np.zeros((n + 1, 1)), 1)
        null /= np.linalg.norm(null)
        V = np.vstack([self.vectors_, w @ self.vectors_])
        for _ in range(steps):
            z = solve_transposed(V - V.mean(axis=0))
            V, _ = np.linalg.qr(solve(z - null @ (null.T @ z)))
        V, _ = np.linalg.qr(V - V.mean(axis=0))
        RV = np.vstack([self.factor_ @ V[:n], V[[n]] - w @ V[:n]])
        RV[:n] -= change @ V
        _, values, U = np.linalg.svd(RV, full_matrices=False)
        return values[::-1], V @ U[::-1].T
