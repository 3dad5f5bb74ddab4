"""Bengio 2004 §6, direction 3: "iterating the unsupervised learning process in multiple layers".

An embedding of the embedding (of that embedding), against one layer of the same final dimension.
Each depth has twelve settings to choose from, by 10-NN accuracy on points held out; all are judged
by others.
"""

from __future__ import annotations

import itertools
import warnings
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
splits; gains over one layer with 95 % intervals, in bold where surely above 0.

{table}

![Accuracy by depth](layers.png)

**Verdict: layers of the same kind do not pay.** Of {total} comparisons of two or three layers
with one, {better} are surely better in accuracy and {worse} surely worse. What gains there are,
are those of kernel PCA in two dimensions: digits {gain_2} with two layers, {gain_3} with three,
where ten or thirty principal components below give {gain_linear}; it stays far below one layer of
the graph methods, and with five dimensions nothing is left of it. Meanwhile each layer adds its
own error for new points: the error to a refit grows from {refit_1} to {refit_2} and {refit_3}
with depth, on average. A layer finds the geometry of what it is given, and the first has already
thrown away what the second would need: nothing here rewards a layer for what is built upon it.

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
    """A row for each data set, method, dimension and depth; what surely differs from one layer is
    bold."""
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
            words = verdict(row["accuracy, gain"], 0.0, "worse", "**better**")
            cells += [f"{row['refit error'].mean:.2f}", words if depth != "1" else ""]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def words(found: dict[str, Any]) -> dict[str, Any]:
    """What the verdict is made of."""
    deeper = [
        verdict(Interval(*rows[f"{m}, {depth}"]["accuracy, gain"]), 0.0, "worse", "better")
        for rows in found.values()
        for m, depth in itertools.product(DIMENSIONS, ("2", "3"))
    ]
    said: dict[str, Any] = {
        "total": len(deeper),
        "better": deeper.count("better"),
        "worse": deeper.count("worse"),
    }
    flat = found["digits, kernel PCA"]
    for depth in DEPTHS:
        name = depth.split()[0]
        gain = Interval(*flat[f"2, {depth}"]["accuracy, gain"])
        errors = [rows[f"{m}, {depth}"]["refit error"][0]
                  for rows in found.values() for m in DIMENSIONS]  # fmt: skip
        said |= {f"gain_{name}": gain.text("+.3f"), f"refit_{name}": f"{np.mean(errors):.2f}"}
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
    ax.legend(frameon=False, fontsize=8, loc="lower left", ncols=2)
    report.title(ax, name, "of points held out")
