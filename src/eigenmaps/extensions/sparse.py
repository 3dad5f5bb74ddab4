"""Sparse coding: ``y(x) = Σ |a_i| y_i / Σ |a_i|``, ``(a,e) = argmin ‖a‖₁ + λ‖e‖₁  s.t.
x = Σ a_i x_i + e``  (Raducanu & Dornaika 2012 eq. 9–12)."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from ..coding import Dictionary
from ..gram import Array, Matrix, dense
from ..neighbors import Neighbors
from .base import Extension, Model

PROJECTIONS = (None, "random", "pca")
BALANCED = 30.0  # norms within this factor of 1 leave the balance of ‖a‖₁ and ‖e‖₁ as it is meant


class Sparse(Extension):
    """The mean of the training points that x is made of, weighted by how much of each it takes.

    Neither a neighbourhood nor a bandwidth is chosen. With ``unit_norm`` a training point is its
    own code, and so keeps its coordinates, as long as λ ≥ 1; of several in one direction, that
    nearest in length stands for all.

    Parameters
    ----------
    weight : float, default=1
        λ, the price of what training points do not explain.
    unit_norm : bool, default=True
        Scale training points and queries to unit ℓ₂ norm. Else ``‖a‖₁`` against ``λ‖e‖₁``
        depends on the units of the data.
    tol : float, default=1e-6
        The relative gap up to which a code counts as optimal.
    projection : {None, "random", "pca"}, default=None
        Reduce the dimension first: by a Gaussian random matrix, as the paper does, or to the
        principal components.
    n_projected : int, default=128
        To how many dimensions.
    random_state : int, default=0
        Of the random projection.
    n_jobs : int, optional
        Threads; -1 is all processors.

    Attributes
    ----------
    gap_ : (n_new,) array
        For each row of the last transform a bound of ``(objective − optimum)/objective`` of its
        code, certified by a feasible point of the dual.
    fell_back_ : (n_new,) bool array
        Rows of which no training point explains anything (all ``a_i = 0``): they have the
        coordinates of the nearest training point.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import LaplacianEigenmaps
    >>> X = load_digits().data
    >>> model = LaplacianEigenmaps(extension="sparse").fit(X[:300])
    >>> Y = model.transform(X[300:350])
    >>> bool((model.extension_.gap_ < 1e-6).all()), bool(model.extension_.fell_back_.any())
    (True, False)
    """

    serves = ("vectors",)
    figures: ClassVar[tuple[str, ...]] = ("gap_", "fell_back_")

    def __init__(
        self,
        weight: float = 1.0,
        unit_norm: bool = True,
        tol: float = 1e-6,
        projection: str | None = None,
        n_projected: int = 128,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ):
        self.weight = weight
        self.unit_norm = unit_norm
        self.tol = tol
        self.projection = projection
        self.n_projected = n_projected
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def interpolates(self) -> bool:
        return self.unit_norm and self.weight >= 1

    def fit(self, model: Model) -> Self:
        self.check(model)
        tol: Any = self.tol
        if not (isinstance(tol, Real) and float(tol) > 0):
            raise ValueError(f"tol={tol!r} must be positive: no code has a gap below rounding.")
        self.projection_ = self._projection(dense(model.X))
        self.dictionary_ = Dictionary.of(self._projected(model.X), self.weight, self.unit_norm)
        self.neighbors_ = Neighbors().fit(model.X)
        self.embedding_ = model.embedding
        if not self.unit_norm:
            _warn_units(self.dictionary_)
        return self

    def __call__(self, X: Matrix) -> Array:
        codes = self.dictionary_.code(self._projected(X), self.tol, n_jobs=self.n_jobs)
        share = abs(codes.coefficients)
        total = np.asarray(share.sum(axis=1)).ravel()
        self.gap_, self.fell_back_ = codes.gap, total == 0
        self._warn()
        inverse = np.divide(1, total, out=np.zeros_like(total), where=total > 0)
        Y = np.asarray(sp.diags_array(inverse) @ share @ self.embedding_)
        if self.fell_back_.any():
            _, nearest = self.neighbors_.of(X[self.fell_back_], 1)
            Y[self.fell_back_] = self.embedding_[nearest.ravel()]
        return Y

    def _projection(self, X: Array) -> Array | None:
        """The columns that data are multiplied by."""
        if self.projection not in PROJECTIONS:
            raise ValueError(
                f"projection={self.projection!r} is not known; use one of {PROJECTIONS}."
            )
        if self.projection is None:
            return None
        n, d = X.shape
        wanted: Any = self.n_projected
        most = d if self.projection == "random" else min(n, d)
        if not (isinstance(wanted, Integral) and 1 <= int(wanted) <= most):
            raise ValueError(
                f"n_projected={self.n_projected} is not possible with projection="
                f"{self.projection!r} of {n} training points in {d} dimensions: use 1 to {most}, "
                "or projection=None."
            )
        if self.projection == "pca":
            return np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][: self.n_projected].T
        shape = d, self.n_projected
        rng = np.random.default_rng(self.random_state)
        return rng.standard_normal(shape) / np.sqrt(self.n_projected)

    def _projected(self, X: Matrix) -> Array:
        return dense(X) if self.projection_ is None else np.asarray(X @ self.projection_)

    def _warn(self) -> None:
        if self.fell_back_.any():
            warnings.warn(
                f"{self.fell_back_.sum()} of {len(self.gap_)} new points are explained by no "
                f"training point (first at row {self.fell_back_.argmax()}): their code is 0, and "
                "they get the coordinates of the nearest training point; fell_back_ tells which. "
                "A larger weight makes training points explain more; a row of zeros has no code.",
                UserWarning,
                stacklevel=2,
            )
        loose = self.gap_ > self.tol
        if loose.any():
            warnings.warn(
                f"{loose.sum()} of {len(self.gap_)} codes have a relative gap above tol={self.tol} "
                f"(largest {self.gap_.max():.2g}, first at row {loose.argmax()}; gap_ tells all): "
                "they may miss the optimum by so much. Almost identical training points are a "
                "common cause.",
                UserWarning,
                stacklevel=2,
            )


def _warn_units(dictionary: Dictionary) -> None:
    """Warn where the units of the data decide between ‖a‖₁ and ‖e‖₁."""
    size = float(np.median(dictionary.norms))
    if 1 / BALANCED < size < BALANCED or size == 0:
        return
    what = (
        "the residual outweighs the coefficients, and codes are least absolute deviations with "
        "hardly any sparsity"
        if size > 1
        else "coefficients outweigh the residual, and codes tend to 0"
    )
    warnings.warn(
        f"Training points have a norm of {size:.3g} (median): with unit_norm=False, {what}. Use "
        f"unit_norm=True, or weight={dictionary.weight / size:.3g}, which has the same effect.",
        UserWarning,
        stacklevel=2,
    )
