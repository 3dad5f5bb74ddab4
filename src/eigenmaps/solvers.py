"""The eigen-solvers: each finds the leading eigenpairs orthogonal to those already known."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, SuperLU, eigsh, lobpcg, splu

from .gram import EPS, Array, Gram

ABOVE = 1 + 1e-5  # where the shift lies, relative to the top of the spectrum


class Found(NamedTuple):
    """Eigenvalues in decreasing order, eigenvectors, and the number of products taken."""

    values: Array
    vectors: Array
    products: int


class Settings(NamedTuple):
    """Relative tolerance (0: machine precision), limit of iterations, random numbers."""

    tol: float
    max_iter: int | None
    rng: np.random.RandomState


Solver = Callable[[Gram, Array, int, Settings], Found]


def dense(gram: Gram, known: Array, m: int, settings: Settings) -> Found:
    """LAPACK on the formed matrix; on the formed factor where there is one."""
    n = gram.n
    if gram.factor is not None:
        complement = sla.null_space(known.T) if known.shape[1] else np.eye(n)
        _, s, Vt = sla.svd(gram.factor @ complement, full_matrices=False)
        return Found(-(s[::-1][:m] ** 2), complement @ Vt[::-1][:m].T, 1)
    M = gram.toarray().copy()
    if known.shape[1]:
        # Move the known eigenvalues below all others.
        low = 2 * np.abs(M).sum(axis=1).max()
        M -= (low * known) @ known.T
    values, vectors = sla.eigh(M, subset_by_index=(n - m, n - 1))
    if len(values) < m:  # of many equal eigenvalues LAPACK's search for some can lose all
        values, vectors = sla.eigh(M, driver="evd", overwrite_a=True)
        values, vectors = values[n - m :], vectors[:, n - m :]
    return Found(values[::-1], vectors[:, ::-1], 1)


def lanczos(gram: Gram, known: Array, m: int, settings: Settings) -> Found:
    """ARPACK on products with M."""
    off = _projection_off(known)
    values, vectors, products = _arpack(
        gram.n, lambda x: off(gram.dot(off(x))), m, off, settings, ncv=max(2 * m + 10, 30)
    )
    return Found(values[::-1], vectors[:, ::-1], products)


def shift(gram: Gram, known: Array, m: int, settings: Settings) -> Found:
    """ARPACK on ``(σI − M)^-1``, σ just above the spectrum: a positive definite matrix."""
    assert sp.issparse(gram.matrix)
    lu = splu(
        sp.csc_array(gram.bound * ABOVE * sp.eye_array(gram.n) - gram.matrix),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    off = _projection_off(known)
    _, vectors, products = _arpack(gram.n, lambda x: off(lu.solve(off(x))), m, off, settings)
    return Found(*_ritz(gram, vectors), products)


def singular(gram: Gram, known: Array, m: int, settings: Settings) -> Found:
    """Smallest singular vectors of R, ``M = −RᵀR``: ARPACK on ``(RᵀR)^-1 = R^-1 R^-T``.

    R is singular, the known vectors being in its null space. A shift of the size of rounding
    errors, or as little more as it takes, makes the LU exist; what then lies along the null
    vectors, on the right and on the left, is projected off before it can swamp the rest.
    """
    R, n = gram.factor, gram.n
    assert R is not None
    lu = _factorised(R)
    right, found, total = known, np.empty((n, 0)), 0
    while True:
        left = settings.rng.uniform(-1, 1, (n, right.shape[1]))
        for _ in range(2):  # inverse iteration on RRᵀ: each step gains some fifteen digits
            left, _ = np.linalg.qr(lu.solve(lu.solve(left), trans="T"))
        off, off_left = _projection_off(right), _projection_off(left)

        def inverse(x: Array, off: Project = off, off_left: Project = off_left) -> Array:
            return off(lu.solve(off_left(lu.solve(off(x), trans="T"))))

        _, vectors, products = _arpack(n, inverse, m - found.shape[1], off, settings)
        total += products
        # A directed graph with several sinks has more null vectors than the known ones; these
        # hide the rest until they are deflated as well.
        null = np.linalg.norm(R @ vectors, axis=0) < 100 * EPS
        if not null.any() or null.all():
            break
        right, _ = np.linalg.qr(np.hstack([right, vectors[:, null]]))
        found = right[:, known.shape[1] :]
    # Rayleigh-Ritz by singular values of R V, which keeps small ones accurate.
    V = np.hstack([found, vectors])
    V, _ = np.linalg.qr(V - known @ (known.T @ V))
    _, s, Ut = np.linalg.svd(R @ V, full_matrices=False)
    return Found(-(s[::-1] ** 2), V @ Ut[::-1].T, total)


def root(gram: Gram, known: Array, m: int, settings: Settings) -> Found:
    """By the small matrix: ``ZᵀZ w = ℓ w``, ``v = Zw/√ℓ``, made orthogonal to the last digit."""
    Z = gram.root
    assert Z is not None
    d = Z.shape[1]
    _, w = sla.eigh(Z.T @ Z, subset_by_index=(d - m, d - 1))
    return Found(*_ritz(gram, Z @ w), 1)


def block(gram: Gram, known: Array, m: int, settings: Settings) -> Found:
    """LOBPCG on products with M."""
    return _lobpcg(gram, known, m, settings, None)


def multigrid(gram: Gram, known: Array, m: int, settings: Settings) -> Found:
    """LOBPCG, preconditioned by algebraic multigrid for ``σI − M``."""
    try:
        from pyamg import smoothed_aggregation_solver
    except ImportError as error:
        raise ImportError(
            "eigen_solver='amg' needs pyamg: pip install 'eigenmaps[large]'."
        ) from error
    L = sp.csr_matrix(gram.bound * ABOVE * sp.eye_array(gram.n) - gram.matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hierarchy = smoothed_aggregation_solver(L, symmetry="symmetric")
    return _lobpcg(gram, known, m, settings, hierarchy.aspreconditioner())


def _factorised(R: sp.csr_array) -> SuperLU:
    for shift in EPS * 10.0 ** np.arange(0, 9, 2):
        try:
            return splu(sp.csc_array(R + shift * sp.eye_array(R.shape[0])))
        except RuntimeError:  # a pivot of exactly zero
            continue
    raise RuntimeError(
        f"I − W of {R.shape[0]} points could not be factorised: the graph is in many pieces, or "
        "many points are identical. Raise n_neighbors or reg, or use eigen_solver='dense'."
    )


Project = Callable[[Array], Array]


def _projection_off(known: Array) -> Project:
    def project(x: Array) -> Array:
        x = np.ravel(x)
        return np.asarray(x - known @ (known.T @ x))

    return project


def _arpack(
    n: int,
    apply: Callable[[Array], Array],
    m: int,
    off: Project,
    settings: Settings,
    ncv: int | None = None,
) -> tuple[Array, Array, int]:
    """Largest eigenpairs of an operator, in increasing order, from a random start."""
    products = 0

    def counted(x: Array) -> Array:
        nonlocal products
        products += 1
        return apply(x)

    values, vectors = eigsh(
        LinearOperator((n, n), counted, dtype=np.float64),
        m,
        which="LA",
        v0=off(settings.rng.uniform(-1, 1, n)),
        ncv=min(n, ncv or max(2 * m + 1, 20)),
        tol=settings.tol,
        maxiter=settings.max_iter,
    )
    return values, vectors, products


def _ritz(gram: Gram, vectors: Array) -> tuple[Array, Array]:
    """The best eigenpairs within a space, from products with M itself."""
    Q, _ = np.linalg.qr(vectors)
    values, U = np.linalg.eigh(Q.T @ gram.dot(Q))
    return values[::-1], (Q @ U)[:, ::-1]


def _largest(gram: Gram, settings: Settings) -> float:
    """The largest |ℓ|, by a few steps of the power method: an estimate from below."""
    v = settings.rng.standard_normal(gram.n)
    size = 0.0
    for _ in range(5):
        v = gram.dot(v / np.linalg.norm(v))
        size = float(np.linalg.norm(v))
        if size == 0:
            break
    return size


def _lobpcg(
    gram: Gram, known: Array, m: int, settings: Settings, preconditioner: LinearOperator | None
) -> Found:
    n, tol, limit = gram.n, settings.tol or 1e-8, settings.max_iter or 500
    size = _largest(gram, settings)
    if n < 5 * (m + 2 + known.shape[1]):
        return dense(gram, known, m, settings)
    products = 0

    def counted(V: Array) -> Array:
        nonlocal products
        products += 1
        return gram.dot(V)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # its residuals are judged below
        _, vectors = lobpcg(
            LinearOperator((n, n), matvec=counted, matmat=counted, dtype=np.float64),
            settings.rng.standard_normal((n, m + 2)),
            M=preconditioner,
            Y=known if known.shape[1] else None,
            tol=tol * size,
            maxiter=limit,
            largest=True,
        )
    values, vectors = _ritz(gram, vectors)
    values, vectors = values[:m], vectors[:, :m]
    worst = np.linalg.norm(gram.dot(vectors) - vectors * values, axis=0).max()
    if worst > 10 * tol * size:
        warnings.warn(
            f"LOBPCG stopped with a residual of {worst / size:.2g} after at most {limit} "
            f"iterations (tol={tol:g}): its coordinates may be inaccurate. Raise max_iter, or use "
            "eigen_solver='auto'.",
            UserWarning,
            stacklevel=2,
        )
    return Found(values, vectors, products)
