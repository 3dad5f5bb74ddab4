"""Spectral embeddings as eigenfunctions of data-dependent kernels, for new points too."""

from . import extensions, kernels, metrics
from .clustering import SpectralClustering
from .eigenmap import Eigenmap
from .estimators import (
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
)
from .store import load

__version__ = "0.1.0"

__all__ = [
    "ClassicalMDS",
    "Eigenmap",
    "Isomap",
    "KernelPCA",
    "LaplacianEigenmaps",
    "LocallyLinearEmbedding",
    "SpectralClustering",
    "extensions",
    "kernels",
    "load",
    "metrics",
]
