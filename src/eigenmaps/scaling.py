"""Coordinates from eigenvectors: which multiple of the eigenfunction is returned.

===================  ===================  ===================================================
``eigenvector``      ``v_k``              unit norm over D; LLE, spectral clustering
``unit-variance``    ``√n v_k``           the eigenfunction f_k of the papers
``sqrt-eigenvalue``  ``√ℓ_k v_k``         MDS, Isomap, kernel PCA
``degree``           ``S^-½ v_k``         Laplacian eigenmaps: ``(S − κ) y = (1−ℓ) S y``
``diffusion``        ``ℓ_k^t S^-½ v_k``   diffusion maps after t steps
===================  ===================  ===================================================

Where a method has no degrees, S = 1.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from .gram import Array

SCALINGS = ("eigenvector", "unit-variance", "sqrt-eigenvalue", "degree", "diffusion")


class Scaling(NamedTuple):
    """``y = φ · columns``, times ``√S(x)`` where ``by_degree`` is set; ``φ = S^-½ v``.

    ``columns`` are ``size · ℓ^power``. ``turn`` is an orthogonal matrix that coordinates are
    turned by, where a model has taken points in and keeps its frame.
    """

    columns: Array
    by_degree: bool
    size: float
    power: float
    turn: Array | None = None

    @classmethod
    def of(cls, name: str, ell: Array, n: int, time: float = 1) -> Self:
        """The scaling of a name, for eigenvalues ℓ of an n-point problem."""
        if name not in SCALINGS:
            raise ValueError(f"scaling={name!r} is not known; use one of {SCALINGS}.")
        size = float(np.sqrt(n)) if name == "unit-variance" else 1.0
        power = {"sqrt-eigenvalue": 0.5, "diffusion": float(time)}.get(name, 0.0)
        return cls(size * ell**power, name not in ("degree", "diffusion"), size, power)

    def size_of(self, n: int) -> float:
        """``size`` for an n-point problem."""
        return 1.0 if self.size == 1 else float(np.sqrt(n))

    def apply(self, phi: Array, degree: Array | None) -> Array:
        """Coordinates of points with eigenfunction values ``phi`` and degrees S(x)."""
        y = phi * self.columns
        if degree is not None and self.by_degree:
            y *= np.sqrt(degree)[:, None]
        return y if self.turn is None else y @ self.turn

    def values(self, Y: Array, degree: Array | None) -> Array:
        """The eigenfunction values ``φ`` that are ``Y`` as coordinates."""
        y = Y if self.turn is None else Y @ self.turn.T
        phi = y / self.columns
        if degree is not None and self.by_degree:
            phi /= np.sqrt(degree)[:, None]
        return phi
