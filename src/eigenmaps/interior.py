"""An interior-point method for ``min Σ c_v |u_v|  s.t.  Xᵀa + e = x``, u = (a, e).

The dual is ``max xᵀz`` with ``|M z| ≤ c``, ``M = [X; I]`` (rows of X are atoms). Both slacks
``c ∓ Mz`` are variables of their own, with multipliers p and q, ``u = p − q``; the start ``z = 0``,
``a = 0`` is strictly feasible on both sides. Steps are Mehrotra's predictor and corrector. Where
optima are degenerate, it ends where the simplex method stands still.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.linalg.blas import dsyrk

from .gram import Array

STEPS = 60
GOAL = 1e-10  # relative complementarity at which it ends
FEW = 4  # atoms are few where they are less than dimensions by this factor
BACK = 0.995  # of the way to the boundary


def interior(X: Array, x: Array, cost: Array) -> tuple[Array, Array]:
    """``(a, z)`` near the optimum; how near, a certificate must tell."""
    N = len(X)
    start, size = np.concatenate([np.zeros(N), x]), np.abs(x).mean()
    p, q = np.maximum(start, 0) + size, np.maximum(-start, 0) + size
    z, low, high = np.zeros(len(x)), cost.copy(), cost.copy()
    best = np.inf, p - q, z
    for _ in range(STEPS):
        u = p - q
        value = cost[:N] @ np.abs(u[:N]) + cost[N:] @ np.abs(x - u[:N] @ X)
        gap = (value - x @ z) / value
        if not gap < 2 * best[0]:
            break
        best = min(best, (gap, u, z), key=lambda found: found[0])
        if gap < GOAL:
            break
        try:
            solve = _normal(X, p / low + q / high)
        except LinAlgError:
            break
        lacks = x - _back(X, u)
        mu = (low @ p + high @ q) / (2 * len(p))
        dz, Mz, dp, dq = _newton(X, solve, lacks, p, q, low, high, -low * p, -high * q)
        t = min(_reach(p, dp), _reach(q, dq))
        s = min(_reach(low, -Mz), _reach(high, Mz))
        ahead = (low - s * Mz) @ (p + t * dp) + (high + s * Mz) @ (q + t * dq)
        centre = mu * (ahead / (2 * len(p) * mu)) ** 3
        targets = centre - low * p + Mz * dp, centre - high * q - Mz * dq
        dz, Mz, dp, dq = _newton(X, solve, lacks, p, q, low, high, *targets)
        t = min(_reach(p, dp), _reach(q, dq))
        s = min(_reach(low, -Mz), _reach(high, Mz))
        p, q, z = p + t * dp, q + t * dq, z + s * dz
        low, high = low - s * Mz, high + s * Mz
    _, u, z = best
    return u[:N], z


def vertex(X: Array, x: Array, cost: Array, a: Array, z: Array) -> tuple[Array, Array]:
    """The optimal vertex beside a nearly optimal pair, from the equations that hold there.

    A variable is 0 where it is smaller than its slack in the dual.
    """
    N = len(X)
    u = np.concatenate([a, x - a @ X])
    slack = cost - np.abs(np.concatenate([X @ z, z]))
    basic = np.abs(u) > slack
    J, rows = np.flatnonzero(basic[:N]), ~basic[N:]
    if not 0 < len(J) <= rows.sum():
        return a, z
    core, sign = X[np.ix_(J, rows)], np.sign(u) * cost
    exact, dual = np.zeros(N), np.where(rows, 0.0, sign[N:])
    exact[J] = lstsq(core.T, x[rows])[0]
    lacks = sign[J] - X[J] @ (dual + np.where(rows, z, 0.0))
    dual[rows] = z[rows] + lstsq(core, lacks)[0]
    return exact, dual


def _newton(
    X: Array,
    solve: Callable[[Array], Array],
    lacks: Array,
    p: Array,
    q: Array,
    low: Array,
    high: Array,
    p_target: Array,
    q_target: Array,
) -> tuple[Array, Array, Array, Array]:
    """The step to ``low·dp + p·dlow = p_target``, ``high·dq + q·dhigh = q_target``, ``Mᵀu = x``."""
    dz = solve(lacks - _back(X, p_target / low - q_target / high))
    Mz = np.concatenate([X @ dz, dz])
    return dz, Mz, (p_target + p * Mz) / low, (q_target - q * Mz) / high


def _back(X: Array, u: Array) -> Array:
    """``Mᵀ u``."""
    return np.asarray(u[: len(X)] @ X + u[len(X) :])


def _reach(v: Array, change: Array) -> float:
    """How much of a step keeps v positive."""
    down = change < 0
    return min(1.0, BACK * float(np.min(-v[down] / change[down], initial=np.inf)))


def _normal(X: Array, theta: Array) -> Callable[[Array], Array]:
    """The solution of ``MᵀΘM dz = r``, by a Cholesky factor, and refined.

    By the Woodbury identity where atoms are few: cheaper, but less accurate.
    """
    (N, D), atoms, own = X.shape, theta[: len(X)], theta[len(X) :]
    if D <= FEW * N:
        whole = dsyrk(1.0, (X * np.sqrt(atoms)[:, None]).T)
        whole[np.diag_indices(D)] += own
        factor = cho_factor(whole, overwrite_a=True, check_finite=False)

        def rough(r: Array) -> Array:
            return np.asarray(cho_solve(factor, r, check_finite=False))
    else:
        inner = dsyrk(1.0, (X / np.sqrt(own)).T, trans=1)
        inner[np.diag_indices(N)] += 1 / atoms
        factor = cho_factor(inner, overwrite_a=True, check_finite=False)

        def rough(r: Array) -> Array:
            part = cho_solve(factor, X @ (r / own), check_finite=False)
            return np.asarray((r - part @ X) / own)

    def solve(r: Array) -> Array:
        dz = rough(r)
        for _ in range(2):
            dz = dz + rough(r - (X @ dz * atoms) @ X - own * dz)
        return dz

    return solve
