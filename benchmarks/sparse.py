"""Sparse coding: ours, SciPy's linprog, and HiGHS warm-started from one query to the next.

All code the same queries in one process; ours on one thread and on two, theirs on as many as they
take (one: their simplex methods are serial). SciPy and HiGHS solve the dual, ``max xᵀz s.t.
‖z‖_∞ ≤ 1, ‖Xz‖_∞ ≤ 1``; HiGHS keeps one model of which only the objective changes, and is left out
where ``highspy`` is not installed. Times are per query, the shortest of several rounds in which all
take turns; gaps are the largest of all queries. Faces are read from the folder named by
EIGENMAPS_DATA, and left out without it. Writes ``benchmarks/sparse.json``.

The queries of the random dictionary are sums of 20 atoms, with 50 coordinates of 1024 disturbed and
noise in all of them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sp
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

import eigenmaps as em
from eigenmaps.coding import Dictionary

ROUNDS = 3
FOLDER = Path(os.environ.get("EIGENMAPS_DATA", "absent"))
# name: file, training points, all points, queries that the others get as well
FACES = {
    "Yale, N = 50": ("yale_32x32.npz", 50, 165, 8),
    "Yale, N = 115": ("yale_32x32.npz", 115, 165, 8),
    "ORL, N = 280": ("orl_32x32.npz", 280, 400, 8),
    "Extended Yale B, N = 540": ("yaleb_ext_32x32.npz", 540, 1800, 4),
    "Extended Yale B, N = 1260": ("yaleb_ext_32x32.npz", 1260, 1800, 3),
}
RANDOM = {"random, N = 1200": (1200, 20, 1), "random, N = 5000": (5000, 3, 1)}


def unit(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def cases() -> Iterator[tuple[str, np.ndarray, np.ndarray, int]]:
    """Name, dictionary, queries, and how many of these the others get."""
    for name, (file, n, total, sample) in FACES.items():
        if not (FOLDER / file).exists():
            print(f"{name:28} left out: {file} is not in the folder that EIGENMAPS_DATA names")
            continue
        X = np.load(FOLDER / file)["X"].astype(float)
        X = unit(X[np.random.default_rng(0).permutation(len(X))[:total]])
        yield name, X[:n], X[n:], sample
    for name, (n, m, sample) in RANDOM.items():
        rng = np.random.default_rng(0)
        X = unit(rng.standard_normal((n, 1024)))
        Q = 0.02 * rng.standard_normal((m, 1024))
        for q in Q:
            q += rng.standard_normal(20) @ X[rng.choice(n, 20, replace=False)]
            q[rng.choice(1024, 50, replace=False)] += 0.5 * rng.standard_normal(50)
        yield name, X, unit(Q), sample


def by_scipy(X: np.ndarray) -> Callable[[np.ndarray], float]:
    """The optimum of a query, by SciPy."""
    limits = np.vstack([X, -X]), np.ones(2 * len(X))
    return lambda x: -linprog(-x, *limits, bounds=(-1, 1), method="highs").fun


def by_highs(X: np.ndarray) -> Callable[[np.ndarray], float]:
    """The optimum of a query, by one model of HiGHS, started where the last one ended."""
    import highspy

    n, d = X.shape
    solver, problem, rows = highspy.Highs(), highspy.HighsLp(), sp.csr_array(X)
    solver.setOptionValue("output_flag", False)
    problem.num_col_, problem.num_row_ = d, n
    problem.col_cost_ = np.zeros(d)
    problem.col_lower_, problem.col_upper_ = -np.ones(d), np.ones(d)
    problem.row_lower_, problem.row_upper_ = -np.ones(n), np.ones(n)
    problem.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    problem.a_matrix_.start_, problem.a_matrix_.index_ = rows.indptr, rows.indices
    problem.a_matrix_.value_ = rows.data
    solver.passModel(problem)

    def solve(x: np.ndarray) -> float:
        solver.changeColsCost(d, np.arange(d, dtype=np.int32), -x)
        solver.run()
        return float(-solver.getInfo().objective_function_value)

    return solve


def per_query(solve: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    solve()
    return (time.perf_counter() - start) / count


def compared(X: np.ndarray, Q: np.ndarray, sample: int) -> dict:
    """The shortest times of several rounds, gaps of all queries, and objectives of a few."""
    dictionary, some, few = Dictionary.of(X, 1.0, unit_norm=True), Q[:100], Q[:sample]
    tasks = {f"ours, {n}": (lambda n=n: dictionary.code(some, n_jobs=n), len(some)) for n in (1, 2)}
    scipys, optima = by_scipy(X), []
    tasks["linprog"] = (lambda: optima.append([scipys(x) for x in few]), sample)
    if importlib.util.find_spec("highspy"):
        highs = by_highs(X)
        tasks["HiGHS"] = (lambda: [highs(x) for x in few], sample)
    codes = dictionary.code(Q, n_jobs=2)
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS if sample > 1 else 1):
        for name, (task, count) in tasks.items():
            with threadpool_limits(2 if name == "ours, 2" else 1):
                times[name].append(per_query(task, count))
    a = codes.coefficients[:sample].toarray()
    values = np.abs(a).sum(axis=1) + np.abs(few - a @ X).sum(axis=1)
    off = float(np.abs(values / optima[0] - 1).max())
    best = {name: min(record) for name, record in times.items()}
    return best | {"gap": float(codes.gap.max()), "objective": off, "queries": len(Q)}


def main() -> None:
    warnings.simplefilter("ignore")
    heads = ("ms, 1", "ms, 2", "gap", "linprog", "ratio, 1", "ratio, 2", "objective")
    heads += ("HiGHS", "ratio, 1", "ratio, 2")
    print(" " * 26 + "".join(f"{head:>11}" for head in heads))
    results = []
    for name, X, Q, sample in cases():
        row = compared(X, Q, sample)
        results.append(row | {"case": name, "sample": sample})
        one, two = row["ours, 1"], row["ours, 2"]
        cells = f"{1e3 * one:11.2f}{1e3 * two:11.2f}{row['gap']:11.1e}{1e3 * row['linprog']:11.1f}"
        cells += f"{row['linprog'] / one:11.1f}{row['linprog'] / two:11.1f}{row['objective']:11.1e}"
        if "HiGHS" in row:
            highs = row["HiGHS"]
            cells += f"{1e3 * highs:11.1f}{highs / one:11.1f}{highs / two:11.1f}"
        print(f"{name:26}{cells}", flush=True)
    versions = {m.__name__: m.__version__ for m in (em, np, scipy)}
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    report = {"machine": machine, "versions": versions, "results": results}
    Path(__file__).with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
