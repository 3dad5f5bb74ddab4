"""From spectral coordinates to clusters, by rules that new points can follow as well.

All start from coordinates with rows scaled to unit norm (Ng, Jordan & Weiss 2002). Each rule is
a matrix: its rows are centres, or its columns are directions; a point goes to the nearest centre,
or to the direction it points along.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import scipy.linalg as sla
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from .gram import Array, Index


class Assignment(ABC):
    """A rule from coordinates to cluster labels."""

    @abstractmethod
    def fit(self, Y: Array) -> Self:
        """Learn the rule from the training points' coordinates."""

    @abstractmethod
    def _labels(self, U: Array) -> Index:
        """Labels of rows of unit norm."""

    def __call__(self, Y: Array) -> Index:
        """Labels of points; -1 where coordinates are not defined."""
        labels = np.full(len(Y), -1, dtype=np.int64)
        defined = np.isfinite(Y).all(axis=1)
        if defined.any():
            labels[defined] = self._labels(unit_rows(Y[defined]))
        return labels


class Centres(Assignment):
    """k-means; a point belongs to the nearest centre."""

    def __init__(self, n_clusters: int, n_init: int, seed: Any):
        self.n_clusters, self.n_init, self.seed = n_clusters, n_init, seed

    def fit(self, Y: Array) -> Self:
        means = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.seed)
        self.centres = means.fit(unit_rows(Y)).cluster_centers_
        return self

    def _labels(self, U: Array) -> Index:
        return np.asarray((0.5 * (self.centres**2).sum(axis=1) - U @ self.centres.T).argmin(axis=1))


class PivotedQR(Assignment):
    """Damle, Minden & Ying (2019): the rotation given by the best-conditioned rows."""

    def fit(self, Y: Array) -> Self:
        q = Y.shape[1]
        pivots = sla.qr(Y.T, mode="r", pivoting=True)[1]
        self.rotation = _polar(Y[pivots[:q]].T)
        return self

    def _labels(self, U: Array) -> Index:
        return np.asarray(np.abs(U @ self.rotation).argmax(axis=1))


class Discretization(Assignment):
    """Yu & Shi (2003): the rotation that brings unit rows nearest to indicator vectors."""

    def __init__(self, seed: Any, max_iter: int = 100):
        self.seed, self.max_iter = seed, max_iter

    def fit(self, Y: Array) -> Self:
        U, rng = unit_rows(Y), check_random_state(self.seed)
        best = -np.inf
        for _ in range(10):
            rotation, score = self._rotate(U, rng.randint(len(U)))
            if score > best * (1 + 1e-10):
                best, self.rotation = score, rotation
        return self

    def _rotate(self, U: Array, first: int) -> tuple[Array, float]:
        """Alternate between the nearest indicators and the rotation nearest to them."""
        q = U.shape[1]
        rotation, overlap = np.zeros((q, q)), np.zeros(len(U))
        rotation[:, 0] = U[first]
        for j in range(1, q):
            overlap += np.abs(U @ rotation[:, j - 1])
            rotation[:, j] = U[overlap.argmin()]
        score = -np.inf
        for _ in range(self.max_iter):
            indicator = np.eye(q)[(U @ rotation).argmax(axis=1)]
            left, s, right = np.linalg.svd(U.T @ indicator)
            if s.sum() <= score * (1 + 1e-12):
                break
            rotation, score = left @ right, float(s.sum())
        return rotation, score

    def _labels(self, U: Array) -> Index:
        return np.asarray((U @ self.rotation).argmax(axis=1))


def assignment(name: str, n_clusters: int, n_components: int, n_init: int, seed: Any) -> Assignment:
    """The rule of a name. A seed of None stands for 0: labels are repeatable."""
    seed = 0 if seed is None else seed
    if name == "kmeans":
        return Centres(n_clusters, n_init, seed)
    rules = {"cluster_qr": PivotedQR, "discretize": Discretization}
    if name not in rules:
        raise ValueError(
            f"assign_labels={name!r} is not known; use 'kmeans', 'discretize' or 'cluster_qr'."
        )
    if n_components != n_clusters:
        raise ValueError(
            f"assign_labels={name!r} rotates one coordinate onto each cluster and needs "
            f"n_components = n_clusters; got {n_components} and {n_clusters}. Use 'kmeans'."
        )
    return PivotedQR() if name == "cluster_qr" else Discretization(seed)


def unit_rows(Y: Array) -> Array:
    """Rows scaled to unit norm; a zero row stays zero."""
    norm = np.linalg.norm(Y, axis=1, keepdims=True)
    return np.asarray(Y / np.where(norm > 0, norm, 1))


def _polar(A: Array) -> Array:
    """The orthogonal matrix nearest to A."""
    left, _, right = np.linalg.svd(A)
    return np.asarray(left @ right)
