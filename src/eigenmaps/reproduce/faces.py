"""Recognising faces: whom a new image shows is told by the nearest training image in an embedding.

Every extension but Nyström and the refit writes ``y(x) = Σ c_i(x) y_i``, and c does not depend on
the embedding. Fitted to the identity in its place, it gives c itself: each way is asked once, and
serves every graph and any number of dimensions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.random_projection import GaussianRandomProjection

from .. import extensions, kernels
from ..eigenmap import Eigenmap
from ..extensions.base import Extension
from ..gram import Array, Index

PROJECTED = (50, 100)
REFITTED = (20, 40)
GRAPHS: dict[str, kernels.Affinity] = {
    "ℓ1": kernels.L1Graph(n_jobs=-1),
    "heat": kernels.Gaussian("mean"),
    "heat, 10 nearest": kernels.NeighborGraph(10, weights="heat", gamma="mean"),
}
#: of images that are 0 to 255: steps of log(1 + grey) at which an orientation half counts, by how
#: many directions, how narrow each is, and over how many pixels orientations are pooled
STEP, DIRECTIONS, NARROW, POOL = 0.02, 12, 6, 1.5


def ways() -> dict[str, Extension]:
    """The extensions of the table by name."""
    found: dict[str, Extension] = {"sparse": extensions.Sparse(n_jobs=-1)}
    found |= {f"heat, ε = {k}": extensions.Heat(k) for k in (3, 5, 7)}
    found |= {"linear": extensions.Regression()}
    for p in PROJECTED:
        first = GaussianRandomProjection(p, random_state=0)
        found[f"linear, p = {p}"] = extensions.Regression(make_pipeline(first, LinearRegression()))
    return found


class Faces(NamedTuple):
    """Training images and new ones, one in each row, and whom they show."""

    X: Array
    y: Index
    X_new: Array
    y_new: Index

    @classmethod
    def split(cls, X: Array, y: Index, share: float, number: int) -> Self:
        """One of the random partitions, of which ``share`` is for training."""
        order = np.random.default_rng(number).permutation(len(X))
        old, new = np.split(order, [round(share * len(X))])
        return cls(X[old], y[old], X[new], y[new])

    def recognised(self, Y: Array, Y_new: Array, dims: Sequence[int]) -> Array:
        """The share of new images whose nearest training image shows the same person.

        One column for each number of dimensions; in the first row "nearest" is by Euclidean
        distance, in the second by angle.
        """
        products, squares = np.zeros((len(Y_new), len(Y))), np.zeros(len(Y))
        found = []
        for low, high in zip([0, *dims], dims, strict=False):
            products += Y_new[:, low:high] @ Y[:, low:high].T
            squares += (Y[:, low:high] ** 2).sum(axis=1)
            near = (squares - 2 * products).argmin(axis=1)
            alike = (products / np.sqrt(np.maximum(squares, 1e-300))).argmax(axis=1)
            found.append([np.mean(self.y[i] == self.y_new) for i in (near, alike)])
        return np.transpose(found)

    def shares(self) -> dict[str, Array]:
        """c(x) of the new images, by each way."""
        model = embedded(kernels.MDS(), self.X, 1)._model
        model = model._replace(embedding=np.eye(len(self.X)))
        return {name: way.fit(model)(self.X_new) for name, way in ways().items()}

    def of_graph(self, graph: str, shares: dict[str, Array]) -> dict[str, Array]:
        """Recognition in Laplacian eigenmaps of a graph, by Nyström and these other ways."""
        model = embedded(laplacian(graph), self.X)
        Y = model.embedding_
        places = {way: c @ Y for way, c in shares.items()}
        if graph == "ℓ1":  # new rows are the codes: Nyström's coordinates are these, over ℓ
            places["Nyström"] = places["sparse"] / model.eigenvalues_
        else:
            places["Nyström"] = model.transform(self.X_new)
        dims = dimensions(Y.shape[1])
        return {way: self.recognised(Y, Y_new, dims) for way, Y_new in places.items()}

    def refitted(self, graph: str) -> Array:
        """The same, where each new image gets the coordinates of a refit with it."""
        found = []
        for d in REFITTED:
            model = embedded(laplacian(graph), self.X, d, extension="refit")
            found.append(self.recognised(model.embedding_, model.transform(self.X_new), [d]))
        return np.hstack(found)

    def whitened(self, oriented: bool) -> Array:
        """Recognition in classical MDS with all coordinates of one size."""
        A, B = (orientations(X) if oriented else normalize(X) for X in (self.X, self.X_new))
        model = embedded(kernels.MDS(), A, scaling="eigenvector")
        Y = model.embedding_
        return self.recognised(Y, model.transform(B), dimensions(Y.shape[1]))


def embedded(
    kernel: kernels.Kernel, X: Array, n_components: int | None = None, **settings: Any
) -> Eigenmap:
    """A fitted embedding, by default with every component of a positive eigenvalue."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of graphs that fall apart
        return Eigenmap(kernel, n_components, **settings).fit(X)


def laplacian(graph: str) -> kernels.Laplacian:
    return kernels.Laplacian(GRAPHS[graph], unsupported="nearest")


def dimensions(most: int) -> list[int]:
    """How many dimensions are tried: 5 and more, in steps that grow."""
    tried = [*range(5, 50, 5), *range(50, 100, 10), *range(100, 200, 20), *range(200, 2000, 50)]
    return [d for d in tried if d <= most]


def orientations(X: Array) -> Array:
    """In which directions grey changes around every second pixel of square images 0 to 255.

    Light and its colour change how much grey changes, hardly the direction.
    """
    side = int(np.sqrt(X.shape[1]))
    grey = np.log1p(X).reshape(-1, side, side)
    down, right = np.asarray(np.gradient(grey, axis=1)), np.asarray(np.gradient(grey, axis=2))
    size, angle = np.hypot(down, right), np.arctan2(down, right)
    strength = size / (size + STEP)
    steps = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    maps = np.stack(
        [strength * np.maximum(np.cos(angle - step), 0) ** NARROW for step in steps], axis=1
    )
    pooled = gaussian_filter(maps, (0, 0, POOL, POOL))[:, :, 1::2, 1::2]
    return np.asarray(normalize(np.sqrt(pooled).reshape(len(X), -1)))
