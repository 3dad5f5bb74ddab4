"""The values that pass between the rooms: the Gram matrix M and rows of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Matrix: TypeAlias = "Array | sp.csr_array"
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
ALONE = 1e-6  # less similar to all others than this part of itself, a point is a component
NO_DIGIT = 1e-14  # a degree so small, beside the largest, leaves no digit of an eigenvector


def dense(X: Matrix) -> Array:
    """X as a plain array."""
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())


def stack(*parts: Matrix) -> Matrix:
    """Rows one below the other."""
    if isinstance(parts[0], np.ndarray):
        return np.vstack(parts)
    return sp.csr_array(sp.vstack(parts))


def all_but(X: Matrix, i: int, square: bool = False) -> Matrix:
    """X without row i; without column i as well where it is a square."""
    if isinstance(X, np.ndarray):
        rest = np.delete(X, i, axis=0)
        return np.delete(rest, i, axis=1) if square else rest
    others = np.arange(X.shape[0]) != i
    rest = X[others]
    return sp.csr_array(rest[:, others] if square else rest)


class Spectrum(Protocol):
    """What can be said of all n eigenvalues: ``Σ ℓ`` and ``Σ ℓ²``."""

    @property
    def n(self) -> int: ...

    @property
    def sums(self) -> tuple[float, float]: ...


class Gram(NamedTuple):
    """A symmetric matrix M, ``M_ij = K(x_i, x_j)``, and what solving it needs.

    Either ``matrix`` is M itself; or ``factor`` is a matrix R and ``M = -RᵀR``, which is
    never formed: its small eigenvalues would drown in rounding error; or ``root`` is a matrix Z of
    few columns and ``M = ZZᵀ``.

    Attributes
    ----------
    matrix : dense or sparse (n, n), or None
    factor : sparse (n, n), or None
    root : dense (n, d), or None
    degree : (n,) or None
        S, where M is ``S^-½ κ S^-½``.
    known : (n, c) or None
        Orthonormal eigenvectors known beforehand, those of the largest eigenvalue.
    drop : int
        How many of the known ones are trivial and left out of the embedding.
    bound : float
        Not below the largest eigenvalue (``inf``: not known).
    """

    matrix: Matrix | None = None
    factor: sp.csr_array | None = None
    root: Array | None = None
    degree: Array | None = None
    known: Array | None = None
    drop: int = 0
    bound: float = np.inf

    @property
    def n(self) -> int:
        part = next(p for p in (self.matrix, self.factor, self.root) if p is not None)
        return int(part.shape[0])

    @property
    def constant(self) -> bool:
        """Whether what is left out is the constant eigenfunction, ``κ 1 = S 1``.

        Where a graph falls apart it is one of several of its eigenvalue, and must be told by this.
        """
        if self.drop != 1 or self.degree is None or self.known is None:
            return False
        phi = self.known[:, 0] / np.sqrt(self.degree)
        return bool(np.ptp(phi) <= 1e-8 * np.abs(phi).max())

    @property
    def trivial(self) -> tuple[Array, Array]:
        """``S^-½ v`` and ℓ of the pairs that are left out."""
        v = np.empty((self.n, 0)) if self.known is None else self.known[:, : self.drop]
        values = np.einsum("ij,ij->j", v, self.dot(v))
        return (v if self.degree is None else v / np.sqrt(self.degree)[:, None]), values

    @property
    def sums(self) -> tuple[float, float]:
        """``Σ ℓ`` and ``Σ ℓ²`` over all eigenvalues: the trace of M, and ``‖M‖²``."""
        if self.factor is not None:
            R = self.factor
            inner = sp.csr_array(R.T @ R)
            return -float((R.data**2).sum()), float((inner.data**2).sum())
        if self.root is not None:
            inner = self.root.T @ self.root
            return float(inner.trace()), float(np.vdot(inner, inner))
        M = self.matrix
        assert M is not None
        entries = M.ravel(order="K") if isinstance(M, np.ndarray) else M.data
        return float(M.diagonal().sum()), float(np.vdot(entries, entries))

    def dot(self, V: Array) -> Array:
        """``M V``."""
        if self.factor is not None:
            return np.asarray(-(self.factor.T @ (self.factor @ V)))
        if self.root is not None:
            return np.asarray(self.root @ (self.root.T @ V))
        assert self.matrix is not None
        return np.asarray(self.matrix @ V)

    def toarray(self) -> Array:
        """M, formed."""
        if self.factor is not None:
            R = self.factor.toarray()
            return np.asarray(-(R.T @ R))
        return dense(self.formed)

    @property
    def formed(self) -> Matrix:
        """M, formed, sparse where it is; but for ``factor``."""
        if self.root is not None:
            return np.asarray(self.root @ self.root.T)
        assert self.matrix is not None
        return self.matrix


class Rows(NamedTuple):
    """Normalised kernel rows C of some points, so that ``φ(x) = C(x) Φ / ℓ``.

    ``Φ = S^-½ V``; on the training points ``C(X) Φ = Φ ℓ``. ``degree`` is S(x), or None
    where the method has no degrees (then Φ = V).
    """

    weights: Matrix
    degree: Array | None = None


class Border(NamedTuple):
    """What new points add to κ where they join the training set.

    Where each joins alone, ``own`` is κ(x, x) and ``changes`` has a matrix for each; where they
    join together, ``own`` is κ between them and ``changes`` one matrix. All are centred by the
    training points where the method centres.

    Attributes
    ----------
    row : (m, n)
        κ(x, D).
    own : (m,) or (m, m)
    degree : (m,) or None
        The sums of rows of κ among D and those that join; None where a method has no degrees.
    changes : list of sparse (n, n) matrices
        By how much κ changes between training points; empty where it does not.
    """

    row: Matrix
    own: Array
    degree: Array | None = None
    changes: Sequence[sp.csr_array] = ()

    def strangers(self, before: Array | None) -> NDArray[np.bool_]:
        """Which new points are similar to no old one, not even through other new ones: they would
        be components of their own."""
        total = np.asarray(self.row.sum(axis=1)).ravel()
        if before is None:
            return np.zeros(len(total), dtype=bool)
        own = np.diag(self.own) if self.own.ndim == 2 else self.own
        links = np.zeros((len(own),) * 2, dtype=bool)
        if self.own.ndim == 2:
            links = self.own > ALONE * np.sqrt(np.maximum(np.outer(own, own), TINY))
        group = connected_components(sp.csr_array(links), directed=False)[1]
        least = np.maximum(ALONE * np.bincount(group, own), NO_DIGIT * before.max())
        return np.asarray(np.bincount(group, total) <= least)[group]

    def degrees(self, before: Array) -> Array:
        """The degrees of all points once those of the border have joined together."""
        assert self.degree is not None
        now = before + np.asarray(self.row.sum(axis=0)).ravel()
        for change in self.changes:
            now += np.asarray(change.sum(axis=1)).ravel()
        return np.concatenate([now, self.degree])


class Rewiring(NamedTuple):
    """What new points, each alone, change in a factor I − W where they join the training set.

    Attributes
    ----------
    row : sparse (m, n)
        Their own rows of W.
    changes : list of sparse (n, n + 1) matrices
        By how much the rows of W of training points change; the last column is the new point's.
    """

    row: sp.csr_array
    changes: Sequence[sp.csr_array]


class RowKernel(Protocol):
    """What an extension may ask of a fitted kernel."""

    @property
    def takes(self) -> str: ...

    def fit(self, X: Matrix) -> Gram: ...

    def __call__(self, X: Matrix) -> Rows: ...

    @property
    def reacts(self) -> bool: ...

    def fixed(self) -> Self: ...

    def ell(self, values: Array) -> Array: ...

    def border(self, X: Matrix) -> Border | None: ...

    def rewiring(self, X: Matrix) -> Rewiring | None: ...

    def join(self, X: Matrix) -> Border | None: ...

    @property
    def any_two(self) -> bool: ...

    def size(self, spectrum: Spectrum) -> float: ...

    def between(self, X: Matrix) -> Array: ...

    def product(self, X: Matrix, W: Array) -> tuple[Array, Array | None]: ...
