"""What spectral embeddings minimise (Bengio 2004 §5), and what a new point leaves unexplained.

    L(a, b) = ( K(a,b) − Σ_{k≤m} λ_k f_k(a) f_k(b) )²,        λ_k f_k(a) f_k(b) = ℓ_k v_k(a) v_k(b)

Over all pairs of training points its mean is ``(‖M‖² − Σ ℓ_k²)/n²``; no other m functions make it
smaller, and each further one takes ``ℓ_k²`` away (Prop. 3). Over pairs of new points it is the
generalisation error. Pairs that an embedding leaves out as trivial are part of the sum.
"""

from __future__ import annotations

import math
import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .blocks import row_blocks
from .extensions.base import Extension, Model
from .gram import ALONE, Array, Matrix, Rows

PAIRS = 10_000_000  # of so many pairs the loss is exact by default


class Loss(NamedTuple):
    """Means of ``L(a,b)`` and of ``K(a,b)²`` over the same pairs."""

    error: float
    size: float

    @property
    def relative(self) -> float:
        """``error/size``: 0 is perfect, 1 no better than predicting 0."""
        if self.size == 0:
            raise ValueError(
                "The normalised loss is not defined here: the kernel is 0 between all of these "
                "points, so that there is nothing to explain. LLE's is so between any two new "
                "points (Bengio 2004 §3.5): rate it by metrics.trustworthiness or "
                "metrics.refit_error."
            )
        return self.error / self.size


def in_sample(model: Model) -> Loss:
    """Over all pairs of training points, by the spectrum: ``(‖M‖² − Σ ℓ_k²)/n²``."""
    n = len(model.embedding)
    explained = float((model.ell**2).sum() + (model.trivial_ell**2).sum())
    return Loss(max(model.size - explained, 0.0) / n**2, model.size / n**2)


def between(
    model: Model, extension: Extension, X: Matrix, n_pairs: int, random_state: object
) -> Loss:
    """Over all pairs of rows of X, or an estimate from those of ``√n_pairs`` of the rows."""
    if not (isinstance(n_pairs, Integral) and n_pairs >= 4):
        raise ValueError(
            f"n_pairs={n_pairs!r} must be a whole number, at least 4: the pairs of two points."
        )
    if not model.kernel.any_two:
        raise ValueError(
            "The loss of new points needs the kernel between two of them, but this one is known "
            "only from new points to training points: precomputed, by sparse codes, or without a "
            "method `between`. loss() without X is that of the training points."
        )
    m, s = X.shape[0], math.isqrt(n_pairs)
    if s < m:
        rng = check_random_state(0 if random_state is None else random_state)
        X = X[np.sort(rng.choice(m, s, replace=False))]
    K = model.kernel.between(X)
    V, degree = _eigenfunctions(model, extension, X)
    known = np.isfinite(V).all(axis=1)
    if model.degree is not None:
        known &= degree > ALONE * model.degree.min()
    lost = len(known) - int(known.sum())
    if lost:
        what = f"{lost} of {len(known)} new points (first at row {known.argmin()})"
        why = (
            "similar to no training point, or next to none: the kernel of such points has no limit"
        )
        if lost == len(known):
            raise ValueError(f"{what} are {why}, so that there is no loss. Use a wider kernel.")
        warnings.warn(f"{what} are {why}. They are left out.", UserWarning, stacklevel=3)
    K, V = K[np.ix_(known, known)], V[known]
    ell = np.concatenate([model.trivial_ell, model.ell])
    L, weight = np.square(K - V * ell @ V.T), m * known.mean()
    return Loss(_mean(L, weight), _mean(np.square(K), weight))


def novelty(model: Model, X: Matrix) -> Array:
    """``Σ_i (K(x,x_i) − Σ_k λ_k f_k(x) f_k(x_i))² / Σ_i K(x,x_i)²``  (Bengio 2003 eq. 13).

    Nyström's f makes it smallest: the row's part in the span of the eigenvectors is explained.
    """
    rows = model.kernel(X)
    norm = _squares(model, rows)
    phi = np.hstack([model.trivial, model.phi])
    part = np.square(np.asarray(rows.weights @ phi)).sum(axis=1)
    out = np.full(len(norm), np.nan)
    np.divide(np.maximum(norm - part, 0), norm, out=out, where=norm > 0)
    return out


def _eigenfunctions(model: Model, extension: Extension, X: Matrix) -> tuple[Array, Array]:
    """``v_k(x)`` of some points, the trivial ones first, and S(x)."""
    n, m = len(model.embedding), X.shape[0]
    V, S = np.empty((m, len(model.trivial_ell) + len(model.ell))), np.ones(m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is left out is said once
        for block in [slice(0, m)] if extension.together else row_blocks(m, 8 * n):
            rows = model.kernel(X[block])
            trivial = np.asarray(rows.weights @ model.trivial) / model.trivial_ell
            phi = np.hstack([trivial, model.scaling.values(extension(X[block]), rows.degree)])
            if rows.degree is not None:
                S[block] = rows.degree
            V[block] = phi * np.sqrt(S[block, None])
    return V, S


def _squares(model: Model, rows: Rows) -> Array:
    """``Σ_i K(x,x_i)²/S(x)`` of rows ``C = K(x,x_i) √(S_i/S(x))``."""
    w: Any = rows.weights
    S = np.ones(w.shape[1]) if model.degree is None else model.degree
    squares = w.multiply(w) if sp.issparse(w) else np.square(w)
    return np.asarray(squares @ (1 / S)).ravel()


def _mean(L: Array, m: float) -> float:
    """The mean over all pairs of m points, of which these rows are a sample."""
    s = len(L)
    own = float(np.trace(L))
    others = (float(L.sum()) - own) / max(s * (s - 1), 1)
    return float(own / s / m + others * (m - 1) / m)
