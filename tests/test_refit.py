"""The refit extension against true refits with the new point among the training points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.metrics.pairwise import rbf_kernel

import eigenmaps as em
from eigenmaps import extensions, kernels, metrics

ROLL, _ = make_swiss_roll(260, noise=0.05, random_state=0)
DIGITS = load_digits().data[:260]
DATA = {"roll": (ROLL, 0.05), "digits": (DIGITS, 1e-3)}


def methods(gamma):
    rbf = {"affinity": "rbf", "gamma": gamma}
    return {
        "mds": em.ClassicalMDS(),
        "kernel pca": em.KernelPCA(2, kernel="rbf", gamma=gamma),
        "kernel pca poly": em.KernelPCA(2, kernel="poly", gamma=gamma / 100, degree=2),
        "laplacian": em.LaplacianEigenmaps(**rbf),
        "diffusion": em.LaplacianEigenmaps(scaling="diffusion", diffusion_time=2, **rbf),
        "laplacian v": em.LaplacianEigenmaps(scaling="eigenvector", **rbf),
        "off-degree": em.LaplacianEigenmaps(self_similarity="off-degree", **rbf),
        "dropped": em.LaplacianEigenmaps(self_similarity="dropped", **rbf),
        "clustering": em.SpectralClustering(3, random_state=0, **rbf),
        "callable": em.LaplacianEigenmaps(affinity=lambda A, B: rbf_kernel(A, B, gamma)),
    }


def errors(model, X, Q, *ways):
    """Root mean square distances to true refits, turned into the fitted frame."""
    true = []
    for x in Q:
        joined = clone(model).fit(np.vstack([X, x]))
        true.append(metrics.align(joined.embedding_, model.embedding_)[-1])
    spread = np.linalg.norm(np.array(true) - np.mean(true, axis=0))
    found = (model.with_extension(way).transform(Q) for way in ways)
    return [np.linalg.norm(Y - true) / spread for Y in found]


@pytest.mark.parametrize("name", methods(1.0))
@pytest.mark.parametrize("data", DATA)
def test_nearer_to_a_true_refit_than_nystrom(data, name):
    points, gamma = DATA[data]
    X, Q = points[:240], points[240:]
    model = methods(gamma)[name].fit(X)
    nystrom, refit = errors(model, X, Q, "nystrom", "refit")
    assert refit <= (0.05 if name in ("mds", "kernel pca") else 0.2) * nystrom


def test_more_pairs_come_closer():
    X, Q = ROLL[:240], ROLL[240:]
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=0.3).fit(X)
    few, some, many = errors(model, X, Q, *(extensions.Refit(n) for n in (0, 10, 60)))
    assert many < some < few


@pytest.mark.parametrize("affinity", [kernels.NeighborGraph(12), kernels.Gaussian(0.05)])
@pytest.mark.parametrize("own", ["kept", "off-degree", "dropped"])
def test_it_is_rayleigh_ritz_on_the_span_it_claims(affinity, own):
    """The small problem, written out from the joined matrices of κ and S and a dense basis."""
    X, x = ROLL[:240], ROLL[240:241]
    model = em.LaplacianEigenmaps(affinity=affinity, self_similarity=own).fit(X)
    way = extensions.Refit(10)
    found = model.with_extension(way).transform(x)[0]

    gram = model.kernel_.fit(X)
    S = gram.degree
    kappa = np.sqrt(np.outer(S, S)) * gram.toarray()
    values, V = np.linalg.eigh(gram.toarray())
    Phi = (V / np.sqrt(S)[:, None])[:, ::-1][:, :13]
    lam = values[::-1][:13]
    row, corner, degree = (np.asarray(part.toarray() if hasattr(part, "toarray") else part)
                           for part in model.kernel_.border(x))  # fmt: skip
    row = row[0]
    joined = np.block([[kappa, row[:, None]], [row[None], corner[:, None]]])
    degrees = np.append(S + row, degree)
    r = row / S - Phi @ (Phi.T @ row)
    basis = np.zeros((241, 15))
    basis[:240, :13], basis[:240, 13], basis[240, 14] = Phi, r / np.sqrt(S @ r**2), 1
    A, B = basis.T @ joined @ basis, basis.T @ (degrees[:, None] * basis)
    if not hasattr(gram.matrix, "indptr"):
        A[13, 13] = 0  # of a dense kernel the tail is left out
    U = eigh(A, B)[1]
    U = U[:, ::-1][:, 1:3]
    left, _, right = np.linalg.svd(U[1:3].T)
    signs = np.sign((model.embedding_ * Phi[:, 1:3]).sum(axis=0))
    assert_allclose(found, (U[14] @ left @ right) * signs, atol=1e-8 * abs(found).max())
    assert lam[0] == pytest.approx(values[-1])


def test_a_point_far_from_all_keeps_nystroms_coordinates():
    X = ROLL[:240]
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=0.05).fit(X)
    far = X[:3] + 500
    refit = model.with_extension("refit").transform(far)
    np.testing.assert_array_equal(refit, model.transform(far))


def test_similarities_without_the_new_points_own_are_refused():
    W = rbf_kernel(ROLL, gamma=0.05)
    with pytest.raises(ValueError, match="'Refit' needs vectors or distances.*similarities"):
        em.LaplacianEigenmaps(affinity="precomputed", extension="refit").fit(W)
    with pytest.raises(ValueError, match="'Refit' needs vectors or distances.*products"):
        em.KernelPCA(2, kernel="precomputed", extension="refit").fit(W)


def test_a_kernel_that_does_not_say_what_a_point_adds_is_refused():
    class Silent(kernels.MDS):
        def border(self, X):
            return None

    with pytest.raises(ValueError, match="asks Silent what a new point adds to its matrix"):
        em.Eigenmap(Silent(), extension="refit").fit(ROLL)
