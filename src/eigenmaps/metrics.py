"""How good coordinates of points are that the embedding was not fitted on.

>>> from sklearn.datasets import load_digits
>>> from eigenmaps import Isomap, metrics
>>> X = load_digits().data
>>> model = Isomap(n_neighbors=10).fit(X[:500])
>>> T = metrics.trustworthiness(X[:500], model.embedding_, X[500:], model.transform(X[500:]))
>>> 0.75 < T < 1
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sla
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_array, check_consistent_length

from .blocks import row_blocks
from .gram import Array, Matrix, stack
from .neighbors import Neighbors
from .stability import Crossing, StabilityCurve, stability_curve
from .validation import as_float64


def trustworthiness(
    X_train: Any, Y_train: Any, X_new: Any = None, Y_new: Any = None, n_neighbors: int = 5
) -> float:
    """How far the neighbours of new points in the embedding are their neighbours in the data.

    Each new point has k neighbours among the n training points of the embedding. One that is
    the r-th nearest training point in the data costs r − k where r > k; the mean cost is scaled
    such that 1 is no cost and 0 the largest possible one:

    ``1 − 2 / (m k (2n − 3k + 1)) · Σ max(r − k, 0)``

    over the m new points and their k neighbours each. Equally distant points share a rank.

    Parameters
    ----------
    X_train : array or sparse matrix of shape (n, n_features)
    Y_train : array of shape (n, n_components)
        The embedding of the training points.
    X_new, Y_new : arrays of shape (m, n_features) and (m, n_components), optional
        New points and their coordinates. Without them the training points themselves are
        rated, each among the n − 1 others, as by :func:`sklearn.manifold.trustworthiness`.
    n_neighbors : int, default=5
        k, at most half of the training points.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Venna & Kaski (2001), Neighborhood preservation in nonlinear projection methods.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenmaps import metrics
    >>> X = np.arange(10.0)[:, None]
    >>> metrics.trustworthiness(X, -X, X[:3] + 0.1, -X[:3] - 0.1, n_neighbors=2)
    1.0
    """
    return _preserved((Y_train, Y_new), (X_train, X_new), n_neighbors)


def continuity(
    X_train: Any, Y_train: Any, X_new: Any = None, Y_new: Any = None, n_neighbors: int = 5
) -> float:
    """How far the neighbours of new points in the data are their neighbours in the embedding.

    :func:`trustworthiness` with data and embedding exchanged: it falls where the embedding
    tears apart what was close.

    Parameters
    ----------
    X_train, Y_train, X_new, Y_new, n_neighbors
        As in :func:`trustworthiness`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    A circle unrolled to an interval is torn at one point, but never folded:

    >>> import numpy as np
    >>> from eigenmaps import metrics
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)[:, None]
    >>> circle = np.hstack([np.cos(angle), np.sin(angle)])
    >>> metrics.continuity(circle, angle) < metrics.trustworthiness(circle, angle)
    True
    """
    return _preserved((X_train, X_new), (Y_train, Y_new), n_neighbors)


def _preserved(near: tuple[Any, Any], ranked: tuple[Any, Any], k: int) -> float:
    """``1 −`` the rank penalty of the neighbours in one space, ranked in the other."""
    among, ranks = Neighbors().fit(_data(near[0])), Neighbors().fit(_data(ranked[0]))
    check_consistent_length(among.X, ranks.X)
    in_sample = near[1] is None and ranked[1] is None
    n = among.n - in_sample
    if not 1 <= k <= n / 2:
        raise ValueError(
            f"n_neighbors={k} must be between 1 and half of the {n} training points a point is "
            "compared with; give more points or a smaller n_neighbors."
        )
    if in_sample:
        queries, index = ranks.X, among.of_training(k)[1]
    else:
        queries = _data(ranked[1])
        index = among.of(_data(near[1]), k)[1]
    check_consistent_length(queries, index)
    cost = 0
    for block in row_blocks(len(index), 16 * ranks.n):
        D = ranks.distances(queries[block])
        rows = np.arange(len(D))
        if in_sample:
            D[rows, rows + block.start] = np.inf
        for j in index[block].T:
            rank = 1 + (D[rows, j][:, None] > D).sum(axis=1)
            cost += int(np.maximum(rank - k, 0).sum())
    return 1 - 2 * cost / (len(index) * k * (2 * n - 3 * k + 1))


def knn_accuracy(
    Y_train: Any, labels_train: Any, Y_new: Any, labels_new: Any, n_neighbors: int = 10
) -> float:
    """The share of new points whose label is that of most of their nearest training points.

    Parameters
    ----------
    Y_train, Y_new : arrays of shape (n, n_components) and (m, n_components)
    labels_train, labels_new : arrays of n and m labels
    n_neighbors : int, default=10

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from eigenmaps import metrics
    >>> Y = [[0.0], [1.0], [5.0], [6.0]]
    >>> metrics.knn_accuracy(Y, list("aabb"), [[0.5], [4.0]], list("aa"), n_neighbors=2)
    0.5
    """
    votes = KNeighborsClassifier(n_neighbors).fit(Y_train, labels_train)
    return float(votes.score(Y_new, labels_new))


def align(Y: Any, reference: Any, scale: bool = False) -> Array:
    """Coordinates rotated and reflected onto others of the same points (Procrustes).

    The orthogonal matrix Q minimises ``‖Y Q − reference‖`` over the rows both have: the first
    rows of ``Y``. Further rows of ``Y`` are carried along. The origin stays where it is.

    Parameters
    ----------
    Y : array of shape (n + m, n_components)
    reference : array of shape (n, n_components)
        Coordinates of the first n points of ``Y``.
    scale : bool, default=False
        Also multiply by the ratio of the Frobenius norms over the common rows. (The factor of
        least squares would depend on the fit, and shrink what fits badly.)

    Returns
    -------
    array of shape (n + m, n_components)

    Examples
    --------
    >>> from eigenmaps import metrics
    >>> metrics.align([[0.0, 2.0], [1.0, 0.0], [5.0, 5.0]], [[2.0, 0.0], [0.0, -1.0]])
    array([[ 2.,  0.],
           [ 0., -1.],
           [ 5., -5.]])
    """
    Y, reference = _coordinates(Y), _coordinates(reference)
    common = Y[: len(reference)]
    Q, _ = sla.orthogonal_procrustes(common, reference)
    size = np.linalg.norm(reference) / np.linalg.norm(common) if scale else 1.0
    return np.asarray(size * (Y @ Q))


def relative_difference(Y: Any, reference: Any) -> float:
    """The root-mean-square distance of points to where a reference has them, in spreads.

    ``sqrt(Σ ‖y_i − r_i‖² / Σ ‖r_i − r̄‖²)``: 0 is no difference, about √2 what unrelated
    coordinates of equal mean and spread have.

    Parameters
    ----------
    Y, reference : arrays of shape (n, n_components)

    Returns
    -------
    float

    Examples
    --------
    >>> from eigenmaps import metrics
    >>> metrics.relative_difference([[0.5], [1.5]], [[0.0], [1.0]])
    1.0
    """
    Y, reference = _coordinates(Y), _coordinates(reference)
    spread = np.linalg.norm(reference - reference.mean(axis=0))
    return float(np.linalg.norm(Y - reference) / spread)


def refit_error(estimator: Any, X_train: Any, X_new: Any) -> float:
    """How far ``transform`` puts new points from where a refit with them would have.

    One clone of the estimator is fitted on the training points and transforms the new ones.
    Another is fitted on all of them; its coordinates are rotated, reflected and scaled so that
    those of the *training* points come to lie on those of the first clone (:func:`align`; a
    common scale, as eigenvectors of unit norm shrink when there are more points). The result
    is the :func:`relative_difference` of the new points' coordinates to that refit.

    A refit moves training points as well. What it moves *them* by is the yardstick: an
    extension cannot be expected to come nearer to a refit than that.

    Parameters
    ----------
    estimator : estimator of this package
        With a fixed ``n_components``; it is left as it is.
    X_train, X_new : arrays or sparse matrices of shape (n, n_features) and (m, n_features)

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import ClassicalMDS, metrics
    >>> X = load_digits().data
    >>> metrics.refit_error(ClassicalMDS(), X[::2], X[1::2]) < 0.1
    True
    """
    X_train, X_new = _data(X_train), _data(X_new)
    model = clone(estimator).fit(X_train)
    refit = clone(estimator).fit(stack(X_train, X_new))
    aligned = align(refit.embedding_, model.embedding_, scale=True)
    return relative_difference(model.transform(X_new), aligned[len(model.embedding_) :])


def refitted(model: Any, X_train: Any, X_new: Any) -> Array:
    """Where fits with one point more would have had each new point: what ``transform`` stands for.

    For each new point a clone of the model is fitted on the training points and on it, and rotated
    such that the training points lie as they do in the model (:func:`align`). This takes as many
    fits as there are new points.

    Parameters
    ----------
    model : fitted estimator of this package
    X_train, X_new : arrays or sparse matrices of shape (n, n_features) and (m, n_features)

    Returns
    -------
    array of shape (m, n_components)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import KernelPCA, metrics
    >>> X = load_digits().data
    >>> model = KernelPCA(2, kernel="rbf", gamma=1e-3).fit(X[:100])
    >>> true = metrics.refitted(model, X[:100], X[100:110])
    >>> refit = model.with_extension("refit").transform(X[100:110])
    >>> metrics.relative_difference(refit, true) < 0.01
    True
    """
    X_train, X_new = _data(X_train), _data(X_new)
    found = np.empty((X_new.shape[0], model.embedding_.shape[1]))
    for i in range(len(found)):
        joined = clone(model).fit(stack(X_train, X_new[i : i + 1]))
        found[i] = align(joined.embedding_, model.embedding_)[-1]
    return found


def subspace_angle(A: Any, B: Any) -> float:
    """The largest principal angle between the spaces that two sets of columns span.

    Parameters
    ----------
    A, B : arrays of shape (n, p) and (n, q)

    Returns
    -------
    float
        In radians, between 0 and π/2.

    Examples
    --------
    >>> from eigenmaps import metrics
    >>> round(metrics.subspace_angle([[1.0], [0.0]], [[1.0], [1.0]]), 6)
    0.785398
    """
    return float(sla.subspace_angles(_coordinates(A), _coordinates(B)).max())


def _data(X: Any) -> Matrix:
    return as_float64(check_array(X, accept_sparse="csr"))


def _coordinates(Y: Any) -> Array:
    return np.asarray(check_array(Y, dtype=np.float64))


__all__ = [
    "Crossing",
    "StabilityCurve",
    "align",
    "continuity",
    "knn_accuracy",
    "refit_error",
    "refitted",
    "relative_difference",
    "stability_curve",
    "subspace_angle",
    "trustworthiness",
]
