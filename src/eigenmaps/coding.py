"""Sparse coding with a certificate: ``min ‖a‖₁ + λ‖e‖₁  s.t.  x = Xᵀa + e``  (Raducanu & Dornaika
2012 eq. 11–12).

The dual is ``max xᵀz`` with ``‖z‖_∞ ≤ λ``, ``‖Xz‖_∞ ≤ 1``. Any z, made shorter until it is
feasible, bounds the optimum from below: what the sum of a code lies above it is its *gap*.

A query is answered by the first that a certificate allows: a multiple of one training point; the
simplex method (:mod:`eigenmaps._compute.simplex`), which ends at a vertex; the interior-point
method (:mod:`eigenmaps.interior`), where bases are large or stand still.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from ._compute.simplex import descend
from .blocks import row_blocks
from .gram import Array, Index
from .interior import interior, vertex
from .threads import threads

EXACT = 1e-12  # a relative gap of rounding error
NOISE = 1e-14  # of the largest coefficient: 0 but for rounding
OPTIMAL = 1e-10  # of the simplex method: how much a constraint of the dual may be exceeded
ROOM = 256  # a smaller basis is always tried; a larger one up to a quarter of the dimension
EXCHANGES = 10_000


class Codes(NamedTuple):
    """Codes of some queries, and how good each is known to be.

    Attributes
    ----------
    coefficients : sparse (m, N)
        a, one row for each query.
    gap : (m,)
        ``(‖a‖₁ + λ‖e‖₁ − xᵀz)/(‖a‖₁ + λ‖e‖₁)``: the optimum is not further below than this.
    """

    coefficients: sp.csr_array
    gap: Array


class Dictionary(NamedTuple):
    """Training points as atoms, to code others by.

    Attributes
    ----------
    atoms : (N, D)
        Of unit norm.
    norms : (N,)
        What their norms were.
    weight : float
        λ.
    unit_norm : bool
        Whether ``‖a‖₁`` counts coefficients of unit atoms for unit queries, or of the rows as
        they came.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenmaps.coding import Dictionary
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> x = 2 * X[3] - X[7]
    >>> codes = Dictionary.of(X, weight=1.0, unit_norm=True).code(x[None])
    >>> codes.coefficients.indices.tolist(), bool(codes.gap[0] < 1e-12)
    ([3, 7], True)
    """

    atoms: Array
    norms: Array
    weight: float
    unit_norm: bool

    @classmethod
    def of(cls, X: Array, weight: Any, unit_norm: bool) -> Self:
        if not (isinstance(weight, Real) and 0 < float(weight) < np.inf):
            raise ValueError(
                f"weight={weight!r} must be positive and finite: it is the price λ of the part of "
                "a point that training points do not explain."
            )
        return cls(*_unit(X), float(weight), unit_norm)

    @property
    def cost(self) -> Array:
        """The price of each coefficient of a unit atom, and of each residual."""
        atoms = np.ones(len(self.norms))
        if not self.unit_norm:
            np.divide(1, self.norms, out=atoms, where=self.norms > 0)
        return np.concatenate([atoms, np.full(self.atoms.shape[1], self.weight)])

    def code(
        self, X: Array, tol: float = 1e-6, own: Index | None = None, n_jobs: int | None = None
    ) -> Codes:
        """Codes of the rows of X, of a relative gap below ``tol`` where one is found.

        Parameters
        ----------
        X : (m, D) array
        tol : float, default=1e-6
        own : (m,) array of int, optional
            For each row the atom that it must not use: itself, where training points are coded by
            the others.
        n_jobs : int, optional
            Threads; -1 is all processors.
        """
        barred = np.full(len(X), -1) if own is None else own
        transposed = np.ascontiguousarray(self.atoms.T)
        parts, gaps = [], []
        with ThreadPoolExecutor(threads(n_jobs)) as pool:
            for block in row_blocks(len(X), 64 * sum(self.atoms.shape)):
                a, gap = self._block(X[block], barred[block], transposed, tol, pool)
                parts.append(sp.csr_array(a))
                gaps.append(gap)
        return Codes(sp.csr_array(sp.vstack(parts)), np.concatenate(gaps))

    def _block(
        self, X: Array, barred: Index, transposed: Array, tol: float, pool: ThreadPoolExecutor
    ) -> tuple[Array, Array]:
        """Dense codes, and gaps."""
        Q, size = _unit(X)
        cost = self.cost
        a, gap = self._multiples(Q, size, barred, cost)

        def improve(rows: Index, found: list[tuple[Array, Array]]) -> None:
            new, z = (np.array(parts) for parts in zip(*found, strict=True))
            new[np.abs(new) <= NOISE * np.abs(new).max(axis=1, keepdims=True)] = 0
            now = self._gaps(Q[rows], barred[rows], cost, new, z)
            better = now < gap[rows]
            a[rows[better]], gap[rows[better]] = new[better], now[better]

        left = np.flatnonzero(gap > EXACT)
        if len(left):
            solve = partial(self._simplex, transposed, cost)
            improve(left, list(pool.map(solve, Q[left], barred[left])))
        left = np.flatnonzero(gap > tol)
        if len(left):
            with threadpool_limits(1, "blas"):  # threads are for queries
                pairs = list(pool.map(partial(self._inside, cost), Q[left], barred[left]))
            for found in zip(*pairs, strict=True):
                improve(left, list(found))
        return (a if self.unit_norm else a * size[:, None] * cost[: len(self.atoms)]), gap

    def _simplex(
        self, transposed: Array, cost: Array, x: Array, barred: int
    ) -> tuple[Array, Array]:
        """``(a, z)`` of the last vertex, optimal or not."""
        N, D = self.atoms.shape
        room = min(max(ROOM, D // 4), N, D)
        try:
            u, dual, _ = descend(self.atoms, transposed, x, cost, barred, room, EXCHANGES, OPTIMAL)
        except np.linalg.LinAlgError:  # a basis of atoms that depend on one another
            return np.zeros(N), np.zeros(D)
        return u[:N], dual[N:]

    def _inside(self, cost: Array, x: Array, barred: int) -> list[tuple[Array, Array]]:
        """``(a, z)`` near the optimum, and of the vertex beside it."""
        N, D = self.atoms.shape
        free = np.arange(N) != barred
        atoms, prices = self.atoms[free], cost[np.append(free, np.ones(D, bool))]
        near = interior(atoms, x, prices)
        found = []
        for part, z in (near, vertex(atoms, x, prices, *near)):
            a = np.zeros(N)
            a[free] = part
            found.append((a, z))
        return found

    def _multiples(self, Q: Array, size: Array, barred: Index, cost: Array) -> tuple[Array, Array]:
        """Each query by the one atom nearest in direction: with unit norms, the optimum where it
        is that atom, by ``z = x``. Of several in one direction, that nearest in length."""
        H = self._products(Q, barred)
        worth = np.abs(H) / cost[: H.shape[1]]
        first = worth >= (1 - EXACT) * worth.max(axis=1, keepdims=True)
        apart = np.abs(size[:, None] - np.sign(H) * self.norms)
        rows, j = np.arange(len(Q)), np.where(first, apart, np.inf).argmin(axis=1)
        a = np.zeros_like(H)
        a[rows, j] = H[rows, j]
        return a, self._gaps(Q, barred, cost, a, Q / np.abs(Q).max(axis=1, initial=1e-300)[:, None])

    def _gaps(self, Q: Array, barred: Index, cost: Array, a: Array, z: Array) -> Array:
        """The relative gap of codes a, by z made feasible."""
        products = np.hstack([self._products(z, barred), z])
        z = z / np.maximum((np.abs(products) / cost).max(axis=1), 1e-300)[:, None]
        value = np.abs(np.hstack([a, Q - a @ self.atoms])) @ cost
        above = value - np.einsum("ij,ij->i", Q, z)
        return np.divide(np.maximum(above, 0), value, out=np.zeros_like(value), where=value > 0)

    def _products(self, Z: Array, barred: Index) -> Array:
        """``X z``, but for the atoms that are not to be used."""
        H = Z @ self.atoms.T
        rows = np.flatnonzero(barred >= 0)
        H[rows, barred[rows]] = 0.0
        return H


def _unit(X: Array) -> tuple[Array, Array]:
    """Rows of unit norm (zeros stay), and their norms; no square overflows."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    Q = np.divide(X, largest, out=np.zeros(X.shape), where=largest > 0)
    size = np.linalg.norm(Q, axis=1, keepdims=True)
    np.divide(Q, size, out=Q, where=size > 0)
    return Q, (size * largest).ravel()
