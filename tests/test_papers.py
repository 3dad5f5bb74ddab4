"""The papers' equations, each tested under its number.

2003: Bengio et al., Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral
clustering. 2004: Bengio et al., Learning eigenfunctions links spectral embedding and kernel PCA.
2012: Raducanu & Dornaika, Embedding new observations via sparse-coding.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_swiss_roll
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

import eigenmaps as em

X, _ = make_swiss_roll(360, noise=0.02, random_state=1)
X, NEW = X[:300], X[300:]
N = len(X)


def double_centred(S):
    """2003 eq. 2 on a matrix of squared distances, written out."""
    row = S.mean(axis=1)
    return -0.5 * (S - row[:, None] - row[None, :] + row.mean())


def test_2003_eq_2_and_2004_eq_5_6_mds():
    D2 = euclidean_distances(X, squared=True)
    values, vectors = np.linalg.eigh(double_centred(D2))
    model = em.ClassicalMDS(2).fit(X)
    assert_allclose(model.eigenvalues_, values[::-1][:2], rtol=1e-10)
    # e_ik = sqrt(l_k) v_ik
    e = np.sqrt(values[-2:]) * vectors[:, -2:]
    assert_allclose(abs(model.embedding_), abs(e)[:, ::-1], atol=1e-9)


def test_2003_eq_11_and_2004_eq_1_nystrom_from_the_kernel_written_out():
    model = em.ClassicalMDS(2).fit(X)
    d2_new = euclidean_distances(NEW, X, squared=True)
    d2 = euclidean_distances(X, squared=True)
    K = -0.5 * (d2_new - d2_new.mean(axis=1)[:, None] - d2.mean(axis=0) + d2.mean())
    f = np.sqrt(N) / model.eigenvalues_ * (K @ model.eigenvectors_)
    e = np.sqrt(model.eigenvalues_) * f / np.sqrt(N)
    assert_allclose(model.transform(NEW), e, atol=1e-9)
    unit = em.ClassicalMDS(2, scaling="unit-variance").fit(X)
    assert_allclose(unit.transform(NEW), f, atol=1e-9)


def test_2003_eq_5_geodesics_by_the_papers_symmetric_neighbourhood():
    k = 6
    model = em.Isomap(n_neighbors=k).fit(X)
    paths = model.kernel_.geodesics_
    near = np.sort(euclidean_distances(X), axis=1)[:, k]  # column 0 is the point itself
    d = euclidean_distances(NEW, X)
    for row, found in zip(d, model.kernel_.geodesic_distances(NEW), strict=True):
        mine = row <= np.sort(row)[k - 1]
        theirs = row < near
        neighbours = mine | theirs
        expected = (row[neighbours, None] + paths[neighbours]).min(axis=0)
        assert_allclose(found, expected, rtol=1e-10)
    one_sided = em.Isomap(n_neighbors=k, neighborhood="one-sided").fit(X)
    assert (
        model.kernel_.geodesic_distances(NEW) <= one_sided.kernel_.geodesic_distances(NEW)
    ).all()
    assert (
        one_sided.kernel_.geodesic_distances(NEW) != model.kernel_.geodesic_distances(NEW)
    ).any()


def test_2003_section_4_4_finite_mu():
    mu = 3.0
    plain, shifted = (em.LocallyLinearEmbedding(n_neighbors=8, mu=m).fit(X) for m in (np.inf, mu))
    lam = -shifted.eigenvalues_
    expected = (mu - 1) / (mu - lam) * plain.transform(NEW)
    assert_allclose(shifted.transform(NEW), expected, atol=1e-12)
    assert_allclose(shifted.transform(X), shifted.embedding_, atol=1e-9)


def test_2004_eq_7_8_divisive_normalisation():
    gamma = 0.05
    W, w = rbf_kernel(X, X, gamma), rbf_kernel(NEW, X, gamma)
    S = W.sum(axis=1)
    model = em.LaplacianEigenmaps(affinity="rbf", gamma=gamma, scaling="eigenvector").fit(X)
    v, ell = model.eigenvectors_, model.eigenvalues_
    assert_allclose(W / np.sqrt(np.outer(S, S)) @ v, v * ell, atol=1e-12)
    eq_8 = 1 / N * w / np.sqrt(np.outer(w.mean(axis=1), W.mean(axis=1)))
    assert_allclose(model.transform(NEW), eq_8 @ v / ell, atol=1e-12)


def test_2004_footnote_2_degrees_without_the_diagonal():
    gamma = 0.05
    W = rbf_kernel(X, X, gamma)
    S = W.sum(axis=1) - 1
    settings = {"affinity": "rbf", "gamma": gamma, "scaling": "eigenvector"}
    model = em.LaplacianEigenmaps(self_similarity="off-degree", **settings).fit(X)
    values = np.linalg.eigvalsh(W / np.sqrt(np.outer(S, S)))[::-1]
    assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-10)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_2004_eq_9_the_generalised_eigenproblem():
    model = em.LaplacianEigenmaps(3, affinity="rbf", gamma=0.05).fit(X)
    W = rbf_kernel(X, X, 0.05)
    S, y = np.diag(W.sum(axis=1)), model.embedding_
    sigma = 1 - model.eigenvalues_
    assert_allclose((S - W) @ y, S @ y * sigma, atol=1e-10)
    assert_allclose(y.T @ S @ y, np.eye(3), atol=1e-10)
    # u_k(x) = 1/l_k sum k(x,x_i) u_ik / sum k(x,x_i): a kernel regression, enlarged
    w = rbf_kernel(NEW, X, 0.05)
    expected = w @ y / w.sum(axis=1)[:, None] / model.eigenvalues_
    assert_allclose(model.transform(NEW), expected, atol=1e-12)


def test_2012_eq_9_the_heat_extension():
    model = em.LaplacianEigenmaps(2).fit(X)
    heat = model.with_extension(em.extensions.Heat(n_neighbors=7))
    d2 = euclidean_distances(NEW, X, squared=True)
    all_pairs = euclidean_distances(X, squared=True)
    beta = all_pairs.sum() / (N * (N - 1))
    assert_allclose(heat.extension_.beta_, beta)
    for row, y in zip(d2, heat.transform(NEW), strict=True):
        near = np.argsort(row)[:7]
        weights = np.exp(-row[near] / beta)
        assert_allclose(y, weights @ model.embedding_[near] / weights.sum(), atol=1e-12)


@pytest.mark.parametrize("time", [1, 2.5])
def test_scalings_are_multiples_of_one_another(time):
    def fit(scaling):
        return em.LaplacianEigenmaps(scaling=scaling, diffusion_time=time, affinity="rbf").fit(X)

    v, degree = fit("eigenvector"), fit("degree")
    S = degree.kernel_.degrees_.degree
    ell = v.eigenvalues_
    assert_allclose(v.embedding_, v.eigenvectors_)
    assert_allclose(degree.embedding_, v.embedding_ / np.sqrt(S)[:, None])
    assert_allclose(fit("unit-variance").transform(NEW), np.sqrt(N) * v.transform(NEW))
    assert_allclose(fit("sqrt-eigenvalue").transform(NEW), np.sqrt(ell) * v.transform(NEW))
    assert_allclose(fit("diffusion").transform(NEW), ell**time * degree.transform(NEW))
