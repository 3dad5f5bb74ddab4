"""Restricted reconstruction against a direct minimisation, and against true refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances

import eigenmaps as em
from eigenmaps import metrics
from eigenmaps.extensions.restricted import reconstructed

ROLL, _ = make_swiss_roll(230, noise=0.5, random_state=0)
DIGITS = load_digits().data[:230]


def objective(Y, b, beta):
    def value(y):
        return 2 * ((b - Y @ y) ** 2).sum() + (beta - y @ y) ** 2

    def slope(y):
        return -4 * Y.T @ (b - Y @ y) - 4 * (beta - y @ y) * y

    return value, slope


def lowest(Y, b, beta):
    """The best of several local minima."""
    value, slope = objective(Y, b, beta)
    starts = np.random.default_rng(0).normal(scale=1 + np.sqrt(abs(beta)), size=(20, Y.shape[1]))
    tries = [minimize(value, y, jac=slope, method="BFGS", options={"gtol": 1e-10}) for y in starts]
    return min(tries, key=lambda t: t.fun)


@pytest.mark.parametrize("beta", [-3.0, 0.0, 2.0, 9.0, 40.0])
def test_it_is_the_global_minimum(beta):
    rng = np.random.default_rng(0)
    for ell in ([5.0], [7.0, 2.0], [9.0, 3.0, 3.0], [8.0, 4.0, 0.1]):
        Y = np.linalg.qr(rng.normal(size=(12, len(ell))))[0] * np.sqrt(ell)
        b = rng.normal(size=12)
        for scale in (1e-6, 1, 30):
            best = lowest(Y, scale * b, beta)
            y = reconstructed(scale * (Y.T @ b)[None], np.array([beta]), np.array(ell))[0]
            value, slope = objective(Y, scale * b, beta)
            assert value(y) <= best.fun + 1e-9 * (1 + abs(best.fun))
            assert np.abs(slope(y)).max() <= 1e-8 * (1 + abs(beta) + scale) ** 2


@pytest.mark.parametrize("first", [0.0, 0.5, 60.0])
def test_the_hard_case(first):
    """Nothing along the last coordinate: two minima, mirror images, where β is large enough."""
    ell, beta = np.array([6.0, 2.0]), 11.0
    g = np.array([[first, 0.0]])
    y = reconstructed(g, np.array([beta]), ell)[0]
    rho = y @ y
    assert_allclose((ell + rho - beta) * y, g[0], atol=1e-9)
    assert (ell + rho - beta).min() >= -1e-9
    assert (y[1] > 0) == (first < 60)  # 60 needs ρ > β − ℓ_min already
    near = reconstructed(g + np.array([0, 1e-9]), np.array([beta]), ell)[0]
    assert_allclose(near, y, atol=1e-6)


def test_b_and_beta_are_products_about_the_centre_of_the_training_points():
    X, Q = DIGITS[:200], DIGITS[200:]
    model = em.ClassicalMDS(3, metric="manhattan", extension="restricted").fit(X)
    everything = -0.5 * pairwise_distances(DIGITS, metric="manhattan") ** 2
    w = np.zeros(230)
    w[:200] = 1 / 200
    centre = np.eye(230) - np.outer(np.ones(230), w)
    B = centre @ everything @ centre.T
    found = model.transform(Q)
    for i in range(5):
        value, slope = objective(model.embedding_, B[:200, 200 + i], B[200 + i, 200 + i])
        best = minimize(value, found[i] + 1, jac=slope, method="BFGS")
        assert_allclose(found[i], best.x, atol=1e-4)
        assert value(found[i]) <= best.fun * (1 + 1e-12)
    assert len(Q) == 30


@pytest.mark.parametrize("kept", [3, 5])
def test_euclidean_distances_are_recovered_in_their_own_dimensions(kept):
    rng = np.random.default_rng(0)
    flat, _ = np.linalg.qr(rng.normal(size=(8, kept)))
    X = rng.normal(size=(70, kept)) @ flat.T
    model = em.ClassicalMDS(kept, extension="restricted").fit(X[:50])
    expected = PCA(kept).fit(X[:50]).transform(X)
    signs = np.sign((model.embedding_ * expected[:50]).sum(axis=0))
    assert_allclose(model.transform(X[50:]), (signs * expected)[50:], atol=1e-9)
    assert_allclose(model.transform(X[:50]), model.embedding_, atol=1e-9)


@pytest.mark.parametrize(
    "method",
    [
        em.ClassicalMDS(metric="manhattan"),
        em.Isomap(n_neighbors=10),
        em.KernelPCA(2, kernel="rbf", gamma=1e-3),
    ],
    ids=["mds", "isomap", "kernel pca"],
)
@pytest.mark.parametrize("scaling", ["auto", "eigenvector"])
def test_it_is_nystrom_with_another_divisor_in_every_scaling(method, scaling):
    model = clone(method).set_params(scaling=scaling).fit(DIGITS[:200])
    Q = DIGITS[200:]
    nystrom, found = model.transform(Q), model.with_extension("restricted").transform(Q)
    ell = model.eigenvalues_
    root = 1.0 if scaling == "auto" else np.sqrt(ell)
    rho = ((found * root) ** 2).sum(axis=1, keepdims=True)
    beta = model.kernel_.border(Q).own[:, None]
    assert_allclose(found, nystrom * ell / (ell + rho - beta), rtol=1e-6)


WIDE = np.random.default_rng(0).normal(size=(230, 40)) * np.r_[20, 15, np.full(38, 2)]


@pytest.mark.parametrize(
    ("data", "factor"), [(WIDE, 0.2), (ROLL, 0.95), (DIGITS, 0.9)], ids=["wide", "roll", "digits"]
)
def test_mds_is_nearer_to_a_true_refit_than_nystrom(data, factor):
    """Much, where two dimensions stand out; else a refit turns towards x, and old points do not."""
    X, Q = data[:200], data[200:]
    model = em.ClassicalMDS().fit(X)
    joined = [clone(model).fit(np.vstack([X, x])).embedding_ for x in Q]
    # A refit centres n + 1 points: compare about the mean of the training points.
    true = [metrics.align(Y - Y[:-1].mean(axis=0), model.embedding_)[-1] for Y in joined]
    nystrom, found = (np.linalg.norm(model.with_extension(way).transform(Q) - true)
                      for way in ("nystrom", "restricted"))  # fmt: skip
    assert found < factor * nystrom


def test_rows_after_a_model_has_taken_points_in():
    model = em.ClassicalMDS(extension="restricted").fit(DIGITS[:150]).partial_fit(DIGITS[150:200])
    whole = em.ClassicalMDS(extension="restricted").fit(DIGITS[:200])
    Q = DIGITS[200:]
    turned = metrics.align(np.vstack([whole.embedding_, whole.transform(Q)]), model.embedding_)
    assert_allclose(model.transform(Q), turned[200:], atol=0.05)


def test_other_methods_are_refused():
    for method in (em.LaplacianEigenmaps(), em.LocallyLinearEmbedding()):
        with pytest.raises(ValueError, match="fits scalar products.*serves MDS, Isomap and kernel"):
            method.set_params(extension="restricted").fit(ROLL)
    with pytest.raises(ValueError, match="'Restricted' needs vectors or distances"):
        em.KernelPCA(2, kernel="precomputed", extension="restricted").fit(ROLL @ ROLL.T)


def test_a_point_alone_is_the_point_in_a_batch():
    model = em.Isomap(n_neighbors=8, extension="restricted").fit(ROLL[:200])
    batch = model.transform(ROLL[200:])
    alone = np.vstack([model.transform(x[None]) for x in ROLL[200:]])
    assert_allclose(alone, batch, rtol=1e-12)
    assert_array_equal(model.transform(ROLL[200:]), batch)
