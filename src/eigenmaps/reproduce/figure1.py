"""Bengio 2004, figure 1: what the embedding of spectral clustering does to two curved clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from .. import report
from ..assignment import unit_rows
from ..clustering import SpectralClustering
from ..gram import Array, Index
from .lab import Lab

N, NEW, NOISE, GAMMA = 150, 60, 0.06, 12.0


def curves(n: int, random_state: int) -> tuple[Array, Array, Index]:
    """Two arcs that interlock: points, where on its arc each lies (0 to 1), and which arc."""
    rng = np.random.default_rng(random_state)
    arc = np.repeat([0, 1], n)
    place = rng.random(2 * n)
    angle = np.pi * place
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[arc == 1] = np.array([1.0, 0.4]) - X[arc == 1]
    return X + NOISE * rng.standard_normal(X.shape), place, arc


def run(lab: Lab) -> None:
    """The points, their first two eigenvectors, and these scaled to the unit circle."""
    old, new = curves(N, 0), curves(NEW, 1)
    model = SpectralClustering(2, affinity="rbf", gamma=GAMMA, random_state=0).fit(old[0])
    seen, unseen = model.embedding_, model.transform(new[0])

    def measured() -> dict[str, float]:
        _, place, arc = new
        angle = np.arctan2(*unit_rows(unseen).T[::-1])
        plain = KMeans(2, n_init=10, random_state=0).fit(old[0]).predict(new[0])
        order = [abs(spearmanr(place[arc == a], angle[arc == a]).statistic) for a in (0, 1)]
        return {
            "clusters of new points and arcs, adjusted Rand index": adjusted_rand_score(
                arc, model.predict(new[0])
            ),
            "the same by k-means of the input": adjusted_rand_score(arc, plain),
            "place on the arc and angle, least rank correlation": min(map(float, order)),
        }

    settings = {"points": 2 * N, "new points": 2 * NEW, "gamma": GAMMA, "noise": NOISE}
    found = lab.results("figure1", settings, {"figures": measured})["figures"]
    rows = "\n".join(f"| {what} | {value:.3f} |" for what, value in found.items())
    lab.page("figure1", f"| of {2 * NEW} new points | |\n|---|---|\n{rows}")
    sheet = report.sheet(16, 5.6)
    panels = (
        ("input", "two arcs; colour is the place on the arc", old[0], new[0]),
        ("eigenvectors", "v_1 and v_2 of the normalised affinity", seen, unseen),
        ("unit rows", "what is clustered: two corners, and the order inside each",
         unit_rows(seen), unit_rows(unseen)),
    )  # fmt: skip
    for ax, (name, note, A, B) in zip(sheet.subplots(1, 3), panels, strict=True):
        draw(ax, A, old, 0.2)
        draw(ax, B, new, 1.0)
        ax.margins(0.1)
        report.title(ax, name, note)
    sheet.suptitle(f"{2 * N} training points (pale) and {2 * NEW} new ones", color=report.INK)
    lab.picture("figure1", sheet)


def draw(ax: Any, A: Array, points: tuple[Array, Array, Index], alpha: float) -> None:
    """Points by their arc (circle or cross) and their place on it (colour)."""
    _, place, arc = points
    for which, marker in enumerate("ox"):
        own = arc == which
        ax.scatter(*A[own].T, c=place[own], marker=marker, cmap="viridis", alpha=alpha)
