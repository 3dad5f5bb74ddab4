"""Embeddings of embeddings, and the choice among them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..eigenmap import Eigenmap
from ..gram import Array, Index
from ..kernels import Isomap, Kernel, KernelPCA, Laplacian, NeighborGraph
from ..metrics import knn_accuracy, refit_error, trustworthiness
from ..selection import mean_squared_distance

DEPTHS, DIMENSIONS, BETWEEN = ("1", "2", "3", "linear + 1"), (2, 5), (10, 30)
#: the one parameter of each method, from small to large: of κ's width in spreads, or neighbours
RANGES: dict[str, tuple[float, ...]] = {
    "kernel PCA": (0.1, 0.16, 0.25, 0.4, 0.63, 1.0, 1.6, 2.5, 4.0, 6.3, 10.0, 16.0),
    "Laplacian": (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30),
    "Isomap": (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30),
}
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
