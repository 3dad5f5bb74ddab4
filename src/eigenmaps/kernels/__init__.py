"""The methods: one file, one kernel.

>>> from eigenmaps import Eigenmap, kernels
>>> Eigenmap(kernels.Isomap(n_neighbors=10), n_components=2)
Eigenmap(kernel=Isomap(n_neighbors=10))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .affinity import (
    Affinity,
    CallableAffinity,
    Gaussian,
    PrecomputedAffinity,
    SelfTuning,
)
from .base import Kernel
from .graph import NeighborGraph
from .isomap import Isomap
from .kernel_pca import KernelPCA
from .l1_graph import L1Graph
from .laplacian import Laplacian
from .lle import LLE
from .mds import MDS

__all__ = [
    "LLE",
    "MDS",
    "Affinity",
    "CallableAffinity",
    "Gaussian",
    "Isomap",
    "Kernel",
    "KernelPCA",
    "L1Graph",
    "Laplacian",
    "NeighborGraph",
    "PrecomputedAffinity",
    "SelfTuning",
]


def affinity_by_name(
    affinity: str | Callable[..., Any] | Affinity,
    gamma: float | str | None,
    n_neighbors: int,
    n_jobs: int | None,
) -> Affinity:
    """The affinity object of a name, made once, here; an object is returned as it is."""
    if isinstance(affinity, Affinity):
        return affinity
    if affinity == "nearest_neighbors":
        return NeighborGraph(n_neighbors, n_jobs=n_jobs)
    if affinity == "rbf":
        return Gaussian(gamma, n_neighbors)
    if affinity == "self_tuning":
        return SelfTuning(n_neighbors)
    if affinity == "l1":
        return L1Graph(n_jobs=n_jobs)
    if affinity == "precomputed":
        return PrecomputedAffinity()
    if callable(affinity):
        return CallableAffinity(affinity)
    raise ValueError(
        f"affinity={affinity!r} is not known; use 'nearest_neighbors', 'rbf', 'self_tuning', "
        "'l1', 'precomputed', a function of two matrices, or an object of eigenmaps.kernels."
    )
