"""Bengio 2004, figure 1: what the embedding of spectral clustering does to two curved clusters."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

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
    """The points and their images on the unit circle, training points pale, new ones strong."""
    X, place, arc = curves(N, 0)
    X_new, place_new, arc_new = curves(NEW, 1)
    model = SpectralClustering(2, affinity="rbf", gamma=GAMMA, random_state=0).fit(X)
    U, U_new = unit_rows(model.embedding_), unit_rows(model.transform(X_new))

    def measure() -> dict[str, float]:
        return {
            "agreement of new points' clusters with the arcs": adjusted_rand_score(
                arc_new, model.predict(X_new)
            ),
            **{
                f"held-out log-likelihood of {k} Gaussians, {space}": float(
                    GaussianMixture(k, random_state=0, n_init=5).fit(A).score(B)
                )
                for k in (2,)
                for space, A, B in (("input", X, X_new),)
            },
        }

    lab.results("figure1", {"n": N, "gamma": GAMMA, "noise": NOISE}, {"all": measure})
    sheet = report.sheet(10, 5)
    for ax, old, new, name in zip(
        sheet.subplots(1, 2), (X, U), (X_new, U_new), ("input", "embedding"), strict=True
    ):
        for A, places, arcs, alpha in ((old, place, arc, 0.25), (new, place_new, arc_new, 1.0)):
            for which, marker in enumerate("ox"):
                own = arcs == which
                ax.scatter(*A[own].T, c=places[own], marker=marker, cmap="viridis", alpha=alpha)
        ax.set(aspect="equal")
        report.title(ax, name, "")
    lab.picture("figure1", sheet)
