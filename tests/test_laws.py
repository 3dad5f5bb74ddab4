"""Every kernel keeps every kernel law; every extension every extension law."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from eigenmaps import extensions, kernels, testing
from eigenmaps.gram import Gram, Rows


class Cosine(kernels.Kernel):
    """A seventh method, as a user would add it: K(a,b) = cos(a,b), without centring."""

    def fit(self, X):
        self.X_ = X
        return Gram(self(X).weights)

    def __call__(self, X):
        return Rows(self.unit(X) @ self.unit(self.X_).T)

    @staticmethod
    def unit(X):
        return X / np.linalg.norm(X, axis=1, keepdims=True)


def product(a, b):
    return float(a @ b)


def similarity(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / 20)


KERNELS = {
    "mds": kernels.MDS(),
    "mds manhattan": kernels.MDS("manhattan"),
    "isomap": kernels.Isomap(8),
    "isomap one-sided": kernels.Isomap(8, neighborhood="one-sided"),
    "isomap radius": kernels.Isomap(None, radius=8.0),
    "isomap manhattan": kernels.Isomap(8, metric="manhattan"),
    "lle": kernels.LLE(8),
    "lle mu": kernels.LLE(8, mu=50),
    "kernel pca linear": kernels.KernelPCA(),
    "kernel pca rbf": kernels.KernelPCA("rbf", gamma=0.02),
    "kernel pca poly": kernels.KernelPCA("poly", gamma=0.01),
    "kernel pca callable": kernels.KernelPCA(product),
    "laplacian": kernels.Laplacian(),
    "clustering": kernels.Laplacian(drop_first=False),
    "gaussian": kernels.Laplacian(kernels.Gaussian()),
    "heat, mean": kernels.Laplacian(kernels.Gaussian("mean")),
    "gaussian, no self": kernels.Laplacian(kernels.Gaussian(), self_similarity="off-degree"),
    "clustering, no self": kernels.Laplacian(
        kernels.Gaussian(), self_similarity="off-degree", drop_first=False
    ),
    "gaussian, dropped": kernels.Laplacian(kernels.Gaussian(), self_similarity="dropped"),
    "graph, dropped": kernels.Laplacian(kernels.NeighborGraph(12), self_similarity="dropped"),
    "self-tuning": kernels.Laplacian(kernels.SelfTuning()),
    "graph, heat": kernels.Laplacian(kernels.NeighborGraph(12, weights="heat")),
    "graph, no self": kernels.Laplacian(kernels.NeighborGraph(12), self_similarity="off-degree"),
    "graph, hard": kernels.Laplacian(kernels.NeighborGraph(12, edge="hard")),
    "graph, hard heat": kernels.Laplacian(kernels.NeighborGraph(12, "heat", "hard")),
    "l1": kernels.Laplacian(kernels.L1Graph()),
    "callable": kernels.Laplacian(kernels.CallableAffinity(similarity)),
    "a seventh": Cosine(),
}
# A hard cut at the k-th neighbour is a jump of the kernel: where an edge ends exactly at a
# training point, a step off it loses the edge. These are kept for comparison with others.
JUMPS = ("graph, hard", "graph, hard heat")
# K'' of LLE lives on D x D alone (2003, §4.4): with a finite mu the kernel jumps at D.
JUMPS += ("lle mu",)
# A training point is coded by the others: the l1 graph, too, lives on D x D alone.
JUMPS += ("l1",)

EXTENSIONS = {
    **{name: extensions.by_name(name) for name in extensions.NAMES},
    "barycentric, hard": extensions.Barycentric(smooth=False),
    "heat, all": extensions.Heat(None, beta=5.0),
    "sparse, as it is": extensions.Sparse(unit_norm=False),
    "sparse, cheap residual": extensions.Sparse(weight=0.8),
    "sparse, pca": extensions.Sparse(projection="pca", n_projected=2),
    "forest": extensions.Regression(RandomForestRegressor(20, random_state=0)),
    "rbf network": extensions.Regression(extensions.RBFNetwork(50)),
}


@pytest.mark.parametrize("law", testing.kernel_laws(), ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_law(name, law):
    if law is testing.small_step_small_move and name in JUMPS:
        with pytest.raises(AssertionError, match="tiny step"):
            law(KERNELS[name])
    else:
        law(KERNELS[name])


@pytest.mark.parametrize("law", testing.extension_laws(), ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension_law(name, law):
    law(EXTENSIONS[name])


def test_every_kernel_and_extension_is_in_the_table():
    classes = {type(k) for k in KERNELS.values()}
    affinities = {type(k._affinity) for k in KERNELS.values() if isinstance(k, kernels.Laplacian)}
    public = {getattr(kernels, name) for name in kernels.__all__}
    public -= {kernels.Kernel, kernels.Affinity, kernels.PrecomputedAffinity}  # see precomputed
    assert public <= classes | affinities
    ways = {type(e) for e in EXTENSIONS.values()}
    assert {getattr(extensions, n) for n in extensions.__all__ if n[0].isupper()} - {
        extensions.Extension,
        extensions.Model,
        extensions.RBFNetwork,
    } == ways


def test_a_broken_kernel_breaks_the_law():
    class Forgetful(Cosine):
        def __call__(self, X):
            return Rows(0.9 * super().__call__(X).weights) if hasattr(self, "done") else self.go(X)

        def go(self, X):
            self.done = True
            return super().__call__(X)

    with pytest.raises(AssertionError):
        testing.rows_reproduce_eigenvectors(Forgetful())
