"""Parameters chosen by the data, and the check that a chosen one can work."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.special import entr

from .blocks import row_blocks
from .gram import Array, Matrix
from .neighbors import Neighbors

IDENTITY, CONSTANT = 1.5, 1e-6
SAMPLE = 1000  # rows that a bandwidth is judged by


def local_gamma(X: Matrix, n_neighbors: int) -> float:
    """``1/(2σ²)``, σ the median distance to the n_neighbors-th nearest other point."""
    k = min(n_neighbors, X.shape[0] - 1)
    distances, _ = Neighbors().fit(X).of_training(k)
    sigma = float(np.median(distances[:, -1]))
    if sigma == 0:
        sigma = float(np.sqrt(mean_squared_distance(X)))
    return 1 / (2 * sigma**2)


def mean_squared_distance(X: Matrix) -> float:
    """The mean of ``‖x_i − x_j‖²`` over all pairs i ≠ j, which is twice the total variance."""
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0)).ravel()
    if isinstance(X, np.ndarray):
        total = float(((X - mean) ** 2).sum())
    else:
        total = float((X.data**2).sum()) - n * float(mean @ mean)
    if total <= 0:
        raise ValueError(
            f"All {n} training points are the same point: there is no distance to choose a "
            "bandwidth by. Check the data, or set the bandwidth yourself."
        )
    return 2 * total / (n - 1)


def effective_degree(kappa: Matrix) -> Array:
    """Of each row, the exponential of the entropy: how many points it really sees.

    >>> effective_degree(np.ones((4, 4))).round(6).tolist()
    [4.0, 4.0, 4.0, 4.0]
    """
    if sp.issparse(kappa):
        total = np.asarray(kappa.sum(axis=1)).ravel()
        spread = sp.csr_array(kappa)
        spread.data = entr(spread.data)
        entropy = np.asarray(spread.sum(axis=1)).ravel()
    else:
        total = kappa.sum(axis=1)
        blocks = row_blocks(len(kappa), 8 * kappa.shape[1])
        entropy = np.concatenate([entr(kappa[block]).sum(axis=1) for block in blocks])
    safe = np.where(total > 0, total, 1)
    return np.asarray(np.where(total > 0, safe * np.exp(entropy / safe), 0))


def check_bandwidth(
    kappa: Matrix, gamma: float | None = None, X: Matrix | None = None, refuse: bool = True
) -> None:
    """Refuse an affinity that is the identity, or warn of it; warn of one that is constant."""
    n = kappa.shape[0]
    sample = slice(None, None, max(1, n // SAMPLE))
    degree = float(np.median(effective_degree(kappa[sample])))
    what = "The affinity" if gamma is None else f"The affinity at gamma={gamma:.4g}"
    if degree < IDENTITY:
        cure = "Use a wider kernel."
        if X is not None and n > 2:
            distances = Neighbors().fit(X[sample]).distances(X[sample])
            median = np.median(distances[np.triu_indices(len(distances), 1)])
            usable = local_gamma(X, 10)
            cure = (
                f"The median distance between points is {median:.4g}; "
                f"gamma={usable:.4g} (sigma={np.sqrt(0.5 / usable):.4g}) would do, "
                "or scale the data."
            )
        message = (
            f"{what} is almost the identity: half of the {n} points see no more than "
            f"{degree:.3g} points, themselves included, so that every coordinate would be "
            f"noise. The bandwidth is too small for the units of the data. {cure}"
        )
        if refuse:
            raise ValueError(message)
        warnings.warn(message, UserWarning, stacklevel=2)
    if n > 2 and degree > n * (1 - CONSTANT):
        warnings.warn(
            f"{what} is almost constant: half of the points see all {n} points alike "
            f"(effective degree {degree:.8g}). The bandwidth is too large for the units of the "
            "data, and the embedding is little more than a linear one. Raise gamma.",
            UserWarning,
            stacklevel=2,
        )
