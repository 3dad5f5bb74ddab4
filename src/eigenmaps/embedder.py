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

from . import loss, validation
from .blocks import row_blocks
from .eigen import Eigenpairs, eigenpairs, usable, warn_multiple
from .extensions import by_name
from .extensions.base import Extension, Model
from .gram import Array, Gram, Matrix
from .growth import Growth
from .inverse import Inverse
from .kernels.base import Kernel, twin
from .loss import PAIRS
from .scaling import Scaling


def can_score(estimator: SpectralEmbedder) -> bool:
    """Whether score makes sense, likewise."""
    if not estimator._kernel().any_two:
        raise AttributeError(
            "score needs the kernel between two new points, which this one does not know."
        )
    return True


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
        phi_0, values = gram.trivial
        model = Model(
            X, embedding, phi, ell, kernel, scaling, gram.degree, phi_0, kernel.ell(values),
            kernel.size(gram),
        )  # fmt: skip
        return model, pairs

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
        phi_0, values = growth.trivial
        model = Model(
            growth.X, embedding @ turn, growth.phi, ell, kernel, scaling, growth.degree, phi_0,
            kernel.ell(values), kernel.size(growth),
        )  # fmt: skip
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

    def loss(self, X: Any = None, normalized: bool = False, n_pairs: int = PAIRS) -> float:
        """What the method minimises, ``(K(a,b) − Σ λ_k f_k(a) f_k(b))²`` (Bengio 2004 §5).

        The mean over all pairs of rows of ``X``: the training error of training points, the
        generalisation error of new ones. f is what the extension says of them; pairs of the
        kernel that the embedding leaves out as trivial are part of the sum.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_new, n_features), optional
            None: the training points, by their eigenvalues.
        normalized : bool, default=False
            Divide by the mean of ``K(a,b)²``: 0 is perfect, 1 no better than predicting 0.
        n_pairs : int, default=10,000,000
            Where X has more pairs of rows, those of √n_pairs rows are taken, drawn by
            ``random_state``.

        Returns
        -------
        float

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from eigenmaps import KernelPCA
        >>> X = load_iris().data
        >>> model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(X[::2])
        >>> model.loss(normalized=True) < model.loss(X[1::2], normalized=True) < 0.05
        True
        """
        check_is_fitted(self)
        if X is None:
            found = loss.in_sample(self._model)
        else:
            rows, _ = validation.queries(self, X, self.kernel_, self._model.X)
            found = loss.between(
                self._model, self.extension_, validation.as_float64(rows), n_pairs,
                self.random_state,
            )  # fmt: skip
        return found.relative if normalized else found.error

    @available_if(can_score)
    def score(self, X: Any, y: Any = None) -> float:
        """The negative normalised :meth:`loss`: larger is better, 0 is perfect.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_new, n_features)
        y : ignored

        Returns
        -------
        float
        """
        return -self.loss(X, normalized=True)

    def novelty(self, X: Any) -> Array:
        """How much of a point's kernel row the eigenfunctions miss (Bengio 2003 eq. 13).

        ``Σ_i (K(x,x_i) − Σ_k λ_k f_k(x) f_k(x_i))² / Σ_i K(x,x_i)²`` with Nyström's f, which
        makes it smallest: 0 where the model explains all of the row, 1 where nothing. How much is
        left depends on kernel and components: compare with usual points. NaN for a point that is
        similar to no training point.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        array of shape (n_new,)

        Examples
        --------
        >>> import numpy as np
        >>> from eigenmaps import KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((300, 2))
        >>> model = KernelPCA(8, kernel="rbf", gamma=0.2).fit(X)
        >>> usual, odd = model.novelty([[0.5, 0.5], [4.0, -4.0]])
        >>> bool(odd > 10 * usual)
        True
        """
        check_is_fitted(self)
        rows, dtype = validation.queries(self, X, self.kernel_, self._model.X)
        out = np.empty(rows.shape[0])
        for block in row_blocks(rows.shape[0], 8 * len(self._model.embedding)):
            out[block] = loss.novelty(self._model, validation.as_float64(rows[block]))
        return out.astype(dtype, copy=False)

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
