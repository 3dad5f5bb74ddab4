"""Barycentric weights that fade out: the map is smooth, and loses no accuracy by it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import RBFInterpolator
from scipy.optimize import brentq, minimize
from sklearn.datasets import make_swiss_roll

import eigenmaps as em
from eigenmaps import extensions
from eigenmaps.barycenter import bandwidth, faded, new_rows
from eigenmaps.extensions import Barycentric
from eigenmaps.neighbors import Neighbors

ROLL, _ = make_swiss_roll(300, random_state=0)
WAYS = {"smooth": Barycentric(), "hard": Barycentric(smooth=False)}


def sheet(t, height):
    """Intrinsic coordinates of the roll: arc length and height."""
    return np.column_stack([0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)), height])


def path(seed, steps=12_000, legs=4):
    """A walk on the roll between points that are not in the data."""
    rng = np.random.default_rng(seed)
    t, height = 1.5 * np.pi * rng.uniform(1.2, 2.8, legs + 1), rng.uniform(2, 19, legs + 1)
    at = np.linspace(0, legs, steps + 1)
    t, height = (np.interp(at, range(legs + 1), part) for part in (t, height))
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), sheet(t, height)


def jumps_and_errors(estimator, seed):
    """For each way: the largest jump in true steps, and the root mean square distance to the true
    curve, which is the embedding interpolated in intrinsic coordinates."""
    X, t = make_swiss_roll(1000, random_state=seed)
    Q, along = path(seed + 50)
    model = estimator.fit(X)
    true = RBFInterpolator(sheet(t, X[:, 1]), model.embedding_, neighbors=30)(along[::10])
    step = np.linalg.norm(np.diff(true, axis=0), axis=1).max() / 10
    found = {}
    for name, way in WAYS.items():
        Y = model.with_extension(way).transform(Q)
        jump = np.linalg.norm(np.diff(Y, axis=0), axis=1).max()
        found[name] = jump / step, np.sqrt(((Y[::10] - true) ** 2).sum(axis=1).mean())
        print(f"{type(model).__name__} {seed} {name}: jump {found[name][0]:.2f} true steps, "
              f"error {found[name][1]:.3g}")  # fmt: skip
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("method", [em.Isomap, em.LocallyLinearEmbedding])
def test_along_a_path_no_jumps_and_no_larger_errors(method, seed):
    found = jumps_and_errors(method(n_neighbors=10), seed)
    assert found["smooth"][0] <= 1.5
    assert found["hard"][0] > 3
    assert found["smooth"][1] <= 1.3 * found["hard"][1]


@pytest.mark.parametrize("name", WAYS)
def test_two_derivatives_along_a_line(name):
    """Second differences of a C² function tend to its second derivative, a continuous function:
    of half the step, their largest change is half as large. Through a training point too."""
    model = em.Isomap(n_neighbors=8, extension=WAYS[name]).fit(ROLL)
    a, b = ROLL[10], ROLL[np.argsort(((ROLL - ROLL[10]) ** 2).sum(axis=1))[4]]
    index = Neighbors().fit(ROLL).of(a + np.linspace(-1, 2, 200)[:, None] * (b - a), 10)[1]
    assert len({frozenset(row) for row in index}) > 5

    def change(steps):
        s = np.linspace(-1, 2, steps + 1)
        second = np.diff(model.transform(a + s[:, None] * (b - a)), 2, axis=0) * steps**2
        return np.abs(np.diff(second, axis=0)).max()

    coarse, fine = change(4000), change(8000)
    assert fine < 0.6 * coarse if name == "smooth" else fine > 2 * coarse


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_weights_minimise_what_they_claim(metric):
    """``wᵀGw + ε Σ (d_i w_i/φ_i)²``, Σ w = 1, by a general minimiser, and h by Brent's method."""
    X, x = ROLL[:200], ROLL[200]
    k, reg = 6, 1e-3
    d = np.linalg.norm(X - x, axis=1)

    def phi(h):
        return np.maximum(1 - (d / h) ** 2, 0) ** 3

    h = brentq(lambda h: phi(h).sum() - 0.75 * (k + 1), d.min(), 10 * d.max())
    near = np.flatnonzero(phi(h) > 1e-6)
    Z, ridge = x - X[near], k * reg * (d[near] / phi(h)[near]) ** 2
    best = minimize(
        lambda w: ((w @ Z) ** 2).sum() + ridge @ w**2,
        np.full(len(near), 1 / len(near)),
        jac=lambda w: 2 * (Z @ (Z.T @ w) + ridge * w),
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    if metric == "precomputed":
        D = np.linalg.norm(X[:, None] - X, axis=2)
        row = new_rows(Neighbors(metric).fit(D), d[None], k, reg, smooth=True)
    else:
        row = new_rows(Neighbors().fit(X), x[None], k, reg, smooth=True)
    assert_allclose(row.toarray()[0, near], best.x, atol=1e-5)
    assert row.sum() == pytest.approx(1)


def test_the_bandwidth_counts_as_many_points_as_asked():
    rng = np.random.default_rng(0)
    distances = np.sort(rng.gamma(0.5, size=(200, 40)), axis=1)
    distances[:20, :3] = 0
    for total in (1, 3.5, 20.5):
        s = bandwidth(distances, total)
        crowded = (distances == 0).sum(axis=1) >= total
        assert np.isinf(s[crowded]).all()
        assert_allclose(faded(distances, s)[~crowded].sum(axis=1), total, rtol=1e-12)


@pytest.mark.parametrize(("scale", "most"), [(0.5, 400), (50, 500)])
def test_many_points_at_almost_one_distance(scale, most):
    """In many dimensions, or far off: at most 500 neighbours, and a continuous map still."""
    X = np.random.default_rng(0).normal(size=(800, 20))
    s = np.linspace(0, 1, 401)[:, None]
    W = new_rows(Neighbors().fit(X), scale * (X[0] + s * (X[1] - X[0])), 10, 1e-3, smooth=True)
    assert most - 200 < (W.toarray() != 0).sum(axis=1).max() <= most
    steps = [np.abs(np.diff((W @ X[:, :2])[::every], axis=0)).max() for every in (2, 1)]
    assert steps[1] < 0.7 * steps[0]


@pytest.mark.parametrize("k", [1, 2, 3, 10, 300])
def test_few_neighbours_copies_and_far_points(k):
    X = np.vstack([ROLL[:60], np.repeat(ROLL[60:62], [2, 7], axis=0)])
    near = Neighbors().fit(X)
    Q = np.vstack([X, X + 1e-9, 1e8 * X[:3], ROLL[100:110]])
    W = new_rows(near, Q, k, 1e-3, smooth=True).toarray()
    assert np.isfinite(W).all()
    assert_allclose(W.sum(axis=1), 1)
    # On a training point its weight is 1; copies share it.
    same = (X[:, None] == X).all(axis=2)
    assert_allclose(W[:69], same / same.sum(axis=1), atol=1e-12)
    assert_allclose(W[69:138], W[:69], atol=1e-6)


def test_numbers_that_mean_nothing():
    X = make_swiss_roll(60, random_state=0)[0]
    with pytest.raises(ValueError, match="n_neighbors=2.5 of Barycentric must be a whole number"):
        em.ClassicalMDS(extension=extensions.Barycentric(2.5)).fit(X)
    with pytest.raises(ValueError, match="reg=0 must be positive"):
        em.ClassicalMDS(extension=extensions.Barycentric(reg=0)).fit(X)
