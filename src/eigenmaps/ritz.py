"""Rayleigh–Ritz for an eigenproblem that has grown by some points.

    κ' = [[κ + δ, κ(D, x)], [κ(x, D), κ(x, x)]],      κ' u = S' u μ,

S' the row sums of κ'; or S' = 1 and both sides centred anew, where a method centres. Within a
space spanned by some vectors the best pairs are those of a small matrix; what they leave,
``r = κ'u/S' − μu``, is taken into the space for the next step, and bounds how far off it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .gram import Array, Border, Matrix

DEPENDENT = 1e-8  # a vector with less than this part of it off the space adds noise


class Joined(NamedTuple):
    """The matrices of the grown problem; ``degree`` is S', or None where the method centres.

    ``base`` is κ on the n points that were there, ``was`` their degrees before.
    """

    base: Matrix
    border: Border
    degree: Array | None
    was: Array

    @classmethod
    def of(cls, base: Matrix, degree: Array | None, border: Border) -> Joined:
        n = base.shape[0]
        if degree is None:
            return cls(base, border, None, np.ones(n))
        return cls(base, border, border.degrees(degree), degree)

    @property
    def sizes(self) -> tuple[int, int]:
        m, n = self.border.row.shape
        return n, m

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
        return out


class Whole(NamedTuple):
    """The same of a matrix at hand."""

    kappa: Matrix
    degree: Array | None

    @property
    def root(self) -> Array:
        n = self.kappa.shape[0]
        return np.ones((n, 1)) if self.degree is None else np.sqrt(self.degree)[:, None]

    def dot(self, V: Array) -> Array:
        if self.degree is not None:
            return np.asarray(self.kappa @ V)
        out = self.kappa @ (V - V.mean(axis=0))
        return np.asarray(out - out.mean(axis=0))


class Ritz(NamedTuple):
    """All Ritz pairs of a space, μ decreasing, ``UᵀS'U = 1``, and ``S'^-½(κ'U − S'Uμ)``."""

    mu: Array
    U: Array
    residual: Array

    def bound(self, wanted: slice, tail: float) -> float:
        """An upper bound of the sine of the largest angle between the wanted vectors and those
        that the grown problem has in their place.

        ``tail`` bounds the quotients of all vectors off the space, so that the true ones that
        follow lie below the top of ``[[μ_rest, rᵀ], [r, tail]]``; those before lie above their Ritz
        values. Davis & Kahan's theorem then says ``sin ≤ ‖r_wanted‖ / gap``.
        """
        R = np.asarray(np.linalg.qr(self.residual[:, wanted.stop :], mode="r"))
        rest = np.diag(self.mu[wanted.stop :])
        others = np.block([[rest, R.T], [R, tail * np.eye(len(R))]])
        gap = float(self.mu[wanted.stop - 1] - np.linalg.eigvalsh(others).max(initial=tail))
        if wanted.start:
            gap = min(gap, float(self.mu[wanted.start - 1] - self.mu[wanted.start]))
        size = float(np.linalg.norm(self.residual[:, wanted], 2))
        return min(1.0, size / gap) if gap > 0 else 1.0


def ritz(joined: Joined | Whole, basis: Array, wanted: int, steps: int = 0) -> Ritz:
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


def tail(joined: Joined, values: Array, Phi: Array, local: bool) -> float:
    """A bound of ``vᵀκ'v / vᵀS'v`` for v off the space of Φ and of all new points.

    Of κ the pairs ``values``, Φ are the leading ones, so that ``vᵀκv ≤ λ_p ‖v‖²`` off them; what
    the new degrees and the change δ add is bounded by norms. With ``local`` v vanishes where
    degrees or κ have changed.
    """
    last = max(float(values[-1]), 0.0)
    if joined.degree is None or local:
        return last
    n, _ = joined.sizes
    now = joined.degree[:n]
    shift = (now - joined.was) / np.sqrt(now)
    turned = float(np.linalg.norm(shift[:, None] * Phi, 2) ** 2)
    added = sum(float((abs(change).sum(axis=1) / now).max()) for change in joined.border.changes)
    return last * float((joined.was / now).max(initial=1)) + (values[0] - last) * turned + added


def _added(Q: Array, new: Array) -> Array:
    """Orthonormal vectors that with Q span Q and the new ones, of which none is in Q."""
    size = np.linalg.norm(new, axis=0)
    new = new[:, size > 0] / size[size > 0]
    for _ in range(2):
        new = new - Q @ (Q.T @ new)
        left = np.linalg.norm(new, axis=0)
        new = new[:, left > DEPENDENT] / left[left > DEPENDENT]
    P, R = np.linalg.qr(new)
    return P[:, np.abs(np.diag(R)) > DEPENDENT]
