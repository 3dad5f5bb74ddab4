"""What the loss of Bengio 2004 §5 can choose, and what not: on digits, half of them new."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from .. import metrics, report
from ..embedder import SpectralEmbedder
from ..estimators import Isomap, KernelPCA, LaplacianEigenmaps
from .lab import Lab

COMPONENTS = (1, 2, 5, 10, 20, 50)
GAMMAS = tuple(float(g) for g in np.geomspace(1e-5, 6e-3, 9))
EXTENSIONS = ("nystrom", "refit", "barycentric", "heat", "linear")
FEW, MANY, FEWER = 10, 50, 300  # components, and new points, of which extensions are compared
BY_COMPONENTS: dict[str, Callable[[int], SpectralEmbedder]] = {
    "kernel PCA": lambda m: KernelPCA(m, kernel="rbf", gamma=1e-3),
    "Isomap": lambda m: Isomap(n_components=m, n_neighbors=10),
    "Laplacian eigenmaps": lambda m: LaplacianEigenmaps(m, affinity="rbf", gamma=1e-3),
}
BY_GAMMA: dict[str, Callable[[float], SpectralEmbedder]] = {
    "kernel PCA": lambda gamma: KernelPCA(10, kernel="rbf", gamma=gamma),
    "Laplacian eigenmaps": lambda gamma: LaplacianEigenmaps(10, affinity="rbf", gamma=gamma),
}


def run(lab: Lab) -> None:
    """Normalised losses by components, by bandwidth, by extension, beside 10-NN accuracy."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(400 if lab.quick else len(digits.data))
    old, new = np.array_split(order, 2)
    X, y = digits.data, digits.target

    def job(model: SpectralEmbedder, ways: tuple[str, ...] = ()) -> Callable[[], Any]:
        def done() -> dict[str, float]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # narrow kernels are meant
                model.fit(X[old])
            if ways:
                return {
                    way: model.with_extension(way).loss(X[new[:FEWER]], normalized=True)
                    for way in ways
                }
            return {
                "train": model.loss(normalized=True),
                "new": model.loss(X[new], normalized=True),
                "accuracy": metrics.knn_accuracy(
                    model.embedding_, y[old], model.transform(X[new]), y[new]
                ),
            }

        return done

    jobs = {
        f"{name}, m={m}": job(make(m)) for name, make in BY_COMPONENTS.items() for m in COMPONENTS
    }
    jobs |= {
        f"{name}, gamma={g:.3g}": job(make(g)) for name, make in BY_GAMMA.items() for g in GAMMAS
    }
    jobs |= {
        f"{name}, m={m}, extensions": job(make(m), EXTENSIONS)
        for name, make in BY_COMPONENTS.items()
        for m in (FEW, MANY)
    }
    found = lab.results("choosing", {"components": COMPONENTS, "gammas": GAMMAS}, jobs)
    lab.page("choosing", table(found))
    lab.picture("choosing", drawn(found))


def table(found: dict[str, Any]) -> str:
    lines = [
        "| normalised loss of new points | " + " | ".join(EXTENSIONS) + " |",
        "|---" * (len(EXTENSIONS) + 1) + "|",
    ]
    for name in BY_COMPONENTS:
        for m in (FEW, MANY):
            row = found[f"{name}, m={m}, extensions"]
            figures = " | ".join(f"{row[way]:.4f}" for way in EXTENSIONS)
            lines.append(f"| {name}, {m} components | {figures} |")
    return "\n".join(lines)


def drawn(found: dict[str, Any]) -> Any:
    """Losses and accuracy against the number of components, and against γ."""
    sheet = report.sheet(15, 9)
    upper, lower = sheet.subplots(2, 3)
    for ax, name in zip(upper, BY_COMPONENTS, strict=True):
        panel(ax, COMPONENTS, [found[f"{name}, m={m}"] for m in COMPONENTS], "components")
        report.title(ax, name, "number of components")
    for ax, name in zip(lower, BY_GAMMA, strict=False):
        panel(ax, GAMMAS, [found[f"{name}, gamma={g:.3g}"] for g in GAMMAS], "γ")
        report.title(ax, name, "bandwidth, 10 components: wide kernels on the left")
    lower[-1].set_axis_off()
    lower[-1].legend(*lower[0].get_legend_handles_labels(), frameon=False, loc="upper left")
    return sheet


def panel(ax: Any, at: tuple[Any, ...], rows: list[dict[str, float]], label: str) -> None:
    for part, text, style, colour in (
        ("train", "loss, training points", "--", report.PALETTE[0]),
        ("new", "loss, new points", "-", report.PALETTE[0]),
        ("accuracy", "10-NN accuracy of new points", "-", report.PALETTE[1]),
    ):
        ax.plot(at, [row[part] for row in rows], style, marker="o", color=colour, label=text)
    ax.set_xscale("log")
    ax.set(xlabel=label, ylim=(0, 1.02))
