"""Bengio 2004 §6, direction 1: a smoother distribution than the empirical one defines G_n.

Does it bring the eigenfunctions nearer to those of the true density? Those are known (Hermite
functions) or a fit to many more points stands for them. The width h of the Gaussians is the root
mean square by which they displace points, in spreads of the data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from .. import report
from ..eigenmap import Eigenmap
from ..gram import Array
from ..kernels import Gaussian, Kernel, Laplacian
from ..metrics import align
from .galerkin import SHAPES, Shape, Smoothed, Uncentred, likelihood, quotients, rounded
from .intervals import Interval, interval, ratio, verdict
from .lab import Lab
from .problems import Problem, problems

WIDTHS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
COPIES, FOLDS = 4, 5
PAGE = """# A smoother distribution than the empirical one

The first direction that Bengio et al. (2004, §6) leave open: a distribution nearer to the true
one than the points themselves should give eigenfunctions nearer to the true ones. Here every
point stands with a Gaussian around it, and the operator is solved with these in closed form
(Galerkin, `galerkin.py`; for Laplacian eigenmaps with {copies} copies drawn of each point).

- **Round** Gaussians, or Gaussians **shaped** as the data are, their centres drawn inwards so
  that mean and covariance stay. The width h is the root mean square by which points are
  displaced, in spreads of the data.
- **True** are Hermite functions where the data are Gaussian; otherwise a fit to many more points
  of the roll, or to all the digits and faces that are neither learned from nor judged by. The
  error is the root mean square distance of the leading eigenfunctions from the true ones, at new
  points.
- **Likely**: round, h by leave-one-out likelihood of the density. **Chosen**: shape and h, or
  none, by how much of the operator the eigenfunctions hold at points left out, in five folds; the
  truth is not looked at. Of κ(x,x) that is Σ λ_k f_k(x)², of the Laplacian the sum of Rayleigh
  quotients: true eigenfunctions have the most of either.
- **Refit** is the extension of that name. **Wider κ** is Nyström with the row ∫κ(x,y)N(y; x_i,
  h²)dy alone, which is a wider Gaussian.

Errors are ratios to plain Nyström's, which is given itself: means over {repetitions} repetitions,
with 95 % intervals. "Best h" looks at the truth.

{table}

![Error by width](smoother.png)

**Verdict: it helps where data have few dimensions, and hardly where they have many.** With shape
and width chosen without the truth, at n = {n}: Gaussian in five dimensions
{chosen[Gaussian, 5-D]}, swiss roll {chosen[swiss roll]}, its Laplacian
{chosen[swiss roll, Laplacian]}, digits {chosen[digits]}, their Laplacian
{chosen[digits, Laplacian]}, faces {chosen[faces]}. On Gaussian data the shaped density wins,
which there *is* the right one but for mean and covariance; on the roll either shape does. Wide
Gaussians do harm where the density has detail finer than they are, most to the Laplacian of the
roll, whose sheets they join.

What eigenfunctions hold at points left out is a good guide to shape and h, at the cost of {fits}
fits: of the {cases} cases it was surely nearer in {nearer} and surely farther in {farther}. The
likelihood of the density asks for too little. `refit` is no rival: it answers another question,
where a point would have lain in a fit of this sample. And a wider κ alone, which costs nothing,
is nearer still to the true eigenfunctions of the narrow κ for the Laplacian of the roll
({wider[swiss roll, Laplacian]} at best), does as much for the roll's κ ({wider[swiss roll]}) and
next to nothing for Gaussian data ({wider[Gaussian, 5-D]} in five dimensions).

The library has no option for it: on images there is next to no gain, on the roll a wider kernel
does as well, and data known to be Gaussian need no kernel. Whoever wants it can fit a method on
jittered copies of the points.
"""


def error(F: Array, truth: Array) -> float:
    """The root mean square distance of functions, scaled to norm 1, from the true ones, onto which
    they are turned, as functions of near eigenvalues mix."""
    F, truth = (f / np.sqrt((f**2).mean(axis=0)) for f in (F, truth))
    return float(np.linalg.norm(align(F, truth) - truth) / np.linalg.norm(truth))


class Kappa(NamedTuple):
    """The operator of κ itself: p̂ in closed form."""

    s: float
    m: int

    @property
    def kernel(self) -> Kernel:
        return Uncentred(self.s)

    def fit(self, X: Array, shape: Shape, h: float, rng: np.random.Generator) -> Smoothed:
        return Smoothed.fit(X, shape(X, h), self.s, self.m)

    def held(self, X: Array, out: Array, shape: Shape, h: float, rng: np.random.Generator) -> float:
        """How much of κ(x,x) the functions hold at points left out: the true ones hold the most."""
        return float((self.fit(X, shape, h, rng).unit(out) ** 2).sum())


class Degrees(NamedTuple):
    """Laplacian eigenmaps, whose degrees have no closed form: p̂ by copies drawn from it."""

    s: float
    m: int

    @property
    def kernel(self) -> Kernel:
        return Laplacian(Gaussian(1 / (2 * self.s**2)))

    def fit(
        self, X: Array, shape: Shape, h: float, rng: np.random.Generator
    ) -> Callable[[Array], Array]:
        points = shape(X, h).sample(COPIES, rng) if h else X
        return Eigenmap(self.kernel, self.m).fit(points).transform

    def held(self, X: Array, out: Array, shape: Shape, h: float, rng: np.random.Generator) -> float:
        """The same of the Laplacian."""
        return quotients(self.fit(X, shape, h, rng)(out), out, self.s)


def measured(problem: Problem, n: int, repetitions: int) -> dict[str, Any]:
    """The error of plain Nyström, and the ratio of every other to it."""
    operator = (Degrees if problem.divided else Kappa)(problem.s, problem.m)
    ways: dict[str, tuple[Shape, float]] = {"plain": (rounded, 0.0)}
    ways |= {f"{name} {h}": (SHAPES[name], h) for name in SHAPES for h in WIDTHS}
    rows = []
    for repetition in range(repetitions):
        rng = np.random.default_rng([n, repetition])
        X, Z, many = problem.draw(n, rng)
        truth = problem.truth(Z, many, operator.kernel)
        row = {name: error(operator.fit(X, *way, rng)(Z), truth) for name, way in ways.items()}
        refit = Eigenmap(operator.kernel, problem.m, extension="refit").fit(X)
        row["refit"] = error(refit.transform(Z), truth)
        for h in WIDTHS:
            wider = np.sqrt(problem.s**2 + rounded(X, h).H[0, 0])
            model = Eigenmap(operator._replace(s=wider).kernel, problem.m).fit(X)
            row[f"wider {h}"] = error(model.transform(Z), truth)
        folds = list(KFold(FOLDS).split(X))
        held = {
            name: sum(operator.held(X[i], X[j], *way, rng) for i, j in folds)
            for name, way in ways.items()
        }
        row["chosen"] = row[max(held, key=held.__getitem__)]
        row["likely"] = row[f"round {max(WIDTHS, key=partial(likelihood, X))}"]
        rows.append(row)
    plain = [row.pop("plain") for row in rows]
    ratios = {name: ratio([row[name] for row in rows], plain) for name in rows[0]}
    return {"plain": interval(plain), **ratios}


def run(lab: Lab) -> None:
    """Ratios of errors to plain Nyström's, by width: one panel for each data set."""
    repetitions, sizes = (3, (40,)) if lab.quick else (16, (50, 200))
    cases = problems(lab)
    jobs: dict[str, Callable[[], Any]] = {
        f"{name}, n = {n}": partial(measured, problem, n, repetitions)
        for name, problem in cases.items()
        for n in sizes
    }
    settings = {"repetitions": repetitions, "widths": WIDTHS, "copies": COPIES}
    found = lab.results("smoother", settings, jobs)
    largest = {name: found[f"{name}, n = {sizes[-1]}"] for name in cases}
    words = {
        "chosen": {name: Interval(*row["chosen"]).text() for name, row in largest.items()},
        "wider": {name: best(row, "wider")[1].text() for name, row in largest.items()},
    }
    sure = [verdict(Interval(*row["chosen"]), 1.0, "nearer", "farther") for row in found.values()]
    words = {key: defaultdict(lambda: "(not at hand)", texts) for key, texts in words.items()}
    lab.page("smoother", PAGE.format(
        n=sizes[-1], repetitions=repetitions, copies=COPIES, table=table(found),
        fits=FOLDS * (1 + len(SHAPES) * len(WIDTHS)), cases=len(sure),
        nearer=sure.count("nearer"), farther=sure.count("farther"), **words,
    ))  # fmt: skip
    sheet = report.sheet(15, 8)
    for ax, name in zip(sheet.subplots(2, 4).ravel(), cases, strict=False):
        draw(ax, name, {n: found[f"{name}, n = {n}"] for n in sizes})
    for ax in sheet.axes[len(cases) :]:
        ax.set_axis_off()
    lab.picture("smoother", sheet)


def best(row: dict[str, Any], shape: str) -> tuple[float, Interval]:
    """The width with the least error, and this."""
    h = min(WIDTHS, key=lambda h: row[f"{shape} {h}"][0])
    return h, Interval(*row[f"{shape} {h}"])


def table(found: dict[str, Any]) -> str:
    """A row for each data set and size."""
    lines = [
        "| data | plain | refit | wider κ, best h | round, best h | shaped, best h | likely h "
        "| chosen | verdict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in found.items():
        cells = [name, Interval(*row["plain"]).text(), Interval(*row["refit"]).text()]
        for shape in ("wider", *SHAPES):
            h, least = best(row, shape)
            cells.append(f"{least.text()} at {h}")
        cells += [Interval(*row[rule]).text() for rule in ("likely", "chosen")]
        cells.append(verdict(Interval(*row["chosen"]), 1.0, "nearer", "farther"))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(ax: Any, name: str, by_size: dict[int, Any]) -> None:
    """Lines of ratios by width, pale for few points; the ratio at the chosen width at the right."""
    for (n, row), strength in zip(by_size.items(), (0.45, 1.0), strict=False):
        for shape, colour in zip(SHAPES, report.PALETTE, strict=False):
            mean, low, high = np.array([row[f"{shape} {h}"] for h in WIDTHS]).T
            ax.plot(WIDTHS, mean, color=colour, alpha=strength, label=f"{shape}, n = {n}")
            ax.fill_between(WIDTHS, low, high, color=colour, alpha=0.15 * strength, lw=0)
        wider = [row[f"wider {h}"][0] for h in WIDTHS]
        ax.plot(WIDTHS, wider, "k:", alpha=0.6 * strength, label=f"wider κ, n = {n}")
        mean, low, high = row["chosen"]
        ends, place = [[mean - low], [high - mean]], 1 + 0.05 * (strength == 1)
        ax.errorbar(place, mean, ends, marker="o", color=report.PALETTE[2], alpha=strength,
                    label=f"chosen, n = {n}")  # fmt: skip
    ax.axhline(1, color="#777777", lw=0.8)
    ax.set(xlabel="width h", yscale="log", xlim=(0.05, 1.12), ylim=(0.4, 2.5))
    ax.set_xticks([0.1, 0.3, 0.5, 0.7, 1.02], ["0.1", "0.3", "0.5", "0.7", "chosen"])
    ax.set_yticks([0.5, 1, 2], ["0.5", "1", "2"])
    ax.minorticks_off()
    report.title(ax, name, "error, relative to plain Nyström")
    if name == "digits":
        ax.legend(frameon=False, fontsize=7.5, loc="lower left", ncols=2, columnspacing=1)
