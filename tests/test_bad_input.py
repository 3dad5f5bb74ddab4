"""Bad input is refused, or warned of, by a message with the numbers, the cause and the cure."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances

import eigenmaps as em
from eigenmaps import extensions, kernels

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3))
HALVES = np.vstack([rng.standard_normal((30, 3)), rng.standard_normal((20, 3)) + 60])

ALL = [
    em.ClassicalMDS(),
    em.Isomap(),
    em.LocallyLinearEmbedding(),
    em.LaplacianEigenmaps(),
    em.SpectralClustering(3),
    em.KernelPCA(2),
]
each = pytest.mark.parametrize("method", ALL, ids=lambda m: type(m).__name__)


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_at_fit_and_transform(method, bad):
    broken = X.copy()
    broken[[4, 9], 2] = bad
    counts = "2 NaN and 0 inf" if np.isnan(bad) else "0 NaN and 2 inf"
    match = f"{counts} in 2 rows, first at row 4, column 2.*Leave these rows out"
    with pytest.raises(ValueError, match=match):
        method.fit(broken)
    with pytest.raises(ValueError, match=match):
        method.fit(X).transform(broken)


def test_nan_in_a_sparse_matrix():
    broken = sp.csr_array(np.where(np.abs(X) > 1, X, 0))
    broken.data[3] = np.nan
    row, column = broken.tocoo().row[3], broken.tocoo().col[3]
    with pytest.raises(ValueError, match=f"1 NaN .* first at row {row}, column {column}"):
        em.Isomap().fit(broken)


@each
def test_one_sample(method):
    with pytest.raises(ValueError, match="n_samples = 1: an embedding needs at least 2"):
        method.fit(X[:1])


@pytest.mark.parametrize(
    ("method", "enough"),
    [
        (em.Isomap(n_neighbors=10), 9),
        (em.LocallyLinearEmbedding(n_neighbors=10), 9),
        (em.LaplacianEigenmaps(n_neighbors=12), 10),
        (em.LaplacianEigenmaps(n_neighbors=12, affinity="self_tuning"), 10),
    ],
)
def test_fewer_samples_than_neighbours(method, enough):
    match = rf"n_neighbors=1[02] .* n_samples = 10.*set n_neighbors ≤ {enough}"
    with pytest.raises(ValueError, match=match):
        method.fit(X[:10])


@each
def test_more_components_than_samples(method):
    method = type(method)(n_components=100)
    with pytest.raises(ValueError, match=r"n_components=100 is not possible with n_samples = 60"):
        method.fit(X)


@pytest.mark.parametrize(
    ("method", "good"),
    [(em.ClassicalMDS(5), 3), (em.KernelPCA(5), 3), (em.KernelPCA(9, kernel="poly", degree=1), 3)],
)
def test_more_components_than_positive_eigenvalues(method, good):
    match = rf"only {good} usable positive eigenvalues .* set n_components ≤ {good}"
    with pytest.raises(ValueError, match=match):
        method.fit(X)


def test_isomap_with_negative_eigenvalues():
    with pytest.raises(ValueError, match=r"n_components=59, but the kernel has only \d+ usable"):
        em.Isomap(n_components=59).fit(X)


def connected(method, X):
    """Whether the method fits without a warning of components."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        method.fit(X)
    return not any("components of sizes" in str(w.message) for w in caught)


@pytest.mark.parametrize(
    "method",
    [
        em.Isomap(n_neighbors=4),
        em.LocallyLinearEmbedding(n_neighbors=4),
        em.LaplacianEigenmaps(n_neighbors=6),
        em.SpectralClustering(2, n_neighbors=6),
        em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(6, edge="hard")),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("data", ["two", "blobs", "rounded"])
def test_disconnected_graph_names_sizes_and_the_smallest_k_that_connects(method, data):
    blobs = make_blobs(200, 2, centers=4, random_state=0)[0]
    TWO, sizes = {
        "two": (HALVES, "2 components of sizes 30, 20"),
        "blobs": (blobs + [[100, 0]] * (blobs[:, :1] > 2), "components of sizes"),
        "rounded": (blobs.round() + [[100, 0]] * (blobs[:, :1] > 2), "components of sizes"),
    }[data]
    with pytest.warns(UserWarning, match=sizes) as caught:
        method.fit(TWO)
    text = next(str(w.message) for w in caught if "components" in str(w.message))
    k = int(text.split("connects it is ")[1].rstrip("."))
    if isinstance(method.get_params().get("affinity"), kernels.NeighborGraph):
        key = "affinity__n_neighbors"
    else:
        key = "n_neighbors"
    assert connected(method.set_params(**{key: k}), TWO)
    assert not connected(method.set_params(**{key: k - 1}), TWO)


def test_isomap_bridges_components_with_a_warning():
    with pytest.warns(UserWarning, match="joins them by the shortest bridge"):
        model = em.Isomap(n_neighbors=5).fit(HALVES)
    assert np.isfinite(model.kernel_.geodesics_).all()
    assert np.isfinite(model.transform(HALVES + 0.1)).all()


def test_disconnected_gaussian():
    with pytest.warns(UserWarning, match=r"2 components of sizes 30, 20.*Lower gamma"):
        em.LaplacianEigenmaps(affinity="rbf", gamma=0.5).fit(HALVES)


@pytest.mark.parametrize(
    "method",
    [
        em.LaplacianEigenmaps(affinity="rbf", gamma=5e3),
        em.SpectralClustering(3, affinity="rbf", gamma=5e3),
    ],
    ids=lambda m: type(m).__name__,
)
def test_bandwidth_so_small_that_the_affinity_is_the_identity(method):
    images = rng.integers(0, 256, (60, 20)).astype(float)
    with pytest.raises(ValueError, match=r"almost the identity: half of the 60 .* gamma=") as error:
        method.fit(images)
    usable = float(str(error.value).split("; gamma=")[1].split()[0])
    method.set_params(gamma=usable).fit(images)
    assert "median distance between points is" in str(error.value)


def test_a_kernel_pca_of_the_identity_is_warned_of():
    with pytest.warns(UserWarning, match="almost the identity: half of the 60 .* gamma="):
        em.KernelPCA(2, kernel="rbf", gamma=5e3).fit(X)
    with pytest.warns(UserWarning, match=r"almost the identity.*Use a wider kernel\.$"):
        em.KernelPCA(2, kernel="laplacian", gamma=5e3).fit(X)


@pytest.mark.parametrize("own", ["off-degree", "dropped"])
def test_an_outlier_has_no_degree_of_its_own(own):
    outlier = np.vstack([X, [[25.0, 0, 0]]])
    model = em.LaplacianEigenmaps(affinity="rbf", self_similarity=own)
    with pytest.raises(ValueError, match=r"1 of 61 .*first at row 60.*self_similarity='kept'"):
        model.fit(outlier)
    model.set_params(self_similarity="kept").fit(outlier)


def test_distances_that_are_all_zero():
    with pytest.raises(ValueError, match="only 0 usable positive eigenvalues"):
        em.ClassicalMDS(metric="precomputed").fit(np.zeros((400, 400)))


def test_identity_given_as_affinity():
    with pytest.raises(ValueError, match="similar to no other point|almost the identity"):
        em.LaplacianEigenmaps(affinity="precomputed").fit(np.eye(30))


def test_bandwidth_so_large_that_the_affinity_is_constant():
    with pytest.warns(UserWarning, match=r"almost constant: .* all 60 points alike.*Raise gamma"):
        em.LaplacianEigenmaps(affinity="rbf", gamma=1e-6).fit(X)


@each
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_all_points_the_same(method, form):
    with pytest.raises(ValueError, match="All 30 training points are identical"):
        method.fit(form(np.ones((30, 3))))


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "self_tuning"])
def test_each_point_given_many_times(affinity):
    with pytest.raises(ValueError, match="9 or more exact copies.*raise n_neighbors"):
        em.LaplacianEigenmaps(affinity=affinity, n_neighbors=10).fit(np.repeat(X[:5], 12, axis=0))


@each
@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_half_of_the_points_the_same(method):
    half = np.vstack([X, np.repeat(X[:1], 60, axis=0)])
    model = method.fit(half)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(half)).all()


def test_a_new_point_without_support():
    def block(A, B):
        return np.maximum(0, 1 - np.abs(A[:, :1] - B[:, :1].T))

    train = np.linspace(0, 5, 40)[:, None]
    new = np.array([[2.5], [99.0], [3.0]])
    model = em.LaplacianEigenmaps(affinity=block).fit(train)
    with pytest.warns(UserWarning, match=r"1 of 3 new points are similar to no training.*at row 1"):
        Y = model.transform(new)
    assert np.isnan(Y).all(axis=1).tolist() == [False, True, False]
    model.set_params(unsupported="raise").fit(train)
    with pytest.raises(ValueError, match="1 of 3 new points .* outside of what the model"):
        model.transform(new)
    clusters = em.SpectralClustering(2, affinity=block, random_state=0).fit(train)
    with pytest.warns(UserWarning, match="similar to no training point"):
        assert clusters.predict(new).tolist()[1] == -1


def test_a_new_point_without_support_goes_to_the_nearest_by_option():
    graph = kernels.NeighborGraph(4)
    corners = np.array([[-1.0, 0], [1, 0], [0, 1], [0, -1]])
    train = np.vstack([corners + shift for shift in ([0, 0], [1.2, 0.3], [2.3, 0.1], [3.4, 0.7])])
    far = np.array([[-1e9, 0.0]])  # all distances are equal to 8 digits: outside every soft edge
    model = em.LaplacianEigenmaps(affinity=graph, unsupported="nearest").fit(train)
    Y = model.transform(far)
    nearest = np.linalg.norm(train - far, axis=1).argmin()
    if np.isfinite(model.kernel_.affinity_.rows(far)[1]).all():
        assert np.isfinite(Y).all()
    assert np.abs(Y - model.embedding_[nearest]).max() <= np.ptp(model.embedding_)


@pytest.mark.parametrize("affinity", ["rbf", "self_tuning", "nearest_neighbors"])
def test_a_far_point_keeps_finite_coordinates(affinity):
    """Every similarity underflows, but not their ratios."""
    model = em.LaplacianEigenmaps(affinity=affinity).fit(X)
    Y = model.transform(X[:5] * 1e3)
    assert np.isfinite(Y).all()
    assert np.abs(Y).max() < 10 * np.abs(model.embedding_).max()


@each
def test_wrong_number_of_features(method):
    with pytest.raises(ValueError, match="X has 2 features, but .* is expecting 3 features"):
        method.fit(X).transform(X[:, :2])


def test_wrong_feature_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="feature names should match"):
        em.Isomap().fit(frame).transform(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("method", "what"),
    [
        (em.ClassicalMDS(metric="precomputed"), "distances"),
        (em.Isomap(metric="precomputed"), "distances"),
        (em.LocallyLinearEmbedding(metric="precomputed"), "distances"),
        (em.LaplacianEigenmaps(affinity="precomputed"), "similarities"),
        (em.KernelPCA(2, kernel="precomputed"), "products"),
    ],
    ids=lambda p: type(p).__name__ if not isinstance(p, str) else p,
)
def test_precomputed_blocks_of_the_wrong_shape(method, what):
    D = euclidean_distances(X)
    D = {"similarities": np.exp(-D), "products": X @ X.T, "distances": D}[what]
    with pytest.raises(ValueError, match=rf"Precomputed {what} must be a square .* 60 × 50"):
        method.fit(D[:, :50])
    with pytest.raises(ValueError, match=r"must be symmetric; the largest \|X - X.T\|"):
        method.fit(np.triu(D))
    model = method.fit(D)
    with pytest.raises(ValueError, match=r"its block is \(n_new, 60\); got 7 × 50"):
        model.transform(D[:7, :50])


def test_distances_that_are_none():
    S = np.exp(-np.abs(X[:, :1] - X[:, :1].T))
    with pytest.raises(ValueError, match="must be 0 on the diagonal .*similarities"):
        em.ClassicalMDS(metric="precomputed").fit(S)
    with pytest.raises(ValueError, match=r"Negative values.*are negative.*exp\(−d²/β\)"):
        em.LaplacianEigenmaps(affinity="precomputed").fit(X @ X.T)


@each
def test_unknown_extension_lists_the_known(method):
    method = type(method)(extension="nystroem")
    with pytest.raises(
        ValueError, match="'nystroem' is not known.*'nystrom', 'refit', 'restricted'"
    ):
        method.fit(X)
    with pytest.raises(ValueError, match="is not known"):
        type(method)().fit(X).with_extension("nystroem")


@each
def test_before_fit(method):
    unfitted = type(method)()
    with pytest.raises(NotFittedError):
        unfitted.transform(X)
    with pytest.raises(NotFittedError):
        unfitted.with_extension("heat")


def test_predict_before_fit():
    with pytest.raises(NotFittedError):
        em.SpectralClustering(2).predict(X)


@pytest.mark.parametrize(
    ("method", "match"),
    [
        (em.Isomap(n_neighbors=5, radius=1.0), "either n_neighbors or radius"),
        (em.Isomap(n_neighbors=None), "either n_neighbors or radius"),
        (em.Isomap(neighborhood="both"), "neighborhood='both' is not known"),
        (em.Isomap(scaling="big"), "scaling='big' is not known; use one of"),
        (em.Isomap(eigen_solver="magic"), "eigen_solver='magic' is not known; use one of"),
        (em.ClassicalMDS(eigen_solver="amg"), "for sparse graph Laplacians"),
        (em.LaplacianEigenmaps(affinity="cosine"), "affinity='cosine' is not known; use"),
        (em.LaplacianEigenmaps(affinity="rbf", gamma="wide"), "gamma='wide' is not known"),
        (em.LaplacianEigenmaps(affinity="rbf", gamma=-1), "gamma=-1 must be positive"),
        (em.LaplacianEigenmaps(unsupported="guess"), "unsupported='guess'"),
        (em.LaplacianEigenmaps(self_similarity="no"), "self_similarity='no'"),
        (em.LaplacianEigenmaps(n_neighbors=1), "must be at least 2"),
        (em.LaplacianEigenmaps(affinity=kernels.NeighborGraph(weights="x")), "weights='x' is not"),
        (
            em.LaplacianEigenmaps(
                affinity=kernels.NeighborGraph(edge="hard"), self_similarity="dropped"
            ),
            "hard 0/1 weights are 1 throughout",
        ),
        (em.LaplacianEigenmaps(affinity=lambda A, B: np.ones((3, 3))), r"returned shape \(3, 3\)"),
        (em.LocallyLinearEmbedding(metric="cosine"), "defined by Euclidean geometry"),
        (em.Isomap(n_neighbors="5"), "n_neighbors='5' must be a whole number"),
        (em.LocallyLinearEmbedding(n_neighbors=0), "n_neighbors=0 must be a whole number"),
        (em.Isomap(n_components=2.7), "n_components=2.7 is not possible with n_samples = 60"),
        (em.Isomap(n_components=0), "n_components=0 is not possible with n_samples = 60"),
        (em.LocallyLinearEmbedding(reg=0), "reg=0 must be positive"),
        (em.LocallyLinearEmbedding(eigen_solver="lobpcg"), "cannot find the eigenvalues of LLE"),
        (em.KernelPCA(kernel="rbf", gamma=-1), "gamma=-1 must be a positive number"),
        (em.KernelPCA(kernel="rbf", gamma="mean"), "gamma='mean' must be a positive number"),
        (em.LocallyLinearEmbedding(mu=0.5), "mu=0.5 must be larger than 1"),
        (em.SpectralClustering(3, assign_labels="vote"), "assign_labels='vote' is not known"),
        (
            em.SpectralClustering(3, n_components=2, assign_labels="cluster_qr"),
            "needs n_components = n_clusters; got 2 and 3",
        ),
        (em.Isomap(extension=extensions.Heat(beta=-1.0)), "beta=-1.0 must be positive"),
    ],
)
def test_parameters_that_make_no_sense(method, match):
    with pytest.raises(ValueError, match=match):
        method.fit(X)


def test_a_kernel_that_is_no_kernel():
    with pytest.raises(TypeError, match=r"kernel='isomap' is not a kernel object; use one of"):
        em.Eigenmap("isomap").fit(X)


@pytest.mark.parametrize("extension", ["refit", "restricted", "barycentric", "heat", "linear"])
def test_extensions_that_need_coordinates(extension):
    W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = em.LaplacianEigenmaps(affinity="precomputed").fit(W)
    with pytest.raises(ValueError, match="needs vectors.*precomputed similarities.*'nystrom'"):
        model.with_extension(extension)


def test_isomap_radius_without_neighbours():
    model = em.Isomap(n_neighbors=None, radius=3.0).fit(X)
    with pytest.warns(UserWarning, match="1 of 2 new points have no training point within radius"):
        Y = model.transform(np.vstack([X[:1], X[:1] + 50]))
    assert np.isfinite(Y).all()


def test_an_eigen_solver_that_gives_up():
    chain = np.linspace(0, 1, 1000)[:, None]  # eigenvalues 1 - 1e-6, 1 - 4e-6, ...
    model = em.LaplacianEigenmaps(3, affinity="rbf", gamma=1e6, eigen_solver="arpack", max_iter=2)
    with pytest.raises(RuntimeError, match=r"found \d of \d eigenpairs of a 1000 × 1000 problem"):
        model.fit(chain)
