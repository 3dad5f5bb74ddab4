"""What a method is: a kernel that is fitted on data and gives rows for any points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..gram import Array, Border, Gram, Matrix, Rewiring, Rows, Spectrum, all_but

Part = TypeVar("Part")


class Kernel(BaseEstimator, ABC):
    """A data-dependent kernel K (Bengio 2004 §3).

    A new method is a subclass with the two methods below; it then has everything else:
    solvers, scalings, extensions, new points. :func:`eigenmaps.testing.kernel_laws` are the
    laws it must keep.
    """

    #: whether ``border``, ``join`` and ``grow`` tell all that changes where points join
    tells_all: ClassVar[bool] = True

    @property
    def scaling(self) -> str:
        """The coordinates the method is known for (:mod:`eigenmaps.scaling`)."""
        return "sqrt-eigenvalue"

    @property
    def takes(self) -> str:
        """What X is: ``"vectors"``, or precomputed ``"distances"``, ``"similarities"`` (not
        negative) or ``"products"`` (scalar products)."""
        return "vectors"

    @property
    def accepts_sparse(self) -> bool:
        """Whether X may be a :mod:`scipy.sparse` matrix."""
        return False

    def fixed(self) -> Self:
        """An unfitted copy with what the data chose, such as a bandwidth, as its parameters."""
        return clone(self)

    @property
    def reacts(self) -> bool:
        """Whether a point that joins changes κ between others."""
        return False

    def border(self, X: Matrix) -> Border | None:
        """What each new point, alone, would add to κ, where the kernel knows it
        (``extension="refit"``)."""
        return None

    def rewiring(self, X: Matrix) -> Rewiring | None:
        """What each new point, alone, would change in the factor of M, where M has one
        (``extension="refit"``)."""
        return None

    def join(self, X: Matrix) -> Border | None:
        """What new points, all together, would add to κ, where the kernel knows it."""
        return None

    def grow(self, X: Matrix, everything: Matrix) -> Border | Gram | None:
        """Take new points in (``partial_fit``): what they add to κ, or the new Gram matrix.

        ``everything`` is the old points and the new ones.

        None: the kernel is to be fitted anew on all points.
        """
        return None

    @property
    def any_two(self) -> bool:
        """Whether ``between`` knows K between any two points."""
        return self.takes == "vectors" and type(self).between is not Kernel.between

    def between(self, X: Matrix) -> Array:
        """K between any points, given D alone (:meth:`eigenmaps.Eigenmap.loss`).

        Between training points it is what their rows say.
        """
        raise NotImplementedError

    def without(self, X: Matrix) -> Callable[[int], tuple[Kernel, Gram]]:
        """Leave one out: a function that takes i and gives the fit to all training points but i.

        Here each is a fit from the start; kernels that know better say so in their own.

        X are the training points of this, fitted, kernel. What the data chose, such as a
        bandwidth, stays as all of them chose it (:meth:`fixed`). What the fits have in common is
        found once, when this is called; it lives as long as the function.
        """
        square = self.takes != "vectors"

        def others(i: int) -> tuple[Kernel, Gram]:
            kernel = self.fixed()
            return kernel, kernel.fit(all_but(X, i, square))

        return others

    @abstractmethod
    def fit(self, X: Matrix) -> Gram:
        """Learn the normalisation from the training points; the Gram matrix M."""

    @abstractmethod
    def __call__(self, X: Matrix) -> Rows:
        """Normalised rows C of new points: ``C(X_train) Φ = Φ ℓ``."""

    def product(self, X: Matrix, W: Array) -> tuple[Array, Array | None]:
        """``C(X) W`` and S(x): what :meth:`__call__` gives, times W, for kernels that need not hold
        all of a row."""
        rows = self(X)
        return np.asarray(rows.weights @ W), rows.degree

    def size(self, spectrum: Spectrum) -> float:
        """``Σ ell(ℓ)²`` over all eigenvalues."""
        return spectrum.sums[1]

    def ell(self, values: Array) -> Array:
        """What a row's product is divided by, given the Gram matrix's eigenvalues."""
        return values


def twin(part: Part) -> Part:
    """A shallow copy, with what is kept only while in memory."""
    other = object.__new__(type(part))
    other.__dict__.update(vars(part))
    return other
