"""Laplacian eigenmaps, spectral clustering: ``K = κ/√(S S)``  (Bengio 2004 eq. 7–9)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..blocks import row_blocks
from ..eigen import eigenpairs
from ..gram import NO_DIGIT, Array, Border, Gram, Index, Matrix, Rows, dense
from ..graphs import components, warn_disconnected
from ..normalization import SELF, Degrees
from .affinity import Affinity
from .base import Kernel, twin
from .graph import NeighborGraph

UNSUPPORTED = ("nan", "nearest", "raise")


class Laplacian(Kernel):
    """A similarity divided by the square roots of its degrees.

    With ``y = S^-½ v`` the pairs solve ``(S − κ) y = (1 − ℓ) S y``.

    Parameters
    ----------
    affinity : Affinity, optional
        One of :mod:`eigenmaps.kernels`' affinities; :class:`NeighborGraph` by default.
    self_similarity : {"kept", "off-degree", "dropped"}, default="kept"
        κ(x,x) as in eq. 7; not counted in the degree (footnote 2: embeddings are usually
        better); or left out of κ as well, as scikit-learn does.
    drop_first : bool, default=True
        Leave out the trivial pair ``v ∝ S^½``: yes for an embedding, no for clustering.
    unsupported : {"nan", "nearest", "raise"}, default="nan"
        What a new point gets that is similar to no training point: NaN with a warning, the row
        of the nearest training point, or an error.
    """

    def __init__(
        self,
        affinity: Affinity | None = None,
        self_similarity: str = "kept",
        drop_first: bool = True,
        unsupported: str = "nan",
    ):
        self.affinity = affinity
        self.self_similarity = self_similarity
        self.drop_first = drop_first
        self.unsupported = unsupported

    @property
    def _affinity(self) -> Affinity:
        return NeighborGraph() if self.affinity is None else self.affinity

    @property
    def scaling(self) -> str:
        return "degree" if self.drop_first else "eigenvector"

    @property
    def takes(self) -> str:
        return self._affinity.takes

    @property
    def accepts_sparse(self) -> bool:
        return self._affinity.accepts_sparse

    def fit(self, X: Matrix) -> Gram:
        if self.unsupported not in UNSUPPORTED:
            raise ValueError(f"unsupported={self.unsupported!r}: use one of {UNSUPPORTED}.")
        if self.self_similarity not in SELF:
            raise ValueError(f"self_similarity={self.self_similarity!r}: use one of {SELF}.")
        self.affinity_ = clone(self._affinity)
        if self.self_similarity == "dropped" and not self.affinity_.peaked:
            raise ValueError(
                "self_similarity='dropped' needs an affinity by which a point is more similar to "
                "itself than to others, but hard 0/1 weights are 1 throughout. Use edge='soft', "
                "weights='heat' or self_similarity='off-degree'."
            )
        return self._normalised(self.affinity_.fit(X))

    def without(self, X: Matrix) -> Callable[[int], tuple[Kernel, Gram]]:
        affinities = self.affinity_.without(X)

        def others(i: int) -> tuple[Kernel, Gram]:
            other = twin(self)
            other.affinity_, kappa = affinities(i)
            return other, other._normalised(kappa)

        return others

    def _normalised(self, kappa: Matrix) -> Gram:
        """M; κ is overwritten."""
        self.degrees_ = Degrees.fit(kappa, self.self_similarity, given=self.takes == "similarities")
        degree = self.degrees_.degree
        # Off the degree, a point's similarity to itself outweighs all else where it is alone.
        least = 1e-6 * self.degrees_.diagonal if self.self_similarity == "off-degree" else 0.0
        alone = np.flatnonzero(degree <= np.maximum(least, NO_DIGIT * degree.max()))
        if len(alone):
            raise ValueError(
                f"{len(alone)} of {len(degree)} training points are similar to no other point "
                f"(first at row {alone[0]}): their degree is {degree[alone].min():.2g}, where the "
                f"largest is {degree.max():.2g}. {self.affinity_.cure()} Or leave these rows out"
                + ("." if self.self_similarity == "kept" else ", or use self_similarity='kept'.")
            )
        M = self.degrees_.gram(kappa)
        labels = components(M)
        if labels.any():
            warn_disconnected(
                labels,
                "Coordinates then tell components apart before they show anything inside them.",
                self.affinity_.cure(),
            )
        if self.self_similarity == "off-degree":
            known = eigenpairs(Gram(M), 1).vectors
            bound = float((1 + self.degrees_.diagonal / degree).max())
        else:
            known, bound = perron(degree, labels), 1.0
        return Gram(M, degree=degree, known=known, drop=int(self.drop_first), bound=bound)

    def __call__(self, X: Matrix) -> Rows:
        rows = self.degrees_.rows(*self.affinity_.rows(X))
        assert rows.degree is not None
        lost = np.flatnonzero(np.isnan(rows.degree))
        return self._without_support(X, rows, lost) if len(lost) else rows

    def fixed(self) -> Self:
        return clone(self).set_params(affinity=self.affinity_.fixed())

    @property
    def reacts(self) -> bool:
        return self._affinity.reacts

    def border(self, X: Matrix) -> Border | None:
        return self._with_degrees(self.affinity_.border(X))

    def join(self, X: Matrix) -> Border | None:
        return self._with_degrees(self.affinity_.join(X))

    @property
    def any_two(self) -> bool:
        return self._affinity.any_two

    def between(self, X: Matrix) -> Array:
        kappa = self.affinity_.between(X)
        if self.self_similarity == "dropped":
            which = np.unique(dense(X), axis=0, return_inverse=True)[1].ravel()
            kappa[which == which[:, None]] = 0
        degree = np.concatenate(
            [
                np.asarray(self.degrees_.rows(*self.affinity_.rows(X[block])).degree)
                for block in row_blocks(X.shape[0], 8 * len(self.degrees_.degree))
            ]
        )
        root = np.sqrt(np.where(degree > 0, degree, np.nan))
        return kappa / root / root[:, None]

    def grow(self, X: Matrix, everything: Matrix) -> Border | None:
        self.affinity_ = twin(self.affinity_)
        grown = self.affinity_.grow(X, everything)
        border = self._with_degrees(grown)
        if border is None or grown is None:
            return None
        before = self.degrees_
        self.degrees_ = before._replace(
            degree=border.degrees(before.degree),
            diagonal=np.concatenate([before.diagonal, np.diag(grown.own)]),
        )
        return border

    def _with_degrees(self, border: Border | None) -> Border | None:
        if border is None:
            return None
        own = border.own.copy()
        itself = np.diag(own).copy() if own.ndim == 2 else own.copy()
        if self.self_similarity == "dropped":
            own = own - np.diag(itself) if own.ndim == 2 else np.zeros_like(own)
        degree = np.asarray(border.row.sum(axis=1)).ravel()
        degree += border.own.sum(axis=1) if own.ndim == 2 else itself
        if self.self_similarity != "kept":
            degree -= itself
        return border._replace(own=own, degree=degree)

    def _without_support(self, X: Matrix, rows: Rows, lost: Index) -> Rows:
        what = (
            f"{len(lost)} of {X.shape[0]} new points are similar to no training point "
            f"(first at row {lost[0]})"
        )
        neighbors = getattr(self.affinity_, "neighbors_", None)
        if self.unsupported == "nearest" and neighbors is not None:
            weights = sp.csr_array(rows.weights).tolil()
            stand_in = self(neighbors.X[neighbors.of(X[lost], 1)[1].ravel()])
            weights[lost] = stand_in.weights
            degree = np.array(rows.degree)
            degree[lost] = stand_in.degree
            return Rows(sp.csr_array(weights), degree)
        if self.unsupported == "nan":
            warnings.warn(
                f"{what}; their coordinates are NaN. unsupported='nearest' gives them those of "
                "the nearest training point, where the affinity knows distances.",
                UserWarning,
                stacklevel=2,
            )
            return rows
        raise ValueError(f"{what}. They lie outside of what the model has learned.")


def perron(degree: Array, labels: Index) -> Array:
    """The eigenvectors of ℓ = 1: ``S^½`` on each component, rotated so that the first is
    ``S^½`` on all points."""
    root = np.sqrt(degree)
    count = int(labels.max()) + 1
    volume = np.sqrt(np.bincount(labels, weights=degree))
    known = np.zeros((len(degree), count))
    known[np.arange(len(degree)), labels] = root / volume[labels]
    first = volume / np.linalg.norm(volume)
    if count == 1:
        return known
    # A Householder reflection whose first column is `first`.
    reflect = -first
    reflect[0] += 1
    H = np.eye(count) - 2 * np.outer(reflect, reflect) / (reflect @ reflect)
    return np.asarray(known @ H)
