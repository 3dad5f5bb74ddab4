"""Data whose eigenfunctions are known in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import euclidean_distances

import eigenmaps as em
from eigenmaps import kernels

rng = np.random.default_rng(0)


def correlation(a, b):
    return abs(np.corrcoef(a, b)[0, 1])


@pytest.mark.parametrize(
    "affinity",
    [kernels.NeighborGraph(12), kernels.Gaussian(4000.0), kernels.NeighborGraph(12, "heat")],
)
def test_on_a_strip_laplacian_eigenfunctions_are_cosines(affinity):
    # Neumann Laplacian on [0, 1] x [0, 0.005]: cos(pi k x)
    t = (np.arange(400) + 0.5) / 400
    X = np.column_stack([t, 0.005 * rng.random(400)])
    new = np.column_stack([rng.random(100), np.full(100, 0.0025)])
    model = em.LaplacianEigenmaps(4, affinity=affinity).fit(X)
    Y, Z = model.embedding_, model.transform(new)
    for k in range(4):
        assert correlation(Y[:, k], np.cos(np.pi * (k + 1) * t)) > 0.999
        inside = (new[:, 0] > 0.03) & (new[:, 0] < 0.97)
        truth = np.cos(np.pi * (k + 1) * new[inside, 0])
        assert correlation(Z[inside, k], truth) > 0.999


def test_on_a_circle_they_are_sines_in_pairs_of_equal_eigenvalues():
    n = 240
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    model = em.LaplacianEigenmaps(4, affinity="rbf", gamma=20.0).fit(X)
    for k in (1, 2):
        pair = model.embedding_[:, 2 * k - 2 : 2 * k]
        truth = np.column_stack([np.cos(k * angle), np.sin(k * angle)])
        assert subspace_angles(pair, truth).max() < 1e-8
    assert model.solve_.multiple == [(0, 1), (2, 3)]
    # Eigenvalues of a circulant matrix are the Fourier transform of its first row.
    row = np.exp(-20.0 * ((X - X[0]) ** 2).sum(axis=1))
    fourier = np.fft.fft(row / row.sum()).real
    assert_allclose(model.eigenvalues_, np.sort(fourier)[::-1][1:5], rtol=1e-10)
    # Between the training points the eigenfunctions are the same sines, shrunk alike.
    between = angle + np.pi / n
    Q = np.column_stack([np.cos(between), np.sin(between)])
    truth = np.column_stack([np.cos(between), np.sin(between)])
    fit = np.linalg.lstsq(truth, model.transform(Q)[:, :2], rcond=None)[0]
    assert_allclose(truth @ fit, model.transform(Q)[:, :2], atol=1e-10)


@pytest.mark.filterwarnings("ignore:Components")
def test_an_embedding_that_cuts_a_pair_is_warned_of():
    angle = 2 * np.pi * np.arange(60) / 60
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(UserWarning, match=r"Components 2 to 2 and the first one left out have the"):
        em.LaplacianEigenmaps(3, affinity="rbf", gamma=20.0).fit(X)


def test_mds_of_euclidean_points_is_pca_and_keeps_every_distance():
    X, new = rng.standard_normal((80, 4)), rng.standard_normal((30, 4))
    model = em.ClassicalMDS(4).fit(X)
    Y, Z = model.embedding_, model.transform(new)
    assert_allclose(euclidean_distances(Y), euclidean_distances(X), atol=1e-9)
    assert_allclose(euclidean_distances(Z, Y), euclidean_distances(new, X), atol=1e-9)
    pca = PCA(4).fit(X)
    assert_allclose(model.eigenvalues_ / 79, pca.explained_variance_, rtol=1e-10)
    assert_allclose(abs(Z), abs(pca.transform(new)), atol=1e-9)


def test_isomap_of_a_flat_grid_on_a_roll_is_the_grid():
    # A roll without stretching: arc length along a spiral, height across it.
    t = np.linspace(1.5 * np.pi, 3 * np.pi, 2000)
    arc = np.concatenate([[0], np.cumsum(np.hypot(*np.diff([t * np.cos(t), t * np.sin(t)])))])
    s, h = rng.uniform(0, arc[-1], 1500), rng.uniform(0, 15, 1500)
    u = np.interp(s, arc, t)
    X = np.column_stack([u * np.cos(u), h, u * np.sin(u)])
    model = em.Isomap(n_neighbors=8).fit(X[:1200])
    for Y, rows in (
        (model.embedding_, slice(1200)),
        (model.transform(X[1200:]), slice(1200, None)),
    ):
        assert correlation(Y[:, 0], s[rows]) > 0.999
        assert correlation(Y[:, 1], h[rows]) > 0.99


def test_lle_of_a_linear_strip_is_linear():
    X = rng.uniform(0, [3, 1], (600, 2))
    lifted = X @ rng.standard_normal((2, 5))
    model = em.LocallyLinearEmbedding(n_neighbors=12, reg=1e-9).fit(lifted[:500])
    # Linear functions are reconstructed exactly: their eigenvalues vanish.
    assert (-model.eigenvalues_ < 1e-10).all()
    for Y, rows in ((model.embedding_, X[:500]), (model.transform(lifted[500:]), X[500:])):
        A = np.column_stack([rows, np.ones(len(rows))])
        residual = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
        assert abs(residual).max() < 1e-3 * abs(Y).max()


def test_separate_clusters_have_constant_eigenfunctions():
    X = np.vstack(
        [rng.standard_normal((40, 2)) + 50 * np.array(c) for c in ([0, 0], [1, 0], [0, 1])]
    )
    with pytest.warns(UserWarning, match="3 components of sizes 40, 40, 40"):
        model = em.SpectralClustering(3, n_neighbors=8, random_state=0).fit(X)
    assert_allclose(model.eigenvalues_, 1, atol=1e-12)
    truth = np.repeat([0, 1, 2], 40)
    assert len(set(zip(truth, model.labels_, strict=True))) == 3
    centres = model.predict(np.array([[0.0, 0], [50, 0], [0, 50]]))
    assert (centres == model.labels_[[0, 40, 80]]).all()


def test_kernel_pca_of_a_polynomial_is_pca_of_its_monomials():
    X, new = rng.standard_normal((60, 2)), rng.standard_normal((20, 2))

    def monomials(P):  # (a.b + 1)^2 = phi(a).phi(b)
        a, b = P.T
        root = np.sqrt(2)
        return np.column_stack([a**2, b**2, root * a * b, root * a, root * b])

    model = em.KernelPCA(3, kernel="poly", degree=2, gamma=1, coef0=1).fit(X)
    pca = PCA(3).fit(monomials(X))
    assert_allclose(abs(model.transform(new)), abs(pca.transform(monomials(new))), atol=1e-9)
