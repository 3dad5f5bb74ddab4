"""The one algorithm (Bengio 2004 §3): kernel → Gram matrix → eigenpairs → coordinates."""

from __future__ import annotations

import copy
import os
import time
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.linalg import orthogonal_procrustes
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from . import validation
from .blocks import row_blocks
from .eigen import Eigenpairs, eigenpairs, usable, warn_multiple
from .extensions import by_name
from .extensions.base import Extension, Model
from .gram import Array, Gram, Matrix
from .growth import Growth
from .inverse import Inverse
from .kernels.base import Kernel, twin
from .scaling import Scaling


def can_grow(estimator: SpectralEmbedder) -> bool:
    """Whether partial_fit makes sense: scikit-learn's way to say that a method is not there."""
    takes = estimator._kernel().takes
    if takes != "vectors":
        raise AttributeError(
            f"partial_fit needs data, but here X is precomputed {takes}: rows of these do not tell "
            "how new points lie to one another. Fit anew on the larger matrix."
        )
    return True


class SpectralEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """fit and transform of every estimator; subclasses say which kernel.

    Subclasses have the parameters ``n_components``, ``extension``, ``scaling``,
    ``diffusion_time``, ``eigen_solver``, ``tol``, ``max_iter`` and ``random_state``.
    """

    @abstractmethod
    def _kernel(self) -> Kernel:
        """A new, unfitted kernel with this estimator's parameters."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the eigenfunctions of the kernel from training points.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Or (n_samples, n_samples) where precomputed.
        y : ignored

        Returns
        -------
        self
        """
        return self._fit(X)

    def _fit(self, X: Any, grows: bool = False) -> Self:
        """The fit; where it is to grow, its matrix is kept."""
        extension = clone(by_name(self.extension))
        kernel = self._kernel()
        X, dtype = validation.training(self, X, kernel)
        gram = kernel.fit(X)
        model, pairs = self._solved(X, kernel, gram)
        warn_multiple(pairs)
        growth = Growth.solved(X, gram, model.phi.shape[1]) if grows else None
        return self._take(kernel, model, pairs, extension, growth, dtype)

    def _solved(self, X: Matrix, kernel: Kernel, gram: Gram) -> tuple[Model, Eigenpairs]:
        """From a fitted kernel and its Gram matrix to coordinates."""
        pairs = eigenpairs(
            gram, self._n_components(gram), self.eigen_solver, self.tol, self.max_iter,
            self.random_state,
        )  # fmt: skip
        pairs, ell = usable(pairs, kernel.ell(pairs.values), self._requested)
        phi = pairs.vectors
        if gram.degree is not None:
            phi = phi / np.sqrt(gram.degree)[:, None]
        scaling = self._scaling_of(kernel, ell, gram.n)
        embedding = scaling.apply(phi, gram.degree)
        return Model(X, embedding, phi, ell, kernel, scaling), pairs

    @available_if(can_grow)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take new points in, as training points, without solving anything from the start.

        The first call on an unfitted estimator is a fit. Later ones prolong the eigenvectors to
        the new points and improve them by some steps; the result is turned such that old points
        lie as near as can be to where they lay. ``solve_.residuals`` tells how far from exact
        eigenvectors it is. κ between all points is kept: n² numbers where it is dense (the first
        call after ``fit`` or ``load`` makes it again). The graphs of Isomap and LLE, and l1 codes,
        are made anew from all points, which takes as long as in a fit.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_new, n_features)
        y : ignored

        Returns
        -------
        self
        """
        if not hasattr(self, "_model"):
            return self._fit(X, grows=True)
        start, old = time.perf_counter(), self._model
        rows, _ = validation.queries(self, X, self.kernel_, old.X)
        kernel = twin(self.kernel_)
        growth = (self._growth or Growth.of(old, kernel)).grown(kernel, validation.as_float64(rows))
        ell = kernel.ell(growth.ell)
        scaling = self._scaling_of(kernel, ell, len(growth.phi))
        embedding = scaling.apply(growth.phi, growth.degree)
        turn, _ = orthogonal_procrustes(embedding[: len(old.embedding)], old.embedding)
        scaling = scaling._replace(turn=turn)
        root = 1.0 if growth.degree is None else np.sqrt(growth.degree)[:, None]
        solve = growth.solve(time.perf_counter() - start)
        pairs = Eigenpairs(growth.ell, growth.phi * root, solve)
        extension = clone(by_name(self.extension))
        model = Model(growth.X, embedding @ turn, growth.phi, ell, kernel, scaling)
        return self._take(kernel, model, pairs, extension, growth, self._dtype)

    def _scaling_of(self, kernel: Kernel, ell: Array, n: int) -> Scaling:
        name = kernel.scaling if self.scaling == "auto" else self.scaling
        return Scaling.of(name, ell, n, self.diffusion_time)

    def _take(
        self, kernel: Kernel, model: Model, pairs: Eigenpairs, extension: Extension,
        growth: Growth | None, dtype: np.dtype,
    ) -> Self:  # fmt: skip
        """The fitted attributes; what is refused leaves those that were there."""
        self.extension_ = extension.fit(model)
        self.kernel_ = kernel
        self.eigenvalues_ = pairs.values
        self.eigenvectors_ = pairs.vectors
        self.solve_ = pairs.solve
        self.n_iter_ = pairs.solve.products
        self.embedding_ = model.embedding.astype(dtype)
        self._model, self._growth, self._dtype = model, growth, dtype
        self._n_features_out = model.embedding.shape[1]
        self._inverse: Inverse | None = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | ({"_growth": None} if hasattr(self, "_model") else {})

    def transform(self, X: Any) -> Array:
        """Coordinates of new points; each row depends on that row alone.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_new, n_features)
            Or (n_new, n_samples) where precomputed.

        Returns
        -------
        array of shape (n_new, n_components)
        """
        Y, dtype = self._coordinates(X)
        return Y.astype(dtype, copy=False)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and the coordinates of the training points, ``embedding_``."""
        return self.fit(X).embedding_

    def inverse_transform(self, Y: Any) -> Array:
        """Data for given coordinates: a smooth map fitted on the embedding, at its first use.

        It is chosen by leave-one-out; ``inverse_error_`` tells how far it misses points that it
        was not fitted on, relative to the spread of the data.

        Parameters
        ----------
        Y : array of shape (n_new, n_components)

        Returns
        -------
        array of shape (n_new, n_features)
        """
        check_is_fitted(self)
        Y = check_array(Y, dtype=validation.DTYPES, estimator=self)
        if Y.shape[1] != self._n_features_out:
            raise ValueError(
                f"Y has {Y.shape[1]} coordinates, but this {type(self).__name__} has "
                f"{self._n_features_out}: give rows such as transform returns."
            )
        back = self._back(validation.as_float64(Y))
        return back.astype(Y.dtype, copy=False)

    @property
    def inverse_error_(self) -> float:
        """The relative error of :meth:`inverse_transform` on points left out."""
        check_is_fitted(self)
        return self._back.error_

    @property
    def _back(self) -> Inverse:
        """The way back, fitted when first needed."""
        if self._inverse is None:
            X = self._model.X
            if self.kernel_.takes != "vectors" or not isinstance(X, np.ndarray):
                takes = self.kernel_.takes
                what = "sparse data" if takes == "vectors" else f"precomputed {takes}"
                raise ValueError(
                    "inverse_transform needs a model fitted on a dense array of data; this one was "
                    f"fitted on {what}."
                )
            self._inverse = Inverse().fit(self._model.embedding, X)
        return self._inverse

    def with_extension(self, extension: str | Extension) -> Self:
        """The same fit with another way to new points; the embedding stays as it is.

        Parameters
        ----------
        extension : str or Extension
        """
        check_is_fitted(self)
        other = copy.copy(self)
        # Settings such as set_output's are each model's own.
        other.__dict__.update({k: dict(v) for k, v in vars(self).items() if type(v) is dict})
        other._growth = None
        other.extension = extension
        other.extension_ = clone(by_name(extension)).fit(self._model)
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file of data, without code; :func:`eigenmaps.load` reads it.

        A function as metric, kernel or affinity, a class of your own, and most regressors are
        refused: they are code. A ``RandomState`` is left out, as it serves fitting only.

        Parameters
        ----------
        path : str or path
        """
        from . import store

        store.save(self, path)

    def _coordinates(self, X: Any) -> tuple[Array, np.dtype]:
        """Coordinates of new points in float64, block by block, and the dtype of X."""
        check_is_fitted(self)
        n = len(self._model.embedding)
        X, dtype = validation.queries(self, X, self.kernel_, self._model.X)
        way, m = self.extension_, X.shape[0]
        out = np.empty((m, self._n_features_out))
        figures: dict[str, list[Array]] = {name: [] for name in way.figures}
        for block in [slice(0, m)] if way.together else row_blocks(m, 8 * n):
            out[block] = way(validation.as_float64(X[block]))
            for name, parts in figures.items():
                parts.append(getattr(way, name))
        for name, parts in figures.items():
            setattr(way, name, np.concatenate(parts))
        return out, dtype

    @property
    def _requested(self) -> int | None:
        return self.n_components

    def _n_components(self, gram: Gram) -> int | None:
        m, available = self._requested, gram.n - gram.drop
        if m is not None and not (isinstance(m, Integral) and 1 <= m <= available):
            raise ValueError(
                f"n_components={m} is not possible with n_samples = {gram.n}: this method has "
                f"between 1 and {available} components."
            )
        return m

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = self._kernel()
        tags.input_tags.pairwise = kernel.takes != "vectors"
        tags.input_tags.sparse = kernel.accepts_sparse
        tags.input_tags.positive_only = kernel.takes in ("distances", "similarities")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Eigenmap(SpectralEmbedder):
    """Eigenfunctions of any kernel: the general estimator.

    Parameters
    ----------
    kernel : Kernel
        One of :mod:`eigenmaps.kernels`, or your own.
    n_components : int or None, default=2
        None: every component with a positive eigenvalue.
    extension : str or Extension, default="nystrom"
        The way to new points: ``"nystrom"``, ``"refit"``, ``"restricted"``, ``"barycentric"``,
        ``"heat"``, ``"sparse"``, ``"linear"`` or an object of :mod:`eigenmaps.extensions`.
    scaling : str, default="auto"
        Which multiple of the eigenfunctions the coordinates are: ``"eigenvector"``,
        ``"unit-variance"``, ``"sqrt-eigenvalue"``, ``"degree"``, ``"diffusion"``
        (:mod:`eigenmaps.scaling`), or the kernel's own.
    diffusion_time : float, default=1
        t of ``scaling="diffusion"``.
    eigen_solver : {"auto", "dense", "arpack", "lobpcg", "amg"}, default="auto"
    tol : float, default=0
        Of an iterative solver; 0 is machine precision.
    max_iter : int, optional
    random_state : int, RandomState or None, default=None
        Of the solver's start vector. None gives repeatable results as well.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) array
    eigenvalues_ : (n_components,) array
        ℓ, in decreasing order. For LLE those of ``−(I−W)ᵀ(I−W)``.
    eigenvectors_ : (n_samples, n_components) array
        v, of unit norm, orthogonal; the largest entry of each is positive.
    solve_ : Solve
        Which solver ran, its residuals and time, and groups of equal eigenvalues.
    n_iter_ : int
        How many products with the matrix, or its inverse, the solver took.
    kernel_ : Kernel
    extension_ : Extension
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import Eigenmap, kernels
    >>> X = load_digits().data
    >>> model = Eigenmap(kernels.Isomap(n_neighbors=10)).fit(X[:500])
    >>> model.transform(X[500:]).shape
    (1297, 2)
    """

    def __init__(
        self,
        kernel: Kernel,
        n_components: int | None = 2,
        *,
        extension: str | Extension = "nystrom",
        scaling: str = "auto",
        diffusion_time: float = 1,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.extension = extension
        self.scaling = scaling
        self.diffusion_time = diffusion_time
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(
                f"kernel={self.kernel!r} is not a kernel object; use one of eigenmaps.kernels, "
                "for example kernels.Isomap(n_neighbors=10)."
            )
        return clone(self.kernel)
