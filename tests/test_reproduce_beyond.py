"""Three directions that the 2004 paper left open: their mathematics, and that they run."""

import json
import warnings

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from eigenmaps import Eigenmap
from eigenmaps.reproduce import EXPERIMENTS, Lab, galerkin, intervals, stacks
from eigenmaps.reproduce.figure1 import curves
from eigenmaps.reproduce.transformed import Chart, Grid, best_parzen, parzen

NAMES = ("smoother", "density", "layers")


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((40, 2)) * (1.0, 0.5)


@pytest.mark.parametrize("shape", galerkin.SHAPES)
def test_without_width_it_is_nystrom(X, shape):
    model = Eigenmap(galerkin.Uncentred(0.7), 3, scaling="unit-variance").fit(X)
    Z = X[:10] + 0.2
    for h, tolerance in ((0.0, 1e-7), (1e-3, 1e-4)):
        f = galerkin.Smoothed.fit(X, galerkin.SHAPES[shape](X, h), 0.7, 3)
        signs = np.sign((f(Z) * model.transform(Z)).sum(axis=0))
        np.testing.assert_allclose(signs * f(Z), model.transform(Z), atol=tolerance)
        np.testing.assert_allclose(
            f.values, model.eigenvalues_ / len(X), rtol=1e-3 * (h > 0) + 1e-9
        )


@pytest.mark.parametrize("shape", galerkin.SHAPES)
def test_moments_are_the_mean_over_the_density(X, shape):
    density = galerkin.SHAPES[shape](X, 0.6)
    drawn = density.sample(5000, np.random.default_rng(1))
    kappa = galerkin.kappa(drawn, X, 0.7)
    np.testing.assert_allclose(
        galerkin.moments(X, density, 0.7), kappa.T @ kappa / len(kappa), atol=3e-3
    )


def test_shaped_keeps_mean_and_covariance(X):
    density = galerkin.shaped(X, 0.8)
    np.testing.assert_allclose(density.centres.mean(axis=0), X.mean(axis=0))
    covariance = np.cov(density.centres.T, bias=True) + density.H
    np.testing.assert_allclose(covariance, np.cov(X.T, bias=True), atol=1e-12)


@pytest.mark.parametrize("h", [0.0, 0.3])
def test_eigenfunctions_are_orthonormal_under_the_density(X, h):
    density = galerkin.rounded(X, h)
    f = galerkin.Smoothed.fit(X, density, 0.7, 3)
    drawn = density.sample(5000 if h else 1, np.random.default_rng(1))
    products = f(drawn).T @ f(drawn) / len(drawn)
    np.testing.assert_allclose(products, np.eye(3), atol=0.02 if h else 1e-7)


def test_hermite_functions_solve_the_integral_equation():
    """∫ κ(x,y) f(y) p(y) dy = λ f(x), by quadrature; leading ones come first."""
    spreads, s = np.array([1.0, 0.7]), 0.9
    axis = np.linspace(-6, 6, 121)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    p = np.prod(norm.pdf(grid, scale=spreads), axis=1) * (axis[1] - axis[0]) ** 2
    x = np.array([[0.3, -0.4], [1.0, 0.5], [-0.7, 0.2]])
    f, there = (galerkin.hermite(spreads, s, 4, Z) for Z in (x, grid))
    values = (galerkin.kappa(x, grid, s) * p) @ there / f
    np.testing.assert_allclose(values, np.tile(values[:1], (3, 1)), rtol=1e-9)
    assert (np.diff(values[0]) < 0).all()


@pytest.mark.parametrize("method", ["Laplacian", "kernel PCA"])
def test_derivative_of_a_chart(method):
    X = curves(60, 0)[0]
    chart = Chart(X, method, 2.0)
    x, step = X[:8] + 0.1, 1e-6
    np.testing.assert_allclose(chart(X).y, chart.embedding, atol=1e-10)
    slopes = [(chart(x + e).y - chart(x - e).y) / (2 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(chart(x).jacobian, np.stack(slopes, axis=-1), atol=1e-7)


def test_a_density_of_coordinates_is_one_of_the_data():
    """Where the map is one-to-one it sums to 1, and agrees with what is drawn from it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2)) * (1.0, 0.6)
    chart = Chart(X, "Laplacian", 0.05)  # a wide kernel: almost linear
    mixture = GaussianMixture(2, random_state=0).fit(chart.embedding)
    grid = Grid.around(X, margin=6.0)
    p = np.exp(chart(grid.points).log_density(mixture)) * grid.cell
    assert p.sum() == pytest.approx(1, abs=0.01)
    drawn = mixture.sample(20000)[0]
    np.testing.assert_allclose(p @ chart(grid.points).y, drawn.mean(axis=0), atol=0.03)


def test_a_map_that_folds_counts_twice():
    X = curves(60, 0)[0]
    chart = Chart(X, "kernel PCA", 2.0)
    mixture = GaussianMixture(6, random_state=0).fit(chart.embedding)
    grid = Grid.around(X)
    signs = np.sign(np.linalg.det(chart(X).jacobian))
    assert len(set(signs)) == 2
    assert np.exp(chart(grid.points).log_density(mixture)).sum() * grid.cell > 1.2


def test_parzen_is_a_density():
    centres, x = np.array([[-1.0], [2.0]]), np.array([[0.5]])
    mean = (norm.pdf(0.5, -1, 0.7) + norm.pdf(0.5, 2, 0.7)) / 2
    assert parzen(x, centres, 0.7) == pytest.approx(np.log(mean))
    held = np.random.default_rng(0).standard_normal((50, 1))
    assert best_parzen(held, centres, held) >= parzen(held, centres, 0.1)


def test_a_stack_is_its_layers_one_after_the_other(X):
    under = stacks.Layer("kernel PCA", 1.0, 5)
    stack = stacks.Stack((under, under._replace(m=2))).fit(X)
    first = under.fit(X)
    second = under._replace(m=2).fit(first.embedding_)
    np.testing.assert_array_equal(
        stack.transform(X + 0.1), second.transform(first.transform(X + 0.1))
    )
    np.testing.assert_allclose(stack.transform(X), stack.embedding_, atol=1e-8)


@pytest.mark.parametrize("depth", stacks.DEPTHS)
@pytest.mark.parametrize("method", stacks.RANGES)
def test_every_depth_has_twelve_settings(method, depth):
    assert len(set(stacks.settings(method, depth, 2))) == 12


def test_intervals():
    found = intervals.interval([1.0, 2.0, 3.0])
    assert found.low < found.mean == 2 < found.high
    assert intervals.ratio([2.0, 4.0], [1.0, 2.0]) == pytest.approx((2, 2, 2))
    words = [intervals.verdict(intervals.Interval(*v), 0.0, "less", "more")
             for v in ((-1, -2, -0.5), (1, 0.5, 2), (0.1, -1, 1))]  # fmt: skip
    assert words == ["less", "more", "no difference"]


@pytest.mark.parametrize("name", NAMES)
def test_experiments_run_and_repeat(name, tmp_path):
    """Without a data folder, with finite results, the same each time, and small."""
    texts = []
    for turn in ("first", "second"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lab = Lab(tmp_path / turn, tmp_path / "nothing", quick=True)
            EXPERIMENTS[name](lab)
        texts.append((lab.output / f"{name}.json").read_text())
        assert (lab.output / f"{name}.png").stat().st_size > 0
        assert "nan" not in (lab.output / f"{name}.md").read_text()
    assert texts[0] == texts[1]
    assert len(texts[0]) < 60_000
    assert "NaN" not in texts[0]
    assert "Infinity" not in texts[0]
    assert json.loads(texts[0])["results"]
