"""The general estimator: any kernel, one algorithm."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from .embedder import SpectralEmbedder
from .extensions.base import Extension
from .kernels.base import Kernel


class Eigenmap(SpectralEmbedder):
    """Eigenfunctions of any kernel: the general estimator.

    Parameters
    ----------
    kernel : Kernel
        One of :mod:`eigenmaps.kernels`, or your own.
    n_components : int or None, default=2
        None: every component with a positive eigenvalue.
    extension : str or Extension, default="nystrom"
        The way to new points: ``"nystrom"``, ``"refit"``, ``"restricted"``, ``"barycentric"``,
        ``"heat"``, ``"sparse"``, ``"linear"`` or an object of :mod:`eigenmaps.extensions`.
    scaling : str, default="auto"
        Which multiple of the eigenfunctions the coordinates are: ``"eigenvector"``,
        ``"unit-variance"``, ``"sqrt-eigenvalue"``, ``"degree"``, ``"diffusion"``
        (:mod:`eigenmaps.scaling`), or the kernel's own.
    diffusion_time : float, default=1
        t of ``scaling="diffusion"``.
    eigen_solver : {"auto", "dense", "arpack", "lobpcg", "amg"}, default="auto"
    tol : float, default=0
        Of an iterative solver; 0 is machine precision.
    max_iter : int, optional
    random_state : int, RandomState or None, default=None
        Of the solver's start vector. None gives repeatable results as well.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) array
    eigenvalues_ : (n_components,) array
        ℓ, in decreasing order. For LLE those of ``−(I−W)ᵀ(I−W)``.
    eigenvectors_ : (n_samples, n_components) array
        v, of unit norm, orthogonal; the largest entry of each is positive.
    solve_ : Solve
        Which solver ran, its residuals and time, and groups of equal eigenvalues.
    n_iter_ : int
        How many products with the matrix, or its inverse, the solver took.
    kernel_ : Kernel
    extension_ : Extension
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import Eigenmap, kernels
    >>> X = load_digits().data
    >>> model = Eigenmap(kernels.Isomap(n_neighbors=10)).fit(X[:500])
    >>> model.transform(X[500:]).shape
    (1297, 2)
    """

    def __init__(
        self,
        kernel: Kernel,
        n_components: int | None = 2,
        *,
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(
                f"kernel={self.kernel!r} is not a kernel object; use one of eigenmaps.kernels, "
                "for example kernels.Isomap(n_neighbors=10)."
            )
        return clone(self.kernel)
