"""A model that takes new points in (``partial_fit``), mostly without a solve from the start.

κ' on all points is κ with new rows, ``κ' φ = S' φ ℓ``. The old eigenvectors Φ and their
prolongation F to the new points by Nyström's formula,

    F = κ(x, D) Φ / (S' ℓ),       span{ 1, [Φ; 0], [0; F] },

are the space in which the new ones are sought first (:func:`eigenmaps.ritz.pencil`); what these
leave, ``κ'φ/S' − φℓ``, enlarges it until it is small beside the gap to the next eigenvalue.
Products κΦ are kept, so that mostly a batch of new points costs one product of κ' with a block of
vectors. Where a few steps do not do, new points have brought up a vector that the space knows
nothing of, and all is solved anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from .eigen import Solve, eigenpairs, multiple
from .extensions.base import Model
from .gram import EPS, Array, Border, Gram, Matrix, dense, stack
from .kernels.base import Kernel
from .ritz import pencil

MANY = 0.3  # of the old points: with so many new ones all is solved anew
SPARE = 8  # pairs kept beside those of the embedding
STEPS = 4  # enlargements of the space for a batch, at most
GAPS = 4.0  # a residual of more gaps to the next eigenvalue is too large; most of it lies far below
ROOM = 1.5  # how much more space is reserved than is needed now
NONE = np.empty((0, 0))
EQUAL = 1e-6  # relative distance below which eigenvalues count as equal
FEW = 256  # rows of κ below which the next ones are put beside them

Rows: TypeAlias = "tuple[Array, ...]"
Kappa: TypeAlias = "Rows | sp.csr_array"


class Growth(NamedTuple):
    """All points so far, κ between them, their degrees (None where a method centres), and the
    leading pairs of ``κ φ = S φ ℓ``. Of these the first ``drop`` are trivial; with ``deflated`` the
    constant one is left out altogether.

    Where a method centres, κ is as it was centred when its points came: ``offset`` is what a row
    centred by all points so far lacks of that. (A term of one point alone is lost when both sides
    are centred anew, but it must be the same in rows and columns.)

    Attributes
    ----------
    V, KV : (n, 1 + p) arrays
        ``[1, Φ]`` and ``κ [1, Φ]``.
    kappa : sparse matrix, or tuple of arrays
        Where κ is dense, the rows that each batch has added, up to its own columns.
    X_room : array
        Of which X, where it is dense, is the top: no batch copies the old points.
    """

    X: Matrix
    kappa: Kappa
    degree: Array | None
    values: Array
    V: Array
    KV: Array
    offset: Array
    drop: int
    q: int
    deflated: bool
    solver: str
    products: int
    residuals: Array
    factor: sp.csr_array | None
    X_room: Array = NONE

    @classmethod
    def of(cls, model: Model, kernel: Kernel) -> Self:
        """The state of a fitted model: its kernel, solved for a few more pairs."""
        return cls.solved(model.X, _gram(kernel, model.X), model.phi.shape[1])

    @classmethod
    def solved(cls, X: Matrix, gram: Gram, q: int) -> Self:
        """The state of a Gram matrix, for q components."""
        spare = SPARE if gram.factor is None else 0  # of a factor all is found anew each time
        pairs = eigenpairs(gram, min(q + spare, gram.n - gram.drop))
        V, drop = pairs.vectors, 0 if gram.constant else gram.drop
        if drop:
            assert gram.known is not None
            V = np.hstack([gram.known[:, :drop], V])
        values = np.einsum("ij,ij->j", V, gram.dot(V))
        S = np.ones(gram.n) if gram.degree is None else gram.degree
        V = np.hstack([np.ones((gram.n, 1)), V / np.sqrt(S)[:, None]])
        kappa, offset = _unscaled(gram), np.zeros(gram.n)
        KV = _product(kappa, V)
        how = pairs.solve
        return cls(
            X, kappa, gram.degree, values, V, KV, offset, drop, q, gram.constant,
            how.solver, how.products, how.residuals[:q],
            gram.factor,
        )  # fmt: skip

    def solve(self, seconds: float) -> Solve:
        """How the pairs were found."""
        values = self.values[self.drop :]
        groups = multiple(values, float(np.abs(self.values).max()), self.q)
        return Solve(self.solver, self.residuals, self.products, seconds, groups)

    @property
    def _wanted(self) -> slice:
        return slice(self.drop, self.drop + self.q)

    @property
    def ell(self) -> Array:
        return self.values[self._wanted]

    @property
    def phi(self) -> Array:
        return self.V[:, 1:][:, self._wanted]

    @property
    def n(self) -> int:
        return len(self.V)

    @property
    def sums(self) -> tuple[float, float]:
        """``Σ ℓ`` and ``Σ ℓ²`` over all eigenvalues."""
        if self.factor is not None:
            return Gram(factor=self.factor).sums
        n = self.n
        S = np.ones(n) if self.degree is None else self.degree
        if not isinstance(self.kappa, tuple):
            M = self.kappa.tocoo()
            squares = float((M.data**2 / S[M.row] / S[M.col]).sum())
            return float((M.diagonal() / S).sum()), squares
        trace, squares = 0.0, 0.0
        for rows in self.kappa:
            stop = rows.shape[1]
            start = stop - len(rows)
            weighed = np.square(rows) / S[start:stop, None] / S[:stop]
            squares += 2 * float(weighed.sum()) - float(weighed[:, start:].sum())
            trace += float((rows[:, start:].diagonal() / S[start:stop]).sum())
        if self.degree is None:  # ‖HκH‖² of ‖κ‖² and κ1
            K1 = self.KV[:, 0]
            squares += float(K1.sum()) ** 2 / n**2 - 2 / n * float(K1 @ K1)
            trace -= float(K1.sum()) / n
        return trace, squares

    @property
    def trivial(self) -> tuple[Array, Array]:
        """Φ and ℓ of the pairs that the embedding leaves out."""
        if not self.deflated:
            return self.V[:, 1 : 1 + self.drop], self.values[: self.drop]
        assert self.degree is not None
        total = self.degree.sum()
        one = np.full((len(self.V), 1), total**-0.5)
        return one, np.array([self.KV[:, 0].sum() / total])

    def grown(self, kernel: Kernel, X: Matrix) -> Self:
        """The state with more points; ``kernel`` takes them in as well."""
        everything, X_room = self._stacked(X)
        found = kernel.grow(X, everything)
        if found is None:
            found = kernel.fit(everything)
        if isinstance(found, Border):
            self._check(found)
        grown = self._grown(found) if X.shape[0] <= MANY * len(self.V) else None
        if grown is None or grown.lost:
            gram = found if isinstance(found, Gram) else _gram(kernel, everything)
            grown = self.solved(everything, gram, self.q)
        return grown._replace(X=everything, X_room=X_room)

    def _grown(self, found: Border | Gram) -> Self | None:
        """The state improved, from what new points add; None where there is no κ."""
        if isinstance(found, Border):
            row, F = self._stored(found.row), self._prolonged(found.row, found.degree)
            grown = self._joined(found)
            old = self.KV + sum(change @ self.V for change in found.changes)
            products = np.block([[old, row.T @ F], [row @ self.V, found.own @ F]])
        elif found.factor is not None:
            return None
        else:
            kappa, n, degree = _unscaled(found), len(self.V), found.degree
            grown = self._replace(kappa=kappa, degree=degree, offset=np.zeros(found.n))
            whole = kappa[0] if isinstance(kappa, tuple) else kappa
            F = self._prolonged(whole[n:][:, :n], None if degree is None else degree[n:])
            products = _product(kappa, block_diag(self.V, F))
        return grown._improved(block_diag(self.V, F), products)

    def _stacked(self, X: Matrix) -> tuple[Matrix, Array]:
        """All points, and the room that they are in."""
        if not isinstance(self.X, np.ndarray):
            return stack(self.X, X), NONE
        n = len(self.X) + X.shape[0]
        room = _with_room(self.X_room, self.X, n)
        room[len(self.X) : n] = X
        return room[:n], room

    def _prolonged(self, rows: Matrix, degree: Array | None) -> Array:
        """``[1, F]`` of new points; F is 0 where ℓ is rounding noise."""
        noise = np.abs(self.values).max() * EPS * len(self.V)
        ell = np.where(np.abs(self.values) > noise, self.values, np.inf)
        S = 1.0 if degree is None else degree[:, None]
        return np.hstack([np.ones((rows.shape[0], 1)), (rows @ self.V[:, 1:]) / ell / S])

    def _improved(self, basis: Array, products: Array) -> Self:
        """The leading pairs within a space whose products with κ are given, enlarged by what the
        first ones leave."""
        p = len(self.values)
        K1 = products[:, [0]] + products[:, [p + 1]]
        if self.degree is None:
            products = products - K1 * basis.mean(axis=0)
            basis = basis - basis.mean(axis=0)
        values, Phi, KPhi, left = self._within(basis, products)
        taken = 0
        while taken < STEPS:
            taken += 1
            noise = len(Phi) * EPS * np.abs(values).max()
            left = left[:, np.linalg.norm(left, axis=0) > noise * np.linalg.norm(Phi, axis=0)]
            if self.degree is None:
                left -= left.mean(axis=0)
            basis, products = np.hstack([Phi, left]), np.hstack([KPhi, _product(self.kappa, left)])
            values, Phi, KPhi, left = self._within(basis, products)
            S = 1.0 if self.degree is None else self.degree[:, None]
            residuals = np.linalg.norm(np.sqrt(S) * left, axis=0)[self._wanted]
            if residuals.max() <= GAPS * self._gap(values):
                break
        V, KV = np.hstack([np.ones_like(K1), Phi]), np.hstack([K1, KPhi])
        size = np.abs(values).max()
        return self._replace(
            values=values, V=V, KV=KV, solver="ritz", products=taken, residuals=residuals / size
        )

    def _gap(self, values: Array) -> float:
        """From the last wanted eigenvalue to the next one; infinite where these are equal, and the
        embedding is arbitrary."""
        last = self._wanted.stop
        if last >= len(values):
            return np.inf
        gap = float(values[last - 1] - values[last])
        return gap if gap > EQUAL * np.abs(values).max() else np.inf

    @property
    def lost(self) -> bool:
        """Whether the vectors may miss a leading one that the new points have brought up."""
        size = np.abs(self.values).max()
        return bool(self.residuals.max() * size > GAPS * self._gap(self.values))

    def _within(self, Z: Array, KZ: Array) -> tuple[Array, Array, Array, Array]:
        """ℓ, Φ, κΦ of a space, and what they leave."""
        centred = KZ - KZ.mean(axis=0) if self.degree is None else KZ
        S = 1.0 if self.degree is None else self.degree[:, None]
        A, B = Z.T @ centred, Z.T @ (S * Z)
        if self.deflated:  # the constant pair, moved from the top to the bottom
            b = np.sum(S * Z, axis=0)
            A = A - np.outer(b, 2 / np.sum(S) * b)
        values, W = pencil(A, B)
        p = len(self.values)
        values, W = values[:p], W[:, :p]
        Phi = Z @ W
        return values, Phi, KZ @ W, (centred @ W) / S - Phi * values

    def _check(self, border: Border) -> None:
        """Refuse points that would be a component of their own."""
        lost = np.flatnonzero(border.strangers(self.degree))
        if len(lost):
            raise ValueError(
                f"{len(lost)} of {border.row.shape[0]} new points are similar to no training point "
                f"(first at row {lost[0]}): taken in, they would be components of their own, which "
                "push everything else out of the embedding. Leave them out, or fit anew with a "
                "wider kernel."
            )

    def _stored(self, row: Matrix) -> Matrix:
        """Rows centred by the points so far, as κ is kept."""
        return row if sp.issparse(row) else row + self.offset

    def _joined(self, border: Border) -> Self:
        """The state with κ, degrees and offset of all points."""
        n, row, own = len(self.offset), self._stored(border.row), border.own
        degree = None if self.degree is None else border.degrees(self.degree)
        offset = np.zeros(n + len(own))
        if isinstance(self.kappa, tuple):
            kappa: Kappa = _appended(self.kappa, np.hstack([row, own]), border.changes)
        else:
            changed = sum(border.changes, self.kappa)
            kappa = sp.csr_array(sp.block_array([[changed, row.T], [row, sp.csr_array(own)]]))
        if degree is None:
            mean = np.concatenate([border.row.sum(axis=0), own.sum(axis=1)]) / len(offset)
            offset[:n] = self.offset
            offset += mean - mean.mean() / 2
        return self._replace(kappa=kappa, degree=degree, offset=offset)


def _gram(kernel: Kernel, X: Matrix) -> Gram:
    """The matrix of a fitted kernel on points that it has met."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the model was fitted
        return kernel.fixed().fit(X)


def _unscaled(gram: Gram) -> Kappa:
    """``κ = S^½ M S^½``, or M itself where a method has no degrees."""
    if gram.factor is not None:
        return ()
    root = np.ones(gram.n) if gram.degree is None else np.sqrt(gram.degree)
    if sp.issparse(gram.matrix):
        scale = sp.diags_array(root)
        return sp.csr_array(scale @ gram.formed @ scale)
    kappa = dense(gram.formed)
    return (kappa if gram.degree is None else kappa * root * root[:, None],)


def _product(kappa: Kappa, V: Array) -> Array:
    """``κ V``; κ is symmetric, and each of its rows is read once."""
    if not isinstance(kappa, tuple):
        return np.asarray(kappa @ V)
    out = np.zeros_like(V)
    for rows in kappa:
        stop = rows.shape[1]
        start = stop - len(rows)
        out[start:stop] += rows @ V[:stop]
        out[:start] += rows[:, :start].T @ V[start:stop]
    return out


def _appended(kappa: Rows, new: Array, changes: Sequence[sp.csr_array]) -> Rows:
    """κ with new rows, and changed between old points."""
    for change in changes:
        kappa = tuple(
            rows + change[rows.shape[1] - len(rows) : rows.shape[1], : rows.shape[1]]
            for rows in kappa
        )
    last = kappa[-1]
    if len(last) + len(new) > FEW or len(kappa) == 1:
        return (*kappa, new)
    stop = last.shape[1]
    above = np.hstack([last, new[:, stop - len(last) : stop].T])
    return (*kappa[:-1], np.vstack([above, new]))


def _with_room(whole: Array, part: Array, n: int) -> Array:
    """``whole``, where it has n rows; or else a longer array that starts with ``part``."""
    if len(whole) >= n:
        return whole
    new = np.empty((int(ROOM * n), part.shape[1]))
    new[: len(part)] = part
    return new
