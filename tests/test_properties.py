"""What must not matter, does not: moving, turning, reordering, rescaling, repeating the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group
from sklearn.datasets import make_swiss_roll

import eigenmaps as em

FEW = settings(max_examples=12, deadline=None)
SEEDS = st.integers(0, 2**31 - 1)
X, _ = make_swiss_roll(180, noise=0.05, random_state=3)
X, NEW = X[:140], X[140:]

METHODS = {
    "mds": lambda: em.ClassicalMDS(),
    "isomap": lambda: em.Isomap(n_neighbors=8),
    "lle": lambda: em.LocallyLinearEmbedding(n_neighbors=8),
    "laplacian": lambda: em.LaplacianEigenmaps(),
    "laplacian rbf": lambda: em.LaplacianEigenmaps(affinity="rbf"),
    "self-tuning": lambda: em.LaplacianEigenmaps(affinity="self_tuning"),
    "clustering": lambda: em.SpectralClustering(3, affinity="rbf"),
    "kernel pca": lambda: em.KernelPCA(2, kernel="rbf", gamma=0.01),
}


def embed(name, train, new):
    model = METHODS[name]().fit(train)
    return model.embedding_, model.transform(new)


def assert_same(pair, expected, tol=1e-6):
    """Equal up to the sign of each coordinate, new points by the training points' signs."""
    signs = np.sign((pair[0] * expected[0]).sum(axis=0))
    for Y, Z in zip(pair, expected, strict=True):
        assert abs(Y * signs - Z).max() <= tol * abs(expected[0]).max()


each_method = pytest.mark.parametrize("name", METHODS)


@each_method
@FEW
@given(seed=SEEDS, shift=st.floats(-20, 20))
def test_rotation_and_shift(name, seed, shift):
    turn = ortho_group.rvs(3, random_state=np.random.RandomState(seed))
    moved = embed(name, X @ turn + shift, NEW @ turn + shift)
    assert_same(moved, embed(name, X, NEW))


@each_method
@FEW
@given(seed=SEEDS)
def test_order_of_training_points(name, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    Y, Z = embed(name, X[order], NEW)
    expected = embed(name, X, NEW)
    assert_same((Y, Z), (expected[0][order], expected[1]))


@each_method
@FEW
@given(seed=SEEDS)
def test_order_of_new_points(name, seed):
    order = np.random.default_rng(seed).permutation(len(NEW))
    model = METHODS[name]().fit(X)
    Z = model.transform(NEW)
    assert abs(model.transform(NEW[order]) - Z[order]).max() <= 1e-10 * abs(Z).max()


@each_method
@FEW
@given(scale=st.floats(0.01, 100))
def test_units(name, scale):
    """Distances scale coordinates of MDS and Isomap; the others do not see the units."""
    factor = scale if name in ("mds", "isomap") else 1.0
    Y, Z = embed(name, X, NEW)
    model = METHODS[name]()
    if name == "kernel pca":
        model.set_params(gamma=model.gamma / scale**2)
    model.fit(scale * X)
    assert_same((model.embedding_, model.transform(scale * NEW)), (factor * Y, factor * Z))


@each_method
@FEW
@given(columns=st.integers(1, 4))
def test_empty_features(name, columns):
    """Constant features change nothing."""
    wide, wide_new = (np.hstack([A, np.full((len(A), columns), 7.0)]) for A in (X, NEW))
    assert_same(embed(name, wide, wide_new), embed(name, X, NEW))


@each_method
@FEW
@given(seed=SEEDS)
def test_repeated_points(name, seed):
    """A training point given twice: both copies in one place, and new points close by."""
    twice = np.random.default_rng(seed).choice(len(X), 5, replace=False)
    doubled = np.vstack([X, X[twice]])
    model = METHODS[name]().fit(doubled)
    Y = model.embedding_
    spread = abs(Y - Y.mean(axis=0)).max()
    # LLE reconstructs a copy from its twin up to the ridge, 1e-3.
    tol = 1e-2 if name == "lle" else 1e-8
    assert abs(Y[twice] - Y[len(X) :]).max() <= tol * spread
    assert abs(model.transform(X[twice]) - Y[twice]).max() <= tol * spread


@each_method
@FEW
@given(copies=st.integers(2, 4))
def test_everything_repeated(name, copies):
    """Each point several times: finite, the copies in one place, transform on top of them."""
    model = METHODS[name]()
    if hasattr(model, "n_neighbors"):
        model.set_params(n_neighbors=8 * copies)
    Y = model.fit(np.vstack([X] * copies)).embedding_.reshape(copies, len(X), -1)
    spread = abs(Y - Y.mean(axis=(0, 1))).max()
    tol = 2e-2 if name == "lle" else 1e-8
    assert abs(Y - Y[0]).max() <= tol * spread
    assert abs(model.transform(X) - Y[0]).max() <= tol * spread
