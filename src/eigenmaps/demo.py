"""``eigenmaps demo``: six methods are fitted on half of the digits and tried on the other half."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from . import metrics, report
from .assignment import unit_rows
from .clustering import SpectralClustering
from .estimators import (
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
)
from .gram import Array, Index

METHODS = (
    ClassicalMDS(),
    Isomap(n_neighbors=15),
    LocallyLinearEmbedding(n_neighbors=40, reg=0.1),
    LaplacianEigenmaps(affinity="rbf", gamma=0.004),
    SpectralClustering(n_clusters=10, random_state=0),
    KernelPCA(2, kernel="rbf", gamma=0.001),
)
HEAD = """\
                                     per new   refit differs     trust-    10-NN
method                  dims     fit   point   of new  of old    worthy  correct"""
ROW = "{:<22}{:>6}{:>5.0f} ms{:>5.0f} µs{:>9.1%}{:>8.1%}{:>10.3f}{:>9.1%}"
NOTES = """\
dims           coordinates; what stands to the right is measured in these
per new point  {new} images in one transform; like fit, the fastest of 3 runs
refit differs  from coordinates of a fit on all {both} images, root mean square,
               relative to their spread: those by transform of new images; to
               compare, those by fit of old ones, which a refit moves as well
trustworthy    1: the nearest old images of new ones are nearest in pixels too
10-NN correct  new images with the digit of most of their 10 nearest old ones"""


class Half(NamedTuple):
    """Half of the images: pixels in rows, the digit each shows, and as squares."""

    X: Array
    digits: Index
    images: Array


class Trial(NamedTuple):
    """A fitted method, where it puts new points, and how good that is."""

    model: Any
    Y_new: Array
    fit_seconds: float
    transform_seconds: float
    refit_new: float
    refit_old: float
    trustworthiness: float
    accuracy: float

    @property
    def name(self) -> str:
        return type(self.model).__name__


def run(output: Path | None) -> None:
    """Print the table; draw the pictures into a folder, unless it is None."""
    drawable = importlib.util.find_spec("matplotlib") is not None
    if output is not None and drawable:
        output.mkdir(parents=True, exist_ok=True)
    old, new = halves()
    n, m = len(old.X), len(new.X)
    print(
        f"Handwritten digits: each method is fitted on {n} images and then places {m}\n"
        f"new ones by transform, each on its own and without a refit.\n\n{HEAD}"
    )
    trials = []
    for method in METHODS:
        trials.append(trial(method, old, new))
        print(row(trials[-1]), flush=True)
    print(f"\n{clustering(trials, new)}\n\n{NOTES.format(new=m, both=n + m)}\n")
    print("As set here:", *(f"  {t.model!r}" for t in trials), sep="\n")
    if output is None:
        return
    if drawable:
        draw(trials, old, new, output)
        print(f"\nPictures: {output / 'overview.png'}, and one of each method beside it.")
    else:
        print("\nFor pictures of this: pip install 'eigenmaps[report]'")


def halves() -> tuple[Half, Half]:
    """The digits in two random halves, the same every time."""
    data = load_digits()
    parts = train_test_split(data.data, data.target, data.images, test_size=0.5, random_state=0)
    return Half(*parts[::2]), Half(*parts[1::2])


def trial(method: Any, old: Half, new: Half) -> Trial:
    """Fit, transform, refit, compare."""
    refit = clone(method).fit(np.vstack([old.X, new.X]))
    refit.transform(new.X[:1])  # whatever is compiled at its first call is so before the clock runs
    model, fit_seconds = fastest(lambda: clone(method).fit(old.X))
    Y_new, transform_seconds = fastest(lambda: model.transform(new.X))
    Y = model.embedding_
    aligned = metrics.align(refit.embedding_, Y, scale=True)
    return Trial(
        model,
        Y_new,
        fit_seconds,
        transform_seconds,
        metrics.relative_difference(Y_new, aligned[len(Y) :]),
        metrics.relative_difference(Y, aligned[: len(Y)]),
        metrics.trustworthiness(old.X, Y, new.X, Y_new),
        metrics.knn_accuracy(Y, old.digits, Y_new, new.digits),
    )


def fastest(task: Callable[[], Any], runs: int = 3) -> tuple[Any, float]:
    """What a task returns, and the seconds of its fastest run."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def row(trial: Trial) -> str:
    """A line of the table."""
    m, dims = trial.Y_new.shape
    return ROW.format(
        trial.name,
        dims,
        1e3 * trial.fit_seconds,
        1e6 * trial.transform_seconds / m,
        trial.refit_new,
        trial.refit_old,
        trial.trustworthiness,
        trial.accuracy,
    )


def clustering(trials: list[Trial], new: Half) -> str:
    """How well the clusters predicted for new images agree with what they show."""
    model = next(t.model for t in trials if isinstance(t.model, SpectralClustering))
    agreement = adjusted_rand_score(new.digits, model.predict(new.X))
    return (
        f"SpectralClustering.predict on the new images: adjusted Rand index {agreement:.3f} with\n"
        "the digits, which it never saw (1: the same groups, 0: chance)."
    )


def draw(trials: list[Trial], old: Half, new: Half, folder: Path) -> None:
    """One picture of each method, and one of all."""
    overview = report.sheet(17, 13.2)
    strong_and_pale = f"{len(new.X)} new images (strong) among the {len(old.X)} of the fit (pale)"
    overview.suptitle(strong_and_pale, color=report.INK, fontsize=17)
    for t, panel in zip(trials, overview.subplots(2, 3).flat, strict=True):
        single = report.sheet(8, 9)
        single.suptitle(strong_and_pale, color=report.INK, fontsize=11)
        note = f"trustworthiness {t.trustworthiness:.3f}"
        if isinstance(t.model, SpectralClustering):
            note += f" in {t.Y_new.shape[1]} coordinates; here every corner is a cluster"
        for ax in (panel, single.subplots()):
            report.embedding(ax, *plane(t), old.digits, new.digits, new.images)
            report.title(ax, t.name, note)
        report.legend(single, old.digits)
        single.savefig(folder / f"{t.name}.png", dpi=120)
    report.legend(overview, old.digits)
    overview.savefig(folder / "overview.png", dpi=110)


def plane(trial: Trial) -> tuple[Array, Array]:
    """Where to draw old and new points: at their two coordinates or, of clusters, among corners.

    Each cluster is then a corner of a regular polygon, and a point is drawn at the mean of the
    corners, weighted by the cosines between its coordinates and the clusters' centres.
    """
    model = trial.model
    if not isinstance(model, SpectralClustering):
        return model.embedding_, trial.Y_new
    U, U_new = unit_rows(model.embedding_), unit_rows(trial.Y_new)
    k = model.n_clusters
    centres = unit_rows(np.array([U[model.labels_ == c].mean(axis=0) for c in range(k)]))
    shares, shares_new = (np.maximum(A @ centres.T, 0) for A in (U, U_new))
    # Clusters that have points in common become neighbours on the ring.
    ring = LaplacianEigenmaps(affinity="precomputed").fit_transform(shares.T @ shares)
    angles = 2 * np.pi / k * np.arctan2(*ring.T).argsort().argsort()
    corners = np.column_stack([np.sin(angles), np.cos(angles)])
    Y, Y_new = (A / A.sum(axis=1, keepdims=True) @ corners for A in (shares, shares_new))
    return Y, Y_new
