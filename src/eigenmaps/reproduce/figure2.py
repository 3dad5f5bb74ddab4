"""Bengio 2004, figure 2: what new points miss, beside what exchanged training points move.

Not as in the paper: the average over many splits beside its single one, more data sets and
extensions, and a standard deviation that makes sense (see ``WIDTHS``).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_swiss_roll
from sklearn.metrics.pairwise import euclidean_distances

from .. import report
from ..clustering import SpectralClustering
from ..eigenmap import SpectralEmbedder
from ..estimators import (
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
)
from ..gram import Array
from ..selection import effective_degree
from ..stability import ALIGNMENTS, StabilityCurve, Substitution, substitutions
from .lab import Absent, Lab

PANELS = {
    "MDS": ("MDS",),
    "spectral clustering, Laplacian eigenmaps": ("Laplacian eigenmaps", "spectral clustering"),
    "Isomap": ("Isomap",),
    "LLE": ("LLE",),
}
WAYS = ("nystrom", "refit", "restricted", "barycentric", "heat", "linear")
SETS = ("faces", "ionosphere", "roll")
SIGMA = 0.01
#: divisors of the data under which the paper's σ might have been meant, on the faces
UNITS: dict[str, Callable[[Array], float]] = {
    "as they are, pixels from 0 to 1": lambda X: 1.0,
    "rows of about unit norm": lambda X: float(np.linalg.norm(X, axis=1).mean()),
    "over the largest distance": lambda X: float(euclidean_distances(X).max()),
    "root mean square over pixels": lambda X: float(np.sqrt(X.shape[1])),
    "the same, σ² = 0.01": lambda X: float(np.sqrt(X.shape[1])) / 10,
    "over the norm of the matrix": lambda X: float(np.linalg.norm(X)),
    "mean over pixels": lambda X: float(X.shape[1]),
}
CHOSEN = "over the norm of the matrix"
RHO = (0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.2, 0.25)
FEW = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.25)
SPLITS, POINTS = 10, 8  # of the averages: splits, and points x_i that each looks at
SWAPS, THEIRS = 48, 4  # the same, where R1 and R2 are one point each


def points(lab: Lab, name: str) -> tuple[Array, str]:
    """A data set, and a word on it."""
    if name != "roll":
        X, _ = lab.load(name)
        return X, f"{len(X)} points of {X.shape[1]} dimensions"
    n = 120 if lab.quick else 1000
    try:
        X, _ = lab.load(name)
    except Absent:
        return make_swiss_roll(n, random_state=0)[
            0
        ], f"{n} points of scikit-learn's make_swiss_roll"
    chosen = np.random.default_rng(0).permutation(len(X))[:n]
    return np.ascontiguousarray(X[chosen]), f"{n} of {len(X)} points"


def width(name: str, X: Array) -> float:
    """σ of the Gaussian: the paper's on the faces; else the median distance to the 10th nearest."""
    if name == "faces":
        return SIGMA * UNITS[CHOSEN](X)
    return float(np.median(np.sort(euclidean_distances(X), axis=1)[:, 10]))


def estimators(sigma: float) -> dict[str, SpectralEmbedder]:
    """Coordinates are eigenvectors of unit norm (of LLE: of unit variance): with these the axes of
    the paper's panels come out."""
    gamma, unit = 0.5 / sigma**2, "eigenvector"
    wide = gamma / 4
    return {
        "MDS": ClassicalMDS(scaling=unit),
        "spectral clustering": SpectralClustering(2, affinity="rbf", gamma=gamma, n_init=1),
        "Laplacian eigenmaps": LaplacianEigenmaps(affinity="rbf", gamma=gamma, scaling=unit),
        "Isomap": Isomap(n_neighbors=10, scaling=unit),
        "LLE": LocallyLinearEmbedding(n_neighbors=10, scaling="unit-variance"),
        "kernel PCA": KernelPCA(2, kernel="rbf", gamma=wide, scaling=unit),
    }


def ways(name: str, estimator: SpectralEmbedder) -> list[str]:
    """The extensions that serve a method; a linear map only where dimensions are few."""
    products = isinstance(estimator, ClassicalMDS | Isomap | KernelPCA)
    left_out = {"restricted"} if not products else set()
    return [way for way in WAYS if way not in left_out | ({"linear"} if name == "faces" else set())]


def measure(lab: Lab, name: str, estimator: SpectralEmbedder, X: Array) -> dict[str, Any]:
    """Curves by extension and alignment, averaged over splits; on the faces also the paper's, of
    one split and every x_i."""
    start, one, which = time.perf_counter(), 1 / len(X), ways(name, estimator)
    found: dict[str, Any] = {}
    run = partial(substitutions, estimator, X, n_jobs=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "faces" or lab.quick:
            parts = run([one, *(RHO if not lab.quick else RHO[::4])], extensions=["nystrom"])
            found["paper"] = curves(parts, ["nystrom"])
            found["seconds, paper"] = time.perf_counter() - start
        if lab.quick:
            parts = run([one, 0.05, 0.2], extensions=which, n_splits=3, n_points=3)
        else:
            parts = run([one], extensions=which, n_splits=SWAPS, n_points=THEIRS, random_state=1)
            parts += run(FEW, extensions=which, n_splits=SPLITS, n_points=POINTS, random_state=2)
    found["splits"] = curves(parts, which)
    found["seconds"] = time.perf_counter() - start
    return found


def curves(parts: Sequence[Substitution], which: Sequence[str]) -> dict[str, Any]:
    """What is kept of the measurements: numbers, by extension and alignment."""
    return {
        way: {
            alignment: kept(StabilityCurve.of(parts, place, alignment)) for alignment in ALIGNMENTS
        }
        for place, way in enumerate(which)
    }


def kept(curve: StabilityCurve) -> dict[str, Any]:
    """A curve and its crossing; None: beyond the largest fraction."""
    crossing = [float(c) if np.isfinite(c) else None for c in curve.crossing]
    return {**{k: v.tolist() for k, v in curve._asdict().items()}, "crossing": crossing}


def widths(X: Array) -> dict[str, Any]:
    """What σ = 0.01 would mean in several units, and the curves of Laplacian eigenmaps there."""
    D, found = euclidean_distances(X), {}
    for unit, divisor in UNITS.items():
        sigma = SIGMA * divisor(X)
        degree = float(np.median(effective_degree(np.exp(-(D**2) / (2 * sigma**2)))))
        found[unit] = {"sigma": sigma, "effective degree": degree}
        if degree > 1.5:
            estimator = estimators(sigma)["Laplacian eigenmaps"]
            fractions = [1 / len(X), 0.02, 0.05, 0.1, 0.25, 0.4]
            parts = substitutions(estimator, X, fractions, n_splits=6, n_points=20, n_jobs=-1)
            found[unit]["curve"] = kept(StabilityCurve.of(parts))
    return found


def run(lab: Lab) -> None:
    """Curves of every data set, method and extension; pictures; a page of the crossings."""
    sets: dict[str, tuple[Array, str]] = {}
    absent: list[str] = []
    for name in SETS[-1:] if lab.quick else SETS:
        try:
            sets[name] = points(lab, name)
        except Absent as error:
            absent.append(f"{name}: {error}")
    jobs: dict[str, Callable[[], Any]] = {}
    if "faces" in sets:
        jobs["widths"] = partial(widths, sets["faces"][0])
    for name, (X, _) in sets.items():
        for method, estimator in estimators(width(name, X)).items():
            jobs[f"{name}: {method}"] = partial(measure, lab, name, estimator, X)
    words = {name: word for name, (_, word) in sets.items()}
    settings = {
        "rho": RHO, "rho of the averages": FEW, "splits": SPLITS, "points": POINTS,
        "swaps": SWAPS, "points of swaps": THEIRS, "data": words,
    }  # fmt: skip
    found = lab.results("figure2", settings, jobs)
    first = next(iter(sets))
    lab.picture("figure2", panels(first, found))
    lab.picture("figure2_extensions", grid(list(sets), found))
    lab.page("figure2", "\n\n".join(figure2_page.sections(words, absent, found)))
