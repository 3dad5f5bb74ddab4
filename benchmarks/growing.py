"""partial_fit against a fit on all points: 1,000 digits grow to 2,000 in batches of 50.

MNIST where the folder EIGENMAPS_DATA has it, or else scikit-learn's 1,797 smaller digits.
Distances are sines of the largest angle between embeddings of all points; "halves" is the distance
between two fits on random halves, each extended to all points.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits

import eigenmaps as em
from eigenmaps import metrics
from eigenmaps.selection import local_gamma

START, BATCH, RUNS = 1000, 50, 3
HEAD = "{:<16}{:>12}{:>10}{:>8}{:>14}{:>14}{:>8}".format(
    "method", "to full fit", "halves", "ratio", "ms a batch", "ms a refit", "ratio"
)
ROW = "{:<16}{:>12.1e}{:>10.1e}{:>8.3f}{:>14.1f}{:>14.1f}{:>8.1f}"


def digits() -> np.ndarray:
    """Images in rows, in random order."""
    file = Path(os.environ.get("EIGENMAPS_DATA", "absent")) / "mnist.npz"
    X = np.load(file)["X"][:2000] / 255 if file.exists() else load_digits().data
    return X[np.random.default_rng(0).permutation(len(X))]


def methods(gamma: float) -> dict[str, object]:
    """One of each way to grow."""
    return {
        "mds": em.ClassicalMDS(),
        "kernel pca": em.KernelPCA(2, kernel="rbf", gamma=gamma),
        "laplacian rbf": em.LaplacianEigenmaps(affinity="rbf", gamma=gamma),
        "laplacian graph": em.LaplacianEigenmaps(),
        "self-tuning": em.LaplacianEigenmaps(affinity="self_tuning"),
        "clustering": em.SpectralClustering(10, n_init=1, random_state=0),
        "isomap": em.Isomap(n_neighbors=10),
        "lle": em.LocallyLinearEmbedding(n_neighbors=10),
    }


def main() -> None:
    """Print the table."""
    X = digits()
    n = len(X)
    stops = range(START + BATCH, n + 1, BATCH)
    halves = np.array_split(np.random.default_rng(1).permutation(n), 2)
    print(f"{START} to {stops[-1]} points of {X.shape[1]} numbers, {BATCH} at a time")
    print(f"\n{HEAD}")
    for name, method in methods(local_gamma(X, 10)).items():
        full = clone(method).fit(X[: stops[-1]])
        a, b = (clone(method).fit(X[half]).transform(X) for half in halves)
        growing, refitting = [], []
        for _ in range(RUNS):
            model = clone(method).partial_fit(X[:START])
            start = time.perf_counter()
            for stop in stops:
                model.partial_fit(X[stop - BATCH : stop])
            growing.append(time.perf_counter() - start)
            start = time.perf_counter()
            for stop in stops:
                clone(method).fit(X[:stop])
            refitting.append(time.perf_counter() - start)
        far = np.sin(metrics.subspace_angle(model.embedding_, full.embedding_))
        apart = np.sin(metrics.subspace_angle(a, b))
        each = 1e3 * min(growing) / len(stops), 1e3 * min(refitting) / len(stops)
        print(ROW.format(name, far, apart, far / apart, *each, each[1] / each[0]), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
