"""Barycentric weights: a point written as a weighted mean of its neighbours  (THEORY of LLE).

``w = argmin ‖x − Σ w_i x_i‖²`` with ``Σ w_i = 1``, which is ``G w = 1`` up to scale, where
``G_ij = (x − x_i)·(x − x_j)``, and a ridge that makes G regular.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from .blocks import row_blocks
from .gram import Array, Index, Matrix
from .neighbors import Neighbors, directed_graph
from .roots import convex_root


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
    out towards h (:func:`bandwidth`): ``w = argmin wᵀGw + ε Σ d_i² w_i²/φ_i`` with ``Σ w_i = 1``
    is a twice continuously differentiable function of x, as φ is.
    """
    k = min(k, neighbors.n)
    if not smooth:
        distances, index = neighbors.of(Q, k)
        return directed_graph(
            new_weights(neighbors, Q, distances, index, k * reg), index, neighbors.n
        )
    m, n = Q.shape[0], neighbors.n
    order, parts, left, width = [], [], np.arange(m), 4 * k
    while len(left):
        width = min(width, n)
        distances, index = neighbors.of(Q[left], width)
        phi = fading(distances, bandwidth(distances, (k + 1) / 2))
        inside = (phi == 0).any(axis=1) | (width == n)
        done, used = left[inside], np.flatnonzero(phi[inside].any(axis=0)).max(initial=0) + 1
        index, phi = index[inside, :used], phi[inside, :used]
        w = new_weights(neighbors, Q[done], distances[inside, :used], index, k * reg, phi)
        order.append(done)
        parts.append(directed_graph(w, index, n))
        left, width = left[~inside], 2 * width
    return sp.csr_array(sp.vstack(parts, format="csr")[np.argsort(np.concatenate(order))])


def fading(distances: Array, s: Array) -> Array:
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
    """Weights of any point on some others, ridge ``ε d_i²/φ_i`` (φ = 1 where it is not given).

    With ``ε = k · reg`` it is that of :func:`training_weights` on the average, but vanishes with
    the distance: as x → x_i the weights tend to δ_i, and are δ_i there. With r_i = √φ_i d_min/d_i
    and Ĝ the ``√(φ_i φ_j)`` cosines between the x − x_i, ``w ∝ r ∘ (Ĝ + εI)^-1 r``, which stays
    regular throughout.
    """
    k = index.shape[1]
    weights = np.empty(index.shape)
    for block in _blocks(neighbors, index):
        d = distances[block]
        root = np.ones_like(d) if phi is None else np.sqrt(phi[block])
        G = local_gram(neighbors, Q[block], d, index[block])
        scale = root / np.where(d > 0, d, 1.0)
        G *= scale[:, :, None]
        G *= scale[:, None, :]
        here = d == 0
        G[here[:, :, None] | here[:, None, :]] = 0
        G[:, np.arange(k), np.arange(k)] = root**2 + ridge
        r = np.where(here, 1.0, d.min(axis=1, keepdims=True) * scale)
        w = r * np.linalg.solve(G, r[:, :, None])[:, :, 0]
        weights[block] = w / w.sum(axis=1, keepdims=True)
    return weights


def _blocks(neighbors: Neighbors, index: Index) -> Iterator[slice]:
    m, k = index.shape
    width = k if neighbors.metric == "precomputed" else neighbors.X.shape[1]
    return row_blocks(m, 8 * k * (width + 2 * k))
