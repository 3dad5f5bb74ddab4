"""scikit-learn's own checks: every named estimator, Eigenmap with every kernel."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenmaps as em
from eigenmaps import extensions, kernels

SMOOTHS = "fits the training points approximately, so that transform(X_train) is not embedding_"
EXPECTED = {
    "heat": dict.fromkeys(
        ("check_transformer_general", "check_transformer_data_not_an_array"), SMOOTHS
    ),
    "refit": dict.fromkeys(
        ("check_transformer_general", "check_transformer_data_not_an_array"),
        "a training point is a second copy of itself, so that transform(X_train) is not embedding_",
    ),
    "restricted": dict.fromkeys(
        ("check_transformer_general", "check_transformer_data_not_an_array"),
        "a training point is fitted once more, in fewer dimensions than its distances have",
    ),
    "linear": dict.fromkeys(
        ("check_transformer_general", "check_transformer_data_not_an_array"), SMOOTHS
    ),
}
DEFAULTS = [
    em.ClassicalMDS(),
    em.Isomap(),
    em.LocallyLinearEmbedding(),
    em.LaplacianEigenmaps(),
    em.SpectralClustering(),
    em.KernelPCA(),
    *(
        em.Eigenmap(kernel())
        for kernel in (
            kernels.MDS,
            kernels.Isomap,
            kernels.LLE,
            kernels.Laplacian,
            kernels.KernelPCA,
        )
    ),
]
OTHERS = [
    em.LaplacianEigenmaps(affinity="rbf"),
    em.LaplacianEigenmaps(affinity="self_tuning"),
    em.LaplacianEigenmaps(affinity="l1"),
    em.LaplacianEigenmaps(affinity="rbf", self_similarity="off-degree"),
    em.ClassicalMDS(metric="precomputed"),
    em.Isomap(metric="precomputed"),
    em.KernelPCA(kernel="precomputed"),
    em.Isomap(extension="barycentric"),
    em.Isomap(extension="heat"),
    em.Isomap(extension="sparse"),
    em.ClassicalMDS(extension="refit"),
    em.ClassicalMDS(extension="restricted"),
    em.Isomap(extension="linear"),
    extensions.RBFNetwork(),
]

pytestmark = [
    pytest.mark.filterwarnings("ignore:The neighbourhood graph"),
    pytest.mark.filterwarnings("ignore:The affinity is almost constant"),
]


@parametrize_with_checks(DEFAULTS)
def test_defaults_pass_with_no_expected_failure(estimator, check):
    check(estimator)


@parametrize_with_checks(
    OTHERS, expected_failed_checks=lambda e: EXPECTED.get(getattr(e, "extension", None), {})
)
def test_other_settings(estimator, check):
    check(estimator)
