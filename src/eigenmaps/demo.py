"""The six methods on handwritten digits: fitted on one half, tried on the other."""

from __future__ import annotations

import importlib.util
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from . import metrics
from .estimators import (
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
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
HINT = "Pictures need matplotlib: pip install 'eigenmaps[report]'"
HEAD = """\
                                      new     a refit moves    trust-
method                  dims   fit   point     new   fitted  worthiness   10-NN
                              [ms]    [µs]  points   points              accuracy"""
ROW = "{:<24}{:>4}{:>6.0f}{:>8.1f}{:>8.1%}{:>9.1%}{:>12.3f}{:>10.1%}"


class Digits(NamedTuple):
    """One half of the images, their pixels as rows, and what they show."""

    X: Array
    labels: Index
    images: Array


class Trial(NamedTuple):
    """A fitted method, where it puts new points, and how good that is."""

    model: Any
    Y_new: Array
    fit_seconds: float
    transform_seconds: float
    refit_new: float
    refit_fitted: float
    trustworthiness: float
    accuracy: float

    @property
    def name(self) -> str:
        return type(self.model).__name__


def run(output: Path | None) -> None:
    """Print the table; draw the pictures into a folder unless it is None."""
    old, new = halves()
    print(
        f"Handwritten digits. Each method is fitted on {len(old.X)} images and places {len(new.X)} "
        f"new ones\nby transform, each on its own.\n\n{HEAD}"
    )
    trials = []
    for method in METHODS:
        trials.append(trial(method, old, new))
        print(row(trials[-1]), flush=True)
    print(f"\n{notes(trials, old, new)}")
    if output is None:
        return
    if importlib.util.find_spec("matplotlib") is None:
        print(f"\n{HINT}")
        return
    output.mkdir(parents=True, exist_ok=True)
    paths = list(draw(trials, old, new, output))
    print(f"\n{len(paths)} pictures in {output}{'/'}: {paths[0].name} shows all methods.")


def halves() -> tuple[Digits, Digits]:
    """The digits in two random halves, always the same."""
    data = load_digits()
    parts = train_test_split(data.data, data.target, data.images, test_size=0.5, random_state=0)
    return Digits(*parts[::2]), Digits(*parts[1::2])


def trial(method: Any, old: Digits, new: Digits) -> Trial:
    """Fit, transform, refit, and compare."""
    n = len(old.X)
    refit = clone(method).fit(np.vstack([old.X, new.X]))
    refit.transform(new.X[:1])  # what is compiled or loaded at the first call is so by now
    model, fit_seconds = fastest(lambda: clone(method).fit(old.X))
    Y_new, transform_seconds = fastest(lambda: model.transform(new.X))
    Y = model.embedding_
    aligned = metrics.align(refit.embedding_, Y, scale=True)
    return Trial(
        model,
        Y_new,
        fit_seconds,
        transform_seconds,
        metrics.relative_difference(Y_new, aligned[n:]),
        metrics.relative_difference(Y, aligned[:n]),
        metrics.trustworthiness(old.X, Y, new.X, Y_new),
        metrics.knn_accuracy(Y, old.labels, Y_new, new.labels),
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
        trial.refit_fitted,
        trial.trustworthiness,
        trial.accuracy,
    )


def notes(trials: list[Trial], old: Digits, new: Digits) -> str:
    """What the numbers beneath the table's head mean."""
    clustering = next(t.model for t in trials if isinstance(t.model, SpectralClustering))
    agreement = adjusted_rand_score(new.labels, clustering.predict(new.X))
    settings = ", ".join(repr(t.model) for t in trials)
    return "\n".join(
        textwrap.fill(" ".join(part.split()), 80)
        for part in (
            f"""SpectralClustering.predict puts the new images into 10 clusters; their adjusted
            Rand index with the digits is {agreement:.3f} (1: the same groups, 0: chance).""",
            ...,
        )
    )
