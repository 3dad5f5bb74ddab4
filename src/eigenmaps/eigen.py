"""Eigenpairs of a Gram matrix: a solver is picked, run and reported.

=============  ======================================================================
``dense``      LAPACK on the formed matrix (or singular vectors of the formed factor)
``lanczos``    ARPACK on products with M
``shift``      ARPACK on ``(M − σI)^-1``, σ just above the spectrum, one sparse LU
``singular``   ARPACK on ``R^-1 R^-T``, one sparse LU of R, where ``M = −RᵀR``
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
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, lobpcg, splu
from sklearn.utils import check_random_state

from .gram import Array, Gram

SOLVERS = ("auto", "dense", "arpack", "lobpcg", "amg")
SMALL = 300  # up to this size LAPACK wins
FILL = 200_000_000  # entries a sparse factor may be expected to have
MULTIPLE = 1e-8  # relative distance at which eigenvalues count as equal


class Solve(NamedTuple):
    """How the eigenproblem was solved.

    Attributes
    ----------
    solver : str
    residuals : (m,) array
        ``‖M v − ℓ v‖`` relative to the size of M.
    seconds : float
    multiple : list of tuples
        Groups of coordinates, counted from 0, whose eigenvalues are equal to 8 digits: of such
        a group only the space it spans is determined. The number of components stands for the
        first one left out.
    """

    solver: str
    residuals: Array
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
    if solver not in SOLVERS:
        raise ValueError(f"eigen_solver={solver!r} is not known; use one of {SOLVERS}.")
    available = gram.n - gram.drop
    wanted = available if m is None else min(m + 1, available)
    known = np.empty((gram.n, 0)) if gram.known is None else gram.known
    search = max(wanted - (known.shape[1] - gram.drop), 0)
    name = _pick(gram, search) if solver == "auto" else _by_name(gram, solver, search)
    rng = check_random_state(0 if random_state is None else random_state)
    values, vectors = _search(gram, known, search, name, tol, max_iter, rng)
    if known.shape[1]:
        kept = known[:, gram.drop :]
        values = np.concatenate([_quotients(gram, kept), values])
        vectors = np.hstack([kept, vectors])
    order = np.argsort(-values, kind="stable")[:wanted]
    values, vectors = values[order], fix_signs(vectors[:, order])
    count = wanted if m is None else min(m, wanted)
    size = max(float(np.abs(values).max(initial=0)), _norm(gram), np.finfo(float).tiny)
    residuals = np.linalg.norm(gram.dot(vectors) - vectors * values, axis=0) / size
    groups = _multiple(values, size, count)
    seconds = time.perf_counter() - start
    return Eigenpairs(
        values[:count], vectors[:, :count], Solve(name, residuals[:count], seconds, groups)
    )


def fix_signs(vectors: Array) -> Array:
    """Make each vector's largest absolute entry positive, the first one where several tie."""
    size = np.abs(vectors)
    first = np.argmax(size >= size.max(axis=0) * (1 - MULTIPLE), axis=0)
    signs = np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(vectors * signs)


def _multiple(values: Array, size: float, count: int) -> list[tuple[int, ...]]:
    """Runs of equal eigenvalues that touch the first ``count`` ones."""
    near = MULTIPLE * np.maximum(np.abs(values[:-1]), np.finfo(float).eps * size)
    breaks = np.flatnonzero(values[:-1] - values[1:] > near) + 1
    runs = np.split(np.arange(len(values)), breaks)
    return [tuple(run.tolist()) for run in runs if len(run) > 1 and run[0] < count]


def _quotients(gram: Gram, vectors: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", vectors, gram.dot(vectors)))


def _norm(gram: Gram) -> float:
    """A cheap lower bound of ‖M‖: the largest diagonal entry."""
    if gram.factor is not None:
        return float((gram.factor.multiply(gram.factor)).sum(axis=0).max())
    assert gram.matrix is not None
    return float(np.abs(gram.matrix.diagonal()).max())


def _pick(gram: Gram, m: int) -> str:
    """By size and structure."""
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


def _search(
    gram: Gram,
    known: Array,
    m: int,
    name: str,
    tol: float,
    max_iter: int | None,
    rng: np.random.RandomState,
) -> tuple[Array, Array]:
    """The m leading eigenpairs orthogonal to the known ones."""
    if m == 0:
        return np.empty(0), np.empty((gram.n, 0))
    if name == "dense":
        return _dense(gram, known, m)
    start = rng.uniform(-1, 1, gram.n)
    start -= known @ (known.T @ start)
    try:
        if name == "lanczos":
            return _lanczos(gram, known, m, start, tol, max_iter)
        if name == "shift":
            return _shift(gram, known, m, start, tol, max_iter)
        if name == "singular":
            return _singular(gram, known, m, start, tol, max_iter, rng)
    except ArpackNoConvergence as error:
        raise RuntimeError(
            f"The eigen-solver '{name}' found {len(error.eigenvalues)} of {m} eigenpairs of a "
            f"{gram.n} × {gram.n} problem before it gave up (tol={tol}, max_iter={max_iter}). "
            "Eigenvalues that lie close together are the usual cause, a nearly disconnected graph "
            "the usual source. Raise max_iter, set tol=1e-6, or use eigen_solver='dense'."
        ) from error
    return _lobpcg(gram, known, m, name == "amg", tol, max_iter, rng)


def _dense(gram: Gram, known: Array, m: int) -> tuple[Array, Array]:
    n = gram.n
    if gram.factor is not None:
        # Singular vectors of R on the complement of the known null vectors.
        complement = sla.null_space(known.T) if known.shape[1] else np.eye(n)
        _, s, Vt = sla.svd(gram.factor @ complement, full_matrices=False)
        return -(s[::-1][:m] ** 2), complement @ Vt[::-1][:m].T
    M = gram.toarray().copy()
    if known.shape[1]:
        # Move the known eigenvalues below all others.
        low = np.abs(M).sum(axis=1).max() + np.abs(_quotients(gram, known)).max()
        M -= (2 * low * known) @ known.T
    values, vectors = sla.eigh(M, subset_by_index=(n - m, n - 1), overwrite_a=True)
    return values[::-1], vectors[:, ::-1]


def _without(known: Array):  # type: ignore[no-untyped-def]
    """The projection off the known vectors."""

    def project(x: Array) -> Array:
        x = np.asarray(x).ravel()
        return np.asarray(x - known @ (known.T @ x))

    return project


def _lanczos(
    gram: Gram, known: Array, m: int, start: Array, tol: float, max_iter: int | None
) -> tuple[Array, Array]:
    off = _without(known)
    operator = LinearOperator((gram.n, gram.n), lambda x: off(gram.dot(off(x))), dtype=np.float64)
    ncv = min(gram.n, max(2 * m + 10, 30))
    values, vectors = eigsh(
        operator, m, which="LA", v0=start, tol=tol, maxiter=max_iter, ncv=ncv
    )
    return values[::-1], vectors[:, ::-1]


def _shift(
    gram: Gram, known: Array, m: int, start: Array, tol: float, max_iter: int | None
) -> tuple[Array, Array]:
    """Largest pairs of M as those of ``(σI − M)^-1``, a positive definite matrix."""
    sigma = gram.bound * (1 + 1e-5)
    assert sp.issparse(gram.matrix)
    A = sp.csc_array(sigma * sp.eye_array(gram.n) - gram.matrix)
    lu = splu(
        A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    off = _without(known)
    inverse = LinearOperator((gram.n, gram.n), lambda x: off(lu.solve(off(x))), dtype=np.float64)
    ncv = min(gram.n, max(2 * m + 1, 20))
    _, vectors = eigsh(inverse, m, which="LA", v0=start, tol=tol, maxiter=max_iter, ncv=ncv)
    return _ritz(gram, vectors)


def _ritz(gram: Gram, vectors: Array) -> tuple[Array, Array]:
    """The best eigenpairs within a space, from products with M itself."""
    Q, _ = np.linalg.qr(vectors)
    values, U = np.linalg.eigh(Q.T @ gram.dot(Q))
    return values[::-1], (Q @ U)[:, ::-1]


def _singular(
    gram: Gram,
    known: Array,
    m: int,
    start: Array,
    tol: float,
    max_iter: int | None,
    rng: np.random.RandomState,
) -> tuple[Array, Array]:
    """Smallest singular vectors of R: those of largest ``(RᵀR)^-1 = R^-1 R^-T``.

    R is singular, with ``known`` in its null space. A shift of the size of its rounding errors
    makes the LU exist; what lies along the null vectors, on the right and on the left, is
    projected out before it can swamp the rest.
    """
    R = gram.factor
    assert R is not None
    n, eps = gram.n, float(np.finfo(np.float64).eps)
    lu = splu(sp.csc_array(R + eps * sp.eye_array(n)))
    right, found = known, np.empty((n, 0))
    while True:
        left = _null_space(lambda b: lu.solve(b, trans="T"), lu.solve, right.shape[1], n, rng)
        off, off_left = _without(right), _without(left)

        def inverse(x: Array, off=off, off_left=off_left) -> Array:  # type: ignore[no-untyped-def]
            return off(lu.solve(off_left(lu.solve(off(x), trans="T"))))

        operator = LinearOperator((n, n), inverse, dtype=np.float64)
        ncv = min(n, max(2 * m + 1, 20))
        values, vectors = eigsh(
            operator, m - found.shape[1], which="LA", v0=off(start), tol=tol, maxiter=max_iter,
            ncv=ncv,
        )  # fmt: skip
        # A graph with several sinks has more null vectors; they hide the rest until deflated.
        null = np.linalg.norm(R @ vectors, axis=0) < 100 * eps
        if not null.any() or null.all():
            break
        basis, _ = np.linalg.qr(np.hstack([right, vectors[:, null]]))
        found = np.hstack([found, basis[:, right.shape[1] :]])
        right = basis
    vectors = np.hstack([found, vectors])
    # Rayleigh-Ritz through the singular values of R V keeps small values accurate.
    Q, _ = np.linalg.qr(vectors - known @ (known.T @ vectors))
    _, s, Vt = np.linalg.svd(R @ Q, full_matrices=False)
    return -(s[::-1] ** 2), Q @ Vt[::-1].T


def _null_space(solve_left, solve_right, count: int, n: int, rng):  # type: ignore[no-untyped-def]
    """Left null vectors by inverse iteration: each step gains some fifteen digits."""
    U = rng.uniform(-1, 1, (n, count))
    for _ in range(2):
        U, _ = np.linalg.qr(solve_left(solve_right(U)))
    return U


def _lobpcg(
    gram: Gram,
    known: Array,
    m: int,
    multigrid: bool,
    tol: float,
    max_iter: int | None,
    rng: np.random.RandomState,
) -> tuple[Array, Array]:
    n = gram.n
    if n < 5 * (m + known.shape[1]):
        return _dense(gram, known, m)
    width = min(m + 2, n // 5)
    start = rng.standard_normal((n, width))
    M = LinearOperator((n, n), matvec=gram.dot, matmat=gram.dot, dtype=np.float64)
    preconditioner = None
    if multigrid:
        try:
            from pyamg import smoothed_aggregation_solver
        except ImportError as error:
            raise ImportError(
                "eigen_solver='amg' needs pyamg: pip install 'eigenmaps[large]'."
            ) from error
        L = sp.csr_matrix(gram.bound * (1 + 1e-5) * sp.eye_array(n) - gram.matrix)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            preconditioner = smoothed_aggregation_solver(L, symmetry="symmetric").aspreconditioner()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        values, vectors = lobpcg(
            M,
            start,
            M=preconditioner,
            Y=known if known.shape[1] else None,
            tol=tol or 1e-8,
            maxiter=max_iter or 500,
            largest=True,
        )
    values, vectors = _ritz(gram, vectors)
    residual = np.linalg.norm(gram.dot(vectors) - vectors * values, axis=0)[:m]
    limit = 10 * (tol or 1e-8) * max(1.0, float(np.abs(values).max()))
    if residual.max() > limit:
        warnings.warn(
            f"LOBPCG stopped with a residual of {residual.max():.2g} after {max_iter or 500} "
            f"iterations (tol={tol or 1e-8:g}): its coordinates may be inaccurate. Raise max_iter, "
            "or use eigen_solver='auto'.",
            UserWarning,
            stacklevel=2,
        )
    return values[:m], vectors[:, :m]
