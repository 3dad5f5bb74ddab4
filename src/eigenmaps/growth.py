"""A model that takes new points in (``partial_fit``): nothing is solved from the start.

κ and its leading pairs are kept. New points add rows to κ. The old eigenvectors, prolonged to the
new points by Nyström's formula, and what they leave of the grown problem, span the space in which
the new ones are sought (:mod:`eigenmaps.ritz`).
"""

from __future__ import annotations

import warnings
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from .eigen import eigenpairs
from .extensions.base import Model
from .gram import Array, Border, Gram, Matrix, stack
from .kernels.base import Kernel
from .ritz import Whole, ritz

SPARE = 16  # pairs kept beside those of the embedding
STEPS = 1  # enlargements of the space for each batch
ALONE = 1e-6  # less similar to all others than this part of itself, a point is a component
ROOM = 1.5  # how much more than it needs a dense κ reserves


class Growth(NamedTuple):
    """All points so far, κ between them, their degrees (None where a method centres), and the
    leading pairs of ``κ φ = S φ ℓ``, the trivial ones first.

    Where a method centres, κ is as it was centred when its points came: ``offset`` is what a row
    centred by all points so far lacks of that. (A term of one point alone is lost when both sides
    are centred anew, but it must be the same in rows and columns.)
    """

    X: Matrix
    kappa: Matrix | None
    degree: Array | None
    values: Array
    Phi: Array
    offset: Array
    drop: int
    q: int
    residuals: Array

    @classmethod
    def of(cls, model: Model, kernel: Kernel) -> Self:
        """The state of a fitted model: its kernel, solved for a few more pairs."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the model was fitted
            gram = kernel.fixed().fit(model.X)
        return cls._solved(model.X, gram, model.phi.shape[1])

    @classmethod
    def _solved(cls, X: Matrix, gram: Gram, q: int) -> Self:
        pairs = eigenpairs(gram, min(q + SPARE, gram.n - gram.drop))
        V = pairs.vectors
        if gram.drop:
            assert gram.known is not None
            V = np.hstack([gram.known[:, : gram.drop], V])
        values = np.einsum("ij,ij->j", V, gram.dot(V))
        S = np.ones(gram.n) if gram.degree is None else gram.degree
        Phi, offset = V / np.sqrt(S)[:, None], np.zeros(gram.n)
        kappa = _unscaled(gram)
        residuals = pairs.solve.residuals
        return cls(X, kappa, gram.degree, values, Phi, offset, gram.drop, q, residuals)

    @property
    def ell(self) -> Array:
        return self.values[self.drop : self.drop + self.q]

    @property
    def phi(self) -> Array:
        return self.Phi[:, self.drop : self.drop + self.q]

    def grown(self, kernel: Kernel, X: Matrix) -> Self:
        """The state with more points; ``kernel`` takes them in as well."""
        everything = stack(self.X, X)
        self._check(kernel.join(X))
        found = kernel.grow(X)
        if found is None:
            found = kernel.fit(everything)
        if isinstance(found, Gram):
            if found.factor is not None:
                return self._solved(everything, found, self.q)
            kappa, degree, n = _unscaled(found), found.degree, self.X.shape[0]
            assert kappa is not None
            rows, offset = kappa[n:][:, :n], np.zeros(found.n)
        else:
            kappa, degree, offset = self._joined(found)
            rows = found.row
        whole = Whole(kappa, degree)
        size = np.abs(self.values).max() * np.finfo(float).eps * len(offset)
        inverse = np.divide(1, self.values, out=np.zeros_like(self.values),
                            where=np.abs(self.values) > size)  # fmt: skip
        F = (rows @ self.Phi) * inverse
        basis = np.zeros((len(offset), 2 * self.Phi.shape[1]))
        basis[: len(self.Phi), : self.Phi.shape[1]] = self.Phi
        basis[len(self.Phi) :, self.Phi.shape[1] :] = F
        if degree is not None:
            basis = np.hstack([np.ones((len(basis), 1)), basis])
        p = self.Phi.shape[1]
        pairs = ritz(whole, basis, p, STEPS)
        wanted = slice(self.drop, self.drop + self.q)
        residuals = np.linalg.norm(pairs.residual[:, wanted], axis=0) / np.abs(pairs.mu).max()
        return self._replace(
            X=everything, kappa=kappa, degree=degree, values=pairs.mu[:p], Phi=pairs.U[:, :p],
            offset=offset, residuals=residuals,
        )  # fmt: skip

    def _joined(self, border: Border) -> tuple[Matrix, Array | None, Array]:
        """κ, degrees and offset of all points."""
        assert self.kappa is not None
        n, own = len(self.offset), border.own
        if sp.issparse(self.kappa):
            kappa = sum(border.changes, self.kappa)
            blocks = [[kappa, border.row.T], [border.row, sp.csr_array(own)]]
            assert self.degree is not None
            degree = border.degrees(self.degree)
            return sp.csr_array(sp.block_array(blocks)), degree, np.zeros(len(degree))
        row = border.row + self.offset
        kappa = _with_room(self.kappa, n + len(own))
        kappa[n:, :n], kappa[:n, n:], kappa[n:, n:] = row, row.T, own
        if self.degree is not None:
            return kappa, border.degrees(self.degree), np.zeros(n + len(own))
        mean = np.concatenate([border.row.sum(axis=0), own.sum(axis=1)]) / len(kappa)
        offset = np.concatenate([self.offset, np.zeros(len(own))]) + mean - mean.mean() / 2
        return kappa, None, offset

    def _check(self, border: Border | None) -> None:
        """Refuse points that would be a component of their own."""
        if border is None or border.degree is None:
            return
        total = np.asarray(border.row.sum(axis=1)).ravel()
        lost = np.flatnonzero(total <= ALONE * np.diag(border.own))
        if len(lost):
            raise ValueError(
                f"{len(lost)} of {len(total)} new points are similar to no training point (first "
                f"at row {lost[0]}): taken in, they would be components of their own, which push "
                "everything else out of the embedding. Leave them out, or fit anew with a wider "
                "kernel."
            )


def _unscaled(gram: Gram) -> Matrix | None:
    """``κ = S^½ M S^½``, or M itself where a method has no degrees."""
    if gram.matrix is None or gram.degree is None:
        return gram.matrix
    root = np.sqrt(gram.degree)
    if sp.issparse(gram.matrix):
        scale = sp.diags_array(root)
        return sp.csr_array(scale @ gram.matrix @ scale)
    return np.asarray(gram.matrix * root * root[:, None])


def _with_room(kappa: Array, n: int) -> Array:
    """κ as the corner of an (n, n) matrix; where it was made here, without a copy."""
    whole = kappa.base
    if whole is None or whole.ndim != 2 or len(whole) < n:
        whole = np.empty((int(ROOM * n),) * 2)
        whole[: len(kappa), : len(kappa)] = kappa
    return whole[:n, :n]
