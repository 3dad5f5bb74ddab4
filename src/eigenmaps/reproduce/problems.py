"""Data whose eigenfunctions are known: in closed form, or from many more points."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.decomposition import PCA

from ..eigenmap import Eigenmap
from ..gram import Array
from ..kernels import Kernel
from .galerkin import hermite
from .lab import Absent, Lab


class Problem(NamedTuple):
    """Points drawn anew in each repetition: n to learn from, some to judge by, and, where the
    true eigenfunctions are not known, many more that stand for the density. The kernel is Gaussian,
    of width s; with ``divided`` its Laplacian."""

    draw: Callable[[int, np.random.Generator], tuple[Array, Array, Array]]
    s: float
    m: int
    spreads: Array | None = None
    divided: bool = False

    def truth(self, Z: Array, many: Array, kernel: Kernel) -> Array:
        if self.spreads is not None:
            return hermite(self.spreads, self.s, self.m, Z)
        return Eigenmap(kernel, self.m).fit(many).transform(Z)


def gaussian(spreads: tuple[float, ...], s: float, m: int) -> Problem:
    scale = np.array(spreads)

    def draw(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        X, Z = (scale * rng.standard_normal((k, len(scale))) for k in (n, 2000))
        return X, Z, X

    return Problem(draw, s, m, scale)


def roll(s: float, m: int, many: int) -> Problem:
    def draw(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        points = make_swiss_roll(n + 500 + many, noise=0.3, random_state=rng.integers(2**31))[0]
        return points[:n], points[n : n + 500], points[n + 500 :]

    return Problem(draw, s, m)


def given(points: Array, s: float, m: int, judged: int) -> Problem:
    def draw(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        shuffled = points[rng.permutation(len(points))]
        return shuffled[:n], shuffled[n : n + judged], shuffled[n + judged :]

    return Problem(draw, s, m)


def problems(lab: Lab) -> dict[str, Problem]:
    """By name; faces where they are at hand."""
    many = 300 if lab.quick else 3000
    digits = load_digits().data
    found = {
        "Gaussian, 1-D": gaussian((1.0,), 1.0, 4),
        "Gaussian, 2-D": gaussian((1.0, 0.7), 1.0, 3),
        "Gaussian, 5-D": gaussian((1.0, 0.9, 0.8, 0.7, 0.6), 1.5, 6),
        "swiss roll": roll(6.0, 4, many),
        "digits": given(digits, 20.0, 3, 300),
        "swiss roll, Laplacian": roll(3.0, 3, many)._replace(divided=True),
        "digits, Laplacian": given(digits, 20.0, 3, 300)._replace(divided=True),
    }
    try:
        faces = PCA(60, random_state=0).fit_transform(lab.load("faces")[0])
    except Absent as absent:
        print(absent)
        return found
    return {**found, "faces": given(faces, 8.0, 4, 150)}
