"""The refit extension against true refits with the new point among the training points."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag, eigh
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.metrics.pairwise import rbf_kernel

import eigenmaps as em
from eigenmaps import extensions, kernels, metrics

ROLL, _ = make_swiss_roll(260, noise=0.05, random_state=0)
DIGITS = load_digits().data[:260]
DATA = {"roll": (ROLL, 0.05), "digits": (DIGITS, 1e-3)}


def methods(gamma):
    rbf = {"affinity": "rbf", "gamma": gamma}
    return {
        "mds": em.ClassicalMDS(),
        "kernel pca": em.KernelPCA(2, kernel="rbf", gamma=gamma),
        "kernel pca poly": em.KernelPCA(2, kernel="poly", gamma=gamma / 100, degree=2),
        "laplacian": em.LaplacianEigenmaps(**rbf),
        "diffusion": em.LaplacianEigenmaps(scaling="diffusion", diffusion_time=2, **rbf),
        "laplacian v": em.LaplacianEigenmaps(scaling="eigenvector", **rbf),
        "off-degree": em.LaplacianEigenmaps(self_similarity="off-degree", **rbf),
        "dropped": em.LaplacianEigenmaps(self_similarity="dropped", **rbf),
        "clustering": em.SpectralClustering(3, random_state=0, **rbf),
        "callable": em.LaplacianEigenmaps(affinity=lambda A, B: rbf_kernel(A, B, gamma)),
    }


def errors(model, X, Q, *ways):
    """Distances to true refits with each point."""
    true = metrics.refitted(model, X, Q)
    found = (model.with_extension(way).transform(Q) for way in ways)
    return [metrics.relative_difference(Y, true) for Y in found]


@pytest.mark.parametrize("name", methods(1.0))
@pytest.mark.parametrize("data", DATA)
def test_nearer_to_a_true_refit_than_nystrom(data, name):
    points, gamma = DATA[data]
    X, Q = points[:240], points[240:]
    model = methods(gamma)[name].fit(X)
    nystrom, refit = errors(model, X, Q, "nystrom", "refit")
    assert refit <= (0.05 if name in ("mds", "kernel pca") else 0.2) * nystrom


def test_more_pairs_come_closer():
    X, Q = ROLL[:240], ROLL[240:]
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=0.3).fit(X)
    few, some, many = errors(model, X, Q, *(extensions.Refit(n) for n in (0, 10, 60)))
    assert many < some < few


@pytest.mark.parametrize("affinity", [kernels.NeighborGraph(12), kernels.Gaussian(0.05)])
@pytest.mark.parametrize("own", ["kept", "off-degree", "dropped"])
def test_it_is_rayleigh_ritz_on_the_span_it_claims(affinity, own):
    """The small problem, from κ and S of a fit with x, and a basis written out."""
    X, x = ROLL[:240], ROLL[240:241]
    model = em.LaplacianEigenmaps(affinity=affinity, self_similarity=own).fit(X)
    found = model.with_extension(extensions.Refit(10)).transform(x)[0]

    def kappa_of(points):
        gram = model.kernel_.fixed().fit(points)
        return gram.degree, np.sqrt(np.outer(gram.degree, gram.degree)) * gram.toarray()

    S, kappa = kappa_of(X)
    V = np.linalg.eigh(kappa / np.sqrt(np.outer(S, S)))[1][:, ::-1][:, :13]
    Phi = V / np.sqrt(S)[:, None]
    joined_S, joined = kappa_of(np.vstack([X, x]))
    row = joined[-1, :-1]
    if isinstance(affinity, kernels.Gaussian):
        part = (row / S - Phi @ (Phi.T @ row))[:, None]
        part /= np.sqrt(S @ part**2)
    else:
        touched = (joined[:-1, :-1] != kappa).any(axis=1) & (joined_S[:-1] != S) | (row > 0)
        part = np.eye(240)[:, touched]
        assert 12 <= touched.sum() < 60
    basis = block_diag(np.hstack([Phi, part]), 1)
    A, B = basis.T @ joined @ basis, basis.T @ (joined_S[:, None] * basis)
    if isinstance(affinity, kernels.Gaussian):  # the tail is left out, and the frame is Φ's
        A[13, 13] = basis[:, 13] = 0
    U = basis @ eigh(A, B)[1][:, ::-1][:, 1:3]
    expected = metrics.align(U, model.embedding_)[-1]
    assert_allclose(found, expected, rtol=0, atol=1e-8 * abs(expected).max())


def graphs():
    return {
        "graph": em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(10)),
        "graph, heat": em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(10, "heat")),
        "graph, hard": em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(10, edge="hard")),
        "graph clustering": em.SpectralClustering(3, n_neighbors=10, random_state=0),
        "self-tuning": em.LaplacianEigenmaps(affinity=kernels.SelfTuning(10)),
    }


def fixed(model):
    """The same with the bandwidth that the data chose."""
    kernel, m = model.kernel_.fixed(), model.embedding_.shape[1]
    return em.Eigenmap(kernel, m, scaling=model.scaling).fit(model._model.X)


@pytest.mark.parametrize("name", graphs())
@pytest.mark.parametrize("data", DATA)
def test_where_a_point_moves_edges_around_it(data, name):
    points, _ = DATA[data]
    X, Q = points[:240], points[240:]
    model = fixed(graphs()[name].fit(X))
    nystrom, refit, refined = errors(model, X, Q, "nystrom", "refit", extensions.Refit(refine=3))
    assert refit <= 0.3 * nystrom
    assert refined <= 0.1 * nystrom
    assert refined <= refit


@pytest.mark.parametrize("name", [*methods(1), *graphs(), "isomap"])
def test_steps_converge_to_the_joined_problem_within_the_bound(name):
    """Against a dense solve: the sine of the angle to its leading vectors, and the coordinates.

    24 points at three numbers of steps for each of 16 methods: 1152 pairs.
    """
    points, gamma = DATA["roll"]
    X, Q = points[:120], points[120:144]
    known = {**methods(gamma), **graphs(), "isomap": em.Isomap(n_neighbors=8)}
    model = known[name].fit(X)
    sines = []
    for refine in (0, 1, 4):
        way = extensions.Refit(8, refine=refine, bounded=True)
        extended = model.with_extension(way)
        extended.transform(Q)
        fitted, bounds = extended.extension_, extended.extension_.bound_
        for x, bound in zip(Q, bounds, strict=True):
            joined = fitted.joined(x[None])
            M = joined.dot(np.eye(121)) / joined.root / joined.root.T
            wanted = slice(fitted.drop_, fitted.drop_ + model.embedding_.shape[1])
            V = np.linalg.eigh((M + M.T) / 2)[1][:, ::-1][:, wanted]
            Z = (fitted.found(joined).U * joined.root)[:, wanted]
            sines.append(np.linalg.norm(Z - V @ (V.T @ Z), 2))
            assert sines[-1] <= bound
        assert len(bounds) == 24
    first, second, last = np.reshape(sines, (3, 24)).max(axis=1)
    assert last < max(0.2 * second, 1e-10)
    assert second < max(0.9 * first, 1e-10)
    if name != "self-tuning":  # whose every change reaches all points: the bound is a norm there
        assert np.median(bounds) < 0.1  # of four steps: it says something


def test_the_bound_is_one_where_nothing_is_asked():
    model = em.ClassicalMDS(extension="refit").fit(ROLL[:100])
    model.transform(ROLL[100:107])
    assert_allclose(model.extension_.bound_, np.ones(7), rtol=0)


@pytest.mark.parametrize(
    "name", ["mds", "kernel pca", "laplacian", "laplacian v", "graph", "self-tuning", "isomap"]
)
def test_rows_that_join_together(name):
    """Their mutual similarities count: nearer to a fit with all of them than one by one."""
    X, Q = ROLL[:240], ROLL[240:]
    known = {**methods(0.05), **graphs(), "isomap": em.Isomap(n_neighbors=10)}
    model = fixed(known[name].fit(X))
    joined = clone(model).fit(ROLL)
    true = metrics.align(joined.embedding_, model.embedding_)[240:]
    alone, together = (
        metrics.relative_difference(model.with_extension(way).transform(Q), true)
        for way in ("refit", extensions.Refit(refine=2, jointly=True))
    )
    # Isomap's refit does not follow the edges that end.
    assert together < (1 if name == "isomap" else 0.1) * alone


@pytest.mark.parametrize("name", ["mds", "isomap", "graph", "self-tuning"])
def test_distances_given_do_as_well(name):
    given = {
        "mds": kernels.MDS("precomputed"),
        "isomap": kernels.Isomap(8, metric="precomputed"),
        "graph": kernels.Laplacian(kernels.NeighborGraph(14, metric="precomputed")),
        "self-tuning": kernels.Laplacian(kernels.SelfTuning(10, metric="precomputed")),
    }[name]
    own = given.get_params()
    metric = next(key for key, value in own.items() if value == "precomputed")
    D = np.sqrt(((ROLL[:, None] - ROLL[None]) ** 2).sum(axis=2))
    way = extensions.Refit(refine=1, bounded=True)
    model = em.Eigenmap(given, extension=way).fit(D[:240, :240])
    plain = em.Eigenmap(clone(given).set_params(**{metric: "euclidean"}), extension=way)
    plain.fit(ROLL[:240])
    Y = plain.transform(ROLL[240:])
    assert_allclose(model.transform(D[240:, :240]), Y, rtol=0, atol=1e-7 * abs(Y).max())
    assert_allclose(model.extension_.bound_, plain.extension_.bound_, atol=1e-6)


def test_numbers_that_mean_nothing():
    with pytest.raises(ValueError, match="refine=-1 of Refit must be a whole number, at least 0"):
        em.ClassicalMDS(extension=extensions.Refit(refine=-1)).fit(ROLL)
    with pytest.raises(ValueError, match="n_pairs=2.5 of Refit"):
        em.ClassicalMDS(extension=extensions.Refit(2.5)).fit(ROLL)


def test_joint_answers_need_data():
    D = np.sqrt(((ROLL[:60, None] - ROLL[None, :60]) ** 2).sum(axis=2))
    way = extensions.Refit(jointly=True)
    with pytest.raises(ValueError, match="jointly=True needs the data itself: .* distances"):
        em.ClassicalMDS(metric="precomputed", extension=way).fit(D)


def test_a_point_far_from_all_keeps_nystroms_coordinates():
    X = ROLL[:240]
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=0.05).fit(X)
    far = X[:3] + 500
    refit = model.with_extension("refit").transform(far)
    np.testing.assert_array_equal(refit, model.transform(far))


def test_similarities_without_the_new_points_own_are_refused():
    W = rbf_kernel(ROLL, gamma=0.05)
    with pytest.raises(ValueError, match="'Refit' needs vectors or distances.*similarities"):
        em.LaplacianEigenmaps(affinity="precomputed", extension="refit").fit(W)
    with pytest.raises(ValueError, match="'Refit' needs vectors or distances.*products"):
        em.KernelPCA(2, kernel="precomputed", extension="refit").fit(W)


def test_a_kernel_that_does_not_say_what_a_point_adds_is_refused():
    class Silent(kernels.MDS):
        def border(self, X):
            return None

    with pytest.raises(ValueError, match="asks Silent what a new point adds to its matrix"):
        em.Eigenmap(Silent(), extension="refit").fit(ROLL)


@pytest.mark.parametrize(
    "way", [extensions.Refit(60, bounded=True), extensions.Refit(60, jointly=True)]
)
@pytest.mark.parametrize("name", ["mds", "laplacian", "graph"])
def test_more_vectors_than_points(name, way):
    """Where the basis outnumbers the points the answer is exact, and no direction is lost."""
    X, Q = ROLL[:30], ROLL[30:34]
    model = fixed({**methods(0.05), **graphs()}[name].fit(X))
    joined = [clone(model).fit(np.vstack([X, x])) for x in Q]
    true = np.array([metrics.align(j.embedding_, model.embedding_)[-1] for j in joined])
    if way.jointly:
        joined = clone(model).fit(np.vstack([X, Q]))
        true = metrics.align(joined.embedding_, model.embedding_)[30:]
    found = model.with_extension(way).transform(Q)
    assert_allclose(found, true, rtol=0, atol=1e-6 * abs(true).max())


def cluster():
    """A roll and a group beside it, most of which reaches the roll only through others."""
    noise = np.random.default_rng(0).standard_normal((20, 3))
    return ROLL[:150], ROLL[150] + [4, 0, 0] + 0.8 * noise


def test_a_group_that_joins_through_some_of_its_own():
    X, Q = cluster()
    model = em.LaplacianEigenmaps(n_neighbors=10).fit(X)
    assert (model.kernel_.join(Q).row.sum(axis=1) == 0).sum() > 5
    joined = em.LaplacianEigenmaps(n_neighbors=10).fit(np.vstack([X, Q]))
    true = metrics.align(joined.embedding_, model.embedding_)[150:]
    way = extensions.Refit(jointly=True, refine=3)
    found = model.with_extension(way).transform(Q)
    assert_allclose(found, true, rtol=0, atol=1e-4 * abs(true).max())
    model.partial_fit(Q)
    assert np.sin(metrics.subspace_angle(model.embedding_, joined.embedding_)) < 0.3


def test_unit_variance_is_that_of_all_points():
    X, Q = ROLL[:100], ROLL[100:105]
    model = em.KernelPCA(2, kernel="rbf", gamma=0.05, scaling="unit-variance").fit(X)
    near, exact = errors(model, X, Q, "refit", extensions.Refit(refine=3))
    assert near < 0.02
    assert exact < 1e-5


@pytest.mark.parametrize("own", ["kept", "off-degree", "dropped"])
def test_one_far_row_does_not_harm_the_others(own):
    X = np.random.default_rng(0).standard_normal((80, 3))
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=0.5, self_similarity=own).fit(X)
    refit = model.with_extension("refit")
    near, far = np.full((1, 3), 0.1), np.array([[12.0, 0, 0]])
    both = refit.transform(np.vstack([near, far]))
    assert_allclose(both[:1], refit.transform(near), rtol=1e-10)
    assert_allclose(both[1:], model.transform(far), rtol=1e-10)
    with pytest.raises(ValueError, match="1 of 1 new points are similar to no training point"):
        model.partial_fit(far)


def test_a_function_with_sparse_similarities():
    def near(A, B):
        return csr_array(np.maximum(rbf_kernel(A, B, gamma=0.05) - 0.01, 0))

    def dense(A, B):
        return near(A, B).toarray()

    X, Q = ROLL[:200], ROLL[200:220]
    way = extensions.Refit(refine=4)
    sparse, full = (
        em.LaplacianEigenmaps(affinity=f, extension=e).fit(X).transform(Q)
        for f, e in ((near, "refit"), (dense, way))
    )
    assert metrics.relative_difference(sparse, full) < 0.01


def test_rounding_errors_do_not_choose_the_space():
    """A copy of a grown model finds its graph again, and answers alike."""
    model = em.LaplacianEigenmaps(n_neighbors=10, extension="refit").fit(ROLL[:120])
    model.partial_fit(ROLL[160:180]).partial_fit(ROLL[180:200])
    again = pickle.loads(pickle.dumps(model))
    expected = model.transform(ROLL[120:160])
    assert_allclose(again.transform(ROLL[120:160]), expected, atol=1e-10 * abs(expected).max())
