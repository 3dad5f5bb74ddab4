"""How far every way to new points is from a true refit, for every method and data set, and how long
a point takes. Writes the tables of ``docs/new_points.md`` and its picture.

For each of 200 points left out the model is fitted again with it, on n + 1 points and with the same
bandwidth, and turned so that the old points lie as they did. The error is the root mean square
distance to these coordinates, relative to their spread. Isomap's faces and Ionosphere are read from
the folder EIGENMAPS_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_swiss_roll

import eigenmaps as em
from eigenmaps import extensions, kernels, metrics
from eigenmaps.selection import local_gamma, mean_squared_distance

FOLDER = Path(os.environ.get("EIGENMAPS_DATA", "absent"))
PAGE = Path(__file__).parent.parent / "docs" / "new_points.md"
RESULTS = Path(__file__).with_suffix(".json")
Points = np.ndarray[Any, np.dtype[np.float64]]

DATA: dict[str, Callable[[], Points]] = {
    "swiss roll": lambda: make_swiss_roll(1000, noise=0.05, random_state=0)[0],
    "digits": lambda: load_digits().data,
    "faces": lambda: np.load(FOLDER / "isomap_faces_32.npz")["X"],
    "Ionosphere": lambda: np.load(FOLDER / "ionosphere.npz")["X"],
}
METHODS: dict[str, Callable[[float, float], tuple[kernels.Kernel, int]]] = {
    "MDS": lambda near, wide: (kernels.MDS(), 2),
    "Isomap": lambda near, wide: (kernels.Isomap(10), 2),
    "LLE": lambda near, wide: (kernels.LLE(10), 2),
    "Laplacian, Gaussian": lambda near, wide: (kernels.Laplacian(kernels.Gaussian(near)), 2),
    "Laplacian, graph": lambda near, wide: (
        kernels.Laplacian(kernels.NeighborGraph(10, "heat", gamma=near)),
        2,
    ),
    "clustering, Gaussian": lambda near, wide: (
        kernels.Laplacian(kernels.Gaussian(near), drop_first=False),
        6,
    ),
    "clustering, graph": lambda near, wide: (
        kernels.Laplacian(kernels.NeighborGraph(10, "heat", gamma=near), drop_first=False),
        6,
    ),
    "kernel PCA": lambda near, wide: (kernels.KernelPCA("rbf", gamma=wide), 2),
}
WAYS: dict[str, extensions.Extension] = {
    "nystrom": extensions.Nystrom(),
    "refit": extensions.Refit(),
    "refine=3": extensions.Refit(refine=3),
    "restricted": extensions.Restricted(),
    "barycentric": extensions.Barycentric(),
    "hard": extensions.Barycentric(smooth=False),
    "sparse": extensions.Sparse(),
    "heat": extensions.Heat(),
    "linear": extensions.Regression(),
    "network": extensions.Regression(extensions.RBFNetwork()),
}
NOTHING = "–"


def measured(name: str, points: Points, held_out: int) -> list[dict[str, Any]]:
    """A row for each method and way."""
    points = points[np.random.default_rng(0).permutation(len(points))[:1000]]
    X, new = points[:-held_out], points[-held_out:]
    rows = []
    for method, chosen in METHODS.items():
        kernel, m = chosen(local_gamma(X, 10), 2 / mean_squared_distance(X))
        model = em.Eigenmap(kernel, m).fit(X)
        true = metrics.refitted(model, X, new)
        print(f"{name:<12}{method:<22}", end="", flush=True)
        for way, extension in WAYS.items():
            try:
                extended = model.with_extension(extension)
            except ValueError:  # this way is not for this method
                continue
            extended.transform(new[:2])
            start = time.perf_counter()
            Y = extended.transform(new)
            seconds = (time.perf_counter() - start) / len(new)
            row = {
                "data": name,
                "n": len(X),
                "method": method,
                "way": way,
                "microseconds": 1e6 * seconds,
            }
            rows.append(row | {"error": metrics.relative_difference(Y, true)})
            print(f"{way} {rows[-1]['error']:.1e}  ", end="", flush=True)
        print()
    return rows


def table(rows: list[dict[str, Any]], name: str) -> str:
    """The errors of one data set, the smallest of each method in bold; and times."""
    mine = [row for row in rows if row["data"] == name]
    lines = [
        f"### {name}, {mine[0]['n']} training points\n",
        "| method | " + " | ".join(WAYS) + " |",
    ]
    lines.append("|" + "---|" * (1 + len(WAYS)))
    for method in METHODS:
        errors = {row["way"]: row["error"] for row in mine if row["method"] == method}
        best = min(errors.values())
        cells = [f"{errors[way]:.1e}" if way in errors else NOTHING for way in WAYS]
        cells = [
            f"**{cell}**" if errors.get(way) == best else cell
            for way, cell in zip(WAYS, cells, strict=True)
        ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    times = []
    for way in WAYS:
        taken = [row["microseconds"] for row in mine if row["way"] == way]
        times.append(f"{np.median(taken):,.0f}" if taken else NOTHING)
    lines.append("| *µs a point (median)* | " + " | ".join(times) + " |")
    return "\n".join(lines)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """One panel a data set: error by method, a mark for each way."""
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, panels = plt.subplots(
        1, len(names), figsize=(3.2 * len(names) + 1.6, 4.2), sharey=True, layout="constrained"
    )
    colours = plt.get_cmap("tab10").colors
    marks = dict(zip(WAYS, "osD^v<>PX*", strict=True))
    for panel, name in zip(np.atleast_1d(panels), names, strict=True):
        for way, colour in zip(WAYS, colours, strict=True):
            mine = [row for row in rows if row["data"] == name and row["way"] == way]
            place = [list(METHODS).index(row["method"]) for row in mine]
            height = [max(row["error"], 1e-8) for row in mine]
            panel.plot(place, height, marks[way], color=colour, label=way, alpha=0.85, ms=6)
        panel.set_yscale("log")
        panel.set_xticks(range(len(METHODS)), METHODS, rotation=60, ha="right", fontsize=8)
        panel.set_title(name, fontsize=10)
        panel.grid(axis="y", color="0.9")
        panel.set_axisbelow(True)
    np.atleast_1d(panels)[0].set_ylabel("distance to a true refit, in spreads")
    handles, labels = np.atleast_1d(panels)[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)


def write(rows: list[dict[str, Any]]) -> None:
    """The tables, between the marks that the page has for them."""
    text = PAGE.read_text()
    start, end = "<!-- tables: benchmarks/new_points.py -->\n", "<!-- end of tables -->"
    names = dict.fromkeys(row["data"] for row in rows)
    tables = "\n\n".join(table(rows, name) for name in names)
    before, rest = text.split(start)
    PAGE.write_text(f"{before}{start}\n{tables}\n\n{end}{rest.split(end)[1]}")
    draw(rows, PAGE.with_suffix(".png"))


def main() -> None:
    """Measure what is at hand, or draw again what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", type=int, default=200)
    parser.add_argument("--draw", action="store_true", help="from the results of the last run")
    options = parser.parse_args()
    if options.draw:
        write(json.loads(RESULTS.read_text()))
        return
    rows: list[dict[str, Any]] = []
    for name, load in DATA.items():
        try:
            points = load()
        except FileNotFoundError as missing:
            print(f"{name}: {missing.filename} is not at hand; set EIGENMAPS_DATA to its folder")
            continue
        rows += measured(name, points, options.held_out)
    RESULTS.write_text(json.dumps(rows, indent=0) + "\n")
    write(rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
