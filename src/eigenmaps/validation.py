"""What comes in is checked once, at the door, and refused with the numbers, the cause, the cure."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from .gram import Matrix
from .kernels.base import Kernel

DTYPES = [np.float64, np.float32]
SYMMETRIC = 1e-6


def training(estimator: Any, X: Any, kernel: Kernel) -> tuple[Matrix, np.dtype]:
    """Training data as float64, its form checked against what the kernel takes; its dtype."""
    X = validate_data(
        estimator,
        X,
        accept_sparse="csr" if kernel.accepts_sparse else False,
        dtype=DTYPES,
        ensure_all_finite=False,
    )
    _finite(estimator, X)
    if X.shape[0] < 2:
        raise ValueError(
            f"n_samples = {X.shape[0]}: an embedding needs at least 2 samples to place."
        )
    if kernel.takes != "vectors":
        _square(X, kernel.takes)
    return as_float64(X), X.dtype


def queries(estimator: Any, X: Any, kernel: Kernel, n_train: int) -> tuple[Matrix, np.dtype]:
    """New rows, checked, and the dtype to answer in."""
    if kernel.takes != "vectors":
        shape = np.shape(X)
        if len(shape) == 2 and shape[1] != n_train:
            raise ValueError(
                f"X has {shape[1]} features, but {type(estimator).__name__} is expecting {n_train} "
                f"features as input: with precomputed {kernel.takes} a new row holds those to "
                f"the {n_train} training points, so its block is (n_new, {n_train}); "
                f"got {shape[0]} × {shape[1]}."
            )
    X = validate_data(
        estimator,
        X,
        accept_sparse="csr" if kernel.accepts_sparse else False,
        dtype=DTYPES,
        ensure_all_finite=False,
        reset=False,
    )
    _finite(estimator, X)
    return X, X.dtype


def as_float64(X: Matrix) -> Matrix:
    """Rows as plain float64: C-ordered, CSR where sparse; a copy only where needed."""
    if sp.issparse(X):
        return sp.csr_array(X, dtype=np.float64)
    return np.ascontiguousarray(X, dtype=np.float64)


def _finite(estimator: Any, X: Matrix) -> None:
    values = X.data if sp.issparse(X) else X
    if np.isfinite(values.sum(dtype=np.float64)):
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    nan = int(np.isnan(values).sum())
    rows = np.flatnonzero(np.diff(X.indptr)) if sp.issparse(X) else None
    if rows is None:
        rows, columns = np.nonzero(bad)
        where = f" in {len(np.unique(rows))} rows, first at row {rows[0]}, column {columns[0]}"
    else:
        where = ""
    raise ValueError(
        f"Input X contains NaN or infinity: {nan} NaN and {int(bad.sum()) - nan} inf{where}. "
        f"{type(estimator).__name__} cannot place a point with missing coordinates. Leave these "
        "rows out, or fill them (sklearn.impute)."
    )


def _square(X: Matrix, takes: str) -> None:
    """A precomputed training matrix: square and symmetric; distances: zero diagonal, none < 0."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"Precomputed {takes} must be a square matrix over the training points; got "
            f"{X.shape[0]} × {X.shape[1]}. Give new points to transform, not to fit."
        )
    gap = abs(X - X.T).max()
    size = abs(X).max()
    if gap > SYMMETRIC * size:
        raise ValueError(
            f"Precomputed {takes} must be symmetric; the largest |X - X.T| is {gap:.3g} where the "
            f"largest entry is {size:.3g}. Use (X + X.T)/2, or check how it was computed."
        )
    if takes == "distances":
        dense = X.toarray() if sp.issparse(X) else X
        if dense.min() < 0 or abs(dense.diagonal()).max() > SYMMETRIC * size:
            raise ValueError(
                f"Precomputed distances must not be negative (smallest: {dense.min():.3g}) and "
                f"must be 0 on the diagonal (largest there: {abs(dense.diagonal()).max():.3g}). "
                "If these are similarities, use a method with affinity='precomputed'."
            )
