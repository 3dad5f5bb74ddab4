"""Bengio 2004 §6, direction 3: "iterating the unsupervised learning process in multiple layers".

An embedding of the embedding (of that embedding), against one layer of the same final dimension.
Each depth has twelve settings to choose from, by 10-NN accuracy on points held out; all are judged
by others.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits

from .. import report
from ..eigenmap import Eigenmap
from ..gram import Array, Index
from ..kernels import Isomap, Kernel, KernelPCA, Laplacian, NeighborGraph
from ..metrics import knn_accuracy, refit_error, trustworthiness
from ..selection import mean_squared_distance
from .intervals import Interval, interval, verdict
from .lab import Absent, Lab

DEPTHS, DIMENSIONS, BETWEEN = ("1", "2", "3", "linear + 1"), (2, 5), (10, 30)
#: the one parameter of each method, from small to large: of κ's width in spreads, or neighbours
RANGES: dict[str, tuple[float, ...]] = {
    "kernel PCA": (0.1, 0.16, 0.25, 0.4, 0.63, 1.0, 1.6, 2.5, 4.0, 6.3, 10.0, 16.0),
    "Laplacian": (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30),
    "Isomap": (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30),
}
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

{verdict}
"""
BELOW, TOP = (1, 5, 9), (3, 7)  # which of the range lower layers and the last one of several take


class Layer(NamedTuple):
    """One method with its parameter and dimension."""

    method: str
    parameter: float
    m: int

    def fit(self, X: Array) -> Eigenmap:
        # Coordinates of a Laplacian are weighted by ℓ, as leading ones matter most to the next.
        scaling = "diffusion" if self.method == "Laplacian" else "auto"
        return Eigenmap(self.kernel(X), self.m, scaling=scaling).fit(X)

    def kernel(self, X: Array) -> Kernel:
        if self.method == "linear":
            return KernelPCA()
        if self.method == "kernel PCA":
            return KernelPCA("rbf", gamma=self.parameter / mean_squared_distance(X))
        k = int(self.parameter)
        if self.method == "Isomap":
            return Isomap(k)
        return Laplacian(NeighborGraph(k), unsupported="nearest")


Layers = tuple[Layer, ...]


class Stack(BaseEstimator):
    """Layers, each an embedding of the one before; new points go through all of them."""

    def __init__(self, layers: Layers):
        self.layers = layers

    def fit(self, X: Array, y: Any = None) -> Self:
        self.models_: list[Eigenmap] = []
        for layer in self.layers:
            self.models_.append(layer.fit(X))
            X = self.models_[-1].embedding_
        self.embedding_ = X
        return self

    def transform(self, X: Array) -> Array:
        for model in self.models_:
            X = model.transform(X)
        return X


def settings(method: str, depth: str, m: int) -> Iterator[Layers]:
    """Twelve."""
    values = RANGES[method]
    if depth == "1":
        yield from ((Layer(method, value, m),) for value in values)
    elif depth == "linear + 1":
        for between, value in itertools.product(BETWEEN, values[::2]):
            yield (Layer("linear", 0, between), Layer(method, value, m))
    else:
        for low, between, top in itertools.product(BELOW, BETWEEN, TOP):
            below = (Layer(method, values[low], between),) * (int(depth) - 1)
            yield (*below, Layer(method, values[top], m))


class Split:
    """Points to learn from, to choose by and to judge by, and their labels."""

    def __init__(self, X: Array, labels: Index, sizes: tuple[int, int], seed: int) -> None:
        order = np.random.default_rng(seed).permutation(len(X))
        parts = np.split(order, np.cumsum(sizes))
        self.X, self.held, self.new = (X[part] for part in parts)
        self.labels = [labels[part] for part in parts]
        self.done: dict[Layers, tuple[Array, Array]] = {(): (self.X, self.held)}

    def placed(self, layers: Layers) -> tuple[Array, Array]:
        """Coordinates of the first and the second part; what stacks have in common is done once."""
        if layers not in self.done:
            X, held = self.placed(layers[:-1])
            model = layers[-1].fit(X)
            self.done[layers] = model.embedding_, model.transform(held)
        return self.done[layers]

    def chosen(self, method: str, depth: str, m: int) -> Layers:
        """The layers that do best on the second part."""

        def accuracy(layers: Layers) -> float:
            # Leading coordinates are the same however many are taken.
            widest = (*layers[:-1], layers[-1]._replace(m=max(DIMENSIONS)))
            Y, held = (y[:, :m] for y in self.placed(widest))
            return knn_accuracy(Y, self.labels[0], held, self.labels[1])

        return max(settings(method, depth, m), key=accuracy)

    def judged(self, layers: Layers, refits: int) -> dict[str, float]:
        """By the third part."""
        stack = Stack(layers).fit(self.X)
        Y = stack.transform(self.new)
        return {
            "accuracy": knn_accuracy(stack.embedding_, self.labels[0], Y, self.labels[2]),
            "trustworthiness": trustworthiness(self.X, stack.embedding_, self.new, Y),
            "refit error": refit_error(stack, self.X, self.new[:refits]),
        }


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
    lab.page(
        "layers", PAGE.format(sizes=sizes, repetitions=repetitions, table=table(found), verdict="")
    )
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
