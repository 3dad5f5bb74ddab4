"""The papers' figures and tables, and experiments that go past them: ``eigenmaps reproduce``.

Each file is one experiment: a function ``run`` of a :class:`Lab`, which gives it data, keeps its
results and takes its pictures.
"""

from __future__ import annotations

from collections.abc import Callable

from . import choosing, convergence, density, figure1, figure2, layers, smoother, table1
from .lab import Absent, Lab

#: the experiments by name, in the order in which ``eigenmaps reproduce all`` runs them
EXPERIMENTS: dict[str, Callable[[Lab], None]] = {
    "figure1": figure1.run,
    "convergence": convergence.run,
    "choosing": choosing.run,
    "figure2": figure2.run,
    "table1": table1.run,
    "smoother": smoother.run,
    "density": density.run,
    "layers": layers.run,
}

__all__ = ["EXPERIMENTS", "Absent", "Lab"]
