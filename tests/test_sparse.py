"""Sparse coding: what a certificate says is true, and codes are optimal."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.datasets import load_digits

import eigenmaps as em
from eigenmaps import coding, embedder, extensions, kernels
from eigenmaps._compute import simplex
from eigenmaps.blocks import row_blocks
from eigenmaps.coding import Dictionary

rng = np.random.default_rng(0)
DIGITS = load_digits().data
GAUSS = rng.standard_normal((60, 25))
COPIES = np.repeat(rng.standard_normal((8, 10)), 4, axis=0) * np.tile([1, 2, -1, 1], 8)[:, None]
COPIES[5] = 0
FEW = rng.standard_normal((12, 40))

# name: dictionary, queries, weight
PROBLEMS = {
    "more atoms": (GAUSS, rng.standard_normal((6, 25)), 1.0),
    "more dimensions": (FEW, rng.standard_normal((6, 40)), 1.0),
    "deviations": (FEW, rng.standard_normal((4, 40)), 8.0),
    "dear atoms": (GAUSS, rng.standard_normal((4, 25)), 0.3),
    "digits": (DIGITS[:150], DIGITS[900:904], 1.0),
    "binary": (rng.integers(0, 2, (80, 30)) * 1.0, rng.integers(0, 2, (6, 30)) * 1.0, 1.0),
    "ternary": (rng.integers(-1, 2, (50, 15)) * 1.0, rng.integers(-1, 2, (6, 15)) * 1.0, 3.0),
    "copies": (COPIES, rng.standard_normal((5, 10)), 1.0),
    "sums of copies": (COPIES, rng.standard_normal((5, 2)) @ COPIES[[0, 8]], 1.0),
    "sums": (FEW, rng.standard_normal((4, 3)) @ FEW[:3], 1.0),
    "one atom": (FEW[:1], FEW[1:5], 2.0),
    "one dimension": (GAUSS[:, :1], GAUSS[:5, 1:2], 1.0),
    "black": (DIGITS[:150], DIGITS[900:904] * (np.arange(64) < 12), 1.0),
}
each_problem = pytest.mark.parametrize("name", PROBLEMS)
units = pytest.mark.parametrize("unit_norm", [True, False])


def unit(X):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, norms, out=np.zeros_like(X), where=norms > 0)


def optimum(X, x, weight):
    """``max xᵀz  s.t. ‖z‖_∞ ≤ λ, ‖Xz‖_∞ ≤ 1`` by scipy."""
    found = linprog(
        -x, np.vstack([X, -X]), np.ones(2 * len(X)), bounds=(-weight, weight), method="highs"
    )
    return -found.fun


def value(X, x, a, weight):
    return np.abs(a).sum() + weight * np.abs(x - a @ X).sum()


def assert_optimal(codes, X, Q, weight, tol):
    for a, gap, x in zip(codes.coefficients.toarray(), codes.gap, Q, strict=True):
        best, found = optimum(X, x, weight), value(X, x, a, weight)
        assert_allclose(found, best, rtol=tol, atol=1e-12)
        assert found - best <= (gap + 1e-9) * found


# --- the law ---------------------------------------------------------------------------------


@units
@each_problem
def test_codes_are_optimal_and_say_so(name, unit_norm):
    X, Q, weight = PROBLEMS[name]
    codes = Dictionary.of(X, weight, unit_norm).code(Q)
    assert codes.gap.max() <= 1e-9
    assert_optimal(codes, *((unit(X), unit(Q)) if unit_norm else (X, Q)), weight, tol=1e-8)


@each_problem
def test_the_interior_point_method_alone(name, monkeypatch):
    """Where the simplex method gives up, its stand-in reaches the tolerance."""
    X, Q, weight = PROBLEMS[name]
    nothing = np.zeros(sum(X.shape))
    monkeypatch.setattr(coding, "descend", lambda *_: (nothing, nothing, False))
    codes = Dictionary.of(X, weight, unit_norm=True).code(Q, tol=1e-6)
    assert codes.gap.max() <= 1e-6
    assert_optimal(codes, unit(X), unit(Q), weight, tol=1e-6)


def test_a_gap_bounds_what_a_code_misses_by():
    """For any code and any z, optimal or not."""
    X, Q = unit(GAUSS), unit(rng.standard_normal((20, 25)))
    dictionary = Dictionary.of(X, 1.0, unit_norm=True)
    a, z = rng.standard_normal((20, 60)) / 60, Q + 0.3 * rng.standard_normal(Q.shape)
    gaps = dictionary._gaps(Q, np.full(20, -1), dictionary.cost, a, z)
    for x, code, gap in zip(Q, a, gaps, strict=True):
        found = value(X, x, code, 1.0)
        assert 0 < (found - optimum(X, x, 1.0)) / found <= gap


def test_the_cheaper_of_two_ways_to_explain_a_coordinate():
    """Atoms c·I: a coordinate is explained where 1/c < λ, and else left to e."""
    Q = rng.standard_normal((10, 12))
    for c, weight in ((2.0, 1.0), (2.0, 0.4)):
        a = Dictionary.of(c * np.eye(12), weight, unit_norm=False).code(Q).coefficients.toarray()
        assert_allclose(a, Q / c if weight > 1 / c else 0 * Q, atol=1e-12)


def test_one_constant_atom_takes_a_weighted_median():
    Q, atom = rng.standard_normal((10, 9)) + 0.5, np.ones((1, 9)) / 3
    a = Dictionary.of(atom, 1.0, unit_norm=False).code(Q).coefficients.toarray()
    for x, found in zip(Q, a[:, 0], strict=True):
        candidates = np.append(3 * x, 0)  # the breakpoints of a convex function of one number
        best = min(value(atom, x, np.array([c]), 1.0) for c in candidates)
        assert_allclose(value(atom, x, np.array([found]), 1.0), best, rtol=1e-12)


def test_a_training_point_is_its_own_code():
    codes = Dictionary.of(GAUSS, 1.0, unit_norm=True).code(7 * GAUSS)
    assert_allclose(codes.coefficients.toarray(), np.eye(60), rtol=0, atol=1e-12)
    assert codes.gap.max() < 1e-12


def test_neither_memory_order_nor_size_matters():
    dictionary = Dictionary.of(np.asfortranarray(GAUSS), 1.0, unit_norm=True)
    Q = rng.standard_normal((5, 25))
    expected = dictionary.code(Q)
    for same in (np.asfortranarray(Q), 2.0**900 * Q, 2.0**-900 * Q):
        codes = dictionary.code(same)
        assert_array_equal(codes.coefficients.toarray(), expected.coefficients.toarray())
        assert codes.gap.max() < 1e-12


def test_of_training_points_in_one_direction_the_nearest_in_length_is_taken():
    train = np.vstack([GAUSS[:20], 2 * GAUSS[:20], -GAUSS[:20]])
    model = em.KernelPCA(3, extension="sparse").fit(train)
    assert_allclose(model.transform(train), model.embedding_, atol=1e-10)
    assert_allclose(model.transform(1.8 * train[:20]), model.embedding_[20:40], atol=1e-10)


def test_a_barred_atom_is_not_used():
    own = np.arange(len(GAUSS))
    codes = Dictionary.of(GAUSS, 1.0, unit_norm=True).code(GAUSS, own=own)
    assert not codes.coefficients.diagonal().any()
    for i in (0, 17):
        others = np.delete(unit(GAUSS), i, axis=0)
        found = value(unit(GAUSS), unit(GAUSS)[i], codes.coefficients[[i]].toarray()[0], 1.0)
        assert_allclose(found, optimum(others, unit(GAUSS)[i], 1.0), rtol=1e-9)


def test_threads_change_nothing():
    dictionary = Dictionary.of(DIGITS[:200], 1.0, unit_norm=True)
    one, two = (dictionary.code(DIGITS[900:930], n_jobs=n) for n in (None, 2))
    assert_array_equal(one.coefficients.toarray(), two.coefficients.toarray())
    assert_array_equal(one.gap, two.gap)


# --- the compiled loops beside plain ones ----------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
def test_breakpoints_are_passed_as_if_they_had_been_sorted(ties):
    for _ in range(200):
        m = rng.integers(1, 30)
        t, weight = rng.random(m), rng.random(m)
        t = (5 * t).round() if ties else t
        slope = -weight.sum() * rng.uniform(0.01, 1.2)
        order = np.arange(m)
        passed = simplex.first_rise(t, weight, order, slope)
        expected, count = simplex.first_rise_plain(t, weight, slope)
        assert sorted(order) == list(range(m))
        assert t[order[passed]] == t[expected[count]]
        assert (t[order[:passed]] <= t[order[passed]]).all()
        if not ties:
            assert passed == count


def test_an_exchange_solves_for_the_other_variable():
    T, u = rng.standard_normal((5, 4)), rng.standard_normal(4)
    y = T @ u
    simplex.exchange(T, 5, 4, 3, 2)
    y[3], u[2] = u[2], y[3]
    assert_allclose(T @ u, y, atol=1e-10)


@pytest.mark.parametrize("name", ["more atoms", "copies", "sums", "black"])
def test_the_compiled_loop_is_the_loop_as_written(name):
    X, Q, weight = PROBLEMS[name]
    X, Q = unit(X), unit(Q)
    cost = np.append(np.ones(len(X)), np.full(X.shape[1], weight))
    for x in Q:
        call = (X, np.ascontiguousarray(X.T), x, cost, -1, min(X.shape), 1000, 1e-10)
        (u, dual, done), plain = simplex.descend(*call), simplex.descend.__wrapped__(*call)
        assert done
        assert plain[2]
        assert_allclose(cost @ np.abs(u), cost @ np.abs(plain[0]), rtol=1e-10)
        assert_allclose(dual[len(X) :] @ x, plain[1][len(X) :] @ x, rtol=1e-10)


def test_a_basis_larger_than_its_room_is_given_up():
    X = unit(GAUSS)
    call = (X, np.ascontiguousarray(X.T), X[0] + X[1] + X[2], np.ones(85), -1)
    assert simplex.descend(*call, 25, 1000, 1e-10)[2]
    assert not simplex.descend(*call, 1, 1000, 1e-10)[2]
    assert not simplex.descend(*call, 25, 1, 1e-10)[2]


# --- the extension ---------------------------------------------------------------------------


@pytest.fixture
def model():
    return em.ClassicalMDS(extension="sparse").fit(GAUSS)


def test_coordinates_are_means_weighted_by_the_code(model):
    Q = rng.standard_normal((20, 25))
    W = abs(Dictionary.of(GAUSS, 1.0, True).code(Q).coefficients.toarray())
    expected = W @ model.embedding_ / W.sum(axis=1, keepdims=True)
    assert_allclose(model.transform(Q), expected, atol=1e-12)


def test_figures_cover_all_rows_of_several_blocks(model, monkeypatch):
    Q = np.vstack([rng.standard_normal((20, 25)), np.zeros((1, 25))])
    with pytest.warns(UserWarning, match="1 of 21 new points"):
        expected = model.transform(Q)
    gap = model.extension_.gap_
    monkeypatch.setattr(embedder, "row_blocks", lambda m, _: row_blocks(m, 1, budget=6))
    with pytest.warns(UserWarning, match=r"1 of 3 new points .*first at row 2\)"):
        assert_array_equal(model.transform(Q), expected)
    assert_allclose(model.extension_.gap_, gap, atol=1e-14)
    assert model.extension_.fell_back_.tolist() == [False] * 20 + [True]


def test_what_no_training_point_explains_falls_back_to_the_nearest():
    train = np.abs(rng.standard_normal((20, 6))) * [1, 1, 1, 1, 0, 0] + 0.1 * np.eye(20, 6)
    train[:, 4:] = 0
    model = em.ClassicalMDS(extension="sparse").fit(train)
    Q = np.vstack([train[3] * 1.5, [0, 0, 0, 0, 1, 2], np.zeros(6)])
    with pytest.warns(UserWarning, match=r"2 of 3 .*first at row 1\).*larger weight.*row of zeros"):
        Y = model.transform(Q)
    nearest = np.linalg.norm(train, axis=1).argmin()
    assert_array_equal(Y[1:], model.embedding_[[nearest, nearest]])
    assert model.extension_.gap_.max() < 1e-12


def test_a_code_that_misses_the_tolerance_is_warned_of(model, monkeypatch):
    monkeypatch.setattr(coding, "descend", lambda *_: (np.ones(85), np.ones(85), True))
    monkeypatch.setattr(coding, "interior", lambda X, x, _: (np.ones(60), x))
    with pytest.warns(UserWarning, match=r"5 of 5 codes have a relative gap above tol=1e-06"):
        model.transform(rng.standard_normal((5, 25)))
    assert model.extension_.gap_.min() > 1e-3


def test_a_singular_basis_is_left_to_the_interior_point_method(model, monkeypatch):
    def singular(*_):
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")

    Q = rng.standard_normal((5, 25))
    expected = model.transform(Q)
    monkeypatch.setattr(coding, "descend", singular)
    assert_allclose(model.transform(Q), expected, atol=1e-5)
    assert model.extension_.gap_.max() <= 1e-6


@pytest.mark.parametrize(("size", "what"), [(2e4, "least absolute"), (1e-3, "tend to 0")])
def test_the_units_of_the_data_are_warned_of(size, what):
    X, Q = size * unit(GAUSS), size * unit(rng.standard_normal((9, 25)))
    way = extensions.Sparse(unit_norm=False)
    with pytest.warns(UserWarning, match=f"norm of .*{what}.*unit_norm=True, or weight=") as caught:
        em.ClassicalMDS(extension=way).fit(X)
    weight = float(str(caught[0].message).split("weight=")[1].split(",")[0])
    same = em.ClassicalMDS(extension=extensions.Sparse(weight, unit_norm=False)).fit
    unitary = em.ClassicalMDS(extension="sparse").fit(X)
    with pytest.warns(UserWarning, match="norm of"):
        assert_allclose(same(X).transform(Q), unitary.transform(Q), atol=1e-9 * np.abs(X).max())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": 0}, "weight=0 must be positive"),
        ({"weight": np.inf}, "weight=inf must be positive and finite"),
        ({"tol": 0}, "tol=0 must be positive"),
        ({"projection": "wavelets"}, "projection='wavelets' is not known; use one of"),
        ({"projection": "pca"}, "n_projected=128 .* 60 training points in 25 dim.*use 1 to 25"),
        ({"projection": "random", "n_projected": 0}, "n_projected=0 is not possible"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        em.ClassicalMDS(extension=extensions.Sparse(**settings)).fit(GAUSS)


def test_no_threads():
    model = em.ClassicalMDS(extension=extensions.Sparse(n_jobs=0)).fit(GAUSS)
    with pytest.raises(ValueError, match="n_jobs=0"):
        model.transform(GAUSS)


def test_precomputed_data_are_refused():
    D = np.abs(GAUSS[:, :1] - GAUSS[:, 0])
    with pytest.raises(ValueError, match="'Sparse' needs vectors.*precomputed distances"):
        em.ClassicalMDS(1, metric="precomputed", extension="sparse").fit(D)


@pytest.mark.parametrize("projection", [None, "random", "pca"])
def test_sparse_matrices_and_projections(projection):
    X, Q = DIGITS[:200], DIGITS[900:920]
    way = extensions.Sparse(projection=projection, n_projected=30)
    model = em.LaplacianEigenmaps(extension=way).fit(X)
    same = em.LaplacianEigenmaps(extension=way).fit(sp.csr_array(X))
    assert_allclose(same.transform(sp.csr_array(Q)), model.transform(Q), atol=1e-8)
    assert model.extension_.dictionary_.atoms.shape == (200, 64 if projection is None else 30)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


# --- the l1 graph ----------------------------------------------------------------------------


def test_the_l1_graph_is_made_of_codes_by_the_others():
    graph = kernels.L1Graph()
    kappa = graph.fit(GAUSS).toarray()
    A = np.zeros((60, 60))
    for i in range(60):
        others = np.arange(60) != i
        codes = Dictionary.of(GAUSS[others], 1.0, True).code(GAUSS[[i]])
        A[i, others] = np.abs(codes.coefficients.toarray()[0])
    assert_allclose(kappa, (A + A.T) / 2, atol=1e-10)
    assert graph.gap_.max() < 1e-10
    new = rng.standard_normal((4, 25))
    codes = Dictionary.of(GAUSS, 1.0, True).code(new)
    rows, _ = graph.rows(np.vstack([new, GAUSS[7]]))
    assert_allclose(rows.toarray(), np.vstack([abs(codes.coefficients).toarray(), kappa[7]]))


def test_a_point_that_no_other_explains_is_joined_to_its_nearest():
    X = np.vstack([np.abs(GAUSS[:30]), np.zeros(25)])
    X[:, 24] = 0
    X[10] = 0
    X[10, 24] = 3
    with pytest.warns(UserWarning, match=r"2 of 31 .* no other \(first at row 10\): .* nearest"):
        model = em.LaplacianEigenmaps(affinity="l1").fit(X)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("own", ["kept", "off-degree", "dropped"])
def test_self_similarity_is_none_from_the_start(own):
    kept = em.LaplacianEigenmaps(affinity="l1").fit(GAUSS)
    other = em.LaplacianEigenmaps(affinity="l1", self_similarity=own).fit(GAUSS)
    assert_allclose(other.embedding_, kept.embedding_, atol=1e-9)
    assert_allclose(other.transform(GAUSS), kept.embedding_, atol=1e-9)


def test_a_joined_point_is_unknown_to_the_l1_graph():
    with pytest.raises(ValueError, match="what a new point adds"):
        em.LaplacianEigenmaps(affinity="l1", extension="refit").fit(GAUSS)
    model = em.LaplacianEigenmaps(affinity="l1").fit(GAUSS[:50])
    model.partial_fit(GAUSS[50:])  # fitted anew
    again = em.LaplacianEigenmaps(affinity="l1").fit(GAUSS)
    graphs = [m.kernel_.affinity_.kappa_.toarray() for m in (model, again)]
    assert_array_equal(*graphs)


def test_codes_of_training_points_that_miss_the_tolerance():
    with pytest.warns(UserWarning, match=r"training points have codes with a relative gap above"):
        kernels.L1Graph(tol=1e-300).fit(GAUSS)


def test_clusters_of_subspaces():
    """Points of two planes in five dimensions, which distances mix: the l1 graph parts them."""
    planes = rng.standard_normal((2, 2, 5))
    X = np.vstack([rng.standard_normal((40, 2)) @ plane for plane in planes])
    model = em.SpectralClustering(2, affinity="l1", random_state=0).fit(X)
    new = np.vstack([rng.standard_normal((20, 2)) @ plane for plane in planes])
    labels = model.predict(new)
    assert len(set(labels[:20])) == len(set(labels[20:])) == 1
    assert labels[0] != labels[20]
