"""partial_fit: a model that takes new points in, against full fits."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.metrics.pairwise import rbf_kernel

import eigenmaps as em
from eigenmaps import extensions, kernels, metrics

ROLL, _ = make_swiss_roll(500, noise=0.05, random_state=0)
DIGITS = load_digits().data[:900]
DATA = {"roll": (ROLL, 0.02), "digits": (DIGITS, 5e-4)}


def methods(gamma):
    rbf = {"affinity": "rbf", "gamma": gamma}
    return {
        "mds": em.ClassicalMDS(),
        "mds manhattan": em.ClassicalMDS(metric="manhattan"),
        "isomap": em.Isomap(n_neighbors=10),
        "lle": em.LocallyLinearEmbedding(n_neighbors=10),
        "kernel pca": em.KernelPCA(2, kernel="rbf", gamma=gamma),
        "kernel pca poly": em.KernelPCA(2, kernel="poly", degree=2, gamma=gamma / 10),
        "gaussian": em.LaplacianEigenmaps(**rbf),
        "off-degree": em.LaplacianEigenmaps(self_similarity="off-degree", **rbf),
        "dropped": em.LaplacianEigenmaps(self_similarity="dropped", **rbf),
        "diffusion": em.LaplacianEigenmaps(scaling="diffusion", **rbf),
        "callable": em.LaplacianEigenmaps(affinity=lambda A, B: rbf_kernel(A, B, gamma)),
        "graph": em.LaplacianEigenmaps(n_neighbors=14),
        "graph, heat": em.LaplacianEigenmaps(
            affinity=kernels.NeighborGraph(14, "heat", gamma=gamma)
        ),
        "self-tuning": em.LaplacianEigenmaps(affinity="self_tuning"),
        "clustering": em.SpectralClustering(3, n_neighbors=14, random_state=0),
    }


def grown(method, X, start, step):
    model = clone(method).fit(X[:start])
    for i in range(start, len(X), step):
        model.partial_fit(X[i : i + step])
    return model


def sine(A, B):
    return np.sin(metrics.subspace_angle(A, B))


@pytest.mark.parametrize("name", methods(1))
@pytest.mark.parametrize("data", DATA)
def test_near_a_full_fit(data, name):
    """Much nearer than two fits on halves of the points are to each other."""
    X, gamma = DATA[data]
    method = methods(gamma)[name]
    n = len(X)
    full, model = clone(method).fit(X), grown(method, X, n // 2, 50)
    order = np.random.default_rng(0).permutation(n)
    a, b = (clone(method).fit(X[part]).transform(X) for part in (order[::2], order[1::2]))
    far = sine(model.embedding_, full.embedding_)
    assert far <= 0.5 * sine(a, b)
    assert model.embedding_.shape == full.embedding_.shape
    assert model.eigenvectors_.shape == full.eigenvectors_.shape
    assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=0.05)
    V = model.eigenvectors_
    assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-6)


@pytest.mark.parametrize("name", methods(1))
def test_old_points_keep_their_frame(name):
    """Of all turns of the new coordinates, those given are nearest to the old ones."""
    method = methods(0.02)[name]
    model = clone(method).fit(ROLL[:400])
    before = model.embedding_.copy()
    after = model.partial_fit(ROLL[400:450]).embedding_
    assert_allclose(metrics.align(after, before), after, atol=1e-9 * np.abs(after).max())
    # Training points are placed as new ones would be, as far as the eigenvectors are exact.
    if name == "lle":
        return
    moved = np.linalg.norm(model.transform(ROLL[:450]) - after) / np.linalg.norm(after)
    assert moved <= 50 * model.solve_.residuals.max() + 1e-8


@pytest.mark.parametrize("name", ["mds", "gaussian", "graph", "off-degree"])
def test_the_residual_is_that_of_the_eigenproblem(name):
    model = grown(methods(0.02)[name], ROLL[:450], 400, 25)
    gram = model.kernel_.fixed().fit(ROLL[:450])
    V, ell = model.eigenvectors_, model.eigenvalues_
    left = np.linalg.norm(gram.toarray() @ V - V * ell, axis=0)
    top = np.linalg.eigvalsh(gram.toarray())[-1 - (name in ("gaussian", "graph"))]
    assert_allclose(model.solve_.residuals, left / top, rtol=0.02, atol=1e-12)
    assert model.solve_.solver == "ritz"


def test_the_first_call_is_a_fit():
    first = em.KernelPCA(2, kernel="rbf", gamma=0.02).partial_fit(ROLL[:300])
    fit = em.KernelPCA(2, kernel="rbf", gamma=0.02).fit(ROLL[:300])
    assert_array_equal(first.embedding_, fit.embedding_)
    clusters = em.SpectralClustering(3, random_state=0).partial_fit(ROLL[:300])
    assert_array_equal(clusters.labels_, clusters.fit(ROLL[:300]).labels_)


def test_clusters_keep_their_numbers():
    model = em.SpectralClustering(4, n_neighbors=14, random_state=0).fit(ROLL[:400])
    before = model.labels_.copy()
    expected = model.predict(ROLL[400:])
    model.partial_fit(ROLL[400:])
    assert (model.labels_[:400] == before).mean() > 0.95
    assert (model.labels_[400:] == expected).mean() > 0.95
    assert len(model.labels_) == 500


def test_a_graph_in_pieces():
    X = np.vstack([ROLL[:200], ROLL[:200] + 500])
    more = np.vstack([ROLL[200:220], ROLL[200:220] + 500])
    with pytest.warns(UserWarning, match="2 components of sizes 200, 200"):
        model = em.LaplacianEigenmaps(n_neighbors=16).fit(X)
    model.partial_fit(more)
    side = np.sign(model.embedding_[:, 0])
    assert (side[:200] == side[0]).all()
    assert (side[200:400] == -side[0]).all()
    assert_array_equal(side[400:], np.repeat([side[0], -side[0]], 20))


@pytest.mark.parametrize("name", ["kernel pca", "graph"])
def test_copies_are_not_touched(name):
    """Neither another way to new points, nor a pickle, nor a copy grows with the model."""
    model = methods(0.02)[name].fit(ROLL[:400])
    model.partial_fit(ROLL[400:420])
    others = [
        model.with_extension("nystrom"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    ]  # fmt: skip
    expected = model.transform(ROLL[:50])
    model.partial_fit(ROLL[420:])
    for other in others:
        assert_array_equal(other.transform(ROLL[:50]), expected)
        other.partial_fit(ROLL[420:])
        assert sine(other.embedding_, model.embedding_) < 0.05
    assert not np.array_equal(model.transform(ROLL[:50]), expected)


def test_model_file(tmp_path):
    model = grown(em.LaplacianEigenmaps(n_neighbors=14), ROLL[:450], 400, 25)
    model.save(tmp_path / "grown")
    again = em.load(tmp_path / "grown")
    assert_array_equal(again.transform(ROLL[450:]), model.transform(ROLL[450:]))
    assert_array_equal(again.embedding_, model.embedding_)
    again.partial_fit(ROLL[450:])
    model.partial_fit(ROLL[450:])
    assert sine(again.embedding_, model.embedding_) < 0.05


@pytest.mark.parametrize("way", ["nystrom", "refit", "heat", "barycentric", "linear"])
def test_extensions_learn_the_new_points_too(way):
    model = em.ClassicalMDS(extension=way).fit(ROLL[:400])
    model.partial_fit(ROLL[400:450])
    full = em.ClassicalMDS(extension=way).fit(ROLL[:450])
    Y = metrics.align(full.transform(ROLL), model.transform(ROLL))
    assert_allclose(model.transform(ROLL), Y, rtol=0, atol=1e-7 * np.abs(Y).max())


def test_kinds_of_input():
    single = em.KernelPCA(2, kernel="rbf", gamma=0.02).fit(ROLL[:400].astype(np.float32))
    single.partial_fit(ROLL[400:450])
    assert single.embedding_.dtype == np.float32
    assert single.embedding_.shape == (450, 2)
    new = ROLL[400:450].copy()
    model = em.ClassicalMDS().fit(ROLL[:400]).partial_fit(new)
    assert_array_equal(new, ROLL[400:450])
    new[:] = 0  # what the caller does to it later does not move the model
    assert_array_equal(model._model.X[400:], ROLL[400:450])
    one = em.ClassicalMDS().fit(ROLL[:400]).partial_fit(ROLL[400:401])
    assert one.embedding_.shape == (401, 2)
    assert one.inverse_transform(one.embedding_).shape == (401, 3)


def test_bad_input():
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=0.05).fit(ROLL[:300])
    before = model.transform(ROLL[:10])
    with pytest.raises(ValueError, match="1 of 3 new points are similar to no training point"):
        model.partial_fit(np.vstack([ROLL[300:302], [[900.0, 0, 0]]]))
    with pytest.raises(ValueError, match="X has 2 features, but LaplacianEigenmaps is expecting 3"):
        model.partial_fit(ROLL[300:, :2])
    with pytest.raises(ValueError, match="Input X contains NaN or infinity"):
        model.partial_fit(np.full((2, 3), np.nan))
    assert_array_equal(model.transform(ROLL[:10]), before)  # as it was
    model.partial_fit(ROLL[300:320])
    assert len(model.embedding_) == 320

    given = em.ClassicalMDS(metric="precomputed")
    assert not hasattr(given, "partial_fit")
    with pytest.raises(AttributeError) as error:
        given.partial_fit(np.zeros((4, 4)))
    assert "X is precomputed distances" in str(error.value.__cause__)


def test_joint_rows_are_those_of_the_model():
    """Growing by some points, and asking for them jointly, are two ways to the same problem."""
    X, Q = ROLL[:400], ROLL[400:420]
    model = em.KernelPCA(2, kernel="rbf", gamma=0.02).fit(X)
    together = model.with_extension(extensions.Refit(refine=3, jointly=True)).transform(Q)
    Y = model.partial_fit(Q).embedding_[400:]
    assert_allclose(Y, together, rtol=0, atol=5e-3 * np.abs(Y).max())


def test_a_vector_that_new_points_bring_up_is_not_missed():
    """Digits of which the first half has another second eigenvector."""
    X = load_digits().data[:1000]
    model = grown(em.LaplacianEigenmaps(n_neighbors=10), X, 500, 50)
    full = em.LaplacianEigenmaps(n_neighbors=10).fit(X)
    assert sine(model.embedding_, full.embedding_) < 0.2
    assert_allclose(model.eigenvalues_, full.eigenvalues_, atol=2e-4)


@pytest.mark.parametrize("affinity", ["l1", "self_tuning", "nearest_neighbors"])
def test_more_points_than_there_were(affinity):
    X = DIGITS[:160]
    model = em.LaplacianEigenmaps(affinity=affinity).fit(X[:60]).partial_fit(X[60:])
    full = em.LaplacianEigenmaps(affinity=affinity).fit(X)
    assert sine(model.embedding_, full.embedding_) < 1e-8


def test_what_an_extension_refuses_leaves_the_model_as_it_was():
    way = extensions.Sparse(projection="pca", n_projected=10)
    model = em.ClassicalMDS(extension=way).fit(DIGITS[:50]).partial_fit(DIGITS[50:60])
    model.set_params(extension__n_projected=100)
    with pytest.raises(ValueError, match="n_projected=100 is not possible"):
        model.partial_fit(DIGITS[60:70])
    assert len(model.embedding_) == 60
    model.set_params(extension__n_projected=10)
    assert len(model.partial_fit(DIGITS[60:70]).embedding_) == 70


@pytest.mark.parametrize("method", [em.ClassicalMDS(), em.Isomap(), em.LaplacianEigenmaps()])
def test_sparse_rows_for_dense_data_and_dense_rows_for_sparse(method):
    X, new = ROLL[:200], ROLL[200:220]
    expected = clone(method).fit(X).partial_fit(new)
    for kind, other in ((np.asarray, csr_array), (csr_array, np.asarray)):
        model = clone(method).fit(kind(X)).partial_fit(other(new))
        far = metrics.align(model.embedding_, expected.embedding_)
        assert_allclose(far, expected.embedding_, atol=1e-6 * np.abs(far).max())
        Y = model.transform(other(ROLL[220:240]))
        assert_allclose(Y, model.transform(kind(ROLL[220:240])), atol=1e-10 * np.abs(Y).max())


@pytest.mark.parametrize(
    ("method", "step", "solver"),
    [
        (em.ClassicalMDS(), 20, "ritz"),
        (em.LaplacianEigenmaps(n_neighbors=14), 20, "ritz"),
        (em.ClassicalMDS(), 200, "lanczos"),
        (em.LocallyLinearEmbedding(n_neighbors=10), 20, "singular"),
    ],
)
def test_the_report_is_that_of_the_solver_that_ran(method, step, solver):
    """By its name, with a residual for each component, also where all is solved anew."""
    model = grown(method, ROLL[: 300 + step], 300, step)
    assert model.solve_.solver == solver
    assert model.solve_.residuals.shape == (2,)
    assert model.n_iter_ == model.solve_.products >= 1
    assert model.solve_.multiple == []


def test_equal_eigenvalues_are_reported_of_a_grown_model():
    """A square grid has its two first coordinates in common."""
    side = np.linspace(-1, 1, 20)
    grid = np.array([(a, b) for a in side for b in side])
    order = np.argsort(np.abs(grid).max(axis=1), kind="stable")  # squares from the middle
    model = em.ClassicalMDS().fit(grid[order[:324]]).partial_fit(grid[order[324:]])
    assert model.solve_.multiple == [(0, 1)]
