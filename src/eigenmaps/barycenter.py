"""Barycentric weights: a point written as a weighted mean of its neighbours  (THEORY of LLE).

``w = argmin ‖x − Σ w_i x_i‖²`` with ``Σ w_i = 1``, which is ``G w = 1`` up to scale, where
``G_ij = (x − x_i)·(x − x_j)``, and a ridge that makes G regular.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .blocks import row_blocks
from .gram import Array, Index, Matrix
from .neighbors import Neighbors


def local_gram(neighbors: Neighbors, Q: Matrix, distances: Array, index: Index) -> Array:
    """G of each query, (m, k, k): from coordinates, or from distances alone by
    ``G_ij = ½ (d_i² + d_j² − d_ij²)``."""
    X = neighbors.X
    if neighbors.metric == "precomputed":
        between = np.asarray(X[index[:, :, None], index[:, None, :]], dtype=np.float64)
        squares = distances**2
        return np.asarray(0.5 * (squares[:, :, None] + squares[:, None, :] - between**2))
    m, k = index.shape
    if isinstance(Q, np.ndarray):
        Z = Q[:, None, :] - X[index]
    else:
        Z = (Q[np.repeat(np.arange(m), k)] - X[index.ravel()]).toarray().reshape(m, k, -1)
    return np.asarray(Z @ Z.transpose(0, 2, 1))


def training_weights(neighbors: Neighbors, distances: Array, index: Index, reg: float) -> Array:
    """Weights of training points on their neighbours, ridge ``reg · trace(G)`` (Saul & Roweis)."""
    X, weights = neighbors.X, np.empty(index.shape)
    for block in _blocks(neighbors, index):
        G = local_gram(neighbors, X[block], distances[block], index[block])
        k = G.shape[1]
        trace = np.trace(G, axis1=1, axis2=2)
        G[:, np.arange(k), np.arange(k)] += np.where(trace > 0, reg * trace, reg)[:, None]
        w = np.linalg.solve(G, np.ones((len(G), k, 1)))[:, :, 0]
        weights[block] = w / w.sum(axis=1, keepdims=True)
    return weights


def new_weights(
    neighbors: Neighbors, Q: Matrix, distances: Array, index: Index, reg: float
) -> Array:
    """Weights of any point on its neighbours, ridge ``ε d_i²`` with ``ε = k · reg``.

    The ridge is that of :func:`training_weights` on the average, but vanishes with the distance:
    as x → x_i the weights tend to δ_i, and are δ_i there. With r_i = d_min/d_i and Ĝ the
    cosines between the x − x_i, ``w ∝ r ∘ (Ĝ + εI)^-1 r``, which stays regular throughout.
    """
    k = index.shape[1]
    weights = np.empty(index.shape)
    for block in _blocks(neighbors, index):
        d = distances[block]
        G = local_gram(neighbors, Q[block], d, index[block])
        safe = np.where(d > 0, d, 1.0)
        G /= safe[:, :, None]
        G /= safe[:, None, :]
        here = d == 0
        G[here[:, :, None] | here[:, None, :]] = 0
        G[:, np.arange(k), np.arange(k)] = 1 + k * reg
        nearest = d.min(axis=1, keepdims=True)
        r = np.where(here, 1.0, nearest / safe)
        w = r * np.linalg.solve(G, r[:, :, None])[:, :, 0]
        weights[block] = w / w.sum(axis=1, keepdims=True)
    return weights


def _blocks(neighbors: Neighbors, index: Index) -> Iterator[slice]:
    m, k = index.shape
    width = k if neighbors.metric == "precomputed" else neighbors.X.shape[1]
    return row_blocks(m, 8 * k * (width + 2 * k))
