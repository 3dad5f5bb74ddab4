"""The laws every kernel and every extension keeps, as functions to run in your own tests.

>>> import pytest
>>> from eigenmaps import kernels, testing
>>> @pytest.mark.parametrize("law", testing.kernel_laws())
... def test_my_kernel(law):
...     law(kernels.MDS())

Each law takes an unfitted object and raises AssertionError where it is broken.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll

from .eigen import eigenpairs
from .eigenmap import Eigenmap
from .extensions import Extension
from .gram import Array, Rows
from .kernels import Isomap, Kernel
from .kernels.base import twin

KernelLaw = Callable[[Kernel], None]
ExtensionLaw = Callable[[Extension], None]


def sample() -> tuple[Array, Array]:
    """Training points and new points: a swiss roll of 200 and of 40."""
    X, _ = make_swiss_roll(240, noise=0.05, random_state=0)
    return np.ascontiguousarray(X[:200]), np.ascontiguousarray(X[200:])


def _dense(rows: Rows) -> Array:
    weights = rows.weights
    return np.asarray(weights if isinstance(weights, np.ndarray) else weights.toarray())


def _spread(Y: Array) -> float:
    return float(np.abs(Y - Y.mean(axis=0)).max())


def gram_is_symmetric(kernel: Kernel) -> None:
    """``M = Mᵀ``."""
    M = kernel.fit(sample()[0]).toarray()
    assert_allclose(M, M.T, rtol=0, atol=1e-12 * np.abs(M).max())


def products_need_no_matrix(kernel: Kernel) -> None:
    """``M V`` as the solvers take it is M, formed, times V."""
    gram = kernel.fit(sample()[0])
    V = np.random.default_rng(0).standard_normal((gram.n, 3))
    expected = gram.toarray() @ V
    assert_allclose(gram.dot(V), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def rows_reproduce_eigenvectors(kernel: Kernel) -> None:
    """``C(X) Φ = Φ ℓ``: on the training points the eigenfunctions are the eigenvectors."""
    X, _ = sample()
    gram = kernel.fit(X)
    pairs = eigenpairs(gram, 3)
    rows, ell = kernel(X), kernel.ell(pairs.values)
    phi = pairs.vectors
    if gram.degree is not None:
        assert rows.degree is not None, "the Gram matrix has degrees, the rows have none"
        assert_allclose(rows.degree, gram.degree, rtol=1e-10)
        phi = phi / np.sqrt(gram.degree)[:, None]
    assert_allclose(rows.weights @ phi, phi * ell, rtol=0, atol=1e-10 * np.abs(phi * ell).max())


def known_vectors_are_eigenvectors(kernel: Kernel) -> None:
    """What a kernel claims to know of its spectrum is true, and is the top of it."""
    gram = kernel.fit(sample()[0])
    assert gram.drop <= (0 if gram.known is None else gram.known.shape[1])
    if gram.known is None:
        return
    M, V = gram.toarray(), gram.known
    values = np.einsum("ij,ij->j", V, M @ V)
    size = np.abs(M).sum(axis=1).max()
    assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)
    assert_allclose(M @ V, V * values, rtol=0, atol=1e-10 * size)
    assert np.linalg.eigvalsh(M)[-1] <= values.min() + 1e-10 * size
    assert values.max() <= gram.bound + 1e-10 * size


def rows_are_independent(kernel: Kernel) -> None:
    """A row of a batch is the row alone."""
    X, Q = sample()
    kernel.fit(X)
    batch = _dense(kernel(Q))
    alone = np.vstack([_dense(kernel(Q[i : i + 1])) for i in range(10)])
    assert_allclose(batch[:10], alone, rtol=0, atol=1e-10 * np.abs(batch).max())


def order_is_irrelevant(kernel: Kernel) -> None:
    """Training points in another order: the same rows, in that order."""
    X, Q = sample()
    order = np.random.default_rng(0).permutation(len(X))
    kernel.fit(X)
    rows = _dense(kernel(Q))
    kernel.fit(X[order])
    assert_allclose(_dense(kernel(Q)), rows[:, order], rtol=0, atol=1e-9 * np.abs(rows).max())


def small_step_small_move(kernel: Kernel) -> None:
    """Next to a training point, a new point has almost its coordinates."""
    X, _ = sample()
    model = Eigenmap(kernel).fit(X)
    step = np.random.default_rng(0).standard_normal(X.shape)
    step *= 1e-7 * np.abs(X).max() / np.linalg.norm(step, axis=1, keepdims=True)
    moved = np.abs(model.transform(X + step) - model.embedding_).max()
    assert moved <= 1e-4 * _spread(model.embedding_), f"a tiny step moves a point by {moved:.2g}"


def training_points_stay(kernel: Kernel) -> None:
    """``transform(X_train)`` is ``embedding_``, in every scaling."""
    X, _ = sample()
    for scaling in ("auto", "eigenvector", "unit-variance", "diffusion"):
        model = Eigenmap(kernel, scaling=scaling).fit(X)
        Y = model.embedding_
        assert_allclose(model.transform(X), Y, rtol=0, atol=1e-8 * np.abs(Y).max())


def border_is_what_joins(kernel: Kernel) -> None:
    """Where a kernel says what new points add to κ, a fit with them has just that."""
    X, Q = sample()
    kernel.fit(X)
    kernel = kernel.fixed()
    gram = kernel.fit(X)
    S = np.ones(len(X)) if gram.degree is None else gram.degree
    kappa = gram.toarray() * np.sqrt(np.outer(S, S))
    for new, border in ((Q[:1], kernel.border(Q[:1])), (Q[:7], kernel.join(Q[:7]))):
        if border is None or not kernel.tells_all:
            continue
        n, m = len(X), len(new)
        row = border.row if isinstance(border.row, np.ndarray) else border.row.toarray()
        found = np.block([[kappa, row.T], [row, border.own.reshape(m, -1)]])
        for change in border.changes:
            found[:n, :n] += change.toarray()
        joined = clone(kernel).fit(np.vstack([X, new]))
        if joined.degree is None:
            centre = np.eye(n + m) - 1 / (n + m)
            found, expected = centre @ found @ centre, joined.toarray()
        else:
            expected = joined.toarray() * np.sqrt(np.outer(joined.degree, joined.degree))
            assert border.degree is not None
            assert_allclose(border.degree, joined.degree[n:], rtol=1e-9)
        assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def between_points_of_the_training_set_is_m(kernel: Kernel) -> None:
    """K between any two points, where it is known: on D the Gram matrix, and a function of the
    two alone."""
    X, Q = sample()
    if not kernel.any_two:
        return
    S = kernel.fit(X).degree
    K, rows = kernel.between(X), kernel(X)
    expected = _dense(rows)
    if rows.degree is not None and S is not None:
        expected = expected * np.sqrt(rows.degree[:, None] / S)
    assert_allclose(K, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    together, few = kernel.between(np.vstack([Q, X[:5]])), kernel.between(Q[:7])
    assert_allclose(together[:7, :7], few, rtol=0, atol=1e-10 * np.abs(expected).max())


def growing_is_fitting(kernel: Kernel) -> None:
    """A kernel that has taken points in gives the rows of one fitted with them."""
    X, Q = sample()
    kernel.fit(X)
    kernel = kernel.fixed()
    kernel.fit(X)
    grown, everything = twin(kernel), np.vstack([X, Q[:20]])
    before = _dense(kernel(Q))
    if grown.grow(Q[:20], everything) is None or not kernel.tells_all:
        return
    kernel.fit(everything)
    expected = kernel(Q)
    for rows, other in ((grown(Q), expected), (grown(everything), kernel(everything))):
        size = np.abs(_dense(other)).max()
        assert_allclose(_dense(rows), _dense(other), rtol=0, atol=1e-9 * size)
    kernel.fit(X)
    assert_array_equal(_dense(kernel(Q)), before)


def leaving_out_is_fitting_the_others(kernel: Kernel) -> None:
    """``without`` gives the Gram matrix and the rows of a fit to all points but one."""
    X, Q = sample()
    kernel.fit(X)
    kernel = kernel.fixed()
    kernel.fit(X)
    without = kernel.without(X)
    before = _dense(kernel(Q))
    for i in (0, 77, len(X) - 1):
        other, gram = without(i)
        plain = clone(kernel)
        expected = plain.fit(np.delete(X, i, axis=0))
        M = expected.toarray()
        assert_allclose(gram.toarray(), M, rtol=0, atol=1e-9 * np.abs(M).max())
        assert gram.drop == expected.drop
        for ours, theirs in ((gram.known, expected.known), (gram.degree, expected.degree)):
            assert (ours is None) == (theirs is None)
            if ours is not None and theirs is not None:
                assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
        for new in (X[[i]], Q, X[:50]):
            rows = _dense(plain(new))
            assert_allclose(_dense(other(new)), rows, rtol=0, atol=1e-9 * np.abs(rows).max())
    assert_array_equal(_dense(kernel(Q)), before)


def rewiring_is_what_joins(kernel: Kernel) -> None:
    """Where a kernel says what a new point changes in M's factor, a fit with it has just that."""
    X, Q = sample()
    gram, rewiring = kernel.fit(X), kernel.rewiring(Q[:7])
    if rewiring is None:
        return
    assert gram.factor is not None
    for q, change in enumerate(rewiring.changes):
        row = rewiring.row[[q]].toarray()
        found = np.block([[gram.factor.toarray(), np.zeros((len(X), 1))], [-row, np.ones((1, 1))]])
        found[:-1] -= change.toarray()
        joined = clone(kernel).fit(np.vstack([X, Q[q]])).factor
        assert joined is not None
        assert_allclose(found, joined.toarray(), rtol=0, atol=1e-9)


def input_is_kept(kernel: Kernel) -> None:
    """Neither fit nor a call changes its input."""
    X, Q = sample()
    before = X.copy(), Q.copy()
    kernel.fit(X)
    kernel(Q)
    assert_array_equal(X, before[0])
    assert_array_equal(Q, before[1])


def dtype_is_kept(kernel: Kernel) -> None:
    """float32 in, float32 out, and close to float64's."""
    X, Q = sample()
    double = Eigenmap(kernel).fit(X)
    single = Eigenmap(kernel).fit(X.astype(np.float32))
    Y = single.transform(Q.astype(np.float32))
    assert Y.dtype == single.embedding_.dtype == np.float32
    close = np.abs(Y - double.transform(Q)) <= 1e-2 * _spread(double.embedding_)
    assert close.mean() > 0.9


def copies_agree(kernel: Kernel) -> None:
    """A second fit, a clone's fit and a pickled model are equal to the first."""
    X, Q = sample()
    model = Eigenmap(kernel).fit(X)
    expected = model.transform(Q)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(Q), expected)
    assert_array_equal(clone(model).fit(X).transform(Q), expected)
    assert_array_equal(model.fit(X).transform(Q), expected)


def kernel_laws() -> tuple[KernelLaw, ...]:
    """The laws of a kernel on vectors; each takes an unfitted kernel."""
    return (
        gram_is_symmetric,
        products_need_no_matrix,
        rows_reproduce_eigenvectors,
        known_vectors_are_eigenvectors,
        rows_are_independent,
        order_is_irrelevant,
        small_step_small_move,
        training_points_stay,
        border_is_what_joins,
        between_points_of_the_training_set_is_m,
        growing_is_fitting,
        leaving_out_is_fitting_the_others,
        rewiring_is_what_joins,
        input_is_kept,
        dtype_is_kept,
        copies_agree,
    )


def _fitted(extension: Extension) -> tuple[Eigenmap, Array, Array]:
    X, Q = sample()
    return Eigenmap(Isomap(8), extension=extension).fit(X), X, Q


def interpolates_if_it_says_so(extension: Extension) -> None:
    """``interpolates`` tells whether training points keep their coordinates."""
    model, X, _ = _fitted(extension)
    error = np.abs(model.transform(X) - model.embedding_).max() / _spread(model.embedding_)
    assert error <= 1e-8 if extension.interpolates else error > 1e-8


def stays_near_the_embedding(extension: Extension) -> None:
    """New points between the training points lie between their coordinates."""
    model, _, Q = _fitted(extension)
    Y, Z = model.embedding_, model.transform(Q)
    assert np.isfinite(Z).all()
    assert np.abs(Z).max() <= 2 * np.abs(Y).max()


def new_rows_are_independent(extension: Extension) -> None:
    """A row of a batch is the row alone."""
    model, _, Q = _fitted(extension)
    batch = model.transform(Q)
    alone = np.vstack([model.transform(Q[i : i + 1]) for i in range(10)])
    assert_allclose(batch[:10], alone, rtol=0, atol=1e-10 * np.abs(batch).max())


def repeats_itself(extension: Extension) -> None:
    """The same rows twice are answered alike, and input is not modified."""
    model, _, Q = _fitted(extension)
    before = Q.copy()
    assert_array_equal(model.transform(Q), model.transform(Q))
    assert_array_equal(Q, before)


def changes_without_refitting(extension: Extension) -> None:
    """``with_extension`` is the fit with that extension, and leaves the model as it was."""
    model, X, Q = _fitted(extension)
    plain = Eigenmap(Isomap(8)).fit(X)
    before = plain.transform(Q)
    other = plain.with_extension(extension)
    assert_allclose(other.transform(Q), model.transform(Q), rtol=0, atol=1e-12)
    assert_array_equal(plain.transform(Q), before)
    assert other.embedding_ is plain.embedding_


def far_points_are_finite(extension: Extension) -> None:
    """A point far from everything has finite coordinates."""
    model, _, Q = _fitted(extension)
    assert np.isfinite(model.transform(1e6 * Q[:5])).all()


def answers_in_the_dtype_asked(extension: Extension) -> None:
    """float32 in, float32 out."""
    model, _, Q = _fitted(extension)
    assert model.transform(Q.astype(np.float32)).dtype == np.float32


def survives_copying(extension: Extension) -> None:
    """A clone's fit and a pickled model are equal to the first."""
    model, X, Q = _fitted(extension)
    expected = model.transform(Q)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(Q), expected)
    assert_array_equal(clone(model).fit(X).transform(Q), expected)


def extension_laws() -> tuple[ExtensionLaw, ...]:
    """The laws of an extension; each takes an unfitted extension."""
    return (
        interpolates_if_it_says_so,
        stays_near_the_embedding,
        new_rows_are_independent,
        repeats_itself,
        changes_without_refitting,
        far_points_are_finite,
        answers_in_the_dtype_asked,
        survives_copying,
    )
