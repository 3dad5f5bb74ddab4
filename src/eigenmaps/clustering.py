"""Spectral clustering: Laplacian eigenmaps, then a rule that new points can follow as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import kernels
from .assignment import assignment
from .embedder import SpectralEmbedder, can_grow
from .estimators import Seed
from .extensions import Extension
from .gram import Index
from .kernels import Affinity, Kernel, affinity_by_name


class SpectralClustering(ClusterMixin, SpectralEmbedder):
    """Spectral clustering that predicts the cluster of new points.

    The first eigenvectors of the normalised affinity, rows scaled to unit norm, are clustered
    (Ng, Jordan & Weiss). A new point is embedded, scaled and assigned by the same rule.

    Parameters
    ----------
    n_clusters : int, default=8
    n_components : int, optional
        Eigenvectors used; n_clusters by default.
    affinity, gamma, n_neighbors, self_similarity, unsupported
        As in :class:`eigenmaps.LaplacianEigenmaps`.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        Each is a rule that extends to new points: the nearest centre; the largest coordinate
        after the rotation that was found. The latter two need ``n_components=n_clusters``.
    n_init : int, default=10
        Starts of k-means.
    extension, scaling, diffusion_time, eigen_solver, tol, max_iter, random_state, n_jobs
        As in :class:`eigenmaps.Eigenmap`; ``random_state`` also seeds the assignment.

    Attributes
    ----------
    labels_ : (n_samples,) array of int
    embedding_, eigenvalues_, eigenvectors_, solve_, kernel_, extension_, n_features_in_
        As in :class:`eigenmaps.Eigenmap`.

    References
    ----------
    Bengio et al. (2004), Learning eigenfunctions links spectral embedding and kernel PCA, §3.2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigenmaps import SpectralClustering
    >>> X, y = make_moons(400, noise=0.05, random_state=0)
    >>> model = SpectralClustering(n_clusters=2, random_state=0).fit(X[:300])
    >>> int((model.predict(X[300:]) == y[300:]).sum()) in (0, 100)
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        affinity: str | Callable[..., Any] | Affinity = "nearest_neighbors",
        gamma: float | str | None = None,
        n_neighbors: int = 10,
        self_similarity: str = "kept",
        unsupported: str = "nan",
        assign_labels: str = "kmeans",
        n_init: int = 10,
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.self_similarity = self_similarity
        self.unsupported = unsupported
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, grows: bool = False) -> Self:
        rule = assignment(
            self.assign_labels, self.n_clusters, self._requested, self.n_init, self.random_state
        )
        super()._fit(X, grows)
        self.assignment_ = rule.fit(self._model.embedding)
        self.labels_ = self.assignment_(self._model.embedding)
        return self

    @available_if(can_grow)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take new points in; clusters keep their centres and numbers."""
        if not hasattr(self, "assignment_"):
            return self._fit(X, grows=True)
        super().partial_fit(X)
        self.labels_ = self.assignment_(self._model.embedding)
        return self

    def predict(self, X: Any) -> Index:
        """The cluster of new points; -1 for a point that is similar to no training point."""
        check_is_fitted(self)
        return self.assignment_(self._coordinates(X)[0])

    @property
    def _requested(self) -> int:
        return self.n_clusters if self.n_components is None else self.n_components

    @property
    def gamma_(self) -> float | None:
        check_is_fitted(self)
        return self.kernel_.affinity_.gamma_

    def _kernel(self) -> Kernel:
        similarity = affinity_by_name(self.affinity, self.gamma, self.n_neighbors, self.n_jobs)
        return kernels.Laplacian(similarity, self.self_similarity, False, self.unsupported)
