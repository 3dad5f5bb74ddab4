"""What new points miss, beside what an embedding moves by itself  (Bengio 2004 §6).

The points are split, ``D = F ∪ R1 ∪ R2``, R1 and R2 of equal size. With y the coordinates of a fit
on F ∪ R1, of every x_i in F

    variability    ‖A z_i − y_i‖     z: a fit on F ∪ R2; A: affine, by linear regression on F
    error          ‖T y(x_i) − y_i‖  y(x_i): the extension of a fit on F ∪ R1 without x_i
    δ              the mean of variability − error, a function of ``ρ = |R1|/n``

T is of signs only in the paper, as an eigenvector's sign is arbitrary. But then the error has in it
how the frame of coordinates turns when x_i leaves, which the variability has not, by A. T may be a
rotation as well, by which the other points come as near as can be (:func:`eigenmaps.metrics.align`,
and what ``extension="refit"`` stands for, :func:`eigenmaps.metrics.refitted`).

The fits without x_i are not made from the start: :meth:`eigenmaps.kernels.Kernel.without`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.special import stdtrit
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .embedder import SpectralEmbedder
from .extensions import Extension, by_name
from .gram import Array, Index, Matrix, all_but
from .validation import as_float64

ALIGNMENTS = ("signs", "rotation")
FRACTIONS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.2, 0.25)
LEVEL = 0.95


class Substitution(NamedTuple):
    """One split of the points.

    Attributes
    ----------
    fraction : float
        ``ρ = |R1|/n``.
    variability : (m,) array
        Of the points of F.
    errors : (extensions, alignments, p) array
        Out-of-sample errors of the first p of them; alignments are ``"signs"`` and ``"rotation"``.
    """

    fraction: float
    variability: Array
    errors: Array


class Crossing(NamedTuple):
    """ρ*, the fraction of points whose substitution moves the others by what new points miss.

    ``at`` is where δ turns positive, by linear interpolation; ``low`` and ``high`` are where the
    upper and the lower end of its interval do. 0: from the smallest fraction on. Infinite: up to
    the largest one it does not.
    """

    at: float
    low: float
    high: float


class StabilityCurve(NamedTuple):
    """What new points miss, and what substitution of training points does, against ρ.

    Attributes
    ----------
    fractions : (r,) array
        ``ρ = |R1|/n``.
    variability, error, difference : (r,) arrays
        Means over points; δ is the difference of the former two.
    half_width : (r,) array
        δ ± it is a 95 % interval: of points, where there is one split (as in the paper); of
        splits, by Student's t, where there are several.
    """

    fractions: Array
    variability: Array
    error: Array
    difference: Array
    half_width: Array

    @classmethod
    def of(cls, parts: Sequence[Substitution], which: int = 0, alignment: str = "signs") -> Self:
        """The curve of one of the extensions that were measured."""
        if alignment not in ALIGNMENTS:
            raise ValueError(f"alignment={alignment!r} is not known; use one of {ALIGNMENTS}.")
        fractions = np.unique([part.fraction for part in parts])
        rows = []
        for fraction in fractions:
            own = [part for part in parts if part.fraction == fraction]
            error = [part.errors[which, ALIGNMENTS.index(alignment)] for part in own]
            moved = [part.variability for part in own]
            if len(own) == 1:
                moved = [moved[0][: len(error[0])]]
                means = moved[0] - error[0]
            else:
                means = np.array([a.mean() - b.mean() for a, b in zip(moved, error, strict=True)])
            freedom = np.inf if len(own) == 1 else len(own) - 1
            quantile = stdtrit(freedom, (1 + LEVEL) / 2)
            rows.append(
                (
                    np.mean([a.mean() for a in moved]),
                    np.mean([e.mean() for e in error]),
                    means.mean(),
                    quantile * means.std(ddof=1) / np.sqrt(len(means)),
                )
            )
        return cls(fractions, *np.array(rows).T)

    @property
    def crossing(self) -> Crossing:
        """ρ* and its interval."""
        low, high = self.difference + self.half_width, self.difference - self.half_width
        return Crossing(*(_turn(self.fractions, d) for d in (self.difference, low, high)))


def stability_curve(
    estimator: Any,
    X: Any,
    fractions: Sequence[float] | None = None,
    *,
    alignment: str = "signs",
    n_splits: int = 1,
    n_points: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> StabilityCurve:
    """What ``transform`` misses, beside what an exchange of training points moves.

    The points are split, ``D = F ∪ R1 ∪ R2``. Fits on F ∪ R1 and on F ∪ R2, one aligned to the
    other by linear regression, differ at each x_i of F: the variability of the embedding. A fit on
    F ∪ R1 without x_i, extended to x_i, differs there from that with it: the out-of-sample error.
    Their mean difference δ rises with ``ρ = |R1|/n``, and is 0 at ``crossing``, the fraction of
    points that has to be exchanged to move the others by what new points miss (Bengio et al. 2004,
    §6 and figure 2).

    Parameters
    ----------
    estimator : estimator of this package
        With its ``extension``, and a fixed ``n_components``; it is left as it is.
    X : array or sparse matrix of shape (n, n_features)
    fractions : sequence of float, optional
        ρ, each of which substitutes at least one point and leaves points in F. By default from one
        point to 0.25.
    alignment : {"signs", "rotation"}, default="signs"
        How coordinates of a fit without x_i are brought to those with it: by signs alone, as in the
        paper; or turned such that the other points lie as near as can be.
    n_splits : int, default=1
        Random splits for each ρ.
    n_points : int, optional
        How many x_i of each F are left out, each alone; by default all, as in the paper.
    random_state : int, RandomState or None, default=None
        Of the splits. None stands for 0.
    n_jobs : int, optional
        Processes, each of which takes a split; -1 is all processors.

    Returns
    -------
    StabilityCurve

    See Also
    --------
    eigenmaps.stability.substitutions : several extensions at once.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import ClassicalMDS, metrics
    >>> X = load_digits().data[:100]
    >>> curve = metrics.stability_curve(ClassicalMDS(), X, [0.01, 0.1, 0.2])
    >>> bool((np.diff(curve.variability) > 0).all())
    True
    >>> 0.01 < curve.crossing.at < 0.2
    True
    """
    if alignment not in ALIGNMENTS:
        raise ValueError(f"alignment={alignment!r} is not known; use one of {ALIGNMENTS}.")
    parts = substitutions(
        estimator, X, fractions, n_splits=n_splits, n_points=n_points, random_state=random_state,
        n_jobs=n_jobs,
    )  # fmt: skip
    return StabilityCurve.of(parts, alignment=alignment)


def substitutions(
    estimator: Any,
    X: Any,
    fractions: Sequence[float] | None = None,
    *,
    extensions: Sequence[str | Extension] | None = None,
    n_splits: int = 1,
    n_points: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> list[Substitution]:
    """The measurements of :func:`stability_curve`, of several extensions, which share all fits.

    Parameters
    ----------
    extensions : sequence of str or Extension, optional
        By default the estimator's own.
    estimator, X, fractions, n_splits, n_points, random_state, n_jobs
        As in :func:`stability_curve`.

    Returns
    -------
    list of Substitution
        One for each fraction and split.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import KernelPCA, stability
    >>> X = load_digits().data[:100]
    >>> parts = stability.substitutions(
    ...     KernelPCA(2, kernel="rbf", gamma=1e-3), X, [0.05], extensions=["nystrom", "refit"]
    ... )
    >>> nystrom, refit = (stability.StabilityCurve.of(parts, which) for which in (0, 1))
    >>> bool(refit.error < nystrom.error)
    True
    """
    _check(estimator)
    if estimator._requested is None:
        raise ValueError(
            "n_components=None has as many components as a fit finds, and two fits may differ: "
            "give a number."
        )
    X = as_float64(check_array(X, accept_sparse="csr"))
    counts = _counts(fractions, X.shape[0], estimator._requested)
    for name, value, least in (("n_splits", n_splits, 1), ("n_points", n_points, 2)):
        if value is not None and not (isinstance(value, Integral) and value >= least):
            raise ValueError(f"{name}={value!r} must be a whole number, at least {least}.")
    ways = [by_name(e) for e in extensions or [estimator.extension]]
    plain = clone(estimator).set_params(extension="nystrom")
    rng = check_random_state(0 if random_state is None else random_state)
    orders = [rng.permutation(X.shape[0]) for _ in range(n_splits)]
    jobs = (delayed(_substitution)(plain, X, o, r, ways, n_points) for r in counts for o in orders)
    return list(Parallel(n_jobs=n_jobs)(jobs))


def leave_one_out(model: SpectralEmbedder, rows: Index, ways: Sequence[Extension]) -> Array:
    """How far each way misses training points when these are left out.

    Parameters
    ----------
    model : fitted estimator
    rows : (p,) array
        The points to leave out, each alone.
    ways : sequence of Extension

    Returns
    -------
    (ways, alignments, p) array
        Distances to the coordinates with the point among the training points.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenmaps import ClassicalMDS, extensions, stability
    >>> X = np.random.default_rng(0).standard_normal((50, 5)) * [5, 3, 1, 1, 1]
    >>> ways = [extensions.Nystrom(), extensions.Refit()]
    >>> nystrom, refit = stability.leave_one_out(ClassicalMDS().fit(X), np.arange(50), ways)
    >>> bool((refit.mean(axis=1) < nystrom.mean(axis=1)).all())
    True
    """
    _check(model)
    check_is_fitted(model)
    X, Y = model._model.X, model._model.embedding
    errors = np.empty((len(ways), len(ALIGNMENTS), len(rows)))
    without = model.kernel_.without(X)
    for place, i in enumerate(rows.tolist()):
        kernel, gram = without(i)
        found, _ = model._solved(all_but(X, i), kernel, gram)
        found = found._replace(gram=gram)
        onto = alignments(found.embedding, np.delete(Y, i, axis=0))
        for which, way in enumerate(ways):
            y = clone(way).fit(found)(X[[i]])[0]
            errors[which, :, place] = np.linalg.norm(y @ onto - Y[i], axis=1)
    return errors


def alignments(Y: Array, reference: Array) -> Array:
    """The matrix T of each kind, to bring coordinates to those of a reference."""
    signs = np.where(np.einsum("ij,ij->j", Y, reference) < 0, -1.0, 1.0)
    return np.stack([np.diag(signs), orthogonal_procrustes(Y, reference)[0]])


def _check(estimator: Any) -> None:
    """Refuse what has no points to leave out."""
    if not isinstance(estimator, SpectralEmbedder):
        raise TypeError(
            f"{type(estimator).__name__} is not an estimator of this package: give one, such as "
            "eigenmaps.Isomap()."
        )
    takes = estimator._kernel().takes
    if takes != "vectors":
        raise ValueError(
            f"This {type(estimator).__name__} takes precomputed {takes}, but points are to be "
            "exchanged and left out: give the data itself, and a metric, affinity or kernel of it."
        )


def _substitution(
    estimator: SpectralEmbedder,
    X: Matrix,
    order: Index,
    count: int,
    ways: Sequence[Extension],
    n_points: int | None,
) -> Substitution:
    """R1 and R2 are the first of an order. Those of F looked at are its last, for every size."""
    F = order[: 2 * count - 1 : -1]
    model, other = (
        clone(estimator).fit(X[np.concatenate([F, R])])
        for R in (order[:count], order[count : 2 * count])
    )
    Y, Z = (np.asarray(each._model.embedding[: len(F)]) for each in (model, other))
    affine = np.column_stack([Z, np.ones(len(F))])
    moved = affine @ np.linalg.lstsq(affine, Y, rcond=None)[0] - Y
    rows = np.arange(len(F))[:n_points]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said of the fit with all points
        errors = leave_one_out(model, rows, ways)
    lost = np.isnan(errors).any(axis=(0, 1))
    if lost.any():
        raise ValueError(
            f"{lost.sum()} of {len(rows)} points have no coordinates once they are left out: they "
            "are similar to no other point, or an extension fails. Use a wider kernel, or leave "
            "such points out."
        )
    return Substitution(count / len(order), np.linalg.norm(moved, axis=1), errors)


def _counts(fractions: Sequence[float] | None, n: int, m: int) -> list[int]:
    """|R1| for each fraction; F must hold more points than the regression has parameters."""
    most = (n - m - 2) // 2
    if fractions is None:
        return sorted({min(max(1, round(f * n)), max(1, most)) for f in FRACTIONS})
    fractions = np.atleast_1d(np.asarray(fractions, dtype=float)).tolist()
    counts = sorted({round(f * n) if np.isfinite(f) else -1 for f in fractions})
    if not counts or counts[0] < 1 or counts[-1] > most:
        raise ValueError(
            f"fractions={list(fractions)} of n_samples = {n} points substitute "
            f"{', '.join(map(str, counts)) or 'none'} of them, but this must be 1 to {most}: twice "
            f"as many leave F, and the alignment of {m} components there needs {m + 2} points. Use "
            f"fractions from {1 / n:.3g} to {most / n:.3g}, or give more points."
        )
    return counts


def _turn(fractions: Array, values: Array) -> float:
    """Where values turn positive, for the first time."""
    positive = np.flatnonzero(values > 0)
    if len(positive) == 0:
        return np.inf
    j = int(positive[0])
    if j == 0:
        return 0.0
    step = values[j - 1] / (values[j - 1] - values[j])
    return float(fractions[j - 1] + step * (fractions[j] - fractions[j - 1]))


__all__ = [
    "Crossing",
    "StabilityCurve",
    "Substitution",
    "leave_one_out",
    "stability_curve",
    "substitutions",
]
