"""Metrics against scikit-learn, SciPy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial import procrustes
from scipy.stats import ortho_group
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from eigenmaps import ClassicalMDS, Isomap, blocks, metrics

RATED = (metrics.trustworthiness, metrics.continuity)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def data(rng):
    """X, a two-dimensional picture of it, and both again for new points."""
    X, X_new = rng.standard_normal((60, 4)), rng.standard_normal((23, 4))
    return X, X[:, :2] ** 3, X_new, X_new[:, :2] ** 3


@pytest.mark.parametrize("k", [1, 5, 29])
def test_in_sample_is_scikit_learns(data, k):
    X, Y, _, _ = data
    expected = sklearn_trustworthiness(X, Y, n_neighbors=k)
    assert metrics.trustworthiness(X, Y, n_neighbors=k) == pytest.approx(expected, abs=1e-12)
    mirrored = sklearn_trustworthiness(Y, X, n_neighbors=k)
    assert metrics.continuity(X, Y, n_neighbors=k) == pytest.approx(mirrored, abs=1e-12)


def cost(A, B, a, b, k):
    """What a point costs that is ``a`` among A and ``b`` among B, straight by the definition."""
    ranks = np.linalg.norm(B - b, axis=1).argsort().argsort() + 1
    nearest = np.linalg.norm(A - a, axis=1).argsort()[:k]
    return np.maximum(ranks[nearest] - k, 0).sum()


@pytest.mark.parametrize("k", [1, 5])
def test_held_out_is_the_definition(data, k):
    """The definition is held to scikit-learn first, each point against the others."""
    X, Y, X_new, Y_new = data
    n, m = len(X), len(X_new)
    others = sum(cost(np.delete(Y, i, 0), np.delete(X, i, 0), Y[i], X[i], k) for i in range(n))
    worst = n * k * (2 * (n - 1) - 3 * k + 1) / 2
    assert 1 - others / worst == pytest.approx(sklearn_trustworthiness(X, Y, n_neighbors=k))

    worst = m * k * (2 * n - 3 * k + 1) / 2
    trust = 1 - sum(cost(Y, X, Y_new[i], X_new[i], k) for i in range(m)) / worst
    continuous = 1 - sum(cost(X, Y, X_new[i], Y_new[i], k) for i in range(m)) / worst
    assert metrics.trustworthiness(*data, n_neighbors=k) == pytest.approx(trust, abs=1e-12)
    assert metrics.continuity(*data, n_neighbors=k) == pytest.approx(continuous, abs=1e-12)


@pytest.mark.parametrize("rated", RATED)
def test_the_scale_is_from_0_to_1(rated):
    """Nearest points that are the farthest in the other space cost all there is."""
    X, Y = np.arange(20.0)[:, None], np.arange(20.0)[::-1, None]
    assert rated(X, Y, X[:1] - 1, Y[:1] + 1) == 1
    assert rated(X, Y, X[:1] - 1, Y[-1:] - 1, n_neighbors=10) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("rated", RATED)
def test_blocks_change_nothing(data, rated, monkeypatch):
    X, Y, _, _ = data
    whole = rated(*data), rated(X, Y)
    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (16 * 60 * 7,))
    assert (rated(*data), rated(X, Y)) == whole


def test_equally_distant_points_share_a_rank():
    """Corners of a simplex are all nearest to each other, in whatever order."""
    X, Y = np.eye(12), np.random.default_rng(0).standard_normal((12, 2))
    assert metrics.trustworthiness(X, Y) == 1
    assert metrics.trustworthiness(X[:11], Y[:11], X[11:], Y[11:]) == 1


def test_sparse_data(data):
    X, Y, X_new, Y_new = data
    dense = metrics.trustworthiness(X, Y, X_new, Y_new)
    assert metrics.trustworthiness(sp.csr_matrix(X), Y, sp.csr_array(X_new), Y_new) == dense


def test_what_cannot_be_rated_is_refused(data):
    X, Y, X_new, Y_new = data
    with pytest.raises(ValueError, match="between 1 and half of the 60"):
        metrics.trustworthiness(*data, n_neighbors=31)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        metrics.trustworthiness(X, Y[1:], X_new, Y_new)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        metrics.continuity(X, Y, X_new, Y_new[1:])
    with pytest.raises(ValueError, match="Expected 2D array"):
        metrics.continuity(X, Y, X_new)


def test_align_undoes_a_rotation_and_a_scale(rng):
    reference = rng.standard_normal((30, 3))
    moved = 2.5 * reference @ ortho_group.rvs(3, random_state=0)
    np.testing.assert_allclose(metrics.align(moved, reference, scale=True), reference)
    np.testing.assert_allclose(metrics.align(moved, reference), 2.5 * reference)


def test_align_carries_further_rows_along(rng):
    reference = rng.standard_normal((30, 3))
    moved = reference @ ortho_group.rvs(3, random_state=0)
    np.testing.assert_allclose(metrics.align(moved, reference[:10]), reference)


def test_align_is_as_close_as_scipys_procrustes(rng):
    """Of centred matrices of norm 1, ‖YQ − R‖² = 2 − 2s, and SciPy's disparity is 1 − s²."""
    Y, R = rng.standard_normal((2, 30, 3))
    Y, R = (A - A.mean(axis=0) for A in (Y, R))
    Y, R = Y / np.linalg.norm(Y), R / np.linalg.norm(R)
    s = 1 - np.linalg.norm(metrics.align(Y, R) - R) ** 2 / 2
    assert procrustes(R, Y)[2] == pytest.approx(1 - s**2)


def test_relative_difference(rng):
    R = rng.standard_normal((1000, 2))
    spread = np.sqrt(R.var(axis=0).sum())
    shifted = R + np.array([0.3, 0.4])
    assert metrics.relative_difference(R, R) == 0
    assert metrics.relative_difference(shifted, R) == pytest.approx(0.5 / spread)
    assert metrics.relative_difference(7 * shifted, 7 * R) == pytest.approx(0.5 / spread)


class UnitNorm(PCA):
    """Principal components as eigenvectors of unit norm, with their exact extension."""

    def fit(self, X, y=None):
        super().fit(X)
        self.embedding_ = self.transform(X)
        return self

    def transform(self, X):
        return super().transform(X) / self.singular_values_


def test_refit_error_has_no_part_in_rotation_and_scale():
    """Copies of the training points leave principal axes as they are; unit norm takes √½."""
    X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
    assert metrics.refit_error(UnitNorm(2), X, X) < 1e-12
    assert metrics.refit_error(ClassicalMDS(), X, -X[::-1] + 2 * X.mean(axis=0)) < 1e-12


def test_refit_error_of_pca_is_what_its_parts_say(rng):
    X, X_new = rng.standard_normal((2, 50, 4)) * [4, 3, 1, 1]
    model, refit = PCA(2).fit(X), PCA(2).fit(np.vstack([X, X_new]))
    Y, refit_Y, refit_new = model.transform(X), refit.transform(X), refit.transform(X_new)
    left, _, right = np.linalg.svd(refit_Y.T @ Y)
    refit_new = refit_new @ left @ right * np.linalg.norm(Y) / np.linalg.norm(refit_Y)
    expected = ((model.transform(X_new) - refit_new) ** 2).sum()
    expected /= ((refit_new - refit_new.mean(axis=0)) ** 2).sum()
    assert metrics.refit_error(ClassicalMDS(), X, X_new) == pytest.approx(np.sqrt(expected))


def test_refit_error_leaves_the_estimator_alone(data):
    X, _, X_new, _ = data
    model = Isomap(n_neighbors=10)
    assert 0 < metrics.refit_error(model, X, X_new) < 1
    assert not hasattr(model, "embedding_")


def test_knn_accuracy():
    class_of = np.repeat([0, 1], 50)
    Y = class_of[:, None] + np.linspace(0, 0.1, 100)[:, None]
    assert metrics.knn_accuracy(Y, class_of, Y, class_of) == 1
    assert metrics.knn_accuracy(Y, class_of, Y[::-1], class_of) == 0


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, np.pi / 2])
def test_subspace_angle_of_two_planes(angle):
    A = np.eye(4)[:, :2]
    B = A.copy()
    B[[1, 2], 1] = np.cos(angle), np.sin(angle)
    mixed = B @ [[1.0, 2.0], [3.0, -1.0]]
    assert metrics.subspace_angle(A, mixed) == pytest.approx(angle, abs=1e-14)


def test_refitted_is_where_a_fit_with_the_point_has_it(rng):
    """Of MDS: principal components of all n + 1 points, turned by Procrustes on the old ones."""
    X, X_new = rng.standard_normal((50, 4)) * [4, 3, 1, 1], rng.standard_normal((5, 4))
    model = ClassicalMDS(2).fit(X)
    for found, x in zip(metrics.refitted(model, X, X_new), X_new, strict=True):
        everything = np.vstack([X, x])
        Y = PCA(2).fit_transform(everything)
        left, _, right = np.linalg.svd(Y[:50].T @ model.embedding_)
        assert_allclose(found, Y[50] @ left @ right, atol=1e-9)
