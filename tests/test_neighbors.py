"""Neighbour lists, graphs and shortest paths against brute force."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from eigenmaps import Isomap, LaplacianEigenmaps
from eigenmaps._compute.minplus import min_plus, min_plus_plain
from eigenmaps.graphs import (
    bridges,
    components,
    connecting_k,
    directed_graph,
    union,
)
from eigenmaps.neighbors import Neighbors

rng = np.random.default_rng(0)
X, Q = rng.standard_normal((120, 20)) + 1e4, rng.standard_normal((30, 20)) + 1e4
METRICS = ["euclidean", "manhattan", "cosine", "minkowski", "chebyshev"]


@pytest.mark.parametrize("metric", METRICS)
def test_lists_are_those_of_brute_force(metric):
    near = Neighbors(metric).fit(X)
    name = {"manhattan": "cityblock"}.get(metric, metric)
    D = cdist(Q, X, name)
    distances, index = near.of(Q, 7)
    assert_allclose(distances, np.sort(D, axis=1)[:, :7], rtol=1e-6, atol=1e-12)
    assert_allclose(np.take_along_axis(D, index, 1), distances, rtol=1e-6, atol=1e-12)
    others, index = near.of_training(7)
    assert (index != np.arange(120)[:, None]).all()
    assert_allclose(others, np.sort(cdist(X, X, name), axis=1)[:, 1:8], rtol=1e-6, atol=1e-12)


def test_a_training_point_is_at_distance_zero_from_itself_far_from_the_origin():
    distances, index = Neighbors().fit(X).of(X, 1)
    assert_array_equal(distances, 0)
    assert_array_equal(index.ravel(), np.arange(120))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_within_each_points_own_radius(form):
    radii = rng.uniform(4, 7, 120)
    found = Neighbors().fit(form(X)).within(form(Q), radii)
    D = cdist(Q, X)
    assert_array_equal(found.toarray() > 0, radii >= D)
    assert_allclose(found.toarray()[radii >= D], D[radii >= D], rtol=1e-9)


def test_a_ball_holds_all_that_tie():
    grid = np.array([[i, j] for i in range(7) for j in range(7)], dtype=float)
    near = Neighbors().fit(grid)
    found, radii = near.ball(np.array([[3.0, 3.0]]), 3)
    assert radii == [1]
    assert found.nnz == 5  # itself and four at distance 1: the third nearest is any of these
    found, radii = near.ball(np.array([[3.0, 3.0]]), 49)
    assert found.nnz == 49


def test_union_keeps_zero_lengths_and_the_shorter_edge():
    a = sp.csr_array(([0.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    b = sp.csr_array(([1.0, 5.0], ([1, 2], [2, 0])), shape=(3, 3))
    both = union(a, b).tocoo()
    edges = {(r, c): v for r, c, v in zip(both.row, both.col, both.data, strict=True)}
    assert edges == {(0, 1): 0.0, (1, 2): 1.0, (2, 0): 5.0}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_components(form):
    A = np.zeros((6, 6))
    A[0, 3] = A[3, 0] = A[3, 5] = A[5, 3] = A[1, 2] = A[2, 1] = 0.5
    assert_array_equal(components(form(A)), [0, 1, 1, 0, 2, 0])


def test_connecting_k_is_the_smallest():
    P = np.vstack([rng.standard_normal((25, 2)), rng.standard_normal((14, 2)) + 30])
    near = Neighbors().fit(P)

    def connected(k):
        return not components(directed_graph(*near.of_training(k), 39)).any()

    k = connecting_k(near, 3)
    assert connected(k)
    assert not connected(k - 1)
    assert connecting_k(near, 3, budget=39 * 5) is None


@pytest.mark.parametrize("precomputed", [False, True])
def test_bridges_join_the_closest_pairs(precomputed):
    P = np.vstack([rng.random((10, 2)), rng.random((8, 2)) + 5, rng.random((6, 2)) - 7])
    labels = np.repeat([0, 1, 2], [10, 8, 6])
    D = cdist(P, P)
    near = Neighbors("precomputed").fit(D) if precomputed else Neighbors().fit(P)
    found = bridges(near, labels).toarray()
    for a, b in ((0, 1), (0, 2), (1, 2)):
        part = np.ix_(labels == a, labels == b)
        assert_allclose(found[part].max(), D[part].min())
        assert (found[part] > 0).sum() == 1
    assert_allclose(found, found.T)


def test_min_plus_compiled_is_min_plus_plain():
    steps = sp.random_array((40, 30), density=0.2, rng=rng).tocsr()
    paths = rng.random((30, 50))
    args = (steps.indptr, steps.indices, steps.data, paths)
    assert_array_equal(min_plus(*args), min_plus_plain(*args))
    empty = sp.csr_array((2, 30))
    assert np.isinf(min_plus(empty.indptr, empty.indices, empty.data, paths)).all()


@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_copies_are_at_geodesic_distance_zero_however_many():
    P = np.vstack([rng.random((40, 2)), np.repeat(rng.random((2, 2)), 12, axis=0)])
    model = Isomap(n_neighbors=5).fit(P)
    G = model.kernel_.geodesics_
    assert_array_equal(G[40:52, 40:52], 0)
    assert_array_equal(G[52:, 52:], 0)
    assert_allclose(G[40:52], np.repeat(G[40:41], 12, axis=0))
    assert_allclose(model.transform(P), model.embedding_, atol=1e-10)


def test_ties_do_not_move_training_points():
    """On a grid every neighbourhood is full of equal distances."""
    grid = np.array([[i, j] for i in range(12) for j in range(9)], dtype=float)
    for k in (4, 5, 6, 9):
        model = Isomap(n_neighbors=k).fit(grid)
        Y = model.embedding_
        assert np.abs(model.transform(grid) - Y).max() < 1e-8 * np.abs(Y).max()


def test_thousands_of_copies_cost_no_more_than_others():
    P = np.vstack([rng.random((500, 2)), np.zeros((3000, 2))])
    model = Isomap(n_neighbors=5).fit(P)
    assert model.kernel_.geodesics_[600, 3400] == 0
    near = model.kernel_._neighbors_of(np.zeros((50, 2)))
    assert near.nnz <= 50 * 8
    assert_allclose(model.transform(P[::50]), model.embedding_[::50], atol=1e-9)


def test_more_ties_than_can_be_listed_are_refused():
    P = np.vstack([rng.random((6000, 2)), np.zeros((6000, 2))])
    with pytest.raises(ValueError, match=r"as near as the 10-th nearest.*Remove duplicates"):
        Neighbors().fit(P).ball(P, 10)


def test_a_point_beside_a_stack_of_copies_lies_where_the_stack_does():
    P = np.vstack([rng.random((200, 2)), np.repeat(rng.random((1, 2)), 15, axis=0)])
    model = LaplacianEigenmaps(n_neighbors=10).fit(P)
    assert np.abs(model.transform(P) - model.embedding_).max() < 1e-10
    for step in (1e-12, 1e-8, 1e-5):
        moved = np.abs(model.transform(P[-1:] + step) - model.embedding_[-1]).max()
        assert moved < 1e-3 * np.ptp(model.embedding_)
