"""inverse_transform: from coordinates back to data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsRegressor

import eigenmaps as em
from eigenmaps.inverse import Inverse

ROLL, _ = make_swiss_roll(900, noise=0.02, random_state=0)
DIGITS = load_digits().data


def miss(model, X):
    """Held-out error of the cycle data → coordinates → data."""
    back = model.inverse_transform(model.transform(X))
    return np.linalg.norm(back - X) / np.linalg.norm(X - X.mean(axis=0))


def test_where_the_embedding_is_linear_so_is_the_way_back():
    exact = em.ClassicalMDS(3).fit(ROLL[:300])
    assert_allclose(exact.inverse_transform(exact.transform(ROLL[300:])), ROLL[300:], atol=1e-6)
    assert exact.inverse_error_ < 1e-6


def test_no_worse_than_the_inverse_of_pca():
    X, new = DIGITS[:300], DIGITS[300:400]
    pca = PCA(20).fit(X)
    linear = np.linalg.norm(pca.inverse_transform(pca.transform(new)) - new)
    assert miss(em.ClassicalMDS(20).fit(X), new) <= linear / np.linalg.norm(new - new.mean(axis=0))


@pytest.mark.parametrize(
    "method",
    [
        em.Isomap(n_neighbors=10),
        em.LocallyLinearEmbedding(n_neighbors=12),
        em.LaplacianEigenmaps(4, n_neighbors=12),
        em.KernelPCA(12, kernel="rbf", gamma=0.01),
        em.SpectralClustering(8, n_neighbors=12, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_cycle_on_a_roll_beats_neighbours(method):
    """On held-out points: better than nearest-neighbour regression with the best k."""
    X, new = ROLL[:600], ROLL[600:]
    model = method.fit(X)
    held_out, spread = miss(model, new), np.linalg.norm(new - new.mean(axis=0))
    Z = model.transform(new)
    for k in (1, 3, 5, 8, 12):
        votes = KNeighborsRegressor(k, weights="distance").fit(model.embedding_, X)
        assert held_out < np.linalg.norm(votes.predict(Z) - new) / spread
    assert 0.5 * model.inverse_error_ < held_out < 2 * model.inverse_error_


def test_better_than_a_linear_way_back():
    model = em.Isomap(n_neighbors=10).fit(ROLL[:600])
    A = np.column_stack([np.ones(600), model.embedding_])
    linear = np.linalg.lstsq(A, ROLL[:600], rcond=None)[0]
    new = np.column_stack([np.ones(300), model.transform(ROLL[600:])]) @ linear - ROLL[600:]
    assert miss(model, ROLL[600:]) < 0.2 * np.linalg.norm(new) / np.linalg.norm(
        ROLL[600:] - ROLL[600:].mean(axis=0)
    )


def test_the_error_left_out_is_that_of_leaving_out():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((40, 2))
    X = np.column_stack([Y[:, 0], np.sin(Y[:, 1]), Y[:, 0] * Y[:, 1]])
    inverse = Inverse()
    inverse.centres_ = Y
    fast = dict(inverse._left_out(Y, X, 1.0))
    for ridge in (1e-4, 1e-2, 1.0):
        inverse.width_, inverse.ridge_ = 1.0, ridge
        total = 0.0
        for i in range(40):
            others = np.arange(40) != i
            inverse._solve(Y[others], X[others])
            total += ((inverse(Y[i : i + 1]) - X[i]) ** 2).sum()
        assert_allclose(fast[min(fast, key=lambda r: abs(r - ridge))], total, rtol=1e-5)


def test_dtype_file_copies_and_extensions(tmp_path):
    model = em.Isomap(n_neighbors=10).fit(ROLL[:400])
    Y = model.transform(ROLL[400:450])
    expected = model.inverse_transform(Y)
    assert model.inverse_transform(Y.astype(np.float32)).dtype == np.float32
    model.save(tmp_path / "roll")
    assert_array_equal(em.load(tmp_path / "roll").inverse_transform(Y), expected)
    assert_array_equal(clone(model).fit(ROLL[:400]).inverse_transform(Y), expected)
    assert_array_equal(model.with_extension("heat").inverse_transform(Y), expected)
    model.fit(ROLL[:300])
    assert not np.array_equal(model.inverse_transform(Y), expected)


def test_repeated_points_and_few_points():
    twice = np.vstack([ROLL[:60]] * 2)
    model = em.ClassicalMDS(2).fit(twice)
    assert np.isfinite(model.inverse_transform(model.embedding_)).all()
    tiny = em.ClassicalMDS(1).fit(ROLL[:3])
    assert np.isfinite(tiny.inverse_transform(tiny.embedding_)).all()


def test_bad_input():
    model = em.Isomap(n_neighbors=10).fit(ROLL[:100])
    with pytest.raises(ValueError, match="Y has 3 coordinates, but this Isomap has 2"):
        model.inverse_transform(ROLL)
    W = np.exp(-((ROLL[:50, None] - ROLL[None, :50]) ** 2).sum(axis=2) / 50)
    given = em.LaplacianEigenmaps(affinity="precomputed").fit(W)
    with pytest.raises(ValueError, match="dense array of data; .* precomputed similarities"):
        given.inverse_transform(given.embedding_)
