"""Isomap: ``K`` of MDS with d = 𝒟, the geodesic distance through D  (Bengio 2004 eq. 10, 6)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._compute.detours import detours
from .._compute.minplus import min_plus, min_plus_squares
from ..gram import Array, Border, Gram, Matrix, Rows, all_but, dense
from ..graphs import (
    bridges,
    components,
    cure_by_neighbors,
    directed_graph,
    geodesics,
    union,
    warn_disconnected,
)
from ..neighbors import TIES, Neighbors, lists_without
from ..normalization import Centring, row_means
from ..threads import by_rows
from .base import Kernel, twin

TILE = 64  # rows that a thread takes at once
NEIGHBORHOODS = ("symmetric", "one-sided")


class Isomap(Kernel):
    """Double-centred squared geodesic distances.

    A path's interior points are training points only, so that a new point never changes the
    distances between others: ``𝒟(x, x_i) = min_j ‖x − x_j‖ + 𝒟(x_j, x_i)``, j over the
    neighbours of x.

    Parameters
    ----------
    n_neighbors : int or None, default=5
    radius : float, optional
        Neighbours are all points within this distance, instead of the nearest k; exactly one
        of the two is given.
    neighborhood : {"symmetric", "one-sided"}, default="symmetric"
        Who the neighbours of a new x are: its k nearest and all points that would have x among
        their own k nearest (the papers), or its k nearest alone (scikit-learn).
    metric, p, metric_params, neighbors_algorithm, n_jobs
        Of the neighbour search, as in :class:`sklearn.manifold.Isomap`.
    """

    tells_all = False  # a point that joins ends edges of others, and shortens their paths

    def __init__(
        self,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        neighborhood: str = "symmetric",
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.neighborhood = neighborhood
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs

    @property
    def takes(self) -> str:
        return "distances" if self.metric == "precomputed" else "vectors"

    @property
    def accepts_sparse(self) -> bool:
        return self.metric != "precomputed"

    def fit(self, X: Matrix) -> Gram:
        self._check()
        self.neighbors_ = Neighbors(
            self.metric, self.p, self.metric_params, self.neighbors_algorithm, self.n_jobs
        ).fit(X)
        graph = self._graph(X)
        labels = components(graph)
        if labels.any():
            k = self.n_neighbors
            cure = "Raise radius." if k is None else cure_by_neighbors(self.neighbors_, k)
            warn_disconnected(
                labels, "Isomap joins them by the shortest bridge between every two.", cure
            )
            graph = union(graph, bridges(self.neighbors_, labels))
        self.geodesics_ = geodesics(graph, self.n_jobs)
        kappa = -0.5 * self.geodesics_**2
        self.centring_ = Centring.fit(kappa)
        return Gram(self.centring_.gram(kappa))

    def __call__(self, X: Matrix) -> Rows:
        return Rows(self.centring_.rows(-0.5 * self.geodesic_distances(X) ** 2))

    def product(self, X: Matrix, W: Array) -> tuple[Array, None]:
        near = self._neighbors_of(X)
        out, total = np.empty((X.shape[0], W.shape[1])), np.empty(X.shape[0])

        def work(block: slice) -> None:
            rows = near[block]
            min_plus_squares(
                rows.indptr, rows.indices, rows.data, self.geodesics_, W, out[block], total[block]
            )

        by_rows(work, X.shape[0], TILE, self.n_jobs)
        means = -0.5 * total / self.neighbors_.n
        return self.centring_.product(-0.5 * out, means, W), None

    def border(self, X: Matrix) -> Border:
        return self.centring_.border(-0.5 * self.geodesic_distances(X) ** 2, np.zeros(X.shape[0]))

    def join(self, X: Matrix) -> Border:
        return self.centring_.border(
            -0.5 * self.geodesic_distances(X) ** 2, -0.5 * self.geodesics_between(X) ** 2
        )

    def between(self, X: Matrix) -> Array:
        def kappa(some: Matrix) -> Array:
            return -0.5 * self.geodesic_distances(some) ** 2

        means = row_means(kappa, X, self.neighbors_.n)
        return self.centring_.between(means, -0.5 * self.geodesics_between(X) ** 2)

    def geodesics_between(self, X: Matrix) -> Array:
        """``𝒟(x, x')`` between new points: ``‖x − x'‖`` where they are neighbours, or through D."""
        near = self._neighbors_of(X)
        into = np.ascontiguousarray(self.geodesic_distances(X).T)
        through = np.asarray(min_plus(near.indptr, near.indices, near.data, into))
        reach = self.radius or self.neighbors_.of(X, self.n_neighbors or 1)[0].max(axis=1)
        among = self.neighbors_.among(X)
        D = np.where(among < reach * (1 - 2 * TIES), np.minimum(among, through), through)
        return np.minimum(D, D.T)

    def geodesic_distances(self, X: Matrix) -> Array:
        """``𝒟(x, x_i)`` from each row of X to every training point."""
        near = self._neighbors_of(X)
        return np.asarray(min_plus(near.indptr, near.indices, near.data, self.geodesics_))

    def without(self, X: Matrix) -> Callable[[int], tuple[Kernel, Gram]]:
        """Paths through i go around it, then those shorten that take the new edges: of each point
        that had i among its k nearest, to the next one. Where the graph falls apart, or has
        identical points enough, all is made anew."""
        plain, near, k = super().without(X), self.neighbors_, self.n_neighbors
        graph, whole = twin(self)._graph(X), self.geodesics_
        if (self.radii_ == 0).any() or components(graph).any() or (k or 0) + 1 >= near.n:
            return plain
        lists = None
        if k is not None:
            lists = near.of_training(k + 1)
            listed = directed_graph(lists[0][:, :k], lists[1][:, :k], near.n)
            listed = union(listed, sp.csr_array(listed.T))
            if (listed != graph).nnz:  # of equally distant points others are the nearest k
                graph, whole = listed, geodesics(listed, self.n_jobs)

        def others(i: int) -> tuple[Kernel, Gram]:
            other = twin(self)
            paths = detours(graph.indptr, graph.indices, graph.data, whole, i)
            if lists is None or k is None:
                other.radii_ = np.delete(self.radii_, i)
            else:
                distances, index = lists
                for a in np.flatnonzero((index[:, :k] == i).any(axis=1)).tolist():
                    if a != i:
                        _shorten(paths, a, int(index[a, k]), float(distances[a, k]))
                other.radii_ = lists_without(distances, index, i)[0].max(axis=1)
            other.geodesics_ = np.asarray(all_but(paths, i, square=True))
            if np.isinf(other.geodesics_).any():
                return plain(i)
            other.neighbors_ = near.without(i)
            kappa = -0.5 * other.geodesics_**2
            other.centring_ = Centring.fit(kappa)
            return other, Gram(other.centring_.gram(kappa))

        return others

    def _check(self) -> None:
        if (self.n_neighbors is None) == (self.radius is None):
            raise ValueError(
                f"Give either n_neighbors or radius and set the other to None; got "
                f"n_neighbors={self.n_neighbors}, radius={self.radius}."
            )
        if self.neighborhood not in NEIGHBORHOODS:
            raise ValueError(
                f"neighborhood={self.neighborhood!r} is not known; use one of {NEIGHBORHOODS}."
            )

    def _graph(self, X: Matrix) -> sp.csr_array:
        """The symmetric neighbourhood graph on D; identical points are always neighbours."""
        n = X.shape[0]
        if self.n_neighbors is None:
            self.radii_ = np.full(n, float(self.radius or 0))
            graph = self.neighbors_.within(X, self.radii_)
            return union(graph, sp.csr_array(graph.T))
        distances, index = self.neighbors_.of_training(self.n_neighbors)
        self.radii_ = distances.max(axis=1)
        graph = directed_graph(distances, index, n)
        return union(graph, sp.csr_array(graph.T), *self._ties_of_copies())

    def _ties_of_copies(self) -> list[sp.csr_array]:
        """Edges of length 0 from each of more than k identical points to the first of them."""
        crowded = np.flatnonzero(self.radii_ == 0)
        if len(crowded) == 0:
            return []
        _, first, group = np.unique(
            dense(self.neighbors_.X[crowded]), axis=0, return_index=True, return_inverse=True
        )
        centre = crowded[first][group.ravel()]
        star = sp.csr_array(
            (np.zeros(len(crowded)), (crowded, centre)), shape=(self.neighbors_.n,) * 2
        )
        return [star, sp.csr_array(star.T)]

    def _neighbors_of(self, X: Matrix) -> sp.csr_array:
        """Neighbours of new points: their k nearest, and whoever is nearer to them than to
        its own k-th neighbour. Which of several equally distant points is the k-th is not
        determined, so that none of these is used."""
        if self.n_neighbors is None:
            near = self.neighbors_.within(X, self.radii_)
            distances, index = self.neighbors_.of(X, 1)
            alone = int((np.diff(near.indptr) == 0).sum())
            if alone:
                warnings.warn(
                    f"{alone} of {X.shape[0]} new points have no training point within radius "
                    f"{self.radius}; they are joined to the nearest one, up to "
                    f"{distances.max():.4g} away. Raise radius, or take these points for outliers.",
                    UserWarning,
                    stacklevel=2,
                )
            return union(near, directed_graph(distances, index, self.neighbors_.n))
        k = self.n_neighbors
        if self.neighborhood == "one-sided":
            distances, index = self.neighbors_.of(X, k)
            return directed_graph(distances, index, self.neighbors_.n)
        distances, index = self.neighbors_.of(X, k + 1)
        tied = distances >= distances[:, -1:] * (1 - TIES)
        tied[:, 0] = False
        keep = ~tied
        counts = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
        shape = (X.shape[0], self.neighbors_.n)
        nearest = sp.csr_array((distances[keep], index[keep], counts), shape)
        # Strictly within: a point with a radius of 0 has copies enough and takes no other.
        reach = np.where(self.radii_ > 0, self.radii_ * (1 - 2 * TIES), -1)
        return union(nearest, self.neighbors_.within(X, reach))


def _shorten(paths: Array, a: int, b: int, length: float) -> None:
    """Take an edge between a and b into the shortest paths."""
    for start, end in ((a, b), (b, a)):
        into = paths[:, start] + length
        rows = np.flatnonzero(into < paths[:, end])
        paths[rows] = np.minimum(paths[rows], into[rows, None] + paths[end])
