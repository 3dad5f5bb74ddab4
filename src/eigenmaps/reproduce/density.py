"""Bengio 2004 §6, direction 2: a density estimator in the transformed space.

"Modeling the density in the transformed space should be much easier (e.g. would require much fewer
Gaussians in a Gaussian mixture)": measured by the likelihood of points held out, as a density of
the *data*; and by clusters, where the dimension is reduced.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import report
from .intervals import Interval, verdict
from .lab import Lab
from .mixtures import COUNTS, METHODS, PLANE, clusters, decoded, plane

LABELS = {
    "data": "Gaussians of the data",
    "Laplacian": "Gaussians of Laplacian eigenmaps",
    "kernel PCA": "Gaussians of kernel PCA",
    "decoded": "Gaussians of Isomap, brought back",
}
ROWS = {"data": LABELS["data"]}
for _way in ("Laplacian", "kernel PCA", "decoded"):
    ROWS[_way] = LABELS[_way]
    ROWS[f"{_way}, gains"] = "– gain on the data's"
    ROWS[f"{_way}, bound"] = "– without Z"
    ROWS[f"{_way}, Z"] = "– Z"
    ROWS[f"{_way}, γ"] = "– γ"
COLOURS = dict(zip(LABELS, report.PALETTE, strict=False))
PAGE = """# A density estimator in the transformed space

The second direction that Bengio et al. (2004, §6) leave open: "modeling the density in the
transformed space (…) should be much easier (e.g. would require much fewer Gaussians in a Gaussian
mixture)". Measured by the mean log-likelihood of points held out, in nats, as a density *of the
data*.

- **Curves** of figure 1 and two **rings**, {n} points: two coordinates y(x) of Laplacian
  eigenmaps or kernel PCA, Gaussians fitted to them, and `p(x) = p_Y(y(x)) |det ∂y/∂x| / Z`, the
  derivative in closed form (`transformed.py`). Z, a sum over a grid, is how many points of the
  plane share their coordinates, on average under p_Y; below 1 it says that Gaussians reach where
  the map never goes. The kernel's γ is chosen for each number of Gaussians by other points held
  out (three values). *Without Z* mass counts at every preimage: no density that turns into p_Y
  can do better on these points, however it shares out the mass of a fold.
- **Swiss roll**, twice as many points: Gaussians in two coordinates of Isomap, brought back to
  three by `inverse_transform` with round noise; its width, and Isomap's neighbours, are chosen by
  other points held out.
- **Parzen**: round Gaussians around the training points, their width chosen by the same points.

Columns are numbers of Gaussians; a gain whose 95 % interval is above 0 is bold.

{likelihoods}

![Likelihood by number of Gaussians](density.png)

**Verdict on densities: no by a change of variables, yes where a dimension is left out.** Where
the mixture's size is chosen by points held out, two coordinates in place of two gain
{found[curves][Laplacian, gain]} nats on the curves and {found[rings][Laplacian, gain]} on the
rings with Laplacian eigenmaps, {found[curves][kernel PCA, gain]} and
{found[rings][kernel PCA, gain]} with kernel PCA. What a map does to bring clusters into simple
shapes, folding and squeezing, the derivative takes back: to be a density of the data, p_Y must be
exact where an arc has been squeezed to a point. On the curves even the likelihood without Z stays
below that of as many Gaussians of the data in {found[curves][below]} of {found[curves][compared]}
comparisons. There Laplacian eigenmaps choose the smallest γ most of the time, by which the map is
nearest to a linear one.

On the roll, three Gaussians of Isomap's two coordinates, brought back, gain
{found[swiss roll][decoded]} nats over three in space, and as many as {found[swiss roll][matched]}
are needed there to do as well: here the intuition of fewer Gaussians holds. But the map back is
made of all training points, and Parzen's density, made of them too, is still better.

As clusters, the paper's intuition holds. Two Gaussians (ten for digits; against their first ten
principal components) before and after the embedding of spectral clustering, rows of unit length;
agreement is the adjusted Rand index of new points:

{clusters}

**Verdict on clusters: yes**, as many Gaussians as clusters find them after the embedding and not
before. BIC does not stop at that number, as clusters on a circle are not Gaussian either.

The library needs nothing new for this: `SpectralClustering.predict` is that clustering, and a
mixture of coordinates is brought back by `inverse_transform`.
"""


def run(lab: Lab) -> None:
    """Likelihood by the number of Gaussians: one panel for each data set."""
    n, repetitions = (60, 2) if lab.quick else (300, 6)
    gammas = (2.0,) if lab.quick else (0.5, 2.0, 6.0)
    jobs: dict[str, Callable[[], Any]] = {
        **{name: partial(plane, name, n, gammas, repetitions) for name in PLANE},
        "swiss roll": partial(decoded, 2 * n, repetitions),
        **{f"clusters, {c}": partial(clusters, c, n, repetitions) for c in (*PLANE, "digits")},
    }
    settings = {"n": n, "repetitions": repetitions, "gammas": gammas, "Gaussians": COUNTS}
    found = lab.results("density", settings, jobs)
    likelihoods = {name: found[name] for name in (*PLANE, "swiss roll")}
    sheet = report.sheet(15, 5.2)
    for ax, (name, row) in zip(sheet.subplots(1, 3), likelihoods.items(), strict=True):
        draw(ax, name, row)
    lab.picture("density", sheet)
    tables = "\n\n".join(by_count(name, row) for name, row in likelihoods.items())
    lab.page("density", PAGE.format(
        n=n, likelihoods=tables, clusters=by_space(found), found=words(likelihoods)
    ))  # fmt: skip


def words(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the verdict is made of."""
    said: dict[str, dict[str, Any]] = {
        name: {key: Interval(*row[key]).text("+.2f") for key in row if key.endswith("gain")}
        for name, row in found.items()
    }
    curves, roll, three = found["curves"], found["swiss roll"], COUNTS.index(3)
    lower = [
        without[0] < plain[0]
        for method in METHODS
        for without, plain in zip(curves[f"{method}, bound"], curves["data"], strict=True)
    ]
    said["curves"] |= {"below": sum(lower), "compared": len(lower)}
    enough = [
        f"{k}" for k, plain in zip(COUNTS, roll["data"], strict=True)
        if plain[0] >= roll["decoded"][three][0]
    ]  # fmt: skip
    said["swiss roll"] = {
        "decoded": Interval(*roll["decoded, gains"][three]).text("+.2f"),
        "matched": (*enough, f"more than {COUNTS[-1]}")[0],
    }
    return said


def by_count(name: str, row: dict[str, Any]) -> str:
    """Likelihoods, a column for each number of Gaussians; a sure gain on the data's is bold."""
    lines = ["| " + " | ".join([name, *(f"{k}" for k in COUNTS)]) + " |"]
    lines.append("|" + "---|" * (1 + len(COUNTS)))
    for key in (key for key in ROWS if key in row):
        found = [Interval(*value) for value in row[key]]
        cells = [f"{value.mean:.2f}" for value in found]
        if key.endswith("gains"):
            cells = [f"{value.mean:+.2f} ± {value.high - value.mean:.2f}" for value in found]
            bold = [value.low > 0 for value in found]
            cells = [f"**{c}**" if b else c for c, b in zip(cells, bold, strict=True)]
        lines.append("| " + " | ".join([ROWS[key], *cells]) + " |")
    return "\n".join([*lines, "", f"Parzen: {row['Parzen'][0]:.2f}."])


def by_space(found: dict[str, Any]) -> str:
    lines = [
        "| clusters | agreement, data | agreement, embedding | gain | by BIC, data "
        "| by BIC, embedding | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in (*PLANE, "digits"):
        row = {key: Interval(*value) for key, value in found[f"clusters, {name}"].items()}
        cells = [f"{row[f'agreement {space}'].mean:.2f}" for space in ("before", "after")]
        cells.append(row["gain"].text())
        cells += [f"{row[f'Gaussians by BIC {space}'].mean:.1f}" for space in ("before", "after")]
        cells.append(verdict(row["gain"], 0.0, "worse", "better"))
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines)


def draw(ax: Any, name: str, row: dict[str, Any]) -> None:
    """Lines by number of Gaussians; without Z dotted."""
    for key, colour in COLOURS.items():
        if key in row:
            mean, low, high = np.array(row[key]).T
            ax.plot(COUNTS, mean, color=colour, marker="o", ms=4, label=LABELS[key])
            ax.fill_between(COUNTS, low, high, color=colour, alpha=0.15, lw=0)
        if f"{key}, bound" in row:
            bound = np.array(row[f"{key}, bound"])[:, 0]
            ax.plot(COUNTS, bound, color=colour, ls=":", label=f"{key}, without Z")
    ax.axhline(row["Parzen"][0], color=report.PALETTE[4], ls="--", label="Parzen")
    ax.set(xscale="log", xlabel="Gaussians")
    ax.set_xticks(COUNTS, [f"{k}" for k in COUNTS])
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    report.title(ax, name, "log-likelihood of a point held out")
