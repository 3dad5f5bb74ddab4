"""Whatever holds the numbers: the same coordinates, and the input as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenmaps as em
from eigenmaps import extensions, kernels

X, LABELS = load_digits(return_X_y=True)
# Whole numbers give equal distances, between which the order of neighbours is arbitrary.
X = X * np.random.default_rng(0).integers(200, 220, X.shape)
GAMMA = 1e-3 / 256**2
X, NEW, LABELS = X[:250], X[250:310], LABELS[:250]

METHODS = {
    "mds": em.ClassicalMDS(),
    "isomap": em.Isomap(n_neighbors=14),
    "lle": em.LocallyLinearEmbedding(n_neighbors=14),
    "laplacian": em.LaplacianEigenmaps(n_neighbors=28),
    "laplacian rbf": em.LaplacianEigenmaps(affinity="rbf"),
    "clustering": em.SpectralClustering(4, affinity="rbf", random_state=0),
    "kernel pca": em.KernelPCA(2, kernel="rbf", gamma=GAMMA),
}
each = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def same(Y, expected, tol=1e-10):
    assert_allclose(np.asarray(Y), expected, rtol=0, atol=tol * np.abs(expected).max())


@pytest.fixture(params=METHODS)
def fitted(request):
    method = clone(METHODS[request.param])
    return method, method.fit(X).transform(NEW)


D, d = euclidean_distances(X), euclidean_distances(NEW, X)
W, w = rbf_kernel(X, X, GAMMA), rbf_kernel(NEW, X, GAMMA)


@pytest.mark.parametrize(
    ("direct", "given", "square", "block"),
    [
        (em.ClassicalMDS(), em.ClassicalMDS(metric="precomputed"), D, d),
        (em.Isomap(n_neighbors=14), em.Isomap(n_neighbors=14, metric="precomputed"), D, d),
        (
            em.LocallyLinearEmbedding(n_neighbors=14),
            em.LocallyLinearEmbedding(n_neighbors=14, metric="precomputed"),
            D,
            d,
        ),
        (
            em.LaplacianEigenmaps(affinity="rbf", gamma=GAMMA),
            em.LaplacianEigenmaps(affinity="precomputed"),
            W,
            w,
        ),
        (
            em.LaplacianEigenmaps(n_neighbors=28),
            em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(28, metric="precomputed")),
            D,
            d,
        ),
        (
            em.LaplacianEigenmaps(affinity="self_tuning"),
            em.LaplacianEigenmaps(affinity=kernels.SelfTuning(10, metric="precomputed")),
            D,
            d,
        ),
        (
            em.SpectralClustering(4, affinity="rbf", gamma=GAMMA),
            em.SpectralClustering(4, affinity="precomputed"),
            W,
            w,
        ),
        (
            em.KernelPCA(2, kernel="rbf", gamma=GAMMA),
            em.KernelPCA(2, kernel="precomputed"),
            W,
            w,
        ),
    ],
    ids=lambda p: type(p).__name__ if hasattr(p, "fit") else "",
)
def test_precomputed_equals_direct(direct, given, square, block):
    before = square.copy(), block.copy()
    expected = direct.fit(X).transform(NEW)
    same(given.fit(square).embedding_, direct.embedding_, 1e-6)
    same(given.transform(block), expected, 1e-6)
    same(given.transform(square), given.embedding_, 1e-8)
    assert_array_equal(square, before[0])
    assert_array_equal(block, before[1])


@pytest.mark.parametrize("extension", ["barycentric", "heat"])
def test_extensions_on_precomputed_distances(extension):
    settings = {"n_neighbors": 14, "extension": extension}
    direct = em.Isomap(**settings).fit(X).transform(NEW)
    given = em.Isomap(metric="precomputed", **settings).fit(D).transform(d)
    same(given, direct, 1e-6)


def test_pandas(fitted):
    method, expected = fitted
    names = [f"pixel {i}" for i in range(64)]
    method.fit(pd.DataFrame(X, columns=names))
    assert method.feature_names_in_.tolist() == names
    same(method.transform(pd.DataFrame(NEW, columns=names)), expected)


def test_polars(fitted):
    method, expected = fitted
    names = [f"pixel {i}" for i in range(64)]
    method.fit(pl.DataFrame(X, schema=names))
    same(method.transform(pl.DataFrame(NEW, schema=names)), expected)


def test_set_output(fitted):
    method, expected = fitted
    for library, form in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = method.set_output(transform=library).transform(NEW)
        assert isinstance(frame, form)
        assert list(frame.columns) == method.get_feature_names_out().tolist()
        assert method.get_feature_names_out()[0] == type(method).__name__.lower() + "0"
        same(frame, expected)


def test_fortran_order_lists_and_integers(fitted):
    method, expected = fitted
    same(method.fit(np.asfortranarray(X)).transform(np.asfortranarray(NEW)), expected)
    same(method.fit(X.astype(np.int64)).transform(NEW.astype(np.uint16)), expected)
    same(method.fit(X.tolist()).transform(NEW.tolist()), expected)


def test_read_only_memory_maps(fitted, tmp_path):
    method, expected = fitted
    for name, data in (("train", X), ("new", NEW)):
        np.save(tmp_path / f"{name}.npy", data)
    train, new = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("train", "new"))
    assert not train.flags.writeable
    same(method.fit(train).transform(new), expected)


@each
def test_float32_is_kept_and_float64_inside(method):
    double = method.fit(X)
    expected, ell = double.transform(NEW), double.eigenvalues_
    single = method.fit(X.astype(np.float32))  # whole numbers are exact in float32
    assert single.embedding_.dtype == np.float32
    Y = single.transform(NEW.astype(np.float32))
    assert Y.dtype == np.float32
    same(Y, expected, 1e-6)
    assert_allclose(single.eigenvalues_, ell, rtol=1e-12)
    assert single.transform(NEW).dtype == np.float64


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse(form):
    for method in METHODS.values():
        expected = clone(method).fit(X).transform(NEW)
        model = clone(method).fit(form(X))
        same(model.transform(form(NEW)), expected, 1e-8)
        same(model.transform(form(X)), model.embedding_, 1e-8)


@pytest.mark.parametrize("extension", extensions.NAMES)
def test_sparse_with_every_extension(extension):
    method = em.Isomap(n_neighbors=14, extension=extension)
    expected = method.fit(X).transform(NEW)
    # scikit-learn solves sparse least squares by iteration, to its own tolerance.
    tol = 1e-2 if extension == "linear" else 1e-6
    same(method.fit(sp.csr_array(X)).transform(sp.csr_array(NEW)), expected, tol)


@each
@pytest.mark.parametrize("extension", ["nystrom", "heat", "barycentric"])
def test_what_the_caller_does_later_does_not_move_the_model(method, extension):
    train = X.copy()
    model = clone(method).set_params(extension=extension)
    Y = model.fit_transform(train)
    expected = model.transform(NEW)
    train *= 2
    Y *= 3
    assert_array_equal(model.transform(NEW), expected)


def test_output_settings_of_one_model_are_not_those_of_another():
    model = em.ClassicalMDS().fit(X).set_output(transform="pandas")
    other = model.with_extension("heat")
    assert isinstance(other.transform(NEW), pd.DataFrame)
    other.set_output(transform="default")
    assert isinstance(other.transform(NEW), np.ndarray)
    assert isinstance(model.transform(NEW), pd.DataFrame)


@pytest.mark.parametrize("params", [{"w": np.arange(1.0, 65)}, {"p": 1}, {"p": 3}])
def test_metric_params(params):
    from scipy.spatial.distance import cdist

    settings = {"metric": "minkowski", "metric_params": params}
    D, d = (cdist(A, X, "minkowski", **params) for A in (X, NEW))
    for direct, given in (
        (em.ClassicalMDS(**settings), em.ClassicalMDS(metric="precomputed")),
        (
            em.Isomap(n_neighbors=14, **settings),
            em.Isomap(n_neighbors=14, metric="precomputed"),
        ),
        (
            em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(28, **settings)),
            em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(28, metric="precomputed")),
        ),
    ):
        expected = given.fit(D).transform(d)
        same(direct.fit(X).transform(NEW), expected, 1e-8)
        same(direct.transform(X), direct.embedding_, 1e-8)


@each
@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_far_from_the_origin(method, offset):
    """Only differences matter: an offset costs the digits that float64 has no room for."""
    expected = method.fit(X).transform(NEW)
    lost = 1e3 * np.spacing(offset) / X.std()
    same(method.fit(X + offset).transform(NEW + offset), expected, max(lost, 1e-10))
    Y = method.embedding_
    assert np.abs(method.transform(X + offset) - Y).max() < 1e-8 * np.abs(Y).max()


def test_a_sparse_affinity_is_never_made_dense():
    graph = kernels.NeighborGraph(28)
    sparse = graph.fit(X)
    assert sp.issparse(sparse)
    rows = graph.rows(NEW)[0]
    model = em.LaplacianEigenmaps(affinity="precomputed").fit(sparse)
    same(model.transform(sparse), model.embedding_)
    expected = em.LaplacianEigenmaps(affinity=graph).fit(X).transform(NEW)
    same(model.transform(rows), expected)


def test_any_extension_on_any_method(fitted):
    method, expected = fitted
    products = isinstance(method, (em.ClassicalMDS, em.Isomap, em.KernelPCA))
    for name in extensions.NAMES:
        if name == "restricted" and not products:
            with pytest.raises(ValueError, match="'restricted' fits scalar products"):
                method.with_extension(name)
            continue
        other = method.with_extension(name)
        Y = other.transform(NEW)
        assert Y.shape == expected.shape
        assert np.isfinite(Y).all()
        assert other.extension == name
        assert other.eigenvalues_ is method.eigenvalues_
    assert_array_equal(method.transform(NEW), expected)
    assert method.extension == "nystrom"


def test_with_extension_keeps_predicting():
    model = em.SpectralClustering(4, n_neighbors=28, random_state=0).fit(X)
    heat = model.with_extension(extensions.Heat(3))
    assert (heat.predict(X) == model.labels_).mean() > 0.95
    assert heat.predict(NEW).shape == (60,)


@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_pipeline_and_grid_search():
    pipe = make_pipeline(StandardScaler(), em.Isomap(n_components=10), KNeighborsClassifier(5))
    grid = {
        "isomap__n_neighbors": [5, 10],
        "isomap__extension": ["nystrom", "barycentric", extensions.Heat(3)],
    }
    search = GridSearchCV(pipe, grid, cv=3).fit(X, LABELS)
    assert search.best_score_ > 0.75
    general = make_pipeline(em.Eigenmap(kernels.MDS(), 10), KNeighborsClassifier(5))
    grid = {"eigenmap__kernel": [kernels.MDS(), kernels.LLE(10), kernels.Isomap(8)]}
    search = GridSearchCV(general, grid, cv=3).fit(X, LABELS)
    assert search.best_score_ > 0.75
    nested = GridSearchCV(
        make_pipeline(em.Eigenmap(kernels.Isomap(), 5), KNeighborsClassifier()),
        {"eigenmap__kernel__n_neighbors": [5, 9]},
        cv=3,
    )
    assert nested.fit(X, LABELS).best_score_ > 0.7


def test_results_repeat_and_do_not_depend_on_the_global_seed(fitted):
    method, expected = fitted
    np.random.seed(7)  # noqa: NPY002
    again = clone(method).fit(X).transform(NEW)
    assert_array_equal(again, expected)


def test_random_state_changes_rounding_only():
    a, b = (
        em.LaplacianEigenmaps(random_state=s, eigen_solver="arpack").fit(X).embedding_
        for s in (0, 1)
    )
    same(a, b, 1e-8)


def test_transform_in_blocks_is_transform_at_once(monkeypatch, fitted):
    method, expected = fitted
    monkeypatch.setattr("eigenmaps.blocks.BUDGET", 1)
    from eigenmaps import blocks, embedder

    monkeypatch.setattr(embedder, "row_blocks", lambda n, size: blocks.row_blocks(n, size, 1))
    same(method.transform(NEW), expected)
