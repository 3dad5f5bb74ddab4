"""What new points miss beside what the embedding moves by: structured, and by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import euclidean_distances

import eigenmaps
from eigenmaps import extensions, kernels, metrics, stability
from eigenmaps._compute.detours import detours
from eigenmaps.gram import dense
from eigenmaps.reproduce import EXPERIMENTS, Lab

METHODS = {
    "mds": eigenmaps.ClassicalMDS(),
    "isomap": eigenmaps.Isomap(n_neighbors=15),
    "lle": eigenmaps.LocallyLinearEmbedding(n_neighbors=15),
    "laplacian": eigenmaps.LaplacianEigenmaps(affinity="rbf", gamma=1e-3),
    "kernel pca": eigenmaps.KernelPCA(2, kernel="rbf", gamma=1e-3),
    "clustering": eigenmaps.SpectralClustering(3, affinity="rbf", gamma=1e-3, random_state=0),
}


def digits(n):
    """Moved a little: distances between whole numbers tie, and neighbours would be arbitrary."""
    return load_digits().data[:n] + 0.01 * np.random.default_rng(0).standard_normal((n, 64))


def roll(n):
    return make_swiss_roll(n, noise=0.05, random_state=0)[0]


@pytest.mark.parametrize("name", METHODS)
def test_leaving_out_is_brute_force(name):
    X, rows = digits(320), np.array([0, 5, 150, 319])
    model = clone(METHODS[name]).fit(X)
    ways = [extensions.Nystrom(), extensions.Refit()]
    found = stability.leave_one_out(model, rows, ways)
    expected = np.empty_like(found)
    for place, i in enumerate(rows):
        others = np.delete(np.arange(len(X)), i)
        out = clone(METHODS[name]).fit(X[others])
        for which, way in enumerate(ways):
            y = out.with_extension(way).transform(X[[i]])
            both = np.vstack([out.embedding_, y])
            signs = np.sign((out.embedding_ * model.embedding_[others]).sum(axis=0))
            turned = metrics.align(both, model.embedding_[others])
            for a, z in enumerate((both * signs, turned)):
                expected[which, a, place] = np.linalg.norm(z[-1] - model.embedding_[i])
    assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(model.embedding_).max())


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("alignment", stability.ALIGNMENTS)
def test_the_definition(name, alignment):
    """§6, step by step."""
    X, count, estimator = digits(60), 4, METHODS[name]
    curve = metrics.stability_curve(estimator, X, [count / 60], alignment=alignment, random_state=3)
    order = np.random.RandomState(3).permutation(60)
    R1, R2, F = order[:count], order[count : 2 * count], order[2 * count :]
    D1, m = np.concatenate([F, R1]), len(F)
    model = clone(estimator).fit(X[D1])
    other = clone(estimator).fit(X[np.concatenate([F, R2])])
    Y, Z = model.embedding_[:m], other.embedding_[:m]
    variability = np.linalg.norm(LinearRegression().fit(Z, Y).predict(Z) - Y, axis=1)
    error = np.empty(m)
    for i in range(m):
        others = np.delete(np.arange(len(D1)), i)
        out = clone(estimator).fit(X[D1[others]])
        y, reference = out.transform(X[D1[[i]]]), model.embedding_[others]
        if alignment == "signs":
            y = y * np.sign((out.embedding_ * reference).sum(axis=0))
        else:
            y = metrics.align(np.vstack([out.embedding_, y]), reference)[-1]
        error[i] = np.linalg.norm(y - model.embedding_[i])
    delta = variability - error
    size = 1e-7 * np.abs(Y).max()
    assert_allclose(curve.fractions, [count / 60])
    assert_allclose(curve.variability, variability.mean(), rtol=0, atol=size)
    assert_allclose(curve.error, error.mean(), rtol=0, atol=size)
    assert_allclose(curve.difference, delta.mean(), rtol=0, atol=size)
    half = 1.959964 * delta.std(ddof=1) / np.sqrt(m)
    assert_allclose(curve.half_width, half, rtol=1e-4)


def test_variability_rises_with_the_points_exchanged():
    curve = metrics.stability_curve(
        eigenmaps.ClassicalMDS(), digits(200), [0.01, 0.05, 0.2], n_splits=4, n_points=20
    )
    assert (np.diff(curve.variability) > 0).all()
    assert (np.diff(curve.difference) > 0).all()
    assert (curve.half_width > 0).all()
    assert_allclose(curve.difference, curve.variability - curve.error, rtol=1e-10)


def test_by_default_from_one_point_to_a_quarter():
    curve = metrics.stability_curve(eigenmaps.ClassicalMDS(), digits(80), n_points=3)
    assert curve.fractions[0] == 1 / 80
    assert curve.fractions[-1] == 0.25


def test_splits_are_the_unit_where_there_are_several():
    parts = stability.substitutions(
        eigenmaps.ClassicalMDS(), digits(80), [0.1], n_splits=3, n_points=20
    )
    curve = stability.StabilityCurve.of(parts)
    means = [part.variability.mean() - part.errors[0, 0].mean() for part in parts]
    assert_allclose(curve.difference, np.mean(means))
    assert_allclose(curve.half_width, 4.302653 * np.std(means, ddof=1) / np.sqrt(3), rtol=1e-6)


def test_extensions_together_are_extensions_alone():
    X, names = digits(80), ["nystrom", "heat", "refit"]
    settings = {"fractions": [0.05], "n_points": 10, "random_state": 1}
    estimator = METHODS["kernel pca"]
    parts = stability.substitutions(estimator, X, extensions=names, **settings)
    for which, name in enumerate(names):
        alone = metrics.stability_curve(clone(estimator).set_params(extension=name), X, **settings)
        together = stability.StabilityCurve.of(parts, which)
        assert_allclose(np.hstack(together), np.hstack(alone), rtol=1e-9)


def test_processes_change_nothing():
    X = digits(60)
    one, two = (
        metrics.stability_curve(METHODS["mds"], X, [0.05, 0.1], n_points=5, n_jobs=n)
        for n in (None, 2)
    )
    assert_allclose(np.hstack(one), np.hstack(two), rtol=1e-9)


def test_the_estimator_and_the_data_are_left_as_they_are():
    X, estimator = digits(60), eigenmaps.Isomap(n_neighbors=6, extension="refit")
    before = X.copy()
    metrics.stability_curve(estimator, X, [0.05], n_points=3)
    assert not hasattr(estimator, "embedding_")
    assert estimator.extension == "refit"
    assert_array_equal(X, before)


def test_sparse_data():
    X = digits(60)
    settings = {"fractions": [0.05], "n_points": 5}
    thin = metrics.stability_curve(METHODS["mds"], csr_array(X), **settings)
    assert_allclose(
        np.hstack(thin),
        np.hstack(metrics.stability_curve(METHODS["mds"], X, **settings)),
        rtol=1e-8,
    )


def curve(difference, half_width):
    rho = np.arange(1, len(difference) + 1) / 10
    d = np.array(difference, dtype=float)
    return stability.StabilityCurve(rho, d, 0 * d, d, np.full(len(d), half_width))


def test_crossing():
    assert_allclose(curve([-1, 1, 3], 0).crossing, [0.15, 0.15, 0.15])
    assert_allclose(curve([-1, 1, 3], 0.5).crossing, [0.15, 0.125, 0.175])
    assert_allclose(curve([1, 2, 3], 0.5).crossing, [0, 0, 0])
    assert_allclose(curve([1, 2, 3], 1.5).crossing, [0, 0, 0.15])
    assert_array_equal(curve([-3, -2, -1], 0.5).crossing, [np.inf] * 3)
    assert_allclose(curve([-3, -2, -1], 1.5).crossing, [np.inf, 0.25, np.inf])


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ([0.5], r"n_samples = 60 points substitute 30 of them.* 1 to 28.*0\.0167 to 0\.467"),
        ([0.001], "substitute 0 of them.* 1 to 28"),
        ([], "substitute none"),
    ],
)
def test_impossible_fractions(fractions, message):
    with pytest.raises(ValueError, match=message):
        metrics.stability_curve(METHODS["mds"], digits(60), fractions)


def test_refused():
    X = digits(60)
    precomputed = eigenmaps.ClassicalMDS(metric="precomputed")
    with pytest.raises(ValueError, match="precomputed distances.*give the data itself"):
        metrics.stability_curve(precomputed, euclidean_distances(X))
    with pytest.raises(ValueError, match=r"n_components=None.*give a number"):
        metrics.stability_curve(eigenmaps.KernelPCA(), X)
    with pytest.raises(TypeError, match="LinearRegression is not an estimator of this package"):
        metrics.stability_curve(LinearRegression(), X)
    with pytest.raises(ValueError, match=r"alignment='shear' is not known.*'signs', 'rotation'"):
        metrics.stability_curve(METHODS["mds"], X, alignment="shear")
    with pytest.raises(ValueError, match=r"n_splits=0 must be a whole number, at least 1"):
        metrics.stability_curve(METHODS["mds"], X, n_splits=0)
    with pytest.raises(ValueError, match=r"n_points=1 must be a whole number, at least 2"):
        metrics.stability_curve(METHODS["mds"], X, n_points=1)


PRECOMPUTED = {
    "mds": (kernels.MDS("precomputed"), euclidean_distances),
    "isomap": (kernels.Isomap(6, metric="precomputed"), euclidean_distances),
    "lle": (kernels.LLE(6, metric="precomputed"), euclidean_distances),
    "kernel pca": (kernels.KernelPCA("precomputed"), lambda X: X @ X.T),
    "graph": (
        kernels.Laplacian(kernels.NeighborGraph(6, metric="precomputed")),
        euclidean_distances,
    ),
    "affinity": (
        kernels.Laplacian(kernels.PrecomputedAffinity()),
        lambda X: np.exp(-(euclidean_distances(X) ** 2) / 50),
    ),
}


@pytest.mark.parametrize("name", PRECOMPUTED)
def test_precomputed(name):
    kernel, matrix_of = PRECOMPUTED[name]
    A = matrix_of(roll(100))
    kernel = clone(kernel)
    kernel.fit(A)
    for i in (0, 60):
        others = np.delete(np.arange(100), i)
        found, gram = kernel.without(A)(i)
        plain = clone(kernel)
        expected = plain.fit(A[np.ix_(others, others)]).toarray()
        assert_allclose(gram.toarray(), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        row, same = found(A[[i]][:, others]).weights, plain(A[[i]][:, others]).weights
        assert abs(row - same).max() <= 1e-9 * abs(same).max()


def check_without(kernel, X, rows):
    kernel.fit(X)
    without = kernel.without(X)
    for i in rows:
        plain = clone(kernel)
        expected = plain.fit(np.delete(X, i, axis=0)).toarray()
        found, gram = without(i)
        assert_allclose(gram.toarray(), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        row, same = (dense(k(X[[i]]).weights) for k in (found, plain))
        assert_allclose(row, same, rtol=0, atol=1e-9 * np.abs(same).max())


def bridged():
    """Two clouds that one point alone joins."""
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((20, 2))
    return np.vstack([cloud, cloud + np.array([12, 0]), [[6.0, 0.0]]])


@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_isomap_where_the_graph_falls_apart():
    check_without(kernels.Isomap(None, radius=5.0), bridged(), (40, 0, 39))


@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_isomap_whose_graph_is_in_pieces():
    check_without(kernels.Isomap(4), bridged()[:40], (0, 39))


def test_isomap_where_distances_tie():
    """Of equally distant points any may be the k-th: paths lie between those of a graph that has
    all of them and of one that has none, and each point has k neighbours."""
    points = np.round(make_swiss_roll(90, random_state=0)[0])
    k = 6
    kernel = kernels.Isomap(k)
    kernel.fit(points)
    without = kernel.without(points)
    checked = 0
    for i in range(len(points)):
        d = euclidean_distances(np.delete(points, i, axis=0))
        kth = np.sort(d, axis=1)[:, k][:, None]
        bounds = []
        for near in (d < kth * (1 - 1e-9), d <= kth * (1 + 1e-9)):
            edges = np.where(near | near.T, np.maximum(d, 1e-12), 0)
            bounds.append(dijkstra(csr_array(edges)))
        most, least = bounds
        paths = without(i)[0].geodesics_
        if np.isfinite(least).all():
            assert (paths >= least - 1e-9).all()
            assert (paths <= most + 1e-9).all()
            direct = (np.abs(paths - d) <= 1e-9) & (d <= kth * (1 + 1e-9))
            assert (direct.sum(axis=1) > k).all(), "itself, and k others"
            checked += 1
    assert checked > 60


def test_isomap_with_identical_points():
    X = roll(30)
    check_without(kernels.Isomap(2), np.vstack([X, X, X, X]), (0, 40))


def test_as_few_points_as_neighbours_allow():
    X = roll(8)
    for kernel in (kernels.LLE(7), kernels.Isomap(7)):
        kernel.fit(X)
        with pytest.raises(ValueError, match="n_samples = 7"):
            kernel.without(X)(0)
    check_without(kernels.LLE(6), X, (0, 7))


def test_a_bandwidth_stays_what_all_points_chose():
    X = roll(100)
    kernel = kernels.Laplacian(kernels.Gaussian())
    kernel.fit(X)
    other, _ = kernel.without(X)(3)
    assert other.affinity_.gamma_ == kernel.affinity_.gamma_


def test_detours():
    """Shortest paths without a point, on a grid, where many tie."""
    side = np.arange(7)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    D = np.abs(points[:, None] - points).sum(axis=2)
    graph = csr_array(np.where(D == 1, 1.0, 0.0) + np.where(D == 2, 1.9, 0.0))
    paths = dijkstra(graph)
    for gone in (0, 24, 48):
        found = detours(graph.indptr, graph.indices, graph.data, paths, gone)
        plain = detours.__wrapped__(graph.indptr, graph.indices, graph.data, paths, gone)
        rest = np.delete(np.arange(49), gone)
        expected = dijkstra(graph[rest][:, rest])
        assert_allclose(found[np.ix_(rest, rest)], expected, rtol=1e-12)
        assert_array_equal(found, plain)
        assert np.isinf(found[gone]).all()


@pytest.mark.slow
def test_figure_2_needs_no_data(tmp_path):
    EXPERIMENTS["figure2"](Lab(tmp_path, tmp_path, quick=True))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"figure2.json", "figure2.md", "figure2.png", "figure2_extensions.png"}


def test_points_that_lose_their_coordinates_are_counted():
    def ends(A, B):
        return np.maximum(1 - euclidean_distances(A, B) ** 2, 0)

    points = np.random.default_rng(0).standard_normal((60, 2))
    points[:3] += [[50, 0], [0, 50], [-50, 0]]
    with pytest.raises(ValueError, match="have no coordinates once they are left out"):
        metrics.stability_curve(eigenmaps.LaplacianEigenmaps(affinity=ends), points, [0.1])
