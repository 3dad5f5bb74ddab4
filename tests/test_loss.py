"""The loss, against the matrices written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV

import eigenmaps as em
from eigenmaps import kernels

X, _ = make_swiss_roll(300, noise=0.02, random_state=2)
X, NEW = X[:220], X[220:]
N, M = len(X), len(NEW)

METHODS = {
    "mds": em.ClassicalMDS(2),
    "mds cityblock": em.ClassicalMDS(3, metric="cityblock"),
    "isomap": em.Isomap(n_neighbors=8),
    "isomap radius": em.Isomap(n_neighbors=None, radius=6.0),
    "lle": em.LocallyLinearEmbedding(n_neighbors=8),
    "lle mu": em.LocallyLinearEmbedding(n_neighbors=8, mu=4.0),
    "laplacian graph": em.LaplacianEigenmaps(),
    "laplacian rbf": em.LaplacianEigenmaps(affinity="rbf", gamma=0.05),
    "laplacian self-tuning": em.LaplacianEigenmaps(affinity="self_tuning"),
    "laplacian l1": em.LaplacianEigenmaps(affinity="l1"),
    "off-degree": em.LaplacianEigenmaps(affinity="rbf", self_similarity="off-degree"),
    "dropped": em.LaplacianEigenmaps(affinity="rbf", self_similarity="dropped"),
    "clustering": em.SpectralClustering(3, affinity="rbf"),
    "kernel pca": em.KernelPCA(3, kernel="rbf", gamma=0.02),
    "kernel pca poly": em.KernelPCA(3, kernel="poly", gamma=0.02),
}


def written_out(model):
    """M of a fitted method (LLE's is K_μ/μ), and the m leading pairs, trivial ones among them."""
    kernel = clone(model.kernel_)
    gram = kernel.fit(X)
    values, vectors = np.linalg.eigh(gram.toarray())
    m = model.embedding_.shape[1] + gram.drop
    G = (
        np.eye(N) + gram.toarray() / kernel.mu
        if isinstance(kernel, kernels.LLE)
        else gram.toarray()
    )
    return (
        np.asarray(G.toarray() if hasattr(G, "toarray") else G),
        kernel.ell(values[-m:]),
        vectors[:, -m:],
    )


@pytest.mark.parametrize("name", METHODS)
def test_training_error_is_what_the_eigenpairs_leave_of_m(name):
    model = METHODS[name].fit(X)
    G, ell, v = written_out(model)
    best = (v * ell) @ v.T
    expected = np.square(G - best).mean()
    assert_allclose(model.loss(), expected, rtol=1e-8, atol=1e-14 * np.square(G).mean())
    relative = expected / np.square(G).mean()
    assert_allclose(model.loss(normalized=True), relative, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"laplacian l1"}))
@pytest.mark.parametrize("scaling", ["auto", "unit-variance", "diffusion"])
def test_training_points_given_as_new_ones_have_the_training_error(name, scaling):
    model = clone(METHODS[name]).set_params(scaling=scaling).fit(X)
    size = model.loss() / model.loss(normalized=True)
    assert_allclose(model.loss(X), model.loss(), rtol=1e-6, atol=1e-12 * size)
    assert_allclose(model.score(X), -model.loss(normalized=True), rtol=1e-6, atol=1e-12)


def test_generalisation_error_of_centred_kernels_written_out():
    d2, new, own = (
        euclidean_distances(A, B, squared=True) for A, B in ((X, X), (NEW, X), (NEW, NEW))
    )

    def centred(k, rows, columns):
        return k - rows.mean(axis=1)[:, None] - columns.mean(axis=1) + base.mean()

    for model, f in (
        (em.ClassicalMDS(2).fit(X), lambda d: -0.5 * d),
        (em.KernelPCA(3, kernel="rbf", gamma=0.02).fit(X), lambda d: np.exp(-0.02 * d)),
    ):
        base = f(d2)
        K = centred(f(own), f(new), f(new))
        Z = centred(f(new), f(new), base) @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)
        assert_allclose(model.loss(NEW), np.square(K - Z @ Z.T).mean(), rtol=1e-8)


def test_generalisation_error_of_a_laplacian_written_out():
    gamma = 0.05
    model = em.LaplacianEigenmaps(3, affinity="rbf", gamma=gamma).fit(X)
    S, k = rbf_kernel(X, X, gamma).sum(axis=1), rbf_kernel(NEW, X, gamma)
    s = k.sum(axis=1)
    K = rbf_kernel(NEW, NEW, gamma) / np.sqrt(np.outer(s, s))
    v = np.column_stack([np.sqrt(S / S.sum()), model.eigenvectors_])
    ell = np.concatenate([[1.0], model.eigenvalues_])
    Z = k / np.sqrt(np.outer(s, S)) @ v / ell
    assert_allclose(model.loss(NEW), np.square(K - Z * ell @ Z.T).mean(), rtol=1e-8)


def test_isomaps_kernel_between_two_new_points():
    """𝒟(x, x') = min(‖x − x'‖ if neighbours, min_jl ‖x − x_j‖ + 𝒟(x_j, x_l) + ‖x_l − x'‖)."""
    k = 6
    kernel = kernels.Isomap(k)
    kernel.fit(X)
    paths, d, own = kernel.geodesics_, euclidean_distances(NEW, X), euclidean_distances(NEW)
    reach = np.sort(euclidean_distances(X), axis=1)[:, k]
    kth = np.sort(d, axis=1)[:, k - 1]
    near = (d <= kth[:, None]) | (d < reach)
    found = kernel.geodesics_between(NEW)
    direct = 0
    for a in range(12):
        for b in range(12):
            if a == b:
                assert found[a, a] == 0
                continue
            ways = d[a, near[a]][:, None] + paths[np.ix_(near[a], near[b])] + d[b, near[b]]
            expected = ways.min()
            if own[a, b] <= max(kth[a], kth[b]):
                expected = min(expected, own[a, b])
                direct += 1
            assert_allclose(found[a, b], expected, rtol=1e-10)
    assert direct, "none of the pairs are neighbours: the test says little"


def test_lle_between_new_points_says_so():
    model = METHODS["lle"].fit(X)
    assert model.kernel_.between(NEW).max() == 0
    assert model.loss(NEW) > 0
    with pytest.raises(ValueError, match="LLE"):
        model.score(NEW)
    mixed = np.vstack([NEW[:5], X[:5]])
    K = model.kernel_.between(mixed)
    assert_allclose(K[:5, 5:], model.kernel_(NEW[:5]).weights.toarray()[:, :5])
    assert_allclose(K[5:, 5:], np.eye(5))


def test_a_sample_of_pairs_estimates_all_of_them():
    model = em.KernelPCA(2, kernel="rbf", gamma=0.02).fit(X)
    exact = model.loss(NEW)
    found = [
        clone(model).set_params(random_state=seed).fit(X).loss(NEW, n_pairs=400)
        for seed in range(60)
    ]
    assert np.std(found) > 0
    assert abs(np.mean(found) - exact) < 3 * np.std(found) / np.sqrt(len(found))
    assert model.loss(NEW, n_pairs=400) == model.loss(NEW, n_pairs=400)
    assert model.loss(NEW, n_pairs=M**2) == exact


def test_no_kernel_between_new_points():
    D = euclidean_distances(X)
    model = em.ClassicalMDS(metric="precomputed").fit(D)
    assert_allclose(model.loss(), em.ClassicalMDS().fit(X).loss())
    assert not hasattr(model, "score")
    with pytest.raises(ValueError, match="between two"):
        model.loss(euclidean_distances(NEW, X))
    assert not hasattr(em.LaplacianEigenmaps(affinity="l1"), "score")
    assert hasattr(em.LaplacianEigenmaps(affinity="rbf"), "score")


def bumps(A, B):
    """A similarity that ends."""
    return np.maximum(1 - (euclidean_distances(A, B) / 12) ** 2, 0)


def test_what_has_no_support_is_left_out():
    model = em.LaplacianEigenmaps(affinity=bumps).fit(X)
    with pytest.warns(UserWarning, match="similar to no training point"):
        assert np.isnan(model.novelty(np.full((1, 3), 1e9))).all()
    far = 1e9 + NEW
    with pytest.warns(UserWarning, match=f"{M} of {2 * M} new points") as said:
        mixed = model.loss(np.vstack([NEW, far]))
    assert len(said) == 1
    assert_allclose(mixed, model.loss(NEW), rtol=1e-12)
    with pytest.raises(ValueError, match="no loss"):
        model.loss(far)


def test_one_outlier_does_not_decide():
    """K(x,x) = 1/S(x) of a point next to nothing is beyond all bounds."""
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=0.05).fit(X)
    for far in (60.0, 200.0, 1e4):
        with pytest.warns(UserWarning, match="next to none"):
            score = model.score(np.vstack([NEW, np.full((1, 3), far)]))
        assert_allclose(score, model.score(NEW), rtol=1e-12)


def test_the_size_of_m_is_its_own():
    """Not that of rows: given similarities keep what "dropped" takes off, copies share theirs."""
    K = rbf_kernel(X, X, 0.05)
    for own in ("kept", "off-degree", "dropped"):
        given, of_data = (
            em.Eigenmap(kernels.Laplacian(affinity, own), 3).fit(A)
            for affinity, A in ((kernels.PrecomputedAffinity(), K), (kernels.Gaussian(0.05), X))
        )
        assert_allclose(given.loss(), of_data.loss(), rtol=1e-9)
    copies = np.vstack([X[:60], X[:20]])
    model = em.LocallyLinearEmbedding(n_neighbors=6).fit(copies)
    assert_allclose(model.loss(normalized=True), (80 - 3) / 80)


@pytest.mark.parametrize("bad", [-5, 0, 3, 100.0, None, "a", np.nan])
def test_a_number_of_pairs_that_makes_no_sense(bad):
    model = em.KernelPCA(2, kernel="rbf", gamma=0.02).fit(X)
    with pytest.raises(ValueError, match="n_pairs"):
        model.loss(NEW, n_pairs=bad)


@pytest.mark.parametrize("name", METHODS)
def test_novelty_is_eq_13_written_out(name):
    model = METHODS[name].fit(X)
    rows = model.kernel_(NEW)
    K = np.asarray(rows.weights if isinstance(rows.weights, np.ndarray) else rows.weights.toarray())
    degree = clone(model.kernel_).fit(X).degree
    if degree is not None:
        K = K * np.sqrt(np.divide.outer(rows.degree, degree))
    _, ell, v = written_out(model)
    f = np.sqrt(N) / ell * (K @ v)  # Nyström
    left = K - (f * ell / N) @ (np.sqrt(N) * v).T
    expected = np.square(left).sum(axis=1) / np.square(K).sum(axis=1)
    assert_allclose(model.novelty(NEW), expected, rtol=1e-6, atol=1e-10)


def test_novelty_tells_odd_points_and_keeps_the_dtype():
    digits = load_digits()
    usual, odd = digits.data[digits.target < 8], digits.data[digits.target >= 8]
    for model in (em.KernelPCA(40, kernel="rbf", gamma=1e-3), em.KernelPCA(30)):
        model.fit(usual[:800])
        ranks = np.concatenate([model.novelty(usual[800:]), model.novelty(odd)]).argsort().argsort()
        n = len(usual) - 800
        auc = (ranks[n:].mean() - ranks[:n].mean()) / len(ranks) + 0.5
        assert auc > 0.7
    assert model.novelty(odd.astype(np.float32)).dtype == np.float32


def test_other_ways_to_new_points_have_their_own_loss():
    """f is what the extension says; far from it, a mean of neighbours explains K less."""
    model = em.KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    losses = {e: model.with_extension(e).loss(NEW) for e in ("nystrom", "refit", "heat", "linear")}
    assert len(set(losses.values())) == 4
    assert losses["nystrom"] < losses["linear"]
    Z = model.with_extension("linear").transform(NEW)
    K = model.kernel_.between(NEW)
    assert_allclose(losses["linear"], np.square(K - Z @ Z.T).mean(), rtol=1e-9)


def test_grid_search_over_components_and_extensions():
    search = GridSearchCV(
        em.Eigenmap(kernels.KernelPCA("rbf", gamma=0.02)),
        {"n_components": [1, 2, 4], "extension": ["nystrom", "heat", em.extensions.Refit()]},
        cv=3,
    ).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["n_components"] == 4


def test_of_a_positive_definite_kernel_the_loss_never_rises_with_components():
    """What is left of K on new points is a Schur complement, which shrinks with each component:
    the loss alone never asks for fewer."""
    previous = np.inf
    for m in (1, 2, 5, 10, 20, 50):
        now = em.KernelPCA(m, kernel="rbf", gamma=0.02).fit(X).loss(NEW, normalized=True)
        assert now < previous
        previous = now


def test_a_model_that_took_points_in_has_the_loss_of_a_fit():
    for method in (
        em.KernelPCA(3, kernel="rbf", gamma=0.02),
        em.LaplacianEigenmaps(affinity="rbf", gamma=0.05),
        em.LaplacianEigenmaps(affinity="rbf", gamma=0.05, self_similarity="off-degree"),
        em.LocallyLinearEmbedding(n_neighbors=8, mu=4.0),
    ):
        grown = clone(method).fit(X[:180]).partial_fit(X[180:])
        fitted = clone(method).fit(X)
        assert_allclose(grown.loss(), fitted.loss(), rtol=1e-3)
        assert_allclose(grown.loss(NEW), fitted.loss(NEW), rtol=1e-2)
