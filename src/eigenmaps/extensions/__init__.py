"""The ways to new points: one file, one way.

>>> from eigenmaps import extensions
>>> extensions.by_name("heat")
Heat()
"""

from __future__ import annotations

from .barycentric import Barycentric
from .base import Extension, Model
from .heat import Heat
from .nystrom import Nystrom
from .refit import Refit
from .regression import RBFNetwork, Regression
from .restricted import Restricted
from .sparse import Sparse

__all__ = [
    "Barycentric",
    "Extension",
    "Heat",
    "Model",
    "Nystrom",
    "RBFNetwork",
    "Refit",
    "Regression",
    "Restricted",
    "Sparse",
    "by_name",
]

NAMES: dict[str, type[Extension]] = {
    "nystrom": Nystrom,
    "refit": Refit,
    "restricted": Restricted,
    "barycentric": Barycentric,
    "heat": Heat,
    "sparse": Sparse,
    "linear": Regression,
}


def by_name(extension: str | Extension) -> Extension:
    """The extension of a name, with its default parameters; an object is returned as it is."""
    if isinstance(extension, Extension):
        return extension
    if extension in NAMES:
        return NAMES[extension]()
    known = ", ".join(map(repr, NAMES))
    raise ValueError(
        f"extension={extension!r} is not known; use one of {known}, or an object of "
        "eigenmaps.extensions."
    )
