"""Pictures: matplotlib axes in, matplotlib axes out; matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .gram import Array

Labels = NDArray[Any]

#: Petroff (2021), Accessible color sequences for data visualization: ten colours that stay
#: apart under the common forms of colour blindness.
PALETTE = (
    "#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#94a4a2",
    "#92dadd", "#e76300", "#b9ac70", "#717581", "#a96b59",
)  # fmt: skip
INK, FAINT = "#333333", "#777777"
PALE = 0.72  # share of white in a training point's colour
MARGIN, TILE = 1.16, 0.05  # side of the picture over that of the data; of an image over the former
AROUND = 0.8 * np.array([(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)])


def sheet(width: float, height: float) -> Any:
    """An empty figure of a size in inches, outside of pyplot."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'eigenmaps[report]'.") from error

    layout = ConstrainedLayoutEngine(w_pad=0.25, h_pad=0.2)
    return Figure(figsize=(width, height), layout=layout)


def embedding(
    ax: Any,
    Y_train: Array,
    Y_new: Array,
    labels_train: Labels,
    labels_new: Labels,
    images: Array | None = None,
) -> Any:
    """Draw new points, strong, among the training points, pale, coloured by label.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    Y_train, Y_new : arrays of shape (n, 2) and (m, 2)
    labels_train, labels_new : arrays of n and m labels
        Up to ten different ones.
    images : array of shape (m, height, width), optional
        Of the new points, ink as positive numbers. As many are shown as find an empty place
        beside their point.

    Returns
    -------
    ax
    """
    colours_train, colours_new = np.split(
        _colours(np.concatenate([labels_train, labels_new])), [len(labels_train)]
    )
    points = np.vstack([Y_train, Y_new])
    low, high = points.min(axis=0), points.max(axis=0)
    centre, side = (low + high) / 2, MARGIN * float((high - low).max())
    ax.scatter(*Y_train.T, s=9, c=PALE + (1 - PALE) * colours_train, linewidths=0)
    ax.scatter(*Y_new.T, s=18, c=colours_new, edgecolors="white", linewidths=0.3)
    if images is not None:
        for i, place in vacancies(Y_new, points, TILE * side).items():
            ax.plot(*np.stack([Y_new[i], place]).T, color=colours_new[i], lw=0.7, zorder=0)
            _image(ax, images[i], place, TILE * side, colours_new[i])
    (left, bottom), (right, top) = centre - side / 2, centre + side / 2
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.set_axis_off()
    return ax


def title(ax: Any, name: str, note: str) -> Any:
    """A name above the axes and a fainter note beneath it."""
    above = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    ax.annotate(name, (0, 1), (0, 20), color=INK, fontsize=13, fontweight="bold", **above)
    ax.annotate(note, (0, 1), (0, 5), color=FAINT, fontsize=10, **above)
    return ax


def legend(figure: Any, labels: Labels) -> Any:
    """One row of labels and their colours at the foot of a figure."""
    from matplotlib.lines import Line2D

    names = np.unique(labels)
    dots = [
        Line2D([], [], ls="", marker="o", ms=8, color=colour, label=str(name))
        for name, colour in zip(names, _colours(names), strict=True)
    ]
    return figure.legend(
        handles=dots, loc="lower center", ncols=len(dots), frameon=False, labelcolor=INK,
        handletextpad=0.1, columnspacing=1.4,
    )  # fmt: skip


def lines(figure: Any, colours: Mapping[str, str]) -> Any:
    """One row of names and the colours of their lines at the foot of a figure."""
    from matplotlib.lines import Line2D

    strokes = [Line2D([], [], lw=3, color=c, label=name) for name, c in colours.items()]
    return figure.legend(
        handles=strokes, loc="outside lower center", ncols=len(strokes), frameon=False,
        labelcolor=INK, fontsize=13,
    )  # fmt: skip


def vacancies(Y: Array, obstacles: Array, side: float) -> dict[int, Array]:
    """Empty places for squares beside points: no square covers an obstacle or nears another.

    Points are served in their order; those without an empty place go without.

    Parameters
    ----------
    Y : array of shape (m, 2)
    obstacles : array of shape (n, 2)
    side : float
        Of the squares.

    Returns
    -------
    dict
        Centres of squares by the row of ``Y`` they stand beside.

    Examples
    --------
    >>> Y = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 0.0]])
    >>> vacancies(Y, Y, 1.0)
    {0: array([-0.8,  0. ]), 2: array([8.2, 0. ])}
    """
    places = Y[:, None] + side * AROUND
    to_obstacle, _ = KDTree(obstacles).query(places, p=np.inf)
    placed: dict[int, Array] = {}
    for i, j in np.argwhere(to_obstacle > side / 2).tolist():
        far = (np.abs(places[i, j] - other).max() > 2 * side for other in placed.values())
        if i not in placed and all(far):
            placed[i] = places[i, j]
    return placed


def _image(ax: Any, ink: Array, centre: Array, side: float, colour: Array) -> None:
    """A picture in one colour on white."""
    (x, y), half = centre, side / 2
    picture = 1 - (ink / (ink.max() or 1))[:, :, None] * (1 - colour)
    box = (x - half, x + half, y - half, y + half)
    ax.imshow(picture, extent=box, interpolation="nearest", zorder=3)


def _colours(labels: Labels) -> Array:
    """RGB of each label, the sorted labels going through the palette."""
    from matplotlib.colors import to_rgb

    names, index = np.unique(labels, return_inverse=True)
    if len(names) > len(PALETTE):
        raise ValueError(f"{len(names)} labels, but the palette has {len(PALETTE)} colours.")
    return np.array([to_rgb(colour) for colour in PALETTE])[index]


__all__ = ["PALETTE", "embedding", "legend", "lines", "sheet", "title", "vacancies"]
