"""Solvers against matrices with a prescribed spectrum, and the rules of the result."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from scipy.stats import ortho_group
from sklearn.datasets import make_blobs, make_swiss_roll

from eigenmaps import LaplacianEigenmaps, LocallyLinearEmbedding, kernels
from eigenmaps.eigen import eigenpairs, fix_signs
from eigenmaps.gram import Gram

rng = np.random.RandomState(0)


def with_spectrum(values):
    Q = ortho_group.rvs(len(values), random_state=rng)
    return (Q * values) @ Q.T, Q


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "lobpcg"])
@pytest.mark.parametrize("n", [40, 350])
def test_prescribed_spectrum(solver, n):
    values = np.linspace(5, -2, n) + 3 * (np.arange(n) < 4)
    M, Q = with_spectrum(values)
    pairs = eigenpairs(Gram(M), 4, solver, max_iter=2000)
    assert_allclose(pairs.values, values[:4], rtol=1e-7)
    assert subspace_angles(pairs.vectors, Q[:, :4]).max() < 1e-6
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-10)
    assert pairs.solve.residuals.max() < 1e-7
    assert pairs.solve.seconds > 0
    assert pairs.solve.products >= 1


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "lobpcg"])
def test_known_vectors_are_not_found_again(solver):
    values = np.linspace(1, -0.5, 400)
    M, Q = with_spectrum(values)
    gram = Gram(M, known=Q[:, :2], drop=1)
    pairs = eigenpairs(gram, 3, solver, max_iter=3000, tol=1e-9 if solver == "lobpcg" else 0)
    assert_allclose(pairs.values, values[1:4], rtol=1e-7)
    assert subspace_angles(pairs.vectors, Q[:, 1:4]).max() < 1e-4


@pytest.mark.parametrize("m", [1, 19, 20, None])
def test_as_many_as_there_are(m):
    M, _ = with_spectrum(np.arange(20.0, 0, -1))
    pairs = eigenpairs(Gram(M), m)
    count = 20 if m is None else m
    assert_allclose(pairs.values, np.arange(20.0, 0, -1)[:count], rtol=1e-10)


@pytest.fixture(scope="module")
def graph():
    X, _ = make_swiss_roll(3000, random_state=0)
    return kernels.Laplacian(kernels.NeighborGraph(12)).fit(X)


def test_every_solver_finds_the_same_on_a_graph(graph):
    truth = eigenpairs(graph, 4, "dense")
    for solver, name in (("auto", "shift"), ("arpack", "shift"), ("amg", "amg")):
        pairs = eigenpairs(graph, 4, solver, tol=1e-10 if solver == "amg" else 0)
        assert pairs.solve.solver == name
        assert_allclose(1 - pairs.values, 1 - truth.values, rtol=1e-5)
        assert subspace_angles(pairs.vectors, truth.vectors).max() < 1e-4
    assert eigenpairs(graph, 4, "auto").solve.residuals.max() < 1e-12


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    values = np.linspace(5, 1, 400) + 3 * (np.arange(400) < 4)
    M, Q = with_spectrum(values)
    for solver in ("auto", "dense", "lobpcg"):
        pairs = eigenpairs(Gram(unit * M), 4, solver, max_iter=2000)
        assert_allclose(pairs.values, unit * values[:4], rtol=1e-7)
        assert subspace_angles(pairs.vectors, Q[:, :4]).max() < 1e-5


def test_where_lanczos_does_not_converge_lapack_does():
    X, _ = make_swiss_roll(500, random_state=0)
    model = LaplacianEigenmaps(affinity="rbf", gamma=1.0).fit(X)
    assert model.solve_.solver == "dense"
    assert model.solve_.residuals.max() < 1e-12
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-10


@pytest.mark.filterwarnings("ignore:The neighbourhood graph", "ignore:Components")
@pytest.mark.parametrize("seed", range(5))
def test_lle_in_many_pieces(seed):
    X = make_blobs(400, 3, centers=10, cluster_std=0.01, random_state=seed)[0]
    model = LocallyLinearEmbedding().fit(X)
    assert model.solve_.residuals.max() < 1e-12
    assert (-model.eigenvalues_ < 1e-25).all()


def test_multigrid_says_so_where_it_stops_early(graph):
    with pytest.warns(UserWarning, match=r"LOBPCG stopped with a residual of .*Raise max_iter"):
        eigenpairs(graph, 4, "lobpcg", max_iter=3)


def test_the_choice_follows_size_and_structure(graph):
    X = rng.standard_normal((2000, 30))
    tangled = kernels.Laplacian(kernels.NeighborGraph(12)).fit(X)
    assert eigenpairs(graph, 2).solve.solver == "shift"
    assert eigenpairs(kernels.LLE(8).fit(X), 2).solve.solver == "singular"
    assert eigenpairs(kernels.MDS("cityblock").fit(X), 2).solve.solver == "lanczos"
    assert eigenpairs(kernels.MDS("cityblock").fit(X[:100]), 2).solve.solver == "dense"
    assert eigenpairs(kernels.MDS().fit(X), 2).solve.solver == "root"
    assert eigenpairs(tangled, 2).solve.solver in ("shift", "lanczos")


def test_a_graph_whose_factor_would_fill_memory_is_solved_by_products(monkeypatch, graph):
    monkeypatch.setattr("eigenmaps.eigen.FILL", 1000)
    pairs = eigenpairs(graph, 2)
    assert pairs.solve.solver == "lanczos"
    assert_allclose(1 - pairs.values, 1 - eigenpairs(graph, 2, "dense").values, rtol=1e-6)


def test_multiple_eigenvalues_are_reported():
    values = np.concatenate([[9, 5, 5, 5, 4, 2, 2], np.linspace(1, 0, 60)])
    M, Q = with_spectrum(values)
    assert eigenpairs(Gram(M), 5).solve.multiple == [(1, 2, 3)]
    assert eigenpairs(Gram(M), 6).solve.multiple == [(1, 2, 3), (5, 6)]
    assert eigenpairs(Gram(M), 1).solve.multiple == []
    pairs = eigenpairs(Gram(M), 4)
    assert subspace_angles(pairs.vectors[:, 1:], Q[:, 1:4]).max() < 1e-10


def test_sign_rule():
    V = np.array([[0.1, -0.5, 0.7], [-0.9, 0.5, -0.7 - 1e-12], [0.2, 0.1, 0.1]])
    fixed = fix_signs(V)
    assert_array_equal(fixed[:, 0], -V[:, 0])  # largest entry positive
    assert_array_equal(fixed[:, 1], -V[:, 1])  # a tie: the first one
    assert_array_equal(fixed[:, 2], V[:, 2])  # a tie up to rounding is a tie


def test_sparse_and_dense_matrices_agree(graph):
    small = Gram(sp.csr_array(graph.matrix[:250][:, :250]))
    formed = Gram(small.toarray())
    a, b = eigenpairs(small, 3), eigenpairs(formed, 3)
    assert_allclose(a.values, b.values, rtol=1e-10)
    assert_allclose(a.vectors, b.vectors, atol=1e-8)


def test_many_components_are_no_obstacle():
    """Fifty components: the classical hang of Lanczos on a Laplacian."""
    X = rng.standard_normal((4000, 2)) + 100 * np.repeat(np.arange(50), 80)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LaplacianEigenmaps(60, n_neighbors=10).fit(X)
    assert_allclose(model.eigenvalues_[:49], 1, atol=1e-12)
    assert (model.eigenvalues_[49:] < 1 - 1e-6).all()
    assert model.solve_.residuals.max() < 1e-10


def test_the_report_is_on_the_estimator():
    X, _ = make_swiss_roll(500, random_state=0)
    solve = LaplacianEigenmaps(3).fit(X).solve_
    assert solve.solver == "shift"
    assert solve.residuals.shape == (3,)
    assert solve.residuals.max() < 1e-12
    assert solve.seconds > 0


@pytest.mark.parametrize("n", [20, 60, 100, 200, 300])
def test_a_matrix_of_equal_eigenvalues_loses_none(n):
    """LAPACK's search for some eigenvalues of a centred identity can return fewer, or none."""
    for m in (1, 3, 10):
        pairs = eigenpairs(Gram(np.eye(n) - 1 / n), m)
        assert_allclose(pairs.values, 1, rtol=1e-12)
        assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(m), atol=1e-12)
