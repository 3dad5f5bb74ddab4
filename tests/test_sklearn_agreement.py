"""Same data, same parameters: the same embeddings as scikit-learn's, and the same transform."""

import numpy as np
import pytest
import sklearn.manifold
from scipy.linalg import subspace_angles
from sklearn.cluster import SpectralClustering as SklearnSpectralClustering
from sklearn.datasets import load_digits, load_iris, make_circles, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics import adjusted_rand_score

import eigenmaps as em

DATA = {"digits": load_digits().data, "roll": make_swiss_roll(1500, random_state=0)[0]}


def angle(A, B):
    return subspace_angles(A, B).max()


def aligned(Y, reference, like):
    """Y with the signs that bring ``reference`` onto ``like``."""
    return Y * np.sign((reference * like).sum(axis=0))


@pytest.fixture(params=DATA)
def split(request):
    X = DATA[request.param]
    return X[::2], X[1::2]


def test_classical_mds(split):
    train, new = split
    ours = em.ClassicalMDS(3).fit(train)
    assert angle(ours.embedding_, sklearn.manifold.ClassicalMDS(3).fit(train).embedding_) < 1e-6
    pca = PCA(3).fit(train)
    expected = aligned(pca.transform(new), pca.transform(train), ours.embedding_)
    np.testing.assert_allclose(ours.transform(new), expected, atol=1e-9 * abs(expected).max())


@pytest.mark.parametrize("k", [5, 10])
def test_isomap(split, k):
    train, new = split
    theirs = sklearn.manifold.Isomap(n_neighbors=k).fit(train)
    ours = em.Isomap(n_neighbors=k, neighborhood="one-sided").fit(train)
    assert angle(ours.embedding_, theirs.embedding_) < 1e-6
    expected = aligned(theirs.transform(new), theirs.embedding_, ours.embedding_)
    np.testing.assert_allclose(ours.transform(new), expected, atol=1e-6 * abs(expected).max())
    symmetric = em.Isomap(n_neighbors=k).fit(train)
    np.testing.assert_array_equal(symmetric.embedding_, ours.embedding_)


def test_isomap_decides_ties_like_scikit_learn():
    X = load_iris().data  # one decimal: full of equal distances
    theirs = sklearn.manifold.Isomap(n_neighbors=10).fit(X)
    assert angle(em.Isomap(n_neighbors=10).fit(X).embedding_, theirs.embedding_) < 1e-6


@pytest.mark.filterwarnings(
    "ignore:The neighbourhood graph", "ignore:The number of connected", "ignore:Changing the sp"
)
def test_isomap_bridges_components_like_scikit_learn():
    X = np.vstack([DATA["roll"][:150], DATA["roll"][150:300] + 100, DATA["roll"][300:400] - 90])
    theirs = sklearn.manifold.Isomap(n_neighbors=6).fit(X)
    ours = em.Isomap(n_neighbors=6).fit(X)
    np.testing.assert_allclose(ours.kernel_.geodesics_, theirs.dist_matrix_, rtol=1e-10)


def test_isomap_radius():
    X = DATA["roll"][:600]
    theirs = sklearn.manifold.Isomap(n_neighbors=None, radius=6.0).fit(X)
    ours = em.Isomap(n_neighbors=None, radius=6.0).fit(X)
    np.testing.assert_allclose(ours.kernel_.geodesics_, theirs.dist_matrix_, rtol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "cosine"])
def test_kernel_pca(split, kernel):
    train, new = split
    settings = {"kernel": kernel, "gamma": 1e-4, "degree": 2, "coef0": 0.5}
    theirs = SklearnKernelPCA(3, eigen_solver="dense", **settings).fit(train)
    ours = em.KernelPCA(3, **settings).fit(train)
    inside = theirs.transform(train)
    assert angle(ours.embedding_, inside) < 1e-6
    expected = aligned(theirs.transform(new), inside, ours.embedding_)
    np.testing.assert_allclose(ours.transform(new), expected, atol=1e-6 * abs(expected).max())


def test_kernel_pca_with_all_components():
    X = DATA["roll"][:80]
    theirs = SklearnKernelPCA(kernel="poly", degree=2).fit(X)
    ours = em.KernelPCA(kernel="poly", degree=2).fit(X)
    q = len(ours.eigenvalues_)
    assert q == 9  # monomials of degree 1 and 2 in three variables
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_[:q], rtol=1e-8)


def test_lle(split):
    train, new = split
    theirs = sklearn.manifold.LocallyLinearEmbedding(n_neighbors=10, eigen_solver="dense").fit(
        train
    )
    ours = em.LocallyLinearEmbedding(n_neighbors=10).fit(train)
    assert angle(ours.embedding_, theirs.embedding_) < 1e-6
    # Ridges differ off the training set, by design, and by little.
    expected = aligned(theirs.transform(new), theirs.embedding_, ours.embedding_)
    assert np.median(abs(ours.transform(new) - expected)) < 0.01 * np.std(expected)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf"])
def test_laplacian_eigenmaps_on_scikit_learns_affinity(split, affinity):
    train, _ = split
    theirs = sklearn.manifold.SpectralEmbedding(
        3, affinity=affinity, n_neighbors=10, gamma=1e-2, eigen_solver="arpack", random_state=0
    ).fit(train)
    W = theirs.affinity_matrix_
    ours = em.LaplacianEigenmaps(3, affinity="precomputed", self_similarity="dropped").fit(W)
    assert angle(ours.embedding_, theirs.embedding_) < 1e-6
    expected = aligned(theirs.embedding_, theirs.embedding_, ours.embedding_)
    np.testing.assert_allclose(ours.embedding_, expected, rtol=1e-6, atol=1e-8)
    rows = W.toarray() if affinity == "nearest_neighbors" else W.copy()
    np.fill_diagonal(rows, 0)
    np.testing.assert_allclose(ours.transform(rows), ours.embedding_, atol=1e-10)


def test_laplacian_eigenmaps_rbf_is_spectral_embedding_rbf(split):
    train, _ = split
    theirs = sklearn.manifold.SpectralEmbedding(
        2, affinity="rbf", gamma=1e-2, eigen_solver="arpack", random_state=0
    ).fit(train)
    ours = em.LaplacianEigenmaps(2, affinity="rbf", gamma=1e-2, self_similarity="dropped")
    assert angle(ours.fit(train).embedding_, theirs.embedding_) < 1e-6


@pytest.mark.filterwarnings("ignore:The neighbourhood graph", "ignore:Graph is not fully")
@pytest.mark.parametrize("rule", ["kmeans", "discretize", "cluster_qr"])
def test_spectral_clustering(rule):
    X, _ = make_circles(400, noise=0.04, factor=0.4, random_state=0)
    theirs = SklearnSpectralClustering(
        2, affinity="nearest_neighbors", assign_labels=rule, random_state=0
    ).fit(X)
    ours = em.SpectralClustering(2, assign_labels=rule, random_state=0).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
