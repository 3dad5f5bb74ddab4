"""The laws at larger sizes."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

import eigenmaps as em

pytestmark = pytest.mark.slow
METHODS = {
    "mds": (em.ClassicalMDS(), 5_000),
    "isomap": (em.Isomap(n_neighbors=10), 5_000),
    "lle": (em.LocallyLinearEmbedding(n_neighbors=12), 50_000),
    "laplacian": (em.LaplacianEigenmaps(n_neighbors=12), 50_000),
    "laplacian rbf": (em.LaplacianEigenmaps(affinity="rbf"), 5_000),
    "clustering": (em.SpectralClustering(6, n_neighbors=12, random_state=0), 50_000),
    "kernel pca": (em.KernelPCA(5, kernel="rbf", gamma=0.01), 5_000),
}


@pytest.mark.parametrize("name", METHODS)
def test_training_points_stay_at_size(name):
    method, n = METHODS[name]
    X, _ = make_swiss_roll(n, noise=0.01, random_state=0)
    model = method.fit(X)
    Y = model.embedding_
    part = np.random.default_rng(0).choice(n, 3000, replace=False)
    error = np.abs(model.transform(X[part]) - Y[part]).max()
    assert error <= 1e-8 * np.abs(Y).max()
    assert model.solve_.residuals.max() < 1e-10
    # Between the training points, coordinates stay close to those of the nearest ones.
    step = 1e-3 * np.random.default_rng(1).standard_normal((3000, 3))
    moved = np.abs(model.transform(X[part] + step) - Y[part])
    assert np.median(moved) < 0.05 * Y.std()
