"""The papers' theorems, each tested under its name and equation.

2003: Bengio et al., Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral
clustering. 2004: Bengio et al., Learning eigenfunctions links spectral embedding and kernel PCA.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

import eigenmaps as em
from eigenmaps import kernels
from eigenmaps.reproduce import convergence

X, _ = make_swiss_roll(360, noise=0.02, random_state=1)
X, NEW = X[:300], X[300:]
N = len(X)

METHODS = [
    em.ClassicalMDS(),
    em.ClassicalMDS(metric="cityblock"),
    em.Isomap(n_neighbors=8),
    em.LocallyLinearEmbedding(n_neighbors=8, mu=5.0),
    em.LaplacianEigenmaps(affinity="rbf"),
    em.LaplacianEigenmaps(),
    em.SpectralClustering(3),
    em.KernelPCA(2, kernel="rbf", gamma=0.01),
]
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)


def row_of_k(model, points):
    """``K(x, x_i)`` of a fitted method, and M; LLE's are K_μ/μ."""
    kernel = clone(model.kernel_)
    gram = kernel.fit(X)
    M = gram.toarray()
    if isinstance(kernel, kernels.LLE):
        M = np.eye(N) + M / kernel.mu
    rows = kernel(points)
    K = rows.weights if isinstance(rows.weights, np.ndarray) else rows.weights.toarray()
    if rows.degree is not None:
        K = K * np.sqrt(np.divide.outer(rows.degree, gram.degree))
    return K, M


@each_method
def test_2003_proposition_1_eq_8_to_12_nystrom_functions(method):
    """λ' = ℓ/n, f_k(x) = √n/ℓ_k Σ v_ki K(x,x_i), f_k(x_i) = √n v_ki, y = f/√n, e = √ℓ y."""

    def fitted(scaling):
        return clone(method).set_params(scaling=scaling).fit(X)

    unit, y, e = (fitted(s) for s in ("unit-variance", "eigenvector", "sqrt-eigenvalue"))
    K, M = row_of_k(unit, NEW)
    v = unit.eigenvectors_
    ell = np.einsum("ik,ij,jk->k", v, M, v)
    assert_allclose(M @ v, v * ell, rtol=0, atol=1e-9 * abs(M).sum(axis=1).max())
    f = np.sqrt(N) / ell * (K @ v)
    size = abs(f).max()
    assert_allclose(unit.transform(NEW), f, rtol=0, atol=1e-8 * size)  # eq. 9
    assert_allclose(unit.transform(X), np.sqrt(N) * v, rtol=0, atol=1e-8 * size)  # eq. 10
    assert_allclose(y.transform(NEW), f / np.sqrt(N), rtol=0, atol=1e-8 * size)  # eq. 11
    assert_allclose(y.transform(X), v, rtol=0, atol=1e-8)  # eq. 12
    assert_allclose(e.transform(NEW), np.sqrt(ell / N) * f, rtol=0, atol=1e-8 * size * ell[0])
    empirical = K @ unit.transform(X) / N  # (K_p̂ f)(x) = λ' f(x), eq. 8
    assert_allclose(empirical, ell / N * f, rtol=0, atol=1e-8 * abs(empirical).max())


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_2003_proposition_2_kernel_pca_in_the_feature_space(kernel):
    """``f_k(x) = √(n/ℓ_k) π_k(x)``, π_k the projection on principal axes of explicit features."""

    def features(A):
        if kernel == "linear":
            return A
        i, j = np.triu_indices(3)  # (a·b)² = Σ a_i a_j b_i b_j
        return A[:, i] * A[:, j] * np.where(i == j, 1, np.sqrt(2))

    model = em.KernelPCA(
        2, kernel=kernel, degree=2, gamma=1.0, coef0=0.0, scaling="unit-variance"
    ).fit(X)
    pca = PCA(2).fit(features(X))
    pi = pca.transform(features(NEW))
    ell = pca.explained_variance_ * (N - 1)
    assert_allclose(model.eigenvalues_, ell, rtol=1e-9)
    assert_allclose(abs(model.transform(NEW)), abs(np.sqrt(N / ell) * pi), rtol=1e-7, atol=1e-9)


def test_2003_proposition_3_nystrom_minimises_eq_13():
    model = em.KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    row = model.kernel_(NEW[:1]).weights[0]
    ell, v = model.eigenvalues_, model.eigenvectors_
    # K(x, x_i) ~ sum_k l_k/n f_k(x) f_k(x_i), with f_k(x_i) = sqrt(n) v_ik: least squares in f(x)
    A = ell / N * np.sqrt(N) * v
    best = np.linalg.lstsq(A, row, rcond=None)[0]
    f = model.transform(NEW[:1])[0] / np.sqrt(ell) * np.sqrt(N)
    assert_allclose(f, best, rtol=1e-9)


def test_2003_corollary_1_eq_15_landmark_isomap_is_nystrom():
    landmarks = np.arange(0, N, 3)
    geodesics = em.Isomap(n_neighbors=8).fit(X).kernel_.geodesics_
    between, towards = geodesics[np.ix_(landmarks, landmarks)], geodesics[:, landmarks]
    model = em.ClassicalMDS(2, metric="precomputed").fit(between)
    nystrom = model.transform(towards)
    mean = (between**2).mean(axis=0)
    v, ell = model.eigenvectors_, model.eigenvalues_
    eq_15 = (mean - towards**2) @ v / (2 * np.sqrt(ell))
    assert_allclose(nystrom, eq_15, rtol=0, atol=1e-10 * abs(eq_15).max())


def test_2003_corollary_1_eq_15_for_new_points_of_isomap():
    model = em.Isomap(n_neighbors=8).fit(X)
    D2 = model.kernel_.geodesic_distances(NEW) ** 2
    mean = (model.kernel_.geodesics_**2).mean(axis=0)
    eq_15 = (mean - D2) @ model.eigenvectors_ / (2 * np.sqrt(model.eigenvalues_))
    assert_allclose(model.transform(NEW), eq_15, rtol=0, atol=1e-10 * abs(eq_15).max())


def test_2003_eq_17_the_gram_matrix_of_lle():
    mu = 7.0
    kernel = kernels.LLE(8, mu=mu)
    gram = kernel.fit(X)
    W = kernel.W_.toarray()
    K2 = W + W.T - W.T @ W
    eq_17 = (mu - 1) * np.eye(N) + K2
    assert_allclose(mu * np.eye(N) + gram.toarray(), eq_17, atol=1e-12)
    # Rows of K_mu/mu: K' is w, K'' lives on D x D.
    assert_allclose(kernel(X).weights.toarray(), eq_17 / mu, atol=1e-9)
    new = kernel(NEW).weights.toarray()
    w = kernels.LLE(8)
    w.fit(X)
    assert_allclose(new, (mu - 1) / mu * w(NEW).weights.toarray(), atol=1e-12)


def test_2003_eq_16_is_the_limit_of_eq_17():
    model = em.LocallyLinearEmbedding(n_neighbors=8).fit(X)
    w = model.kernel_(NEW).weights.toarray()
    eq_16 = w @ model.embedding_
    assert_allclose(w.sum(axis=1), 1)
    assert_allclose(model.transform(NEW), eq_16, atol=1e-13)
    barycentric = model.with_extension(em.extensions.Barycentric(8, smooth=False))
    assert_allclose(barycentric.transform(NEW), eq_16, atol=1e-13)
    for mu, error in ((1e3, 1e-2), (1e6, 1e-5), (1e9, 1e-8)):
        shifted = em.LocallyLinearEmbedding(n_neighbors=8, mu=mu).fit(X)
        assert abs(shifted.transform(NEW) - eq_16).max() < error * abs(eq_16).max()


def test_2004_eq_3_4_the_kernel_pca_projection_is_nystrom():
    K, k = rbf_kernel(X, X, 0.02), rbf_kernel(NEW, X, 0.02)
    centred = k - k.mean(axis=1)[:, None] - K.mean(axis=0) + K.mean()
    model = em.KernelPCA(2, kernel="rbf", gamma=0.02).fit(X)
    eq_4 = centred @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    assert_allclose(model.transform(NEW), eq_4, atol=1e-12)


@pytest.mark.parametrize(
    "kernel", [kernels.MDS("cityblock"), kernels.Isomap(8)], ids=["MDS", "Isomap"]
)
def test_2004_proposition_1_holds_for_negative_eigenvalues_as_well(kernel):
    """``(G_n f)(x) = λ f(x)`` and ``f(x_i) = √n v_i`` for every ℓ ≠ 0 (eq. 16–18)."""
    M = kernel.fit(X).toarray()
    K, K_train = kernel(NEW).weights, kernel(X).weights
    ell, v = np.linalg.eigh(M)
    chosen = np.r_[:3, -3:0]
    assert (ell[:3] < -1e-6 * ell[-1]).all()
    ell, v = ell[chosen], v[:, chosen]
    f, f_train = (np.sqrt(N) / ell * (rows @ v) for rows in (K, K_train))
    assert_allclose(f_train, np.sqrt(N) * v, rtol=0, atol=1e-7)
    assert_allclose(K @ f_train / N, ell / N * f, rtol=0, atol=1e-9 * abs(ell).max() * abs(f).max())


@pytest.mark.parametrize("name", convergence.OPERATORS)
def test_2004_proposition_2_nystrom_functions_tend_to_eigenfunctions(name):
    """Their distance to closed forms falls as n^-½, on new points, and so does that of ℓ/n."""
    operator = convergence.OPERATORS[name]
    sizes, seeds = np.array([64, 256, 1024]), range(12)
    found = [[convergence.errors(operator, n, seed) for seed in seeds] for n in sizes]
    for part in ("functions", "values"):
        error = [np.sqrt(np.mean(np.square([e[part] for e in row]), axis=0)) for row in found]
        for k, curve in enumerate(np.transpose(error)):
            assert -0.75 < convergence.rate(sizes, curve) < -0.3, f"{part} {k}"
            assert curve[-1] < 0.6 * curve[0]


def test_2004_proposition_2_closed_forms_are_eigenfunctions():
    """The closed forms themselves: ``∫ K f p = λ f`` and ``∫ f_j f_k p = δ_jk`` by quadrature."""
    for name, operator in convergence.OPERATORS.items():
        if name.startswith("Gaussian"):
            x, w = np.polynomial.hermite_e.hermegauss(80)
            w = w / w.sum()
        else:
            end = 2 * np.pi if "circle" in name else np.pi
            x, w = np.polynomial.legendre.leggauss(80)
            x, w = (x + 1) * end / 2, w / 2
        x = x[:, None]
        kappa = (
            operator.kernel.function
            if name.startswith("Gaussian")
            else (operator.kernel.affinity.function)
        )
        f = operator.functions(x)
        K = kappa(x, x)
        assert_allclose((f.T * w) @ f, np.eye(len(operator.values)), atol=1e-10)
        assert_allclose((K * w) @ f, f * operator.values, atol=1e-10)
        known = np.square(operator.values).sum() + (not name.startswith("Gaussian"))  # constant
        assert_allclose(w @ np.square(K) @ w - known, operator.left, rtol=1e-8)


def test_2004_proposition_3_sequential_minimisation_of_eq_24():
    """Given m−1 functions, the best ``λ' f'(x) f'(y)`` is the m-th pair, and takes λ_m² away."""
    model = em.KernelPCA(4, kernel="rbf", gamma=0.02).fit(X)
    M, lam = row_of_k(model, X)[1], model.eigenvalues_ / N
    f = np.sqrt(N) * model.eigenvectors_
    rng = np.random.default_rng(0)
    left = M.copy()
    for m in range(4):
        J = np.square(left).mean()
        for _ in range(3):  # the minimum over λ', f' from random starts, one coordinate at a time
            g = rng.standard_normal(N)
            for _ in range(400):
                g /= np.sqrt(np.mean(g**2))
                g = left @ g / N
            size = np.sqrt(np.mean(g**2))
            g /= size
            best = np.mean(g * (left @ g)) / N  # eq. 25
            J_m = np.square(left - best * np.outer(g, g)).mean()
            assert_allclose(J_m, J - lam[m] ** 2, rtol=1e-6)
            assert_allclose(best, lam[m], rtol=1e-6)
            assert_allclose(abs(np.mean(g * f[:, m])), 1, rtol=1e-5)
        for _ in range(50):  # and no other function does better
            h = f[:, m] + rng.standard_normal(N) * rng.choice([1e-3, 0.1, 1])
            h /= np.sqrt(np.mean(h**2))
            value = np.mean(h * (left @ h)) / N
            assert np.square(left - value * np.outer(h, h)).mean() >= J - lam[m] ** 2
        left -= lam[m] * np.outer(f[:, m], f[:, m])
        fewer = em.KernelPCA(m + 1, kernel="rbf", gamma=0.02).fit(X)
        assert_allclose(fewer.loss(), np.square(left).mean(), rtol=1e-9)


@pytest.mark.parametrize("name", convergence.OPERATORS)
def test_2004_proposition_3_the_average_loss_tends_to_its_expectation(name):
    """Over training points and over new ones, to ``Σ_{k>m} λ_k²``."""
    operator = convergence.OPERATORS[name]
    gaps = []
    for n in (32, 256, 1024):
        losses = np.array([convergence.errors(operator, n, seed)["loss"] for seed in range(12)])
        gaps.append(abs(losses - operator.left).mean(axis=0) / operator.left)
        error = losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
    assert (abs(losses.mean(axis=0) - operator.left) < 4 * error + 0.03 * operator.left).all()
    assert (gaps[-1] < 0.6 * gaps[0]).all()
