"""Bengio 2004 §6, direction 3: "iterating the unsupervised learning process in multiple layers".

An embedding of the embedding (of that embedding), against one layer of the same final dimension.
Each depth has twelve settings to choose from, by 10-NN accuracy on points held out; all are judged
by others.
"""

from __future__ import annotations

import itertools
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from .. import report
from ..gram import Array, Index
from .intervals import Interval, interval, verdict
from .lab import Absent, Lab
from .stacks import DEPTHS, DIMENSIONS, RANGES, Split

PAGE = """# Layers

The third direction that Bengio et al. (2004, §6) leave open: "learning higher-level abstractions
on top of lower-level abstractions by iterating the unsupervised learning process in multiple
layers". Here an embedding is embedded again, and again, by the same method; new points go through
all layers.

Each depth has twelve settings: one layer twelve values of the method's parameter; several layers
three values below, two dimensions between (10, 30), two values on top. *Linear + 1* is a control:
one layer on 10 or 30 principal components, six values. The best of them, by 10-NN accuracy on
{sizes[1]} points, is judged by others that no layer has seen: 10-NN accuracy, trustworthiness of
their neighbours in the data, and how far the stack puts them from where a refit with them would
have (`metrics.refit_error`). {sizes[0]} points are learned from; means over {repetitions} random
splits; gains over one layer with 95 % intervals.

{table}

![Accuracy by depth](layers.png)

**Verdict: in two dimensions more layers often help, in five they do not; and new points pay for
it.** Of {compared} comparisons of two or three layers with one in two dimensions, {better_2} are
surely better in accuracy and {worse_2} surely worse; in five dimensions {better_5} and {worse_5}.
Three layers in two dimensions gain {gain[MNIST, Laplacian]} on MNIST with Laplacian eigenmaps,
{gain[MNIST, Isomap]} with Isomap, {gain[MNIST, kernel PCA]} with kernel PCA; on digits
{gain[digits, Laplacian]}, {gain[digits, Isomap]} and {gain[digits, kernel PCA]}. Principal
components below explain it for Isomap ({control[MNIST, Isomap]} on MNIST), not for Laplacian
eigenmaps ({control[MNIST, Laplacian]}). So layers are a way to press ten or thirty coordinates
into two; nothing shows that they find more than the first layer has found.

The price: with each layer the map is less stable. The error to a refit, on average over the
table, goes from {refit_1} with one layer to {refit_2} with two and {refit_3} with three
(unrelated coordinates have about √2), and a Laplacian of three layers can fall apart, as on
digits.

The library needs nothing new for this: a `Pipeline` of its estimators is such a stack.
"""


def measured(
    X: Array, labels: Index, method: str, sizes: tuple[int, int], repetitions: int
) -> dict[str, Any]:
    """For each final dimension and depth: means over splits, and differences to one layer."""
    found: dict[tuple[int, str, str], list[float]] = {}
    for seed in range(repetitions):
        split = Split(X, labels, sizes, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # graphs of some settings fall apart
            for m, depth in itertools.product(DIMENSIONS, DEPTHS):
                figures = split.judged(split.chosen(method, depth, m), sizes[0] // 4)
                for name, value in figures.items():
                    found.setdefault((m, depth, name), []).append(value)
    rows: dict[str, Any] = {}
    for (m, depth, name), values in found.items():
        row = rows.setdefault(f"{m}, {depth}", {})
        row[name] = interval(values)
        row[f"{name}, gain"] = interval(np.subtract(values, found[m, "1", name]))
    return rows


def run(lab: Lab) -> None:
    """Accuracy by depth: one panel for each data set and dimension."""
    sizes, repetitions = ((120, 100), 2) if lab.quick else ((400, 300), 6)
    methods = ("kernel PCA", "Laplacian") if lab.quick else tuple(RANGES)
    data: dict[str, tuple[Array, Index]] = {"digits": load_digits(return_X_y=True)}
    if not lab.quick:
        try:
            pixels, digit = lab.load("mnist")
            assert digit is not None
            data["MNIST"] = pixels[::40], digit[::40]
        except Absent as absent:
            print(absent)
    jobs: dict[str, Callable[[], Any]] = {
        f"{name}, {method}": partial(measured, X, labels, method, sizes, repetitions)
        for name, (X, labels) in data.items()
        for method in methods
    }
    found = lab.results("layers", {"sizes": sizes, "repetitions": repetitions}, jobs)
    figures = {"sizes": sizes, "repetitions": repetitions, "table": table(found), **words(found)}
    lab.page("layers", PAGE.format(**figures))
    sheet = report.sheet(5 * len(methods), 4.2 * len(data))
    for ax, name in zip(sheet.subplots(len(data), len(methods)).ravel(), jobs, strict=True):
        draw(ax, name, found[name])
    lab.picture("layers", sheet)


def table(found: dict[str, Any]) -> str:
    """A row for each data set, method, dimension and depth."""
    lines = [
        "| data, method | dimensions | layers | accuracy | gain | trustworthiness | gain "
        "| refit error | verdict on accuracy |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in found.items():
        for m, depth in itertools.product(DIMENSIONS, DEPTHS):
            row = {key: Interval(*value) for key, value in rows[f"{m}, {depth}"].items()}
            cells = [name, f"{m}", depth]
            for figure in ("accuracy", "trustworthiness"):
                gain = row[f"{figure}, gain"]
                cells += [f"{row[figure].mean:.3f}", gain.text("+.3f") if depth != "1" else ""]
            said = verdict(row["accuracy, gain"], 0.0, "worse", "**better**")
            cells += [f"{row['refit error'].mean:.2f}", said if depth != "1" else ""]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def words(found: dict[str, Any]) -> dict[str, Any]:
    """What the verdict is made of."""

    def gains(depth: str) -> dict[str, str]:
        rows = {
            name: Interval(*row[f"2, {depth}"]["accuracy, gain"]) for name, row in found.items()
        }
        texts = {name: row.text("+.3f") for name, row in rows.items()}
        return defaultdict(lambda: "(not at hand)", texts)

    said: dict[str, Any] = {"gain": gains("3"), "control": gains("linear + 1")}
    for m in DIMENSIONS:
        deeper = [
            verdict(Interval(*row[f"{m}, {depth}"]["accuracy, gain"]), 0.0, "worse", "better")
            for row in found.values()
            for depth in ("2", "3")
        ]
        said |= {f"{word}_{m}": deeper.count(word) for word in ("better", "worse")}
        said["compared"] = len(deeper)
    for depth in ("1", "2", "3"):
        errors = [row[f"{m}, {depth}"]["refit error"][0]
                  for row in found.values() for m in DIMENSIONS]  # fmt: skip
        said[f"refit_{depth}"] = f"{np.mean(errors):.2f}"
    return said


def draw(ax: Any, name: str, rows: dict[str, Any]) -> None:
    """Accuracy by depth, a line for each dimension, and the control; trustworthiness dotted."""
    places = np.arange(len(DEPTHS))
    for m, colour in zip(DIMENSIONS, report.PALETTE, strict=False):
        for figure, style in (("accuracy", "-"), ("trustworthiness", ":")):
            mean, low, high = np.array([rows[f"{m}, {depth}"][figure] for depth in DEPTHS]).T
            ax.plot(places[:3], mean[:3], style, color=colour, label=f"{figure}, {m}-D")
            ends = mean - low, high - mean
            ax.errorbar(places, mean, ends, fmt="o", ms=4, color=colour, elinewidth=1)
    ax.set(xlabel="layers", ylim=(0.3, 1), xlim=(-0.3, 3.3))
    ax.set_xticks(places, DEPTHS)
    if name == "digits, kernel PCA":
        ax.legend(frameon=False, fontsize=8, loc="lower left", ncols=2)
    report.title(ax, name, "accuracy and trustworthiness, points held out")
