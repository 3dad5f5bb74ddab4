"""Ours beside scikit-learn's, on the same data in one process, as ratios.

Each task is run three times by both, in turn; the best counts. Writes ``benchmarks/compare.json``.
"""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn import decomposition, manifold
from sklearn.datasets import make_swiss_roll

import eigenmaps as em

N, NEW, REPEATS = 3000, 3000, 3
X, _ = make_swiss_roll(N + NEW, noise=0.01, random_state=0)
TRAIN, QUERY = X[:N], X[N:]

PAIRS = {
    "MDS": (em.ClassicalMDS(), manifold.ClassicalMDS()),
    "Isomap": (em.Isomap(n_neighbors=10), manifold.Isomap(n_neighbors=10)),
    "LLE": (
        em.LocallyLinearEmbedding(n_neighbors=10),
        manifold.LocallyLinearEmbedding(n_neighbors=10),
    ),
    "Laplacian eigenmaps": (
        em.LaplacianEigenmaps(n_neighbors=10),
        manifold.SpectralEmbedding(n_neighbors=10, eigen_solver="arpack"),
    ),
    "kernel PCA": (
        em.KernelPCA(2, kernel="rbf", gamma=0.01),
        decomposition.KernelPCA(2, kernel="rbf", gamma=0.01, eigen_solver="arpack"),
    ),
}


def best(tasks: list[Callable[[], object]]) -> list[float]:
    """The shortest of several times of each task, run in turn."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(REPEATS):
        for task, record in zip(tasks, times, strict=True):
            start = time.perf_counter()
            task()
            record.append(time.perf_counter() - start)
    return [min(record) for record in times]


def main() -> None:
    warnings.simplefilter("ignore")
    results = []
    print(f"swiss roll, {N} training points, {NEW} new points; seconds, best of {REPEATS}\n")
    print(f"{'task':32}{'ours':>10}{'scikit-learn':>14}{'ratio':>8}")
    for name, (ours, theirs) in PAIRS.items():
        tasks = {"fit": [lambda m=m: m.fit(TRAIN) for m in (ours, theirs)]}
        if hasattr(theirs, "transform"):
            tasks["transform"] = [lambda m=m: m.transform(QUERY) for m in (ours, theirs)]
        for verb, pair in tasks.items():
            mine, other = best(pair)
            row = {"task": f"{name} {verb}", "ours": mine, "scikit-learn": other}
            results.append(row | {"ratio": other / mine})
            print(f"{row['task']:32}{mine:10.4f}{other:14.4f}{other / mine:8.1f}")
    versions = {m.__name__: m.__version__ for m in (em, np, scipy, sklearn)}
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    report = {"machine": machine, "versions": versions, "results": results}
    Path(__file__).with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
