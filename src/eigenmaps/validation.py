"""What comes in is checked once, at the door, and refused with the numbers, the cause, the cure."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

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
    elif _all_the_same(X):
        raise ValueError(
            f"All {X.shape[0]} training points are identical: there is nothing to embed. "
            "Check the data."
        )
    # A copy: what the caller does to X later must not move the model.
    return (np.array(X, np.float64) if isinstance(X, np.ndarray) else as_float64(X.copy())), X.dtype


def queries(estimator: Any, X: Any, kernel: Kernel, known: Matrix) -> tuple[Matrix, np.dtype]:
    """New rows, checked, dense or sparse as the training data are, and the dtype to answer in."""
    n_train = known.shape[0]
    rows = check_array(
        X,
        accept_sparse="csr" if kernel.accepts_sparse else False,
        dtype=DTYPES,
        ensure_all_finite=False,
        estimator=estimator,
    )
    _finite(estimator, rows)
    if kernel.takes != "vectors" and rows.shape[1] != n_train:
        name = type(estimator).__name__
        raise ValueError(
            f"X has {rows.shape[1]} features, but {name} is expecting {n_train} "
            f"features as input: with precomputed {kernel.takes} a new row holds those to the "
            f"{n_train} training points, so its block is (n_new, {n_train}); got "
            f"{rows.shape[0]} × {rows.shape[1]}."
        )
    validate_data(estimator, X, reset=False, skip_check_array=True)
    if sp.issparse(rows) and isinstance(known, np.ndarray):
        rows = rows.toarray()
    elif sp.issparse(known) and isinstance(rows, np.ndarray):
        rows = sp.csr_array(rows)
    return rows, rows.dtype


def as_float64(X: Matrix) -> Matrix:
    """Rows as plain float64: C-ordered, CSR where sparse; a copy only where needed."""
    if sp.issparse(X):
        return sp.csr_array(X, dtype=np.float64)
    return np.ascontiguousarray(X, dtype=np.float64)


def _all_the_same(X: Matrix) -> bool:
    if sp.issparse(X):
        return bool((X.max(axis=0) - X.min(axis=0)).count_nonzero() == 0)
    return bool((X[0] == X).all())


def _finite(estimator: Any, X: Matrix) -> None:
    values = X if isinstance(X, np.ndarray) else X.data
    if np.isfinite(values.sum(dtype=np.float64)):
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    nan = int(np.isnan(values).sum())
    if isinstance(X, np.ndarray):
        rows, columns = np.nonzero(bad)
    else:
        stored = X.tocoo()
        rows, columns = stored.row[bad], stored.col[bad]
    raise ValueError(
        f"Input X contains NaN or infinity: {nan} NaN and {int(bad.sum()) - nan} inf "
        f"in {len(np.unique(rows))} rows, first at row {rows[0]}, column {columns[0]}. "
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
        smallest, own = X.min(), abs(X.diagonal()).max()
        if smallest < 0 or own > SYMMETRIC * size:
            raise ValueError(
                "Negative values in data, or distances of points to themselves: "
                f"precomputed distances must not be negative (smallest: {smallest:.3g}) and "
                f"must be 0 on the diagonal (largest there: {own:.3g}). "
                "If these are similarities, use a method with affinity='precomputed'."
            )
