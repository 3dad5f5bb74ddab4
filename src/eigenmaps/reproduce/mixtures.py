"""What Gaussian mixtures make of data and of their coordinates: likelihoods, clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from ..assignment import unit_rows
from ..clustering import SpectralClustering
from ..eigenmap import Eigenmap
from ..gram import Array, Index
from ..kernels import Isomap
from .figure1 import GAMMA, curves
from .intervals import interval
from .transformed import Chart, Grid, best_parzen

COUNTS = (1, 2, 3, 4, 6, 8, 12)
NEIGHBORS = (5, 7)
METHODS = ("Laplacian", "kernel PCA")


def rings(n: int, random_state: int) -> tuple[Array, Array, Index]:
    """Two rings, one within the other: points, where on its ring each lies, and which ring."""
    rng = np.random.default_rng(random_state)
    ring, place = np.repeat([0, 1], n), rng.random(2 * n)
    angle, radius = 2 * np.pi * place, np.where(ring == 0, 0.5, 1.3)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X + 0.06 * rng.standard_normal(X.shape), place, ring


PLANE = {"curves": curves, "rings": rings}


def mixture(Y: Array, k: int) -> GaussianMixture:
    return GaussianMixture(k, n_init=2, random_state=0).fit(Y)


def plane(name: str, n: int, gammas: tuple[float, ...], repetitions: int) -> dict[str, Any]:
    """Log-likelihoods of points held out, by the number of Gaussians."""
    rows: list[dict[str, Any]] = []
    for repetition in range(repetitions):
        X, held, new = (
            PLANE[name](size // 2, 3 * repetition + part)[0]
            for part, size in enumerate((n, n, 2000))
        )
        row: dict[str, Any] = {"Parzen": best_parzen(new, X, held)}
        plain = {k: mixture(X, k) for k in COUNTS}
        row["data"] = [m.score(new) for m in plain.values()]
        row["data, k chosen"] = max(plain.values(), key=lambda m: m.score(held)).score(new)
        grid = Grid.around(X)
        for method in METHODS:
            tried = [by_chart(Chart(X, method, g), grid, held, new) for g in gammas]
            best = [max((t[i] for t in tried), key=lambda f: f["held"]) for i in range(len(COUNTS))]
            row[method] = [f["new"] for f in best]
            row[f"{method}, bound"] = [
                max(t[i]["bound"] for t in tried) for i in range(len(COUNTS))
            ]
            for figure in ("Z", "γ"):
                row[f"{method}, {figure}"] = [f[figure] for f in best]
            row[f"{method}, k chosen"] = max(best, key=lambda f: f["held"])["new"]
        rows.append(row)
    return summed(rows, METHODS)


def summed(rows: list[dict[str, Any]], against: tuple[str, ...]) -> dict[str, Any]:
    """Intervals over repetitions, and of the differences to the data's own Gaussians."""
    for row in rows:
        for key in against:
            row[f"{key}, gains"] = np.subtract(row[key], row["data"])
            if f"{key}, k chosen" in row:
                row[f"{key}, gain"] = row[f"{key}, k chosen"] - row["data, k chosen"]
    values = {key: np.array([row[key] for row in rows]) for key in sorted(rows[0])}
    return {
        key: interval(v) if v.ndim == 1 else [interval(column) for column in v.T]
        for key, v in values.items()
    }


def by_chart(chart: Chart, grid: Grid, held: Array, new: Array) -> list[dict[str, float]]:
    """For each number of Gaussians: the likelihoods with Z, Z, and the bound without it."""
    everywhere, there, here = (chart(x) for x in (grid.points, held, new))
    found: list[dict[str, float]] = []
    for k in COUNTS:
        p = mixture(chart.embedding, k)
        Z = float(np.exp(everywhere.log_density(p)).sum() * grid.cell)
        bound = float(here.log_density(p).mean())
        score = float(there.log_density(p).mean() - np.log(Z))
        figures = {"Z": Z, "bound": bound, "γ": chart.gamma}
        found.append({"held": score, "new": float(bound - np.log(Z)), **figures})
    return found


def decoded(n: int, repetitions: int) -> dict[str, Any]:
    """A swiss roll in two coordinates: Gaussians there, brought back by ``inverse_transform`` with
    round noise around, against Gaussians in three dimensions."""
    rows: list[dict[str, Any]] = []
    for repetition in range(repetitions):
        X, held, new = (
            make_swiss_roll(size, noise=0.5, random_state=3 * repetition + part)[0]
            for part, size in enumerate((n, n, 1000))
        )
        models = [Eigenmap(Isomap(k), 2).fit(X) for k in NEIGHBORS]
        plain = [mixture(X, k).score(new) for k in COUNTS]
        brought = [max(brought_back(model, k, held, new) for model in models) for k in COUNTS]
        row = {"Parzen": best_parzen(new, X, held), "data": plain}
        rows.append({**row, "decoded": [likelihood for _, likelihood in brought]})
    return summed(rows, ("decoded",))


def brought_back(model: Eigenmap, k: int, held: Array, new: Array) -> tuple[float, float]:
    """Likelihoods of the points to choose by and to judge by."""
    centres = model.inverse_transform(mixture(model.embedding_, k).sample(2000)[0])
    return best_parzen(held, centres, held), best_parzen(new, centres, held)


def clusters(name: str, n: int, repetitions: int) -> dict[str, Any]:
    """As many Gaussians as clusters: how far each new point's agrees with its cluster, and how many
    Gaussians BIC asks for."""
    found: dict[str, list[float]] = {}
    counts: tuple[int, ...] = COUNTS
    for repetition in range(repetitions):
        if name == "digits":
            data, labels = load_digits(return_X_y=True)
            order = np.random.default_rng(repetition).permutation(len(data))
            X, new, truth = data[order[:n]], data[order[n:]], labels[order[n:]]
            k, counts = 10, (5, 10, 15, 20)
            linear = PCA(10, random_state=0).fit(X)
            before = linear.transform(X), linear.transform(new)
            model = SpectralClustering(10, random_state=0).fit(X)
        else:
            X, k = PLANE[name](n // 2, 2 * repetition)[0], 2
            new, _, truth = PLANE[name](500, 2 * repetition + 1)
            before = X, new
            model = SpectralClustering(2, affinity="rbf", gamma=GAMMA, random_state=0).fit(X)
        after = unit_rows(model.embedding_), unit_rows(model.transform(new))
        for space, (Y, Y_new) in (("before", before), ("after", after)):
            agreement = adjusted_rand_score(truth, mixture(Y, k).predict(Y_new))
            asked = min(counts, key=lambda count: mixture(Y, count).bic(Y))
            found.setdefault(f"agreement {space}", []).append(agreement)
            found.setdefault(f"Gaussians by BIC {space}", []).append(asked)
    gain = np.subtract(found["agreement after"], found["agreement before"])
    return {**{key: interval(v) for key, v in found.items()}, "gain": interval(gain)}
