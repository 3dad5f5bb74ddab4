"""The values that pass between the rooms: the Gram matrix M and rows of the kernel."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Matrix: TypeAlias = "Array | sp.csr_array"


def dense(X: Matrix) -> Array:
    """X as a plain array."""
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())


class Gram(NamedTuple):
    """A symmetric matrix M, ``M_ij = K(x_i, x_j)``, and what solving it needs.

    Either ``matrix`` is M itself, or ``factor`` is a matrix R and ``M = -RᵀR``, which is
    never formed: its small eigenvalues would drown in rounding error.

    Attributes
    ----------
    matrix : dense or sparse (n, n), or None
    factor : sparse (n, n), or None
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
    degree: Array | None = None
    known: Array | None = None
    drop: int = 0
    bound: float = np.inf

    @property
    def n(self) -> int:
        part = self.matrix if self.factor is None else self.factor
        assert part is not None
        return int(part.shape[0])

    def dot(self, V: Array) -> Array:
        """``M V``."""
        if self.factor is not None:
            return np.asarray(-(self.factor.T @ (self.factor @ V)))
        assert self.matrix is not None
        return np.asarray(self.matrix @ V)

    def toarray(self) -> Array:
        """M, formed."""
        if self.factor is not None:
            R = self.factor.toarray()
            return np.asarray(-(R.T @ R))
        assert self.matrix is not None
        return dense(self.matrix)


class Rows(NamedTuple):
    """Normalised kernel rows C of some points, so that ``φ(x) = C(x) Φ / ℓ``.

    ``Φ = S^-½ V``; on the training points ``C(X) Φ = Φ ℓ``. ``degree`` is S(x), or None
    where the method has no degrees (then Φ = V).
    """

    weights: Matrix
    degree: Array | None = None


class Border(NamedTuple):
    """What a new point adds to κ where it joins the training set: a row and a corner.

    ``row`` is κ(x, D), ``own`` is κ(x, x), both centred where the method centres; ``degree`` is
    the degree of x among D and itself, or None where the method has no degrees.
    """

    row: Matrix
    own: Array
    degree: Array | None = None


class RowKernel(Protocol):
    """What an extension may ask of a fitted kernel."""

    @property
    def takes(self) -> str: ...

    @property
    def row_is_refit(self) -> bool: ...

    def fit(self, X: Matrix) -> Gram: ...

    def __call__(self, X: Matrix) -> Rows: ...

    def border(self, X: Matrix) -> Border | None: ...
