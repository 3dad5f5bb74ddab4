"""SpectralClustering: labels, and the same rule for new points."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import eigenmaps as em
from eigenmaps.assignment import PivotedQR, unit_rows

RULES = ["kmeans", "discretize", "cluster_qr"]
SHAPES = {
    "moons": (make_moons(600, noise=0.06, random_state=1), 2),
    "circles": (make_circles(600, noise=0.04, factor=0.4, random_state=1), 2),
    "blobs": (make_blobs(600, centers=4, cluster_std=0.7, random_state=3), 4),
}
pytestmark = pytest.mark.filterwarnings("ignore:The neighbourhood graph")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_new_points_join_the_right_cluster(shape, rule):
    (X, y), q = SHAPES[shape]
    model = em.SpectralClustering(q, assign_labels=rule, random_state=0).fit(X[:400])
    assert adjusted_rand_score(y[:400], model.labels_) > 0.98
    assert adjusted_rand_score(y[400:], model.predict(X[400:])) > 0.97


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf", "self_tuning"])
def test_training_points_keep_their_label(affinity, rule):
    X, _ = SHAPES["blobs"][0]
    model = em.SpectralClustering(4, affinity=affinity, assign_labels=rule, random_state=0)
    assert (model.fit_predict(X) == model.labels_).all()
    assert (model.predict(X) == model.labels_).all()
    assert (model.predict(X[7:8]) == model.labels_[7:8]).all()
    assert set(model.labels_) == {0, 1, 2, 3}


def test_embedding_is_the_papers():
    X, _ = SHAPES["moons"][0]
    model = em.SpectralClustering(3, affinity="rbf", random_state=0).fit(X)
    np.testing.assert_allclose(model.embedding_, model.eigenvectors_)
    np.testing.assert_allclose((model.embedding_**2).sum(axis=0), 1)
    assert model.eigenvalues_[0] == pytest.approx(1)  # the first one is kept
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-10)


def test_fewer_eigenvectors_than_clusters():
    X, y = SHAPES["blobs"][0]
    model = em.SpectralClustering(4, n_components=3, random_state=0).fit(X)
    assert model.embedding_.shape == (600, 3)
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_the_rotation_of_cluster_qr_finds_indicators():
    labels = np.repeat([0, 1, 2], 20)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    Y = np.eye(3)[labels] @ rotation
    found = PivotedQR().fit(Y)(Y)
    assert adjusted_rand_score(labels, found) == 1


def test_unit_rows_keeps_zero():
    Y = np.array([[3.0, 4], [0, 0]])
    np.testing.assert_allclose(unit_rows(Y), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("seed", [None, 5])
def test_labels_repeat(seed):
    X, _ = SHAPES["blobs"][0]
    a, b = (em.SpectralClustering(6, random_state=seed, n_init=1).fit(X).labels_ for _ in "ab")
    np.testing.assert_array_equal(a, b)
