"""Threads for compiled loops and tiles, which hold no lock: they take blocks of rows in turn."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import threadpool_limits

from .blocks import row_blocks


def threads(n_jobs: int | None) -> int:
    """How many threads.

    None: as OpenMP has it, all processors at hand or ``OMP_NUM_THREADS``, which joblib and Dask
    set in their workers. -1: all processors.
    """
    at_hand = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processors = at_hand or 1
    if n_jobs is None:
        asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return min(int(asked), processors) if asked.isdigit() and int(asked) else processors
    if n_jobs == 0:
        raise ValueError("n_jobs=0: use a number of threads, -1 for all processors, or None.")
    return n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)


def by_rows(work: Callable[[slice], object], n_rows: int, step: int, n_jobs: int | None) -> None:
    """Call ``work`` on blocks of ``step`` rows. BLAS has one thread in each; all end with it."""
    blocks = list(row_blocks(n_rows, 1, step))
    count = min(threads(n_jobs), len(blocks))
    if count <= 1:
        for block in blocks:
            work(block)
        return
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(count) as pool:
        for _ in pool.map(work, blocks):
            pass
