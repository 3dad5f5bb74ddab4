"""The refit of LLE, where a new point becomes a neighbour of old ones, against true refits."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll

import eigenmaps as em
from eigenmaps import extensions, kernels, metrics
from eigenmaps.neighbors import Neighbors

ROLL, _ = make_swiss_roll(330, random_state=0)
NOISY, _ = make_swiss_roll(330, noise=0.5, random_state=1)
PIXELS = load_digits().data[:330] + np.random.default_rng(0).uniform(0, 1e-3, (330, 64))  # no ties
FACES = Path(os.environ.get("EIGENMAPS_DATA", "absent")) / "isomap_faces_32.npz"


def errors(model, X, Q, *ways):
    """Distances to true refits with each point."""
    true = metrics.refitted(model, X, Q)
    found = (model.with_extension(way).transform(Q) for way in ways)
    return [metrics.relative_difference(Y, true) for Y in found]


def test_the_rows_that_change_are_those_of_a_fit_with_the_point():
    """The law of kernels, on precomputed distances."""
    D = Neighbors().fit(ROLL).distances(ROLL)
    kernel = kernels.LLE(8, metric="precomputed")
    factor = kernel.fit(D[:300, :300]).factor.toarray()
    rewiring = kernel.rewiring(D[300:, :300])
    assert sum(change.nnz > 0 for change in rewiring.changes) > 20
    for q in range(30):
        chosen = [*range(300), 300 + q]
        row = rewiring.row[[q]].toarray()
        found = np.block([[factor, np.zeros((300, 1))], [-row, np.ones((1, 1))]])
        found[:300] -= rewiring.changes[q].toarray()
        expected = clone(kernel).fit(D[np.ix_(chosen, chosen)]).factor.toarray()
        assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("data", "k"),
    [(ROLL, 8), (ROLL, 12), (NOISY, 6), (NOISY, 10), (PIXELS, 16)],
    ids=["roll", "roll 12", "noisy", "noisy 10", "digits"],
)
def test_a_step_is_close_to_a_true_refit_and_more_are_exact(data, k):
    model = em.LocallyLinearEmbedding(n_neighbors=k).fit(data[:300])
    ways = extensions.Refit(), extensions.Refit(refine=2), extensions.Refit(n_pairs=0)
    row, step, exact, bare = errors(model, data[:300], data[300:], "nystrom", *ways)
    assert row > 0.02
    assert step < 1e-2 * row
    assert exact < 1e-5 * row
    assert step < bare


def test_faces():
    if not FACES.exists():
        pytest.skip("faces are not at hand: set EIGENMAPS_DATA to the folder that holds them")
    X = np.load(FACES)["X"]
    order = np.random.default_rng(0).permutation(len(X))
    X, Q = X[order[:-20]], X[order[-20:]]
    model = em.LocallyLinearEmbedding(n_neighbors=10).fit(X)
    row, step = errors(model, X, Q, "nystrom", "refit")
    assert step < 0.02 * row


@pytest.mark.parametrize(
    "settings",
    [{"reg": 1e-7}, {"mu": 30}, {"n_components": 4}]
    + [{"scaling": s} for s in ("sqrt-eigenvalue", "diffusion")],
    ids=str,
)
def test_settings(settings):
    settings = {"n_neighbors": 10, "extension": extensions.Refit(refine=2)} | settings
    model = em.LocallyLinearEmbedding(**settings).fit(ROLL[:300])
    (error,) = errors(model, ROLL[:300], ROLL[300:], model.extension)
    assert error < 1e-4


def test_unit_variance_is_that_of_all_points():
    one, many = (em.LocallyLinearEmbedding(n_neighbors=10, scaling=s, extension="refit")
                 for s in ("eigenvector", "unit-variance"))  # fmt: skip
    expected = 301**0.5 * one.fit(ROLL[:300]).transform(ROLL[300:])
    assert_allclose(many.fit(ROLL[:300]).transform(ROLL[300:]), expected, rtol=1e-8)


def test_precomputed_distances():
    D = Neighbors().fit(ROLL).distances(ROLL)
    direct, given = (em.LocallyLinearEmbedding(n_neighbors=8, metric=m, extension="refit")
                     for m in ("euclidean", "precomputed"))  # fmt: skip
    expected = direct.fit(ROLL[:300]).transform(ROLL[300:])
    found = given.fit(D[:300, :300]).transform(D[300:, :300])
    assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_points_that_are_nobodys_neighbours():
    model = em.LocallyLinearEmbedding(n_neighbors=10).fit(ROLL[:300])
    Q = ROLL[300:310] + np.array([0.0, 40, 0])
    assert not any(change.nnz for change in model.kernel_.rewiring(Q).changes)
    assert errors(model, ROLL[:300], Q, extensions.Refit(refine=2))[0] < 1e-6
    assert np.isfinite(model.with_extension("refit").transform(1e6 * Q)).all()


@pytest.mark.filterwarnings("ignore:The neighbourhood graph", "ignore:Components 0 to")
def test_components_keep_their_rows():
    X = np.vstack([ROLL[:100], ROLL[100:200] + 500])
    model = em.LocallyLinearEmbedding(n_neighbors=8).fit(X)
    Y = model.with_extension("refit").transform(ROLL[200:])
    assert_array_equal(Y, model.transform(ROLL[200:]))


@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_a_point_that_tears_the_graph_apart_keeps_its_row():
    """Five points lie apart, and the fifth neighbour of each is among the others until x comes."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(size=(60, 2)), [3, 0] + 0.2 * rng.uniform(size=(5, 2))])
    Q = np.array([[3.1, 0.1], [0.5, 0.5]])
    null = [
        (np.linalg.svd(kernels.LLE(5).fit(points).factor.toarray())[1] < 1e-12).sum()
        for points in (X, np.vstack([X, Q[0]]), np.vstack([X, Q[1]]))
    ]
    assert null == [1, 2, 1]
    model = em.LocallyLinearEmbedding(n_neighbors=5).fit(X)
    row, refit = model.transform(Q), model.with_extension("refit").transform(Q)
    assert_array_equal(row[0], refit[0])
    assert (row[1] != refit[1]).all()


def test_copies_of_training_points():
    X = np.vstack([ROLL[:200], ROLL[:20]])
    model = em.LocallyLinearEmbedding(n_neighbors=8, extension="refit").fit(X)
    Y = model.transform(X)
    assert np.isfinite(Y).all()
    assert np.abs(Y).max() < 2 * np.abs(model.embedding_).max()
