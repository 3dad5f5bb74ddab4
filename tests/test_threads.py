"""Compiled loops and tiles, against what they stand for, on one thread and on several."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_swiss_roll
from sklearn.metrics.pairwise import rbf_kernel

import eigenmaps as em
from eigenmaps import neighbors, threads, tiles
from eigenmaps._compute.geodesics import shortest_paths, shortest_paths_plain
from eigenmaps._compute.minplus import min_plus_plain, min_plus_squares
from eigenmaps.graphs import directed_graph, union
from eigenmaps.neighbors import Neighbors

X, _ = make_swiss_roll(700, noise=0.02, random_state=3)
X, NEW = X[:500], X[500:]


def graph(k=8):
    distances, index = Neighbors().fit(X).of_training(k)
    edges = directed_graph(distances, index, len(X))
    return union(edges, sp.csr_array(edges.T))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 8])
def test_shortest_paths_are_those_of_scipy(dtype, k):
    edges = graph(k)  # of one neighbour each, in many pieces
    sources = np.arange(0, 500, 7, dtype=np.int32)
    args = edges.indptr, edges.indices, edges.data.astype(dtype), sources
    found, expected = (np.empty((len(sources), 500), dtype) for _ in range(2))
    shortest_paths(*args, found)
    shortest_paths_plain(*args, expected)
    assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-13)
    assert np.isinf(found).any() == (k == 1)


def test_squares_of_the_last_step_times_columns():
    paths = em.Isomap(n_neighbors=8).fit(X).kernel_.geodesics_
    near = em.Isomap(n_neighbors=8).fit(X).kernel_._neighbors_of(NEW)
    W = np.random.default_rng(0).standard_normal((500, 3))
    out, total = np.empty((len(NEW), 3)), np.empty(len(NEW))
    args = near.indptr, near.indices, near.data, paths
    min_plus_squares(*args, W, out, total)
    squares = min_plus_plain(*args) ** 2
    assert_allclose(out, squares @ W, rtol=1e-9, atol=1e-9 * np.abs(squares @ W).max())
    assert_allclose(total, squares.sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_are_the_whole(dtype):
    W = np.random.default_rng(0).standard_normal((500, 3))
    A, B = tiles.squares(NEW.astype(dtype), X.astype(dtype), -0.02)
    found, total = tiles.product(A, B, lambda tile: np.exp(tile, out=tile), W, 2)
    kappa = rbf_kernel(NEW, X, 0.02)
    tol = 1e-12 if dtype == np.float64 else 1e-4
    assert_allclose(found, kappa @ W, atol=tol * np.abs(kappa @ W).max())
    assert_allclose(total, kappa.sum(axis=1), rtol=tol)


@pytest.mark.parametrize(
    "method",
    [em.Isomap(n_neighbors=8), em.KernelPCA(3, kernel="rbf", gamma=0.02), em.ClassicalMDS()],
    ids=lambda m: type(m).__name__,
)
def test_products_are_rows_times_coordinates(method):
    model = method.fit(X)
    W = np.random.default_rng(0).standard_normal((500, 2))
    rows = model.kernel_(NEW).weights @ W
    found, degree = model.kernel_.product(NEW, W)
    assert degree is None
    assert_allclose(found, rows, rtol=0, atol=1e-9 * np.abs(rows).max())


def test_single_precision_in_and_out():
    double = em.KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    single = em.KernelPCA(3, kernel="rbf", gamma=0.02).fit(X.astype(np.float32))
    Y = single.transform(NEW.astype(np.float32))
    assert Y.dtype == np.float32
    assert_allclose(Y, double.transform(NEW), atol=1e-5)
    assert_allclose(single.transform(X.astype(np.float32)), single.embedding_, atol=1e-6)


def test_numbers_of_threads_make_no_difference(monkeypatch):
    for make in (
        lambda jobs: em.Isomap(n_neighbors=8, n_jobs=jobs),
        lambda jobs: em.KernelPCA(3, kernel="rbf", gamma=0.02, n_jobs=jobs),
    ):
        one, three = (make(jobs).fit(X).transform(NEW) for jobs in (1, 3))
        assert_array_equal(one, three)


def test_threads_end_and_errors_arrive():
    before = threading.active_count()
    seen = []
    threads.by_rows(lambda block: seen.append(block), 100, 7, 3)
    assert sum(b.stop - b.start for b in seen) == 100
    with pytest.raises(ZeroDivisionError):
        threads.by_rows(lambda block: 1 / 0, 100, 7, 3)
    assert threading.active_count() == before


def test_how_many_threads(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads.threads(n) for n in (None, 1, 4, -1, -2)] == [6, 1, 4, 6, 5]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads.threads(None) == 2
    with pytest.raises(ValueError, match="n_jobs=0"):
        threads.threads(0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["own", "equal", "none", "zero", "half"])
def test_a_tree_finds_what_all_distances_do(monkeypatch, kind):
    points, _ = make_swiss_roll(2600, noise=0.01, random_state=0)
    points[2500] = points[7]
    search = Neighbors().fit(points[:2300])
    radii = {
        "own": search.of_training(10)[0].max(axis=1),
        "equal": np.full(2300, 2.0),
        "none": np.full(2300, -1.0),
        "zero": np.zeros(2300),
        "half": np.where(np.arange(2300) % 2, 2.0, -1.0),
    }[kind]
    if kind == "own":
        radii[[3, 5]] = 40, -1
    found = search.within(points[2300:], radii)
    monkeypatch.setattr(neighbors, "MANY", 10**9)
    expected = search.within(points[2300:], radii)
    assert_array_equal(found.toarray(), expected.toarray())
    assert found.nnz == expected.nnz
