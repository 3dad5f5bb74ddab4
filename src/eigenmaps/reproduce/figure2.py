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
from ..embedder import SpectralEmbedder
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
    "the same, σ² = 0.01": lambda X: 10 * float(np.sqrt(X.shape[1])),
    "over the norm of the matrix": lambda X: float(np.linalg.norm(X)),
    "mean over pixels": lambda X: float(X.shape[1]),
}
CHOSEN = "over the norm of the matrix"
RHO = (0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.2, 0.25)
FEW = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.25)
SPLITS, POINTS = 20, 4  # of the averages: splits, and points x_i that each looks at
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
        X, _ = make_swiss_roll(n, random_state=0)
        return X, f"{n} points of scikit-learn's make_swiss_roll, as the file is not at hand"
    chosen = np.random.default_rng(0).permutation(len(X))[:n]
    return np.ascontiguousarray(X[chosen]), f"{n} of {len(X)} points"


def width(name: str, X: Array) -> float:
    """σ of the Gaussian: the paper's on the faces; else the median distance to the 10th nearest."""
    if name == "faces":
        return SIGMA * UNITS[CHOSEN](X)
    return float(np.median(np.sort(euclidean_distances(X), axis=1)[:, 10]))


def estimators(sigma: float) -> dict[str, SpectralEmbedder]:
    """Coordinates are eigenvectors of unit norm (of LLE: of unit variance): with these the sizes in
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


def measure(
    lab: Lab, name: str, estimator: SpectralEmbedder, X: Array, single: bool
) -> dict[str, Any]:
    """Curves by extension and alignment, averaged over splits; also the paper's of a single split
    and every x_i, of the first data set."""
    start, one, which = time.perf_counter(), 1 / len(X), ways(name, estimator)
    found: dict[str, Any] = {}
    run = partial(substitutions, estimator, X, n_jobs=None if lab.quick else -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if single:
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
    """A curve and its crossing, to six digits; None: beyond the largest fraction."""
    numbers = {**curve._asdict(), "crossing": curve.crossing}
    return {
        key: [float(f"{v:.6g}") if np.isfinite(v) else None for v in values]
        for key, values in numbers.items()
    }


def widths(X: Array) -> dict[str, Any]:
    """What σ = 0.01 would mean in several units, and the curves of Laplacian eigenmaps there."""
    D = euclidean_distances(X)
    found: dict[str, dict[str, Any]] = {}
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
    first = next(iter(sets))
    for name, (X, _) in sets.items():
        for method, estimator in estimators(width(name, X)).items():
            jobs[f"{name}: {method}"] = partial(measure, lab, name, estimator, X, name == first)
    words = {name: word for name, (_, word) in sets.items()}
    settings = {
        "rho": RHO, "rho of the averages": FEW, "splits": SPLITS, "points": POINTS,
        "swaps": SWAPS, "points of swaps": THEIRS, "data": words, "unit of the faces": CHOSEN,
    }  # fmt: skip
    found = lab.results("figure2", settings, jobs)
    lab.picture("figure2", panels(first, found))
    lab.picture("figure2_extensions", grid(list(sets), found))
    lab.page("figure2", page(words, absent, found))


def panels(name: str, found: dict[str, Any]) -> Any:
    """δ against ρ, as in the paper: one split, and the average over splits as a band."""
    sheet = report.sheet(12, 9)
    for ax, (title, methods) in zip(sheet.subplots(2, 2).flat, PANELS.items(), strict=True):
        results = [found[f"{name}: {method}"] for method in methods]
        ones = [result["paper"]["nystrom"]["signs"] for result in results]
        means = [result["splits"]["nystrom"]["signs"] for result in results]
        power = int(np.floor(np.log10(max(np.abs(one["difference"]).max() for one in ones))))
        colours = report.PALETTE[: 2 * len(methods) : 2]
        for method, one, colour in zip(methods, ones, colours, strict=True):
            ax.errorbar(
                *in_units(one, power), color=colour, lw=1.5, marker="o", ms=4, capsize=3,
                label=method if len(methods) > 1 else "one split, every point",
            )  # fmt: skip
        low, high = ax.get_ylim()
        for mean, colour in zip(means, colours, strict=True):
            rho, delta, half = in_units(mean, power)
            label = "average of splits" if len(methods) == 1 else None
            ax.plot(rho, delta, color=colour, lw=1.5, ls=":", label=label)
            ax.fill_between(rho, delta - half, delta + half, color=colour, alpha=0.12, lw=0)
        ax.set_ylim(low, low + 1.25 * (high - low))
        ax.axhline(0, color=report.FAINT, lw=0.8)
        ax.set(xlabel="ρ, training points exchanged, %", ylabel=f"δ, in units of $10^{{{power}}}$")
        ax.legend(frameon=False, labelcolor=report.INK, loc="upper left")
        crossings = [f"{percent(one)[0]} (splits: {percent(mean)[0]})"
                     for one, mean in zip(ones, means, strict=True)]  # fmt: skip
        report.title(ax, title, "ρ* " + ", ".join(crossings))
    return sheet


def in_units(curve: dict[str, Any], power: int) -> tuple[Array, Array, Array]:
    """ρ in percent, δ and its interval in units of a power of ten."""
    rho, delta, half = (np.array(curve[key]) for key in ("fractions", "difference", "half_width"))
    return 100 * rho, delta / 10.0**power, half / 10.0**power


def grid(names: Sequence[str], found: dict[str, Any]) -> Any:
    """Variability, and the errors of each extension: where they cross is ρ*."""
    methods = list(estimators(1.0))
    sheet = report.sheet(4 * len(methods), 4 * len(names) + 1)
    axes = sheet.subplots(len(names), len(methods), squeeze=False)
    for name, row in zip(names, axes, strict=True):
        for method, ax in zip(methods, row, strict=True):
            for way, by_alignment in found[f"{name}: {method}"]["splits"].items():
                colour = report.PALETTE[WAYS.index(way)]
                for style, curve in zip(("--", "-"), by_alignment.values(), strict=True):
                    ax.plot(curve["fractions"], curve["error"], color=colour, ls=style, lw=1.5)
            ax.plot(curve["fractions"], curve["variability"], color="black", lw=2.5)
            ax.set(xscale="log", yscale="log", xlabel="ρ")
            report.title(ax, method, f"{name}; dashed: signs only" if ax is row[0] else name)
    report.lines(sheet, {"variability": "black", **dict(zip(WAYS, report.PALETTE, strict=False))})
    return sheet


def percent(curve: dict[str, Any]) -> tuple[str, str]:
    """ρ*, and its interval, in percent."""

    def one(value: float | None) -> str:
        if value is None:
            return f"> {100 * curve['fractions'][-1]:.0f}"
        return f"≤ {100 * curve['fractions'][0]:.2f}" if value == 0 else f"{100 * value:.2g}"

    at, low, high = map(one, curve["crossing"])
    return f"{at} %", f"{at} % ({low} to {high})"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(words: dict[str, str], absent: Sequence[str], found: dict[str, Any]) -> str:
    """The crossings as tables, and what they are of."""
    own = {key: value for key, value in found.items() if key != "widths"}
    parts = [
        "# Figure 2: what new points miss, beside what exchanged training points move",
        "Bengio et al. (2004) §6. ρ* is the share of training points whose exchange moves the "
        "others by as much as the coordinates of a new point miss. Coordinates are eigenvectors "
        "of unit norm, of LLE of unit variance: with these the sizes in the paper's panels come "
        "out, to a factor of about two. Intervals are 95 %: of points, for one split; of splits "
        "(Student's t) for averages.",
        *(f"- {name}: {word}" for name, word in words.items()),
        *(f"- not at hand: {word}" for word in absent),
    ]
    singles = [
        [key, percent(value["paper"]["nystrom"]["signs"])[1],
         *(percent(value["splits"]["nystrom"][alignment])[1] for alignment in ALIGNMENTS)]
        for key, value in own.items() if "paper" in value
    ]  # fmt: skip
    head = ["", "one split, every x_i", "average of splits", "the same, rotated"]
    parts += [
        "## ρ* of Nyström, as in the paper",
        "![δ against the share of exchanged points](figure2.png)",
        "Lines are of one split, with intervals over points, as in the paper; dotted lines and "
        "bands are averages over splits.",
        table(head, singles),
        "![Variability, and the error of every extension](figure2_extensions.png)",
    ]
    for alignment, words_on in (
        (
            "signs",
            "coordinates of the fit without x_i as they are, but for signs (as in the paper)",
        ),
        ("rotation", "turned such that the other points lie as near as can be"),
    ):
        rows = [
            [key, *(percent(value["splits"][way][alignment])[1] if way in value["splits"] else "–"
                    for way in WAYS)]
            for key, value in own.items()
        ]  # fmt: skip
        parts += [f"## ρ* by extension, averages of splits: {words_on}", table(["", *WAYS], rows)]
    rows = []
    for key, value in own.items():
        refit = value["splits"]["refit"]
        cells = [f"{refit['signs']['variability'][0]:.2g}"]
        for alignment in ALIGNMENTS:
            curve = refit[alignment]
            delta, half = curve["difference"][0], curve["half_width"][0]
            verdict = "above 0" if delta > half else "below 0" if delta < -half else "open"
            cells += [f"{curve['error'][0]:.2g}", f"{delta:.2g} ± {half:.2g}, {verdict}"]
        rows.append([key, *cells])
    parts += [
        "## Refit against the exchange of a single point",
        table(
            ["", "variability", "error, signs", "δ, signs", "error, rotated", "δ, rotated"], rows
        ),
        f"From {SWAPS} exchanges of one point for another, {THEIRS} points left out in each. Where "
        "rotation takes most of the error away, it was that of the frame, which turns when x_i "
        "leaves; the variability is free of it by its regression. Of Isomap a point that joins "
        "changes the graph between others, which no extension follows. What Nyström misses with a "
        "Gaussian is not the frame, as rotation leaves it, but the similarity of x to itself, as "
        "refit takes it away: a new point is shrunk by about κ̃/ℓ, and the narrower the kernel, the "
        "more.",
    ]
    if "widths" in found:
        parts += ["## σ = 0.01 on the faces", *width_section(found["widths"])]
    return "\n\n".join(parts)


def width_section(found: dict[str, Any]) -> list[str]:
    """In which units the paper's σ makes sense, and where the curve of its panel comes out."""
    rows: list[list[str]] = []
    rho = next(value["curve"]["fractions"] for value in found.values() if "curve" in value)
    for unit, value in found.items():
        cells = [unit, f"{value['sigma']:.3g}", f"{value['effective degree']:.4g}"]
        if "curve" in value:
            curve = value["curve"]
            cells += [f"{1e4 * d:.2g}" for d in curve["difference"]] + [percent(curve)[1]]
        else:
            cells += ["–"] * (len(rho) + 1)
        rows.append(cells)
    head = ["data", "σ in pixels' units", "effective degree",
            *(f"δ·10⁴ at {100 * r:.2g} %" for r in rho), "ρ*"]  # fmt: skip
    return [
        "In the units of the images every point sees itself alone. The effective degree is the "
        "number of points that half of the points see; below 1.5 there is no embedding. The "
        "paper's panel has δ from above −5·10⁻⁴ to below 20·10⁻⁴, ρ up to 0.4. Several units come "
        "near that, and the paper does not say which it used; ρ* is of the same order in all. In "
        f"use, as a scaling that needs no thought, though it depends on n: *{CHOSEN}*.",
        table(head, rows),
    ]
