"""Bengio 2004, propositions 2 and 3: Nyström's functions tend to eigenfunctions of
``(G f)(x) = ∫ K(x,y) f(y) p(y) dy``, and the average loss to its expectation.

Three operators whose eigenfunctions are known in closed form:

* a Gaussian kernel under a Gaussian density: Hermite functions;
* the heat kernel on the circle: sines and cosines, in pairs of equal eigenvalues;
* the heat kernel on an interval whose ends reflect: cosines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import eval_hermite, factorial

from .. import metrics, report
from ..eigenmap import Eigenmap
from ..gram import Array, Gram, Matrix, Rows, dense
from ..kernels import CallableAffinity, Kernel, Laplacian
from .lab import Lab

WIDTH, TIME, TERMS = 1.0, 0.3, 12  # of the Gaussian; of the heat kernels, and their series
FRESH = 1000  # new points on which functions are compared


class Plain(Kernel):
    """A kernel as it is, without a normalisation."""

    def __init__(self, function: Callable[[Matrix, Matrix], Array]):
        self.function = function

    def fit(self, X: Matrix) -> Gram:
        self.X_ = X
        return Gram(self.function(X, X))

    def __call__(self, X: Matrix) -> Rows:
        return Rows(self.function(X, self.X_))

    def between(self, X: Matrix) -> Array:
        return self.function(X, X)


class Operator(NamedTuple):
    """An operator with known eigenfunctions.

    Attributes
    ----------
    draw : points of the density p
    kernel : whose kernel tends to K
    functions : ``f_k(x)``, scaled to ``∫ f² p = 1``, of the eigenvalues to follow
    values : ``λ_k``
    groups : which of them share an eigenvalue
    left : ``Σ λ_k²`` of all others, the expected loss
    shrinks : whether K carries the factor 1/n of eq. 8
    """

    draw: Callable[[np.random.RandomState, int], Array]
    kernel: Kernel
    functions: Callable[[Array], Array]
    values: Array
    groups: tuple[tuple[int, ...], ...]
    left: float
    shrinks: bool


def gaussian(A: Matrix, B: Matrix) -> Array:
    """``exp(−(a−b)²/(2 w²))``."""
    return np.asarray(np.exp(-((dense(A) - dense(B).T) ** 2) / (2 * WIDTH**2)))


def circle(A: Matrix, B: Matrix) -> Array:
    """``Σ_k e^{−k²t} cos k(a−b)``, k over all integers: heat after a time t."""
    return np.asarray(interval(A, B) + waves(np.sin, A) @ waves(np.sin, B).T)


def interval(A: Matrix, B: Matrix) -> Array:
    """``1 + 2 Σ_k e^{−k²t} cos(ka) cos(kb)`` on [0, π], whose ends reflect heat."""
    return np.asarray(1 + waves(np.cos, A) @ waves(np.cos, B).T)


def waves(wave: np.ufunc, A: Matrix) -> Array:
    """``√2 e^{−k²t/2}`` times sines or cosines of ka."""
    k = np.arange(1, TERMS)
    return np.asarray(np.sqrt(2) * np.exp(-(k**2) * TIME / 2) * wave(k * dense(A)))


def hermite(count: int) -> Operator:
    """Gaussian kernel, density N(0, 1): ``λ_k = √(2a/A) Bᵏ`` with ``a = 1/4``, ``b = 1/(2w²)``,
    ``c = √(a²+2ab)``, ``A = a+b+c``, ``B = b/A`` (Rasmussen & Williams 2006 §4.3.1)."""
    a, b = 0.25, 0.5 / WIDTH**2
    c = np.sqrt(a**2 + 2 * a * b)
    ratio = b / (a + b + c)
    order = np.arange(count)
    values = np.sqrt(2 * a / (a + b + c)) * ratio**order
    size = np.sqrt(np.sqrt(c / a) / (2.0**order * factorial(order)))

    def functions(X: Array) -> Array:
        waves = eval_hermite(order, np.sqrt(2 * c) * X)
        return np.asarray(size * np.exp(-(c - a) * X**2) * waves)

    return Operator(
        lambda rng, n: rng.standard_normal((n, 1)), Plain(gaussian), functions, values,
        tuple((int(k),) for k in order), float(values[-1] ** 2 * ratio**2 / (1 - ratio**2)), False,
    )  # fmt: skip


def heat_on_circle() -> Operator:
    k = np.array([1, 1, 2, 2])
    rest = np.arange(3, TERMS)

    def functions(X: Array) -> Array:
        return np.sqrt(2) * np.hstack([np.cos(X), np.sin(X), np.cos(2 * X), np.sin(2 * X)])

    return Operator(
        lambda rng, n: rng.uniform(0, 2 * np.pi, (n, 1)), Laplacian(CallableAffinity(circle)),
        functions, np.exp(-(k**2) * TIME), ((0, 1), (2, 3)),
        float(2 * np.exp(-2 * rest**2 * TIME).sum()), True,
    )  # fmt: skip


def heat_on_interval() -> Operator:
    k, rest = np.arange(1, 4), np.arange(4, TERMS)
    return Operator(
        lambda rng, n: rng.uniform(0, np.pi, (n, 1)), Laplacian(CallableAffinity(interval)),
        lambda X: np.sqrt(2) * np.cos(k * X), np.exp(-(k**2) * TIME), ((0,), (1,), (2,)),
        float(np.exp(-2 * rest**2 * TIME).sum()), True,
    )  # fmt: skip


OPERATORS = {
    "Gaussian kernel and density": hermite(4),
    "heat on the circle": heat_on_circle(),
    "heat on an interval": heat_on_interval(),
}


def fitted(operator: Operator, n: int, seed: int) -> tuple[Eigenmap, Array]:
    """A model of n points of the density, and new points."""
    rng = np.random.RandomState(seed)
    X = operator.draw(rng, n)
    model = Eigenmap(operator.kernel, len(operator.values), scaling="unit-variance").fit(X)
    return model, operator.draw(rng, FRESH)


def errors(operator: Operator, n: int, seed: int) -> dict[str, list[float]]:
    """How far the functions, the eigenvalues and the loss of n points are from their limits.

    The distance of functions is ``√∫(f_kn − f_k)² p``, by new points, after the best rotation of
    those of an equal eigenvalue, and the best sign of others.
    """
    model, new = fitted(operator, n, seed)
    f, truth = model.transform(new), operator.functions(new)
    scale = n if operator.shrinks else 1
    return {
        "functions": [
            float(np.sqrt(np.square(metrics.align(f[:, g], truth[:, g]) - truth[:, g]).mean()))
            for g in map(list, operator.groups)
        ],
        "values": np.abs(model.eigenvalues_ * scale / n - operator.values).tolist(),
        "loss": [scale**2 * loss for loss in (model.loss(), model.loss(new))],
    }


def rate(n: Array, error: Array) -> float:
    """The exponent p of ``error ~ n^p``, by least squares of logarithms."""
    return float(np.polyfit(np.log(n), np.log(error), 1)[0])


def run(lab: Lab) -> None:
    """Errors against n, with rates, and a picture of the functions."""
    sizes = [2**k for k in range(5, 9 if lab.quick else 12)]
    seeds = 5 if lab.quick else 20

    def job(operator: Operator, n: int) -> Callable[[], Any]:
        return lambda: [errors(operator, n, seed) for seed in range(seeds)]

    jobs = {
        f"{name}, n={n}": job(operator, n) for name, operator in OPERATORS.items() for n in sizes
    }
    found = lab.results("convergence", {"sizes": sizes, "seeds": seeds}, jobs)
    curves = {name: summary(name, sizes, found) for name in OPERATORS}
    lab.page("convergence", table(curves, sizes))
    lab.picture("convergence", drawn(curves, sizes))


class Curves(NamedTuple):
    """Means over seeds: errors of groups of functions, of eigenvalues, and both losses, by n."""

    functions: Array
    values: Array
    loss: Array
    bar: Array  # 95 % half-widths of the losses


def summary(name: str, sizes: list[int], found: dict[str, Any]) -> Curves:
    rows = [found[f"{name}, n={n}"] for n in sizes]
    of = {part: np.array([[r[part] for r in row] for row in rows]) for part in rows[0][0]}
    bar = 1.96 * of["loss"].std(axis=1, ddof=1) / np.sqrt(of["loss"].shape[1])
    return Curves(
        np.sqrt(np.square(of["functions"]).mean(axis=1)),
        np.sqrt(np.square(of["values"]).mean(axis=1)), of["loss"].mean(axis=1), bar,
    )  # fmt: skip


def table(curves: dict[str, Curves], sizes: list[int]) -> str:
    n = np.array(sizes)
    lines = [
        f"| operator | f_1 at n={n[0]} | at n={n[-1]} | rate | λ_1 at n={n[-1]} | rate "
        f"| loss of {n[-1]} points | of new ones | expected |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, c in curves.items():
        f, values = c.functions[:, 0], c.values[:, 0]
        lines.append(
            f"| {name} | {f[0]:.3f} | {f[-1]:.4f} | n^{rate(n, f):.2f} | {values[-1]:.1e} "
            f"| n^{rate(n, values):.2f} | {c.loss[-1, 0]:.3e} ± {c.bar[-1, 0]:.0e} "
            f"| {c.loss[-1, 1]:.3e} ± {c.bar[-1, 1]:.0e} | {OPERATORS[name].left:.3e} |"
        )
    return "\n".join(lines)


def drawn(curves: dict[str, Curves], sizes: list[int]) -> Any:
    """For each operator: its functions beside those of few points, errors, and losses."""
    sheet = report.sheet(15, 12)
    n = np.array(sizes)
    for (name, c), (functions, error, loss) in zip(
        curves.items(), sheet.subplots(3, 3), strict=True
    ):
        operator = OPERATORS[name]
        model, new = fitted(operator, 64, 0)
        x = np.sort(new[:, 0])[:, None]
        truth = operator.functions(x)
        for group, colour in zip(map(list, operator.groups), report.PALETTE, strict=False):
            found = metrics.align(model.transform(x)[:, group], truth[:, group])
            functions.plot(x, truth[:, group], color=report.INK, lw=0.8)
            functions.plot(x, found, color=colour, lw=2, alpha=0.8)
        report.title(functions, name, "64 points' functions (colours), closed form (thin)")
        for g, colour in zip(range(len(operator.groups)), report.PALETTE, strict=False):
            e = c.functions[:, g]
            label = f"f_{'/'.join(str(k + 1) for k in operator.groups[g])}: n^{rate(n, e):.2f}"
            error.loglog(n, e, "o-", color=colour, label=label, base=2)
        error.loglog(n, 2 / np.sqrt(n), "--", color=report.FAINT, label="n^-0.5", base=2)
        error.legend(frameon=False, loc="lower left")
        least = float(c.functions.min()) / 4
        error.set(xlabel="n", ylabel="RMS distance on new points", ylim=(least, None))
        report.title(error, "functions", "distance to the closed form, and its rate")
        for part, label in enumerate(("training points", "new points")):
            loss.errorbar(n, c.loss[:, part], c.bar[:, part], fmt="o-", capsize=3, label=label,
                          color=report.PALETTE[part])  # fmt: skip
        loss.axhline(operator.left, color=report.INK, ls="--", label="expected: Σ λ² of the rest")
        loss.set_xscale("log", base=2)
        loss.set(xlabel="n", ylabel="mean loss", ylim=(0, None))
        loss.legend(frameon=False)
        report.title(loss, "loss", "95 % intervals")
    return sheet
