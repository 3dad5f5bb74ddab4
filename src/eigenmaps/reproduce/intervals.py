"""What random repetitions say: a mean and where it lies with 95 % confidence (Student's t)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t


class Interval(NamedTuple):
    """A mean and the ends of its interval; kept in JSON as a list of three numbers."""

    mean: float
    low: float
    high: float

    def text(self, form: str = ".2f") -> str:
        return f"{self.mean:{form}} [{self.low:{form}}, {self.high:{form}}]"


def interval(values: ArrayLike) -> Interval:
    """Of the mean of independent values."""
    x = np.asarray(values, dtype=np.float64)
    half = t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.nan
    return Interval(*(float(f"{v:.4g}") for v in (x.mean(), x.mean() - half, x.mean() + half)))


def ratio(values: ArrayLike, reference: ArrayLike) -> Interval:
    """Of the geometric mean of ratios, pair by pair."""
    logs = interval(np.log(np.asarray(values) / np.asarray(reference)))
    return Interval(*(float(f"{np.exp(v):.4g}") for v in logs))


def verdict(found: Interval, nothing: float, lower: str, higher: str) -> str:
    """In words: below ``nothing``, above it, or neither for certain."""
    if found.high < nothing:
        return lower
    return higher if found.low > nothing else "no difference"
