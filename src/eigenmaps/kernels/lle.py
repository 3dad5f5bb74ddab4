"""LLE: ``M_μ = μI − (I−W)ᵀ(I−W)``, ``K_μ = (μ−1)K' + K''``  (Bengio 2003 §4.4, eq. 16–17)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..barycenter import new_weights, training_weights
from ..gram import Array, Gram, Matrix, Rewiring, Rows, Spectrum, dense, stack
from ..graphs import components, cure_by_neighbors, directed_graph, warn_disconnected
from ..neighbors import TIES, Neighbors, lists_without
from .base import Kernel, twin


class LLE(Kernel):
    """Barycentric weights on the nearest neighbours.

    The Gram matrix is ``−(I−W)ᵀ(I−W)`` and the shift μ stays a symbol: with λ̂ the eigenvalues
    of (I−W)ᵀ(I−W), ``y(x) = (μ−1)/(μ−λ̂) Σ v_i w(x,x_i)``, and μ → ∞ is Saul & Roweis'
    ``Σ y_i w(x,x_i)``. Rows are K_μ/μ and eigenvalues (μ−λ̂)/μ, which have that limit.

    Parameters
    ----------
    n_neighbors : int, default=5
    reg : float, default=1e-3
        Ridge of the weights, relative to the trace of the local Gram matrix.
    mu : float, default=inf
        The shift μ.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Weights need coordinates, or the distances between all points.
    neighbors_algorithm, n_jobs
        Of the neighbour search, as in :class:`sklearn.manifold.LocallyLinearEmbedding`.
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        reg: float = 1e-3,
        mu: float = np.inf,
        metric: str = "euclidean",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.mu = mu
        self.metric = metric
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs

    @property
    def scaling(self) -> str:
        return "eigenvector"

    @property
    def takes(self) -> str:
        return "distances" if self.metric == "precomputed" else "vectors"

    @property
    def accepts_sparse(self) -> bool:
        return self.metric != "precomputed"

    def fit(self, X: Matrix) -> Gram:
        if self.metric not in ("euclidean", "precomputed"):
            raise ValueError(
                f"metric={self.metric!r}: the weights of LLE are defined by Euclidean geometry; "
                "use 'euclidean', or 'precomputed' with Euclidean-like distances."
            )
        if not self.reg > 0:
            raise ValueError(
                f"reg={self.reg} must be positive: without a ridge weights may not exist."
            )
        if not self.mu > 1:
            raise ValueError(f"mu={self.mu} must be larger than 1.")
        settings: dict[str, Any] = {"algorithm": self.neighbors_algorithm, "n_jobs": self.n_jobs}
        self.neighbors_ = Neighbors(self.metric, **settings).fit(X)
        n, k = X.shape[0], self.n_neighbors
        distances, index = self.neighbors_.of_training(k)
        graph = directed_graph(distances, index, n)
        labels = components(graph)
        if labels.any():
            warn_disconnected(
                labels,
                "LLE then tells components apart before it shows anything inside them.",
                cure_by_neighbors(self.neighbors_, k),
            )
        W = training_weights(self.neighbors_, distances, index, self.reg)
        self.nearest_ = distances, index
        self.W_ = directed_graph(W, index, n)
        return self._gram()

    def _gram(self) -> Gram:
        n = self.W_.shape[0]
        constant = np.full((n, 1), n**-0.5)
        return Gram(factor=sp.csr_array(sp.eye_array(n) - self.W_), known=constant, drop=1)

    def __call__(self, X: Matrix) -> Rows:
        distances, index = self.neighbors_.of(X, self.n_neighbors)
        w = new_weights(self.neighbors_, X, distances, index, self.n_neighbors * self.reg)
        n = self.neighbors_.n
        if np.isinf(self.mu):
            return Rows(directed_graph(w, index, n))
        K1 = directed_graph(w, index, n)
        on_D = sp.csr_array(K1 * directed_graph(1.0 * (distances == 0), index, n))
        K2 = on_D @ (self.W_ + self.W_.T - self.W_.T @ self.W_)
        return Rows(sp.csr_array(K1 * (1 - 1 / self.mu) + K2 / self.mu))

    def between(self, X: Matrix) -> Array:
        """K' and K'' as in §4.4: 0 between two points neither of which is in D."""
        rows = dense(self(X).weights)
        distance, nearest = self.neighbors_.of(X, 1)
        old = np.flatnonzero(distance == 0)
        K = np.zeros((X.shape[0],) * 2)
        K[:, old] = rows[:, nearest[old, 0]]
        K[old] = K[:, old].T
        return K

    def rewiring(self, X: Matrix) -> Rewiring:
        """x has its row of W, and takes the farthest one's place among the k nearest of each point
        that it is nearer to."""
        n, m = self.neighbors_.n, X.shape[0]
        joined = self._joined(X)
        new = self.neighbors_.of(X, self.n_neighbors)
        w = training_weights(joined, *new, self.reg, n + np.arange(m))
        distances, index = self.nearest_
        reach = self.neighbors_.within(X, distances.max(axis=1) * (1 - 2 * TIES)).tocoo()
        x, old = reach.row, reach.col
        d, i = distances[old], index[old]
        last = np.arange(len(old)), d.argmax(axis=1)
        d[last], i[last] = reach.data, n + x
        W = directed_graph(training_weights(joined, d, i, self.reg, old), i, n + m)
        changes = []
        for q in range(m):
            own = np.flatnonzero(x == q)
            now = sp.csr_array(W[own][:, [*range(n), n + q]])
            change = now - sp.csr_array(sp.hstack([self.W_[old[own]], sp.csr_array((len(own), 1))]))
            spread = sp.csr_array(
                (np.ones(len(own)), (old[own], np.arange(len(own)))), (n, len(own))
            )
            changes.append(sp.csr_array(spread @ change))
        return Rewiring(directed_graph(w, new[1], n), changes)

    def _joined(self, X: Matrix) -> Neighbors:
        """The search among training points and new ones; these are strangers to one another."""
        near = self.neighbors_
        if self.metric != "precomputed":
            return near.with_more(X, stack(near.X, X))
        strangers = np.zeros((X.shape[0],) * 2)
        return Neighbors("precomputed").fit(np.block([[near.X, X.T], [X, strangers]]))

    def without(self, X: Matrix) -> Callable[[int], tuple[Kernel, Gram]]:
        """Only the points that have i among their nearest have new weights."""
        near, k = self.neighbors_, self.n_neighbors
        if k + 1 >= near.n:
            return super().without(X)
        distances, index = near.of_training(k + 1)
        weights = training_weights(near, distances[:, :k], index[:, :k], self.reg)

        def others(i: int) -> tuple[Kernel, Gram]:
            other, W = twin(self), weights.copy()
            d, j = lists_without(distances, index, i)
            new = np.flatnonzero((index[:, :k] == i).any(axis=1))
            at = new - (new > i)
            W[new] = training_weights(near, d[at], j[at] + (j[at] >= i), self.reg, new)
            other.neighbors_ = near.without(i)
            other.nearest_ = d, j
            other.W_ = directed_graph(np.delete(W, i, axis=0), j, near.n - 1)
            return other, other._gram()

        return others

    def size(self, spectrum: Spectrum) -> float:
        """``Σ ((μ − λ̂)/μ)²``."""
        if np.isinf(self.mu):
            return spectrum.n
        first, second = spectrum.sums
        return spectrum.n + 2 * first / self.mu + second / self.mu**2

    def ell(self, values: Array) -> Array:
        """``(μ − λ̂)/μ``."""
        return 1 + values / self.mu
