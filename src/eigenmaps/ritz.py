"""Rayleigh–Ritz for an eigenproblem that has grown by some points.

    κ' = [[κ + δ, κ(D, x)], [κ(x, D), κ(x, x)]],      κ' u = S' u μ,

S' the row sums of κ'; or S' = 1 and both sides centred anew, where a method centres. Within a
space spanned by some vectors the best pairs are those of a small matrix; what they leave,
``r = κ'u/S' − μu``, is taken into the space for the next step, and bounds how far off it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag, qr

from .gram import EPS, Array, Border, Index, Matrix, dense

DEPENDENT = 1e-8  # a vector with less than this part of it off the space adds noise


class Joined(NamedTuple):
    """The matrices of the grown problem; ``degree`` is S', or None where the method centres.

    ``base`` is κ on the n points that were there, ``was`` their degrees before. With ``deflated``
    the constant pair, ``κ'1 = S'1``, moves from the top to the bottom: ``κ' − 2 S'11ᵀS'/(1ᵀS'1)``.
    """

    base: Matrix
    border: Border
    degree: Array | None
    was: Array
    deflated: bool

    @classmethod
    def of(cls, base: Matrix, degree: Array | None, border: Border, deflated: bool) -> Joined:
        n = base.shape[0]
        if degree is None:
            return cls(base, border, None, np.ones(n), deflated)
        return cls(base, border, border.degrees(degree), degree, deflated)

    @property
    def sizes(self) -> tuple[int, int]:
        m, n = self.border.row.shape
        return n, m

    @property
    def touched(self) -> Index:
        """Where κ is a graph, the old points that an edge comes to, goes from, or changes at."""
        row = self.border.row
        assert isinstance(row, sp.csr_array)
        return np.unique(np.concatenate([row.indices, *(c.indices for c in self.border.changes)]))

    @property
    def root(self) -> Array:
        """``S'^½``, a column."""
        n, m = self.sizes
        return np.ones((n + m, 1)) if self.degree is None else np.sqrt(self.degree)[:, None]

    def dot(self, V: Array) -> Array:
        """``κ' V``."""
        n, _ = self.sizes
        if self.degree is None:
            V = V - V.mean(axis=0)
        old, new = V[:n], V[n:]
        row, own = self.border.row, self.border.own
        out = np.empty_like(V)
        out[:n] = self.base @ old + row.T @ new
        for change in self.border.changes:
            out[:n] += change @ old
        out[n:] = row @ old + own @ new
        if self.degree is None:
            out -= out.mean(axis=0)
        elif self.deflated:
            S = self.degree
            out -= np.outer(S, 2 / S.sum() * (S @ V))
        return out


class Ritz(NamedTuple):
    """All Ritz pairs of a space, μ decreasing, ``UᵀS'U = 1``, and ``S'^-½(κ'U − S'Uμ)``."""

    mu: Array
    U: Array
    residual: Array

    def bound(self, wanted: slice, ceilings: Array) -> float:
        """An upper bound of the sine of the largest angle between the wanted vectors and those
        that the grown problem has in their place.

        Davis & Kahan: ``sin ≤ ‖r_wanted‖ / gap``. The true eigenvalues that follow lie below their
        ceilings, those before above their Ritz values.
        """
        gap = float(self.mu[wanted.stop - 1] - ceilings[wanted.stop])
        if wanted.start:
            gap = min(gap, float(self.mu[wanted.start - 1] - self.mu[wanted.start]))
        noise = len(self.U) * EPS * float(np.abs(self.mu).max())
        size = float(np.linalg.norm(self.residual[:, wanted], 2)) + noise
        return min(1.0, size / gap) if gap > 0 else 1.0


def pencil(A: Array, B: Array) -> tuple[Array, Array]:
    """``A u = μ B u``, μ decreasing; directions in which B vanishes, where vectors of the basis
    depend on one another, are left out. Of B the lower triangle is read."""
    size = np.sqrt(np.diag(B))
    size[size == 0] = 1
    values, Q = np.linalg.eigh(B / np.outer(size, size))
    kept = values > DEPENDENT
    half = Q[:, kept] / np.sqrt(values[kept]) / size[:, None]
    mu, W = np.linalg.eigh(half.T @ A @ half)
    return mu[::-1], (half @ W)[:, ::-1]


def ritz(joined: Joined, basis: Array, wanted: int, steps: int = 0) -> Ritz:
    """Ritz pairs of the space of ``basis``, enlarged ``steps`` times by what the first ``wanted``
    pairs leave. Where the space is all there is, the pairs are exact."""
    root = joined.root
    Q = _added(np.empty((len(basis), 0)), root * basis)
    KQ = joined.dot(Q / root) / root
    while True:
        A = Q.T @ KQ
        mu, W = np.linalg.eigh((A + A.T) / 2)
        mu, W = mu[::-1], W[:, ::-1]
        Z, KZ = Q @ W, KQ @ W
        residual = KZ - Z * mu
        new = _added(Z, residual[:, :wanted]) if steps else Z[:, :0]
        if not new.shape[1]:
            return Ritz(mu, Z / root, residual)
        steps -= 1
        Q, KQ = np.hstack([Z, new]), np.hstack([KZ, joined.dot(new / root) / root])


def ceilings(joined: Joined, values: Array, Phi: Array) -> Array:
    """Upper bounds of the eigenvalues of a grown problem, in decreasing order.

    Of κ the pairs λ (``values``), Φ are the leading ones, so that ``D = λ_p S + SΦ(Λ−λ_p)ΦᵀS − κ``
    is not negative, and not below ``D_T (D_TT)^-1 D_Tᵀ`` for any of its columns T. With the border
    and the change δ, κ' is then below ``λ_p S' + F H Fᵀ``, F of few columns: a small eigenproblem.
    """
    n, m = joined.sizes
    border, last = joined.border, max(float(values[-1]), 0.0)
    degree = np.ones(n + m) if joined.degree is None else joined.degree
    SPhi, low = joined.was[:, None] * Phi, np.diag(values - last)
    parts, blocks, lift = [SPhi], [low], 0.0
    if isinstance(border.row, sp.csr_array):
        # What joins and changes is all within T, the points around the new ones.
        T = joined.touched
        E = np.zeros((n, len(T)))
        E[T, np.arange(len(T))] = 1
        D = joined.was[:, None] * last * E + SPhi @ low @ SPhi[T].T - dense(joined.base[:, T])
        noise = 1e-10 * np.trace(D[T])
        inner = np.diag(-last * (degree[:n][T] - joined.was[T]))
        for change in border.changes:
            inner += change[T][:, T].toarray()
        parts += [D, E]
        blocks += [-np.linalg.inv(D[T] + noise * np.eye(len(T))), inner]
        sides = border.row[:, T].toarray()
    else:
        # −λ_p diag(k) is below 0, and left out.
        for change in border.changes:
            lift += (1 + last) * float((abs(change).sum(axis=1) / degree[:n]).max())
        parts, blocks, sides = [*parts, border.row.T], [*blocks, np.zeros((m, m))], np.eye(m)
    F = block_diag(np.hstack(parts), np.eye(m))
    H = block_diag(*blocks, border.own - last * np.diag(degree[n:]))
    t = sides.shape[1]
    H[-m:, -m - t : -m], H[-m - t : -m, -m:] = sides, sides.T
    if joined.degree is None:
        F -= F.mean(axis=0)
    if joined.deflated:
        F, H = np.hstack([F, degree[:, None]]), block_diag(H, -2 / degree.sum())
    R = np.asarray(np.linalg.qr(F / joined.root, mode="r"))
    found = np.linalg.eigvalsh(R @ H @ R.T)[::-1]
    return np.concatenate([last + lift + np.maximum(found, 0), [last + lift] * (n + m)])


def _added(Q: Array, new: Array) -> Array:
    """Orthonormal vectors that with Q span Q and the new ones, of which none is in Q."""
    size = np.linalg.norm(new, axis=0)
    new = new[:, size > 0] / size[size > 0]
    for _ in range(2):
        new = new - Q @ (Q.T @ new)
        left = np.linalg.norm(new, axis=0)
        new = new[:, left > DEPENDENT] / left[left > DEPENDENT]
    # Pivoted: without it a dependent vector would take the place of a direction that is needed.
    P, R, _ = qr(new, mode="economic", pivoting=True)
    return np.asarray(P[:, np.abs(np.diag(R)) > DEPENDENT])
