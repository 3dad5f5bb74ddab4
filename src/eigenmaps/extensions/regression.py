"""Regression: ``y(x)`` by any regressor fitted X → Y  (Bengio 2004 §5; the sparse paper's
"linearization" and its RBF network)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted, validate_data

from ..gram import Array, Matrix
from ..neighbors import Neighbors
from .base import Extension, Model


class Regression(Extension):
    """A regressor from data to coordinates.

    Parameters
    ----------
    regressor : scikit-learn regressor, optional
        It must predict several outputs. Default: linear least squares ("linearization").
    """

    serves = ("vectors",)
    interpolates = False

    def __init__(self, regressor: Any = None):
        self.regressor = regressor

    def fit(self, model: Model) -> Self:
        self.check(model)
        chosen = LinearRegression() if self.regressor is None else clone(self.regressor)
        self.n_components_ = model.embedding.shape[1]
        self.regressor_ = chosen.fit(model.X, model.embedding)
        return self

    def __call__(self, X: Matrix) -> Array:
        Y = np.asarray(self.regressor_.predict(X), dtype=np.float64)
        return Y.reshape(X.shape[0], self.n_components_)


class RBFNetwork(RegressorMixin, BaseEstimator):
    """Radial basis functions around k-means centres, and a ridge regression on them.

    Parameters
    ----------
    n_centers : int, default=100
    width : float, optional
        σ of the basis functions ``exp(−‖x−c‖²/(2σ²))``; by default twice the median distance
        of a centre to its nearest other centre.
    alpha : float, default=1e-6
        Ridge, relative to the mean diagonal of the normal matrix.
    random_state : int, default=0
        Of k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenmaps.extensions import RBFNetwork
    >>> X = np.linspace(0, 3, 200)[:, None]
    >>> net = RBFNetwork(n_centers=20).fit(X, np.sin(X))
    >>> bool(abs(net.predict([[1.5]]) - np.sin(1.5)).item() < 1e-3)
    True
    """

    def __init__(
        self,
        n_centers: int = 100,
        width: float | None = None,
        alpha: float = 1e-6,
        random_state: int | None = 0,
    ):
        self.n_centers = n_centers
        self.width = width
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Matrix, y: Array) -> Self:
        X, y = validate_data(
            self, X, y, dtype=np.float64, accept_sparse="csr", multi_output=True, y_numeric=True
        )
        n_centers = min(self.n_centers, X.shape[0])
        centers = KMeans(n_centers, n_init=1, random_state=self.random_state).fit(X)
        self.centers_ = np.unique(centers.cluster_centers_, axis=0)
        self.width_ = self.width or self._spacing()
        features = self._features(X)
        self.intercept_ = y.mean(axis=0)
        self.mean_ = features.mean(axis=0)
        features -= self.mean_
        normal = features.T @ features
        normal.flat[:: len(normal) + 1] += self.alpha * np.trace(normal) / len(normal) + 1e-300
        self.coef_ = np.linalg.lstsq(normal, features.T @ (y - self.intercept_), rcond=None)[0]
        return self

    def predict(self, X: Matrix) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        return np.asarray((self._features(X) - self.mean_) @ self.coef_ + self.intercept_)

    def _spacing(self) -> float:
        if len(self.centers_) < 2:
            return 1.0
        nearest, _ = Neighbors().fit(self.centers_).of_training(1)
        return 2 * float(np.median(nearest)) or 1.0

    def _features(self, X: Matrix) -> Array:
        X = sp.csr_matrix(X) if sp.issparse(X) else X
        return np.asarray(rbf_kernel(X, self.centers_, gamma=0.5 / self.width_**2))

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags
