"""The named estimators: scikit-learn's flat parameters, which build a kernel. No mathematics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import kernels
from .embedder import SpectralEmbedder
from .extensions import Extension
from .kernels import Affinity, Kernel, affinity_by_name

Seed = int | np.random.RandomState | None


class ClassicalMDS(SpectralEmbedder):
    """Classical (metric) multi-dimensional scaling with a transform.

    Coordinates whose scalar products are the double-centred squared distances as well as
    possible. With Euclidean distances this is PCA.

    Parameters
    ----------
    n_components : int, default=2
    metric : str or callable, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`; ``"precomputed"``: distances,
        square at fit and (n_new, n_train) at transform.
    metric_params : dict, optional
    extension, scaling, diffusion_time, eigen_solver, tol, max_iter, random_state
        As in :class:`eigenmaps.Eigenmap`.

    Attributes
    ----------
    embedding_, eigenvalues_, eigenvectors_, solve_, kernel_, extension_, n_features_in_
        As in :class:`eigenmaps.Eigenmap`.

    References
    ----------
    Bengio et al. (2004), Learning eigenfunctions links spectral embedding and kernel PCA, §3.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenmaps import ClassicalMDS
    >>> X = load_iris().data
    >>> ClassicalMDS(metric="manhattan").fit(X[:100]).transform(X[100:]).shape
    (50, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Seed = None,
    ):
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        return kernels.MDS(self.metric, self.metric_params)


class Isomap(SpectralEmbedder):
    """Isomap: classical MDS of geodesic distances, with the papers' extension to new points.

    Parameters
    ----------
    n_neighbors : int or None, default=5
    radius : float, optional
        Neighbours within a distance instead; then set ``n_neighbors=None``.
    n_components : int, default=2
    neighborhood : {"symmetric", "one-sided"}, default="symmetric"
        Who the neighbours of a new point are: also those training points that would have it
        among their own (the papers), or its own nearest alone (scikit-learn).
    metric, p, metric_params, neighbors_algorithm, n_jobs
        As in :class:`sklearn.manifold.Isomap`; ``metric="precomputed"`` takes distances.
    extension, scaling, diffusion_time, eigen_solver, tol, max_iter, random_state
        As in :class:`eigenmaps.Eigenmap`.

    Attributes
    ----------
    embedding_, eigenvalues_, eigenvectors_, solve_, kernel_, extension_, n_features_in_
        As in :class:`eigenmaps.Eigenmap`; ``kernel_.geodesics_`` are the distances.

    References
    ----------
    Bengio et al. (2004), Learning eigenfunctions links spectral embedding and kernel PCA, §3.4.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenmaps import Isomap
    >>> X, _ = make_swiss_roll(600, random_state=0)
    >>> Isomap(n_neighbors=8).fit(X[:500]).transform(X[500:]).shape
    (100, 2)
    """

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        neighborhood: str = "symmetric",
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        neighbors_algorithm: str = "auto",
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.neighborhood = neighborhood
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.neighbors_algorithm = neighbors_algorithm
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _kernel(self) -> Kernel:
        return kernels.Isomap(
            self.n_neighbors,
            self.radius,
            self.neighborhood,
            self.metric,
            self.p,
            self.metric_params,
            self.neighbors_algorithm,
            self.n_jobs,
        )


class LocallyLinearEmbedding(SpectralEmbedder):
    """Locally linear embedding, whose transform returns the embedding on training points.

    Parameters
    ----------
    n_neighbors : int, default=5
    n_components : int, default=2
    reg : float, default=1e-3
        Ridge of the weights, relative to the trace of the local Gram matrix.
    mu : float, default=inf
        The shift μ of ``M_μ = μI − (I−W)ᵀ(I−W)``; ∞ is Saul & Roweis' extension.
    metric : {"euclidean", "precomputed"}, default="euclidean"
    neighbors_algorithm, n_jobs
        As in :class:`sklearn.manifold.LocallyLinearEmbedding`.
    extension, scaling, diffusion_time, eigen_solver, tol, max_iter, random_state
        As in :class:`eigenmaps.Eigenmap`.

    Attributes
    ----------
    embedding_, eigenvalues_, eigenvectors_, solve_, kernel_, extension_, n_features_in_
        As in :class:`eigenmaps.Eigenmap`. ``eigenvalues_`` are those of ``−(I−W)ᵀ(I−W)``:
        the largest, nearest to 0, come first; ``-eigenvalues_`` are the errors of reconstruction.

    References
    ----------
    Bengio et al. (2003), Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral
    clustering, §4.4.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenmaps import LocallyLinearEmbedding
    >>> X, _ = make_swiss_roll(600, random_state=0)
    >>> LocallyLinearEmbedding(n_neighbors=10).fit(X[:500]).transform(X[500:]).shape
    (100, 2)
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        mu: float = np.inf,
        metric: str = "euclidean",
        neighbors_algorithm: str = "auto",
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.mu = mu
        self.metric = metric
        self.neighbors_algorithm = neighbors_algorithm
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _kernel(self) -> Kernel:
        return kernels.LLE(
            self.n_neighbors,
            self.reg,
            self.mu,
            self.metric,
            self.neighbors_algorithm,
            self.n_jobs,
        )


class LaplacianEigenmaps(SpectralEmbedder):
    """Laplacian eigenmaps (spectral embedding, diffusion maps) with a transform.

    Parameters
    ----------
    n_components : int, default=2
    affinity : str, callable or Affinity, default="nearest_neighbors"
        ``"nearest_neighbors"``, ``"rbf"``, ``"self_tuning"``, ``"l1"``, ``"precomputed"``, a
        function of two matrices of points, or an object of :mod:`eigenmaps.kernels`, which has more
        settings, such as ``NeighborGraph(weights="heat", edge="hard")``.
    gamma : float, "mean" or None, default=None
        Of ``"rbf"``: ``exp(−γ‖a−b‖²)``. None: ``1/(2σ²)``, σ the median distance to the
        n_neighbors-th nearest point. ``"mean"``: 1 / the mean squared distance over all pairs.
        The value in use is ``gamma_``.
    n_neighbors : int, default=10
        Of the graph (the point itself included), of self-tuning and of gamma.
    self_similarity : {"kept", "off-degree", "dropped"}, default="kept"
        The similarity of a point to itself: as in eq. 7; not counted in its degree (2004,
        footnote 2: embeddings are usually better); left out altogether (scikit-learn).
    unsupported : {"nan", "nearest", "raise"}, default="nan"
        What a new point gets that is similar to no training point.
    scaling : str, default="auto"
        ``"auto"`` is ``"degree"``: the generalised eigenvectors of ``(S−κ) y = σ S y``, as
        scikit-learn's ``SpectralEmbedding`` gives them; ``"eigenvector"`` the papers' v;
        ``"diffusion"`` a diffusion map after ``diffusion_time`` steps.
    extension, diffusion_time, eigen_solver, tol, max_iter, random_state, n_jobs
        As in :class:`eigenmaps.Eigenmap`.

    Attributes
    ----------
    embedding_, eigenvalues_, eigenvectors_, solve_, kernel_, extension_, n_features_in_
        As in :class:`eigenmaps.Eigenmap`.
    gamma_ : float or None
        The bandwidth in use, where the affinity has one.

    References
    ----------
    Bengio et al. (2004), Learning eigenfunctions links spectral embedding and kernel PCA, §3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import LaplacianEigenmaps
    >>> X = load_digits().data
    >>> LaplacianEigenmaps(affinity="rbf").fit(X[:500]).transform(X[500:]).shape
    (1297, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str | Callable[..., Any] | Affinity = "nearest_neighbors",
        gamma: float | str | None = None,
        n_neighbors: int = 10,
        self_similarity: str = "kept",
        unsupported: str = "nan",
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.self_similarity = self_similarity
        self.unsupported = unsupported
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def gamma_(self) -> float | None:
        check_is_fitted(self)
        return self.kernel_.affinity_.gamma_

    def _kernel(self) -> Kernel:
        similarity = affinity_by_name(self.affinity, self.gamma, self.n_neighbors, self.n_jobs)
        return kernels.Laplacian(similarity, self.self_similarity, True, self.unsupported)


class KernelPCA(SpectralEmbedder):
    """Kernel principal component analysis.

    Parameters
    ----------
    n_components : int or None, default=None
        None: every component with a positive eigenvalue.
    kernel : str or callable, default="linear"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, ``"precomputed"`` or a
        function of two rows.
    gamma, degree, coef0, kernel_params, n_jobs
        As in :class:`sklearn.decomposition.KernelPCA`.
    extension, scaling, diffusion_time, eigen_solver, tol, max_iter, random_state
        As in :class:`eigenmaps.Eigenmap`.

    Attributes
    ----------
    embedding_, eigenvalues_, eigenvectors_, solve_, kernel_, extension_, n_features_in_
        As in :class:`eigenmaps.Eigenmap`.

    References
    ----------
    Bengio et al. (2004), Learning eigenfunctions links spectral embedding and kernel PCA, §2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import KernelPCA
    >>> X = load_digits().data
    >>> KernelPCA(3, kernel="rbf", gamma=1e-3).fit(X[:500]).transform(X[500:]).shape
    (1297, 3)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def gamma_(self) -> float:
        check_is_fitted(self)
        return float(self.kernel_.gamma_)

    def _kernel(self) -> Kernel:
        return kernels.KernelPCA(
            self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params, self.n_jobs
        )


__all__ = [
    "ClassicalMDS",
    "Isomap",
    "KernelPCA",
    "LaplacianEigenmaps",
    "LocallyLinearEmbedding",
]
