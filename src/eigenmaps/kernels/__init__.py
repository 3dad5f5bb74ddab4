"""The methods: one file, one kernel.

>>> from eigenmaps import Eigenmap, kernels
>>> Eigenmap(kernels.Isomap(n_neighbors=10), n_components=2)
Eigenmap(kernel=Isomap(n_neighbors=10))
"""

from .affinity import (
    Affinity,
    CallableAffinity,
    Gaussian,
    NeighborGraph,
    PrecomputedAffinity,
    SelfTuning,
)
from .base import Kernel
from .isomap import Isomap
from .kernel_pca import KernelPCA
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
    "Laplacian",
    "NeighborGraph",
    "PrecomputedAffinity",
    "SelfTuning",
]
