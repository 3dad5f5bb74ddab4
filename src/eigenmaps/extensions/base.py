"""A way to new points: fitted on a model, it maps rows of data to coordinates."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Self

from sklearn.base import BaseEstimator

from ..eigen import Eigenpairs, eigenpairs
from ..gram import Array, Gram, Matrix, RowKernel
from ..scaling import Scaling


class Model(NamedTuple):
    """What an extension is given: the training points, their coordinates, the kernel.

    ``phi`` is ``S^-½ V``, and ``embedding = scaling.apply(phi, S)``. ``degree`` is S, None where
    the method has none. ``trivial`` are the columns of Φ, and ``trivial_ell`` their eigenvalues,
    that the embedding leaves out, ``size`` is ``Σ ℓ²`` over all there are.
    ``gram`` is the Gram matrix where it is at hand; a fitted estimator does not keep it.
    """

    X: Matrix
    embedding: Array
    phi: Array
    ell: Array
    kernel: RowKernel
    scaling: Scaling
    degree: Array | None
    trivial: Array
    trivial_ell: Array
    size: float
    gram: Gram | None = None

    def solved(self, m: int) -> tuple[Gram, Eigenpairs]:
        """The Gram matrix, and m of its leading eigenpairs, or as many as there are."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the model was fitted
            gram = self.kernel.fixed().fit(self.X) if self.gram is None else self.gram
            return gram, eigenpairs(gram, min(m, gram.n - gram.drop))


class Extension(BaseEstimator, ABC):
    """A map from data to coordinates that agrees with a fitted embedding.

    :func:`eigenmaps.testing.extension_laws` are the laws an extension must keep.
    """

    #: what X may be (see :attr:`eigenmaps.kernels.Kernel.takes`)
    serves: ClassVar[tuple[str, ...]] = ("vectors", "distances", "similarities", "products")
    #: attributes with a number for each row, set by a call; after a transform for all its rows
    figures: ClassVar[tuple[str, ...]] = ()

    @property
    def interpolates(self) -> bool:
        """Whether training points keep their coordinates."""
        return True

    @property
    def together(self) -> bool:
        """Whether the rows of a transform depend on one another, and must be given at once."""
        return False

    @abstractmethod
    def fit(self, model: Model) -> Self:
        """Learn the map from a fitted model."""

    @abstractmethod
    def __call__(self, X: Matrix) -> Array:
        """Coordinates of new points; each row depends on itself alone."""

    def check(self, model: Model) -> None:
        """Refuse a model whose data this extension cannot read."""
        takes = model.kernel.takes
        if takes not in self.serves:
            raise ValueError(
                f"extension {type(self).__name__!r} needs {' or '.join(self.serves)}, but this "
                f"model was fitted on precomputed {takes}. Use extension='nystrom', or fit "
                "on the data itself."
            )
