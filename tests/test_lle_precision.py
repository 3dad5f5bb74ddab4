"""Small eigenvalues of (I−W)ᵀ(I−W) drown when the product is formed; singular vectors do not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh, subspace_angles
from scipy.sparse.linalg import splu
from sklearn.datasets import make_swiss_roll

from eigenmaps import LocallyLinearEmbedding, kernels
from eigenmaps.eigen import eigenpairs


def high_precision(R, m, steps=6):
    """Smallest right singular vectors of R orthogonal to the constant, in extended precision.

    Subspace iteration with (RᵀR)^-1; each linear system is refined until its residual, taken in
    long double, is at the level of long double.
    """
    n = R.shape[0]
    wide = np.longdouble
    coo = R.tocoo()
    data, row, column = coo.data.astype(wide), coo.row, coo.col
    # R with the constant vector appended on both sides is regular, and solves R z = b, z ⊥ 1.
    one = np.full((n, 1), n**-0.5)
    start = np.random.default_rng(0).standard_normal((n, 1))
    lu = splu(sp.csc_array(sp.block_array([[R, start], [one.T, None]])))

    def times(z, transpose=False):
        a, b = (column, row) if transpose else (row, column)
        out = np.zeros(z.shape, dtype=wide)
        np.add.at(out, a, data[:, None] * z[b])
        return out

    def solve(b, transpose, last=0):
        left, right = (one, start) if transpose else (start, one)
        z = np.zeros((n + 1, b.shape[1]), dtype=wide)
        for _ in range(8):
            residual = np.vstack([b, np.full((1, b.shape[1]), last, dtype=wide)])
            residual[:-1] -= times(z[:-1], transpose) + left.astype(wide) @ z[-1:]
            residual[-1:] -= right.T.astype(wide) @ z[:-1]
            z += lu.solve(residual.astype(float), trans="T" if transpose else "N")
        return z[:-1]

    def orthonormal(V):
        V = V - one.astype(wide) * (one.T.astype(wide) @ V)
        for j in range(V.shape[1]):
            for _ in range(2):
                V[:, j] -= V[:, :j] @ (V[:, :j].T @ V[:, j])
            V[:, j] /= np.sqrt((V[:, j] ** 2).sum())
        return V

    # The left null vector, which images of R do not contain: Rᵀ null = 0.
    null = solve(np.zeros((n, 1), dtype=wide), True, last=1)
    null /= np.sqrt((null**2).sum())
    V = orthonormal(np.random.default_rng(2).standard_normal((n, m + 4)).astype(wide))
    for _ in range(steps * 4):
        w = solve(V, True)
        w -= null * (null.T @ w)
        V = orthonormal(solve(w, False))
    RV = times(V)
    values, U = np.linalg.eigh((RV.T @ RV).astype(float))
    return values[:m], (V @ U.astype(wide))[:, :m].astype(float)


@pytest.mark.parametrize("reg", [1e-9, 1e-6])
def test_swiss_roll_with_a_tiny_ridge(reg):
    X, _ = make_swiss_roll(2000, random_state=0)
    gram = kernels.LLE(12, reg=reg).fit(X)
    R = gram.factor
    values, truth = high_precision(R, 2)
    # The reference reproduces itself: residual and orthogonality to the constant.
    assert np.abs(truth.sum(axis=0)).max() < 1e-10
    ours = LocallyLinearEmbedding(n_neighbors=12, reg=reg).fit(X)
    np.testing.assert_allclose(-ours.eigenvalues_, values, rtol=1e-5)
    cosine = np.cos(subspace_angles(ours.embedding_, truth).max())
    assert cosine > 0.999999
    if reg == 1e-9:
        M = (R.T @ R).toarray()
        _, formed = eigh(M, subset_by_index=(1, 2))
        worse = np.cos(subspace_angles(formed, truth).max())
        assert worse < 0.999, f"forming M gave a cosine of {worse}"


def test_dense_and_sparse_solvers_agree():
    X, _ = make_swiss_roll(400, random_state=1)
    gram = kernels.LLE(10, reg=1e-6).fit(X)
    dense, sparse = (eigenpairs(gram, 4, solver=s) for s in ("dense", "arpack"))
    assert (dense.solve.solver, sparse.solve.solver) == ("dense", "singular")
    np.testing.assert_allclose(dense.values, sparse.values, rtol=1e-6)
    np.testing.assert_allclose(dense.vectors, sparse.vectors, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_components_give_zero_eigenvalues_and_indicator_vectors():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((200, 2)), rng.random((150, 2)) + 50, rng.random((100, 2)) - 50])
    model = LocallyLinearEmbedding(n_neighbors=8, n_components=4).fit(X)
    assert model.solve_.solver == "singular"
    Y, lam = model.embedding_, -model.eigenvalues_
    assert (lam[:2] < 1e-25).all()
    assert (lam[2:] > 1e-12).all()
    for rows in (slice(200), slice(200, 350), slice(350, None)):
        assert np.ptp(Y[rows, :2], axis=0).max() < 1e-10  # constant on each component
    assert model.solve_.residuals.max() < 1e-12
    dense = LocallyLinearEmbedding(n_neighbors=8, n_components=4, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(-dense.eigenvalues_[2:], lam[2:], rtol=1e-6)
