"""Barycentric weights: a point written as a weighted mean of its neighbours  (THEORY of LLE).

``w = argmin ‖x − Σ w_i x_i‖²`` with ``Σ w_i = 1``, which is ``G w = 1`` up to scale, where
``G_ij = (x − x_i)·(x − x_j)``, and a ridge that makes G regular.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from .blocks import row_blocks
from .gram import Array, Index, Matrix, dense
from .graphs import directed_graph
from .neighbors import Neighbors
from .roots import convex_root

TINY = float(np.finfo(np.float64).tiny)
WIDEST = 500  # neighbours that fade out, at most


def local_gram(neighbors: Neighbors, Q: Matrix, distances: Array, index: Index) -> Array:
    """G of each query, (m, k, k): from coordinates, or from distances alone by
    ``G_ij = ½ (d_i² + d_j² − d_ij²)``."""
    X = neighbors.X
    if neighbors.metric == "precomputed":
        between = np.asarray(X[index[:, :, None], index[:, None, :]], dtype=np.float64)
        squares = distances**2
        return np.asarray(0.5 * (squares[:, :, None] + squares[:, None, :] - between**2))
    Z = differences(X, Q, index)
    return np.asarray(Z @ Z.transpose(0, 2, 1))


def differences(X: Matrix, Q: Matrix, index: Index) -> Array:
    """``x − x_i``, (m, k, features)."""
    if isinstance(X, np.ndarray) and isinstance(Q, np.ndarray):
        return np.asarray(Q[:, None, :] - X[index])
    m, k = index.shape
    rows = Q[np.repeat(np.arange(m), k)] - X[index.ravel()]
    return dense(rows).reshape(m, k, -1)


def training_weights(
    neighbors: Neighbors, distances: Array, index: Index, reg: float, rows: Index | None = None
) -> Array:
    """Weights of training points on their neighbours, ridge ``reg · trace(G)`` (Saul & Roweis);
    of those in ``rows``, where not of all."""
    X, weights = neighbors.X, np.empty(index.shape)
    rows = np.arange(neighbors.n) if rows is None else rows
    for block in _blocks(neighbors, index):
        G = local_gram(neighbors, X[rows[block]], distances[block], index[block])
        k = G.shape[1]
        trace = np.trace(G, axis1=1, axis2=2)
        G[:, np.arange(k), np.arange(k)] += np.where(trace > 0, reg * trace, reg)[:, None]
        w = np.linalg.solve(G, np.ones((len(G), k, 1)))[:, :, 0]
        weights[block] = w / w.sum(axis=1, keepdims=True)
    return weights


def new_rows(neighbors: Neighbors, Q: Matrix, k: int, reg: float, smooth: bool) -> sp.csr_array:
    """Weights of any point on the training points around it, as rows of an (m, n) matrix.

    These are the k nearest ones; or, with ``smooth``, all within h(x), a weight φ of which fades
    out towards h (:func:`bandwidth`): ``w = argmin wᵀGw + ε Σ (d_i w_i/φ_i)²`` with ``Σ w_i = 1``
    is a twice continuously differentiable function of x, as φ is. Where more than 500 points are
    within h, as for x far from all of them, h is the distance of the 500th: w is continuous.
    """
    k = min(k, neighbors.n)
    if not smooth:
        distances, index = neighbors.of(Q, k)
        return directed_graph(
            new_weights(neighbors, Q, distances, index, k * reg), index, neighbors.n
        )
    n = neighbors.n
    order, parts, left, width = [], [], np.arange(Q.shape[0]), 4 * k
    most = min(n, max(width, WIDEST))
    while len(left):
        width = min(width, most)
        distances, index = neighbors.of(Q[left], width)
        s = bandwidth(distances, 0.75 * (k + 1))
        if width == most < n:
            s = np.maximum(s, 1 / np.maximum(distances.max(axis=1) ** 2, TINY))
        phi = faded(distances, s)
        done = (phi == 0).any(axis=1) | (width == most)
        used = np.flatnonzero(phi[done].any(axis=0)).max(initial=0) + 1
        near, d = index[done, :used], distances[done, :used]
        w = new_weights(neighbors, Q[left[done]], d, near, k * reg, phi[done, :used])
        order.append(left[done])
        parts.append(directed_graph(w, near, n))
        left, width = left[~done], 2 * width
    return sp.csr_array(sp.vstack(parts, format="csr")[np.argsort(np.concatenate(order))])


def faded(distances: Array, s: Array) -> Array:
    """``φ(d) = (1 − d²/h²)³`` within h, 0 beyond; ``s = 1/h²``."""
    u = np.multiply(s[:, None], distances**2, out=np.zeros_like(distances), where=distances > 0)
    return np.asarray(np.maximum(1 - u, 0) ** 3)


def bandwidth(distances: Array, total: float) -> Array:
    """``s = 1/h²`` such that ``Σ φ(d_i) = total``, for each row; infinite where as many are 0."""
    squares, count = np.sort(distances**2, axis=1), np.arange(1, distances.shape[1] + 1)
    # The j nearest alone have Σφ ≥ total here: the root lies to the right.
    room = np.maximum(1 - (total / count) ** (1 / 3), 0)
    beyond = np.broadcast_to(np.where(room > 0, np.inf, 0), squares.shape).copy()
    start = np.divide(room, squares, out=beyond, where=squares > 0).max(axis=1)
    finite = np.isfinite(start)
    squares = squares[finite]

    def excess(s: Array) -> tuple[Array, Array]:
        inside = np.maximum(1 - s[:, None] * squares, 0)
        return (inside**3).sum(axis=1) - total, -3 * (inside**2 * squares).sum(axis=1)

    start[finite] = convex_root(excess, start[finite])
    return start


def new_weights(
    neighbors: Neighbors,
    Q: Matrix,
    distances: Array,
    index: Index,
    ridge: float,
    phi: Array | None = None,
) -> Array:
    """Weights of any point on some others, ridge ``ε (d_i/φ_i)²`` (φ = 1 where it is not given).

    With ``ε = k · reg`` it is that of :func:`training_weights` on the average, but vanishes with
    the distance: as x → x_i the weights tend to δ_i, and are δ_i there. With r_i = φ_i d_min/d_i
    and Ĝ the ``φ_i φ_j`` cosines between the x − x_i, ``w ∝ r ∘ (Ĝ + εI)^-1 r``, which stays
    regular throughout.
    """
    X, k = neighbors.X, index.shape[1]
    weights = np.empty(index.shape)
    for block in _blocks(neighbors, index):
        d, near = distances[block], index[block]
        fading = np.ones_like(d) if phi is None else phi[block]
        scale = fading / np.where(d > 0, d, 1.0)
        r = np.where(d > 0, d.min(axis=1, keepdims=True) * scale, 1.0)[:, :, None]
        if neighbors.metric != "precomputed" and X.shape[1] < k:
            # Ĝ = ZZᵀ:  ε (ZZᵀ + εI)^-1 = I − Z (ZᵀZ + εI)^-1 Zᵀ
            Z = differences(X, Q[block], near) * scale[:, :, None]
            Zt = Z.transpose(0, 2, 1)
            w = r - Z @ np.linalg.solve(Zt @ Z + ridge * np.eye(X.shape[1]), Zt @ r)
        else:
            G = local_gram(neighbors, Q[block], d, near) * scale[:, :, None] * scale[:, None, :]
            here = d == 0
            G[here[:, :, None] | here[:, None, :]] = 0
            G[:, np.arange(k), np.arange(k)] = fading**2 + ridge
            w = np.linalg.solve(G, r)
        w = (r * w)[:, :, 0]
        weights[block] = w / w.sum(axis=1, keepdims=True)
    return weights


def _blocks(neighbors: Neighbors, index: Index) -> Iterator[slice]:
    m, k = index.shape
    width = k if neighbors.metric == "precomputed" else neighbors.X.shape[1]
    return row_blocks(m, 8 * k * (width + 2 * k))
