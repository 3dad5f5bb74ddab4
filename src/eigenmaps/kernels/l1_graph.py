"""The ℓ1 graph: similarities are the coefficients by which points are made of one another
(Raducanu & Dornaika 2012 §3.2; Qiao, Chen & Tan 2010)."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from ..coding import Dictionary
from ..gram import Array, Matrix, dense
from ..neighbors import Neighbors
from .affinity import Affinity


class L1Graph(Affinity):
    """``κ = (|A| + |A|ᵀ)/2``, row i of A the sparse code of x_i by all other training points.

    ``(a,e) = argmin ‖a‖₁ + λ‖e‖₁  s.t.  x = Σ a_j x_j + e``: neither a neighbourhood nor a
    bandwidth is chosen. The row of a new point is ``|a(x)|``. That of a training point is its row
    of κ, in which it is not made of itself, so that coordinates jump there, and κ(x,x) = 0.

    Parameters
    ----------
    weight : float, default=1
        λ, the price of what other points do not explain.
    unit_norm : bool, default=True
        Scale points to unit ℓ₂ norm. Else ``‖a‖₁`` against ``λ‖e‖₁`` depends on their units.
    tol : float, default=1e-6
        The relative gap up to which a code counts as optimal; above, a warning.
    n_jobs : int, optional
        Threads; -1 is all processors.

    Attributes
    ----------
    gap_ : (n_samples,) array
        The certified relative gap of each training point's code.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import LaplacianEigenmaps
    >>> X = load_digits().data
    >>> LaplacianEigenmaps(affinity="l1").fit(X[:200]).transform(X[200:250]).shape
    (50, 2)
    """

    def __init__(
        self,
        weight: float = 1.0,
        unit_norm: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
    ):
        self.weight = weight
        self.unit_norm = unit_norm
        self.tol = tol
        self.n_jobs = n_jobs

    @property
    def peaked(self) -> bool:
        return True  # κ(x,x) is left out from the start

    @property
    def reacts(self) -> bool:
        return True

    def fit(self, X: Matrix) -> sp.csr_array:
        points = dense(X)
        self.dictionary_ = Dictionary.of(points, self.weight, self.unit_norm)
        self.neighbors_ = Neighbors().fit(X)
        own = np.arange(len(points))
        codes = self.dictionary_.code(points, self.tol, own=own, n_jobs=self.n_jobs)
        self.gap_ = codes.gap
        loose = self.gap_ > self.tol
        if loose.any():
            warnings.warn(
                f"{loose.sum()} of {len(points)} training points have codes with a relative gap "
                f"above tol={self.tol} (largest {self.gap_.max():.2g}, first at row "
                f"{loose.argmax()}): they may miss the optimum by so much.",
                UserWarning,
                stacklevel=2,
            )
        A = abs(codes.coefficients)
        lost = np.flatnonzero(A.sum(axis=1) == 0)
        if len(lost):
            warnings.warn(
                f"{len(lost)} of {len(points)} training points are explained by no other (first at "
                f"row {lost[0]}): each is joined to its nearest point instead. A larger weight "
                "makes points explain more of one another.",
                UserWarning,
                stacklevel=2,
            )
            nearest = self.neighbors_.of_training(1)[1].ravel()[lost]
            A = A + sp.csr_array((np.ones(len(lost)), (lost, nearest)), A.shape)
        self.kappa_ = sp.csr_array((A + A.T) / 2)
        return self.kappa_.copy()

    def rows(self, X: Matrix) -> tuple[sp.csr_array, Array]:
        distance, nearest = self.neighbors_.of(X, 1)
        known = distance.ravel() == 0
        rows = self.kappa_[nearest[known, 0]]
        if not known.all():
            codes = self.dictionary_.code(dense(X)[~known], self.tol, n_jobs=self.n_jobs)
            rows = sp.vstack([rows, abs(codes.coefficients)], format="csr")
        place = np.argsort(np.concatenate([np.flatnonzero(known), np.flatnonzero(~known)]))
        return sp.csr_array(rows[place]), np.zeros(X.shape[0])

    def border(self, X: Matrix) -> None:
        return None

    def cure(self) -> str:
        return f"Raise weight (in use: {self.weight}): points then explain more of one another."
