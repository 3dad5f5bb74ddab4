"""Eigenpairs of a Gram matrix: a solver is picked, run and reported.

=============  ======================================================================
``dense``      LAPACK on the formed matrix (or singular vectors of the formed factor)
``lanczos``    ARPACK on products with M
``shift``      ARPACK on ``(M − σI)^-1``, σ just above the spectrum, one sparse LU
``singular``   ARPACK on ``R^-1 R^-T``, one sparse LU of R, where ``M = −RᵀR``
``root``       LAPACK on the small matrix ZᵀZ, where ``M = ZZᵀ``
``lobpcg``     block iteration on products with M
``amg``        the same, preconditioned by algebraic multigrid (pyamg)
=============  ======================================================================

Eigenvectors known beforehand are deflated, never searched for again.
"""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence
from sklearn.utils import check_random_state

from . import solvers
from .gram import Array, Gram
from .solvers import Found, Settings, Solver

CHOICES = ("auto", "dense", "arpack", "lobpcg", "amg")
SOLVERS: dict[str, Solver] = {
    "dense": solvers.dense,
    "lanczos": solvers.lanczos,
    "shift": solvers.shift,
    "singular": solvers.singular,
    "root": solvers.root,
    "lobpcg": solvers.block,
    "amg": solvers.multigrid,
}
SMALL = 300  # up to this size LAPACK wins
BEARABLE = 6000  # up to this size it is quick enough where Lanczos does not converge
PATIENCE = 100  # restarts that Lanczos is given before
FILL = 200_000_000  # entries a sparse factor may be expected to have
USABLE = 1e-12  # ℓ_k counts as positive above this multiple of the size of the spectrum
MULTIPLE = 1e-8  # relative distance at which eigenvalues count as equal


class Solve(NamedTuple):
    """How the eigenproblem was solved.

    Attributes
    ----------
    solver : str
    residuals : (m,) array
        ``‖M v − ℓ v‖`` relative to the size of M.
    products : int
        How many times the matrix, or its inverse, was applied to a vector or block; 1 where it
        was factorised.
    seconds : float
    multiple : list of tuples
        Groups of coordinates, counted from 0, whose eigenvalues are equal to 8 digits: of such
        a group only the space it spans is determined. The number of components stands for the
        first one left out.
    """

    solver: str
    residuals: Array
    products: int
    seconds: float
    multiple: list[tuple[int, ...]]


class Eigenpairs(NamedTuple):
    """The leading eigenvalues ℓ (decreasing) and eigenvectors v of a Gram matrix."""

    values: Array
    vectors: Array
    solve: Solve


def eigenpairs(
    gram: Gram,
    m: int | None,
    solver: str = "auto",
    tol: float = 0.0,
    max_iter: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Eigenpairs:
    """The ``m`` leading eigenpairs after the trivial ones (None: all of them).

    Parameters
    ----------
    solver : {"auto", "dense", "arpack", "lobpcg", "amg"}
    tol : float
        Relative accuracy of an iterative solver; 0 is the machine's.
    max_iter : int, optional
    random_state : int, RandomState or None
        Of the start vectors. None stands for 0: results are repeatable.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenmaps.gram import Gram
    >>> eigenpairs(Gram(np.diag([1.0, 3.0, 2.0])), 2).values.tolist()
    [3.0, 2.0]
    """
    start = time.perf_counter()
    if solver not in CHOICES:
        raise ValueError(f"eigen_solver={solver!r} is not known; use one of {CHOICES}.")
    available = gram.n - gram.drop
    wanted = available if m is None else min(m + 1, available)
    known = np.empty((gram.n, 0)) if gram.known is None else gram.known
    search = max(wanted - (known.shape[1] - gram.drop), 0)
    name = _pick(gram, search) if solver == "auto" else _by_name(gram, solver, search)
    rng = check_random_state(0 if random_state is None else random_state)
    settings = Settings(tol, max_iter, rng)
    if solver == "auto" and name == "lanczos" and gram.n <= BEARABLE:
        try:
            hasty = settings._replace(max_iter=max_iter or PATIENCE)
            values, vectors, products = solvers.lanczos(gram, known, search, hasty)
        except ArpackError:  # eigenvalues too close together, or no start: M is zero
            name = "dense"
            values, vectors, products = solvers.dense(gram, known, search, settings)
    else:
        values, vectors, products = _search(gram, known, search, name, settings)
    if known.shape[1]:
        kept = known[:, gram.drop :]
        values = np.concatenate([_quotients(gram, kept), values])
        vectors = np.hstack([kept, vectors])
    order = np.argsort(-values, kind="stable")[:wanted]
    values, vectors = values[order], fix_signs(vectors[:, order])
    count = wanted if m is None else min(m, wanted)
    size = max(float(np.abs(values).max(initial=0)), _norm(gram), np.finfo(float).tiny)
    residuals = np.linalg.norm(gram.dot(vectors) - vectors * values, axis=0) / size
    groups = multiple(values, size, count)
    seconds = time.perf_counter() - start
    solve = Solve(name, residuals[:count], products, seconds, groups)
    return Eigenpairs(values[:count], vectors[:, :count], solve)


def fix_signs(vectors: Array) -> Array:
    """Make each vector's largest absolute entry positive, the first one where several tie."""
    size = np.abs(vectors)
    first = np.argmax(size >= size.max(axis=0) * (1 - MULTIPLE), axis=0)
    signs = np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(vectors * signs)


def multiple(values: Array, size: float, count: int) -> list[tuple[int, ...]]:
    """Runs of equal eigenvalues that touch the first ``count`` ones."""
    near = MULTIPLE * np.maximum(np.abs(values[:-1]), np.finfo(float).eps * size)
    breaks = np.flatnonzero(values[:-1] - values[1:] > near) + 1
    runs = np.split(np.arange(len(values)), breaks)
    return [tuple(run.tolist()) for run in runs if len(run) > 1 and run[0] < count]


def usable(pairs: Eigenpairs, ell: Array, requested: int | None) -> tuple[Eigenpairs, Array]:
    """Only positive eigenvalues make coordinates; say how many there are."""
    size = float(ell.max(initial=0))
    good = int((ell > max(USABLE * size, np.finfo(float).tiny)).sum())
    if good == 0 or (requested is not None and good < len(ell)):
        raise ValueError(
            f"n_components={requested}, but the kernel has only {good} usable positive eigenvalues "
            f"(largest {size:.3g}) on these {len(pairs.vectors)} points: the data spans fewer "
            "dimensions than that, many points are identical, or the kernel is not positive "
            "definite"
            + (f": set n_components ≤ {good}." if good else ", all of them even: check the data.")
        )
    kept = pairs._replace(values=pairs.values[:good], vectors=pairs.vectors[:, :good])
    return kept, ell[:good]


def warn_multiple(pairs: Eigenpairs) -> None:
    """Warn where the last component is one of several with the same eigenvalue."""
    m = len(pairs.values)
    for group in pairs.solve.multiple:
        if group[-1] >= m:
            warnings.warn(
                f"Components {group[0]} to {m - 1} and the first one left out have the same "
                f"eigenvalue ({pairs.values[group[0]]:.8g}, to 8 digits): which of them the "
                "embedding shows is arbitrary. Use more components, until this warning ends"
                + (f", or n_components={group[0]}." if group[0] else "."),
                UserWarning,
                stacklevel=3,
            )


def _quotients(gram: Gram, vectors: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", vectors, gram.dot(vectors)))


def _norm(gram: Gram) -> float:
    """A cheap lower bound of ‖M‖: the largest diagonal entry."""
    if gram.factor is not None:
        return float((gram.factor.multiply(gram.factor)).sum(axis=0).max())
    if gram.root is not None:
        return float(np.einsum("ij,ij->i", gram.root, gram.root).max())
    assert gram.matrix is not None
    return float(np.abs(gram.matrix.diagonal()).max())


def _pick(gram: Gram, m: int) -> str:
    """By size and structure."""
    if gram.root is not None and m <= gram.root.shape[1]:
        return "root"
    if gram.n <= SMALL or m > gram.n // 5:
        return "dense"
    if gram.factor is not None:
        return "singular"
    if sp.issparse(gram.matrix) and np.isfinite(gram.bound) and _envelope(gram.matrix) < FILL:
        return "shift"
    return "lanczos"


def _by_name(gram: Gram, solver: str, m: int) -> str:
    if solver == "arpack" and m >= gram.n - 1:
        return "dense"
    if solver == "arpack":
        if gram.factor is not None:
            return "singular"
        return "shift" if sp.issparse(gram.matrix) and np.isfinite(gram.bound) else "lanczos"
    if solver == "lobpcg" and gram.factor is not None:
        raise ValueError(
            "eigen_solver='lobpcg' cannot find the eigenvalues of LLE, which are smaller than its "
            "accuracy; use 'auto', 'arpack' or 'dense'."
        )
    if solver == "amg" and not (sp.issparse(gram.matrix) and np.isfinite(gram.bound)):
        raise ValueError(
            "eigen_solver='amg' is for sparse graph Laplacians; use 'auto' for this method."
        )
    return solver


def _envelope(M: sp.csr_array) -> int:
    """An upper bound on the entries of a sparse factor of M: the envelope after RCM ordering."""
    order = reverse_cuthill_mckee(sp.csr_matrix(M), symmetric_mode=True)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first = np.minimum.reduceat(rank[M.indices], M.indptr[:-1])
    return int(np.maximum(rank - first, 0).astype(np.int64).sum())


def _search(gram: Gram, known: Array, m: int, name: str, settings: Settings) -> Found:
    """The m leading eigenpairs orthogonal to the known ones."""
    if m == 0:
        return Found(np.empty(0), np.empty((gram.n, 0)), 1)
    try:
        return SOLVERS[name](gram, known, m, settings)
    except ArpackNoConvergence as error:
        raise RuntimeError(
            f"The eigen-solver '{name}' found {len(error.eigenvalues)} of {m} eigenpairs of a "
            f"{gram.n} × {gram.n} problem before it gave up (tol={settings.tol}, "
            f"max_iter={settings.max_iter}). Eigenvalues that lie close together are the usual "
            "cause, a nearly disconnected graph the usual source. Set tol=1e-6, or use "
            "eigen_solver='dense'."
        ) from error
