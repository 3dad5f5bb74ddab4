"""The simplex method for ``min Σ c_v |u_v|  s.t.  [X I] u = x``, u = (a, e): one query, one basis.

Barrodale & Roberts' long steps: a basic variable that reaches zero may pass through it, as long as
the sum still falls. Atoms come first (v < N), then residuals (v = N + r). The basic variables are
all residuals but those of the s rows I, and s atoms J; all others are 0. ``T = ∂u_J/∂e_I`` is
``−X[I,J]^-1``, of s × s numbers. Entering variables are chosen by Devex weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .door import compiled_with

REFRESH = 250  # exchanges between two inversions from the data
STALL = 60  # exchanges in a row that do not move …
STILL = 1e-13  # … by more than this
SHAKEN = 1e-7  # of the size of x: what is then added to it, until an optimum is found
GOLDEN = 0.6180339887498949  # its multiples modulo 1 lie evenly
ZERO = 1e-11  # a basic variable so small keeps its sign
TINY = 1e-9  # of the largest change: less does not block


def first_rise(t, weight, order, slope):
    """How many of the breakpoints t are passed before the slope, which each raises by its weight,
    is no longer negative. ``order`` is rearranged: the passed ones first, then the blocking one.

    A partition by medians of three; of equal ones, the heaviest blocks.
    """
    low, high = 0, len(order)
    while high - low > 1:
        x, y, w = t[order[low]], t[order[(low + high) // 2]], t[order[high - 1]]
        middle = max(min(x, y), min(max(x, y), w))
        i, k, g = low, low, high
        below, equal = 0.0, 0.0
        while k < g:
            b = order[k]
            if t[b] < middle:
                below += weight[b]
                order[k], order[i] = order[i], b
                i += 1
                k += 1
            elif t[b] > middle:
                g -= 1
                order[k], order[g] = order[g], b
            else:
                equal += weight[b]
                k += 1
        if slope + below >= 0 and i > low:
            high = i
        elif slope + below + equal >= 0 or g == high:
            heaviest = i
            for k in range(i, g):
                if weight[order[k]] > weight[order[heaviest]]:
                    heaviest = k
            order[i], order[heaviest] = order[heaviest], order[i]
            return i
        else:
            slope += below + equal
            low = g
    return low


def exchange(T, rows, columns, k, p):
    """``y = T u`` solved for u_p in the place of y_k: a Gauss–Jordan step, in place."""
    pivot = T[k, p]
    for q in range(columns):
        T[k, q] /= -pivot
    T[k, p] = 1 / pivot
    for l in range(rows):
        if l != k:
            c = T[l, p]
            T[l, p] = 0.0
            for q in range(columns):
                T[l, q] += c * T[k, q]


def refresh(X, Xt, x, cost, J, I, s, T, u, sign, dual):
    """T, the basic variables, their signs and the dual, from the basis alone."""
    N, D = X.shape
    core = np.empty((s, s))
    for p in range(s):
        for k in range(s):
            core[p, k] = X[J[k], I[p]]
    inverse = np.linalg.inv(core)
    u[:N] = 0.0
    u[N:] = x
    for k in range(s):
        value = 0.0
        for p in range(s):
            T[k, p] = -inverse[k, p]
            value += inverse[k, p] * x[I[p]]
        u[J[k]] = value
        atom = X[J[k]]
        for r in range(D):
            u[N + r] -= value * atom[r]
    for p in range(s):
        u[N + I[p]] = 0.0
    for v in range(N + D):
        if sign[v] != 0.0 and abs(u[v]) > ZERO:
            sign[v] = np.sign(u[v])
    dual[:N] = 0.0
    for r in range(D):
        dual[N + r] = cost[N + r] * sign[N + r]
        add(dual, dual[N + r], Xt[r])
    settle(Xt, cost, J, I, s, T, sign, dual)


def settle(Xt, cost, J, I, s, T, sign, dual):
    """The dual on I, such that ``X_Jᵀ z = c_J sign(a_J)``."""
    N = Xt.shape[1]
    change = np.zeros(s)
    for k in range(s):
        lacks = cost[J[k]] * sign[J[k]] - dual[J[k]]
        if lacks != 0.0:
            for p in range(s):
                change[p] -= lacks * T[k, p]
    for p in range(s):
        if change[p] != 0.0:
            dual[N + I[p]] += change[p]
            add(dual, change[p], Xt[I[p]])


def add(y, c, row):
    for j in range(len(row)):
        y[j] += c * row[j]


def entering(dual, cost, sign, weight, tol):
    """The variable whose entering promises most, or −1: ``(|dual| − c)²/weight``."""
    enter, best = -1, 0.0
    for v in range(len(dual)):
        excess = abs(dual[v]) - cost[v]
        if excess > tol * cost[v] and sign[v] == 0.0 and excess * excess > best * weight[v]:
            enter, best = v, excess * excess / weight[v]
    return enter


def ahead(X, J, I, s, T, p, enter, up, direction):
    """Where the basic variables go as one enters: by its column p of T, written first where it
    is an atom."""
    N = len(X)
    direction[:] = 0.0
    if enter < N:
        for k in range(s):
            T[k, p] = 0.0
            for q in range(s):
                T[k, p] += T[k, q] * X[enter, I[q]]
        add(direction[N:], -up, X[enter])
    for k in range(s):
        direction[J[k]] = up * T[k, p]
        add(direction[N:], -up * T[k, p], X[J[k]])
    for q in range(s):
        direction[N + I[q]] = 0.0
    direction[enter] = 0.0


def across(X, Xt, J, I, s, T, k, enter, leave, alpha):
    """The row of the leaving variable over all atoms: by its row k of T, written first where it
    is a residual."""
    N = len(X)
    alpha[:] = 0.0
    if leave >= N:
        r = leave - N
        T[k, :s] = 0.0
        for l in range(s):
            for q in range(s):
                T[k, q] -= X[J[l], r] * T[l, q]
        add(alpha, -1.0, Xt[r])
    for q in range(s):
        add(alpha, T[k, q], Xt[I[q]])
    if enter < N:
        T[k, s] = alpha[enter]


@compiled_with(first_rise, exchange, add, settle, refresh, entering, ahead, across)
def descend(X, Xt, x, cost, barred, room, limit, tol):
    """From ``e = x`` down to the optimum: ``u``, the dual ``(Xᵀz, z)`` and whether it got there.

    ``barred`` is an atom not to be used, or −1. Where it stands still, x is shaken, and the
    optimum then found is put right for the x given. It gives up where the basis outgrows ``room``,
    where it stands still again, or after ``limit`` exchanges.
    """
    N, D = X.shape
    u, sign, dual = np.zeros(N + D), np.zeros(N + D), np.zeros(N + D)
    weight, direction, alpha = np.ones(N + D), np.zeros(N + D), np.zeros(N)
    T = np.zeros((room + 1, room + 1))
    J, I = np.zeros(room + 1, np.int64), np.zeros(room + 1, np.int64)
    t, slopes, where = np.zeros(N + D), np.zeros(N + D), np.zeros(N + D, np.int64)
    position = np.zeros(N + D, np.int64)  # of a variable in J or I
    s, still, fresh, shaken = 0, 0, 0, False
    given = x
    sign[N:] = np.sign(x)
    refresh(X, Xt, x, cost, J, I, s, T, u, sign, dual)
    if barred >= 0:
        weight[barred] = np.inf
    for _ in range(limit):
        enter = entering(dual, cost, sign, weight, tol)
        if enter < 0 and fresh == 0 and not shaken:
            return u, dual, True
        if enter < 0:
            shaken, x = False, given
        if enter < 0 or fresh == REFRESH:
            refresh(X, Xt, x, cost, J, I, s, T, u, sign, dual)
            fresh = 0
            continue
        fresh += 1
        up = np.sign(dual[enter])
        p = position[enter] if enter >= N else s
        ahead(X, J, I, s, T, p, enter, up, direction)
        least = TINY * max(1.0, np.abs(direction).max())
        m = 0
        for v in range(N + D):
            d = direction[v]
            if abs(d) > least and sign[v] * d <= 0:
                t[m], where[m] = max(0.0, -u[v] / d), v
                slopes[m] = (1 + abs(sign[v])) * cost[v] * abs(d)
                m += 1
        if m == 0:
            break
        order = np.arange(m)
        passed = first_rise(t, slopes, order, cost[enter] - abs(dual[enter]))
        step, leave = t[order[passed]], where[order[passed]]
        still = still + 1 if step <= STILL else 0
        if enter < N and leave >= N and s == room:
            break
        if still > STALL:
            if shaken:
                break
            shaken, still, fresh = True, 0, REFRESH
            x = given + SHAKEN * np.abs(given).mean() * (np.arange(D) * GOLDEN % 1 - 0.5)
            continue
        for v in range(N + D):
            u[v] += step * direction[v]
        u[enter], u[leave] = step * up, 0.0
        for b in order[:passed]:
            v = where[b]
            was, sign[v] = sign[v], np.sign(direction[v])
            if v >= N:
                dual[v] = cost[v] * sign[v]
                add(dual, cost[v] * (sign[v] - was), Xt[v - N])
        settle(Xt, cost, J, I, s, T, sign, dual)
        k = position[leave] if leave < N else s
        across(X, Xt, J, I, s, T, k, enter, leave, alpha)
        pivot = T[k, p]
        theta = (up * cost[enter] - dual[enter]) / pivot
        share = weight[enter] / (pivot * pivot)
        for q in range(s):
            v = N + I[q]
            dual[v] += theta * T[k, q]
            weight[v] = max(weight[v], T[k, q] * T[k, q] * share)
        for j in range(N):
            dual[j] += theta * alpha[j]
            weight[j] = max(weight[j], alpha[j] * alpha[j] * share)
        if leave >= N:
            dual[leave] -= theta
        dual[enter] = up * cost[enter]
        weight[leave] = max(share, 1.0)
        sign[enter], sign[leave] = up, 0.0
        rows, columns = s + (leave >= N), s + (enter < N)
        exchange(T, rows, columns, k, p)
        # Row k is now the entering variable's, column p the leaving one's: residuals keep no row,
        # atoms no column.
        if enter < N:
            J[k], position[enter] = enter, k
        else:
            rows -= 1
            if k < rows:
                T[k, :columns] = T[rows, :columns]
                J[k] = J[rows]
                position[J[k]] = k
        if leave >= N:
            I[p], position[leave] = leave - N, p
        else:
            columns -= 1
            if p < columns:
                T[:rows, p] = T[:rows, columns]
                I[p] = I[columns]
                position[N + I[p]] = p
        s = rows
    return u, dual, False


def first_rise_plain(
    t: NDArray[np.float64], weight: NDArray[np.float64], slope: float
) -> tuple[NDArray[np.intp], int]:
    """The blocking breakpoint and those passed, by sorting: what :func:`first_rise` is tested
    against."""
    order = np.lexsort((-weight, t))
    rises = slope + np.cumsum(weight[order]) >= 0
    return order, int(rises.argmax()) if rises.any() else len(t) - 1
