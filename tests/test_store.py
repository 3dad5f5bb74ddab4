"""The model file: what is loaded is what was saved, to the bit, or it is refused."""

from __future__ import annotations

import doctest
import os
import pickle
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import pairwise_distances

import eigenmaps as em
from eigenmaps import extensions, kernels, store
from eigenmaps.embedder import SpectralEmbedder

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RNG = np.random.RandomState(0)
X = RNG.randn(60, 4) @ np.diag([3.0, 2.0, 1.0, 0.5])
NEW = RNG.randn(15, 4) @ np.diag([3.0, 2.0, 1.0, 0.5])
COLUMNS = ["width", "height", "größe", 'a "b"\\']

ESTIMATORS = {
    "mds": em.ClassicalMDS,
    "mds-manhattan": partial(em.ClassicalMDS, metric="manhattan"),
    "isomap": partial(em.Isomap, n_neighbors=8),
    "isomap-radius": partial(em.Isomap, n_neighbors=None, radius=3.0),
    "lle": partial(em.LocallyLinearEmbedding, n_neighbors=8),
    "lle-mu": partial(em.LocallyLinearEmbedding, n_neighbors=8, mu=4.0),
    "laplacian": em.LaplacianEigenmaps,
    "laplacian-rbf": partial(em.LaplacianEigenmaps, affinity="rbf", self_similarity="off-degree"),
    "laplacian-tuned": partial(em.LaplacianEigenmaps, affinity="self_tuning"),
    "laplacian-heat": partial(
        em.LaplacianEigenmaps, affinity=kernels.NeighborGraph(12, weights="heat", edge="hard")
    ),
    "laplacian-l1": partial(em.LaplacianEigenmaps, affinity="l1"),
    "kernel-pca": partial(em.KernelPCA, 3),
    "kernel-pca-rbf": partial(em.KernelPCA, 2, kernel="rbf", gamma=0.1),
    "clustering": partial(em.SpectralClustering, 3, random_state=0),
    "clustering-qr": partial(em.SpectralClustering, 3, assign_labels="cluster_qr"),
    "clustering-discretize": partial(
        em.SpectralClustering, 3, assign_labels="discretize", random_state=1
    ),
    "eigenmap": partial(em.Eigenmap, kernels.Isomap(8), scaling="unit-variance"),
    "eigenmap-diffusion": partial(
        em.Eigenmap, kernels.Laplacian(kernels.Gaussian("mean")), scaling="diffusion"
    ),
}
EXTENSIONS = {name: name for name in extensions.NAMES} | {
    "heat-object": extensions.Heat(7, beta=2.0),
    "sparse-object": extensions.Sparse(projection="random", n_projected=3),
    "barycentric-object": extensions.Barycentric(6),
    "regression-default": extensions.Regression(),
    "ridge": extensions.Regression(Ridge(0.1)),
    "kernel-ridge": extensions.Regression(KernelRidge(kernel="rbf", gamma=0.1)),
    "rbf-network": extensions.Regression(extensions.RBFNetwork(10)),
}
INPUTS = {
    "float64": lambda A: A,
    "float32": lambda A: A.astype(np.float32),
    "fortran": np.asfortranarray,
    "pandas": lambda A: pd.DataFrame(A, columns=COLUMNS),
    "csr": sp.csr_array,
    "csr_matrix-float32": lambda A: sp.csr_matrix(A, dtype=np.float32),
}
PRECOMPUTED = {
    "mds": (partial(em.ClassicalMDS, metric="precomputed"), "distances"),
    "isomap": (partial(em.Isomap, n_neighbors=8, metric="precomputed"), "distances"),
    "lle": (partial(em.LocallyLinearEmbedding, n_neighbors=8, metric="precomputed"), "distances"),
    "laplacian": (partial(em.LaplacianEigenmaps, affinity="precomputed"), "similarities"),
    "kernel-pca": (partial(em.KernelPCA, 2, kernel="precomputed"), "similarities"),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.eigenmaps"


@pytest.fixture
def saved(path):
    """A small model file; nothing else lies in its folder."""
    em.ClassicalMDS().fit(X[:20]).save(path)
    return path


def reloaded(estimator, path):
    estimator.save(path)
    return em.load(path)


def assert_same(loaded, estimator, new):
    assert type(loaded) is type(estimator)
    assert repr(loaded) == repr(estimator)
    assert_equal_trees(vars(loaded), vars(estimator))
    expected, got = estimator.transform(new), loaded.transform(new)
    assert got.dtype == expected.dtype
    assert np.array_equal(got, expected, equal_nan=True)
    if hasattr(estimator, "predict"):
        assert np.array_equal(loaded.predict(new), estimator.predict(new))


def assert_equal_trees(a, b):
    """The same types, values, dtypes and memory order all the way down."""
    assert type(a) is type(b)
    if isinstance(b, np.ndarray):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b, equal_nan=b.dtype.kind == "f")
        assert a.flags.writeable
        if b.ndim > 1 and b.size:
            assert np.array_equal(np.argsort(a.strides), np.argsort(b.strides))
    elif isinstance(b, dict):
        assert list(a) == list(b)
        for key in b:
            if key != "_search":  # scikit-learn's index is built again
                assert_equal_trees(a[key], b[key])
    elif isinstance(b, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_equal_trees(x, y)
    elif sp.issparse(b):
        assert a.shape == b.shape
        for part in ("data", "indices", "indptr"):
            assert_equal_trees(getattr(a, part), getattr(b, part))
    elif isinstance(b, np.dtype) or not hasattr(b, "__dict__"):
        assert a == b or (a != a and b != b)
    else:
        a, b = a.__getstate__() or {}, b.__getstate__() or {}
        assert_equal_trees({k: v for k, v in a.items() if k in b}, b)


# --- what is saved comes back ---------------------------------------------------------------


def skip_where_restricted_is_refused(name, extension):
    """It serves scalar products only."""
    if extension == "restricted" and name.startswith(("lle", "lap", "clus", "eigenmap-diff")):
        pytest.skip(f"{extension} refuses {name}")


@pytest.mark.parametrize("extension", extensions.NAMES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_with_every_extension(name, extension, path):
    skip_where_restricted_is_refused(name, extension)
    if (name, extension) == ("laplacian-l1", "refit"):
        pytest.skip("the l1 graph does not say what joins it")
    estimator = ESTIMATORS[name](extension=extension).fit(X)
    assert_same(reloaded(estimator, path), estimator, NEW)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("form", INPUTS)
@pytest.mark.parametrize("name", ["mds", "kernel-pca", "laplacian-heat"])
def test_every_form_of_data(name, form, extension, path):
    skip_where_restricted_is_refused(name, extension)
    estimator = ESTIMATORS[name](extension=EXTENSIONS[extension])
    convert = INPUTS[form]
    estimator.fit(convert(X))
    loaded = reloaded(estimator, path)
    assert_same(loaded, estimator, convert(NEW))
    if form == "pandas":
        assert loaded.feature_names_in_.tolist() == COLUMNS
        assert loaded.feature_names_in_.dtype == object
        with pytest.raises(ValueError, match="feature names"):
            loaded.transform(pd.DataFrame(NEW, columns=COLUMNS[::-1]))


@pytest.mark.parametrize("extension", extensions.NAMES)
@pytest.mark.parametrize("name", PRECOMPUTED)
def test_precomputed(name, extension, path):
    make, takes = PRECOMPUTED[name]
    if takes not in extensions.NAMES[extension].serves:
        pytest.skip(f"{extension} does not read {takes}")
    skip_where_restricted_is_refused(name, extension)
    train, new = pairwise_distances(X), pairwise_distances(NEW, X)
    if takes == "similarities":
        train, new = np.exp(-(train**2) / 9), np.exp(-(new**2) / 9)
    estimator = make(extension=extension).fit(train)
    assert_same(reloaded(estimator, path), estimator, new)


def test_parameters_clone_and_refit(path):
    estimator = em.Isomap(n_neighbors=8, eigen_solver="arpack", random_state=3).fit(X)
    loaded = reloaded(estimator, path)
    assert loaded.get_params() == estimator.get_params()
    assert not hasattr(clone(loaded), "embedding_")
    assert np.array_equal(clone(loaded).fit(X).embedding_, estimator.embedding_)


def test_numpy_parameters_keep_their_types(path):
    estimator = em.Isomap(n_neighbors=np.int64(8), p=np.float64(2), n_components=np.int32(2))
    loaded = reloaded(estimator.fit(X), path)
    assert type(loaded.n_neighbors) is np.int64
    assert type(loaded.p) is np.float64
    assert type(loaded.n_components) is np.int32


def test_with_extension_survives(path):
    estimator = em.Isomap(n_neighbors=8).fit(X).with_extension("heat")
    loaded = reloaded(estimator, path)
    assert_same(loaded, estimator, NEW)
    assert_same(loaded.with_extension("nystrom"), estimator.with_extension("nystrom"), NEW)


def test_output_container_survives(path):
    estimator = em.KernelPCA(2).fit(pd.DataFrame(X, columns=COLUMNS)).set_output(transform="pandas")
    new = pd.DataFrame(NEW, columns=COLUMNS)
    pd.testing.assert_frame_equal(
        reloaded(estimator, path).transform(new), estimator.transform(new)
    )


def test_saved_again_it_is_the_same_file(saved, tmp_path):
    em.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_in_another_process(path, tmp_path):
    estimator = em.SpectralClustering(3, random_state=0).fit(X)
    estimator.save(path)
    np.save(tmp_path / "new.npy", NEW)
    program = (
        "import sys, numpy as np, eigenmaps; m = eigenmaps.load(sys.argv[1]); "
        "np.save(sys.argv[2], m.transform(np.load(sys.argv[3])))"
    )
    out = tmp_path / "out.npy"
    subprocess.run([sys.executable, "-c", program, path, out, tmp_path / "new.npy"], check=True)
    assert np.array_equal(np.load(out), estimator.transform(NEW))


VALUES = {
    "floats": [0.1, -0.0, 1e-320, np.inf, -np.inf, np.nan, np.pi],
    "integers": [0, -1, 2**80, True, False, None],
    "text": ["", "é", "\ud800", "\0", '"\\', 'checksum":"', "0" * 64],
    "containers": {"a": (1, [2, (3,)], {}), 4: [], (5, 6): {"x": ()}, None: 1.5},
    "scalars": [np.float32(0.1), np.float64(np.nan), np.int8(-3), np.bool_(True), np.str_("s")],
    "short-lived": [np.float64(x) for x in [np.inf, np.nan, -np.inf] * 5],
    "dtypes": [np.dtype("float32"), np.dtype("int64"), np.dtype(bool)],
    "arrays": [
        np.array(2.5),
        np.zeros((0, 3)),
        np.arange(6, dtype=np.uint16).reshape(2, 3),
        np.array([True, False]),
        np.array([np.nan, -np.inf, -0.0]),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(24.0).reshape(4, 6)[::-1, ::2],
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 1, 0),
        np.array([], dtype=object),
    ],
    "sparse": [
        sp.csr_array(np.eye(3)),
        sp.csr_array((4, 0)),
        sp.csr_array((np.zeros(1), np.array([1]), np.array([0, 1])), shape=(1, 3)),
    ],
}


@pytest.mark.parametrize("kind", VALUES)
def test_values(kind, path):
    estimator = em.ClassicalMDS().fit(X)
    estimator.metric_params = VALUES[kind]
    assert_equal_trees(reloaded(estimator, path).metric_params, VALUES[kind])


def test_wide_sparse_indices_are_not_narrowed(path):
    estimator = em.ClassicalMDS().fit(X)
    matrix = sp.csr_array(np.eye(3))
    matrix.indices, matrix.indptr = matrix.indices.astype("i8"), matrix.indptr.astype("i8")
    estimator.metric_params = {"V": matrix}
    assert reloaded(estimator, path).metric_params["V"].indices.dtype == np.int64


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(tree=TREES)
def test_any_tree_of_plain_values(tree, tmp_path_factory):
    estimator = em.ClassicalMDS().fit(X[:10])
    estimator.metric_params = tree
    path = tmp_path_factory.getbasetemp() / "tree"
    assert_equal_trees(reloaded(estimator, path).metric_params, tree)


# --- what is shared is stored once and stays shared ------------------------------------------


def test_sharing_survives(path):
    loaded = reloaded(em.Isomap(n_neighbors=8, extension="nystrom").fit(X), path)
    assert loaded.kernel_ is loaded._model.kernel
    assert loaded.kernel_ is loaded.extension_.kernel_
    assert loaded._model.X is loaded.kernel_.neighbors_.X
    heat = reloaded(em.Isomap(n_neighbors=8, extension="heat").fit(X), path)
    assert heat._model.embedding is heat.extension_.embedding_
    assert loaded._model.scaling is loaded.extension_.scaling_


def test_equal_but_separate_objects_stay_separate(path):
    estimator = em.ClassicalMDS().fit(X)
    estimator.metric_params = {"a": [1], "b": [1], "c": np.ones(3), "d": np.ones(3)}
    loaded = reloaded(estimator, path).metric_params
    assert loaded["a"] is not loaded["b"]
    assert loaded["c"] is not loaded["d"]


def test_an_array_with_three_owners_is_stored_once(path):
    wide = np.random.RandomState(1).randn(100, 3000)
    estimator = em.KernelPCA(2, extension="barycentric").fit(wide)
    owners = {
        id(estimator._model.X),
        id(estimator.kernel_.X_),
        id(estimator.extension_.neighbors_.X),
    }
    assert len(owners) == 1
    estimator.save(path)
    assert wide.nbytes < path.stat().st_size < 1.1 * wide.nbytes


def test_search_trees_are_not_saved_but_built_again(path):
    estimator = em.Isomap(n_neighbors=8).fit(X)
    expected = estimator.transform(NEW)
    assert estimator.kernel_.neighbors_._search is not None
    loaded = reloaded(estimator, path)
    assert loaded.kernel_.neighbors_._search is None
    assert np.array_equal(loaded.transform(NEW), expected)


def test_a_random_generator_is_not_part_of_the_model(path):
    estimator = em.SpectralClustering(3, random_state=np.random.RandomState(0)).fit(X)
    estimator.metric_params = Ridge(random_state=np.random.RandomState(0))
    loaded = reloaded(estimator, path)
    assert loaded.random_state is None
    assert loaded.metric_params.random_state is None
    assert np.array_equal(loaded.predict(NEW), estimator.predict(NEW))


# --- what cannot be saved is refused, and nothing is left behind ------------------------------


class OwnKernel(kernels.MDS):
    pass


class OwnExtension(extensions.Nystrom):
    pass


class OwnEstimator(em.ClassicalMDS):
    pass


def distance(a, b):
    return float(np.abs(a - b).sum())


REFUSED = {
    "metric": (em.ClassicalMDS(metric=distance), r"metric.*function.*distance.*data"),
    "lambda": (em.KernelPCA(2, kernel=lambda a, b: float(a @ b)), r"kernel.*function"),
    "affinity": (
        em.LaplacianEigenmaps(affinity=lambda a, b: np.ones((len(a), len(b)))),
        "affinity",
    ),
    "in-params": (em.ClassicalMDS(metric_params={"key": [distance]}), r"metric_params.*function"),
    "class": (em.ClassicalMDS(metric_params={"key": dict}), "metric_params"),
    "own-kernel": (em.Eigenmap(OwnKernel()), r"kernel.*OwnKernel"),
    "own-extension": (em.ClassicalMDS(extension=OwnExtension()), r"extension.*OwnExtension"),
    "own-estimator": (OwnEstimator(), "OwnEstimator"),
    "forest": (
        em.ClassicalMDS(extension=extensions.Regression(RandomForestRegressor(2, max_depth=2))),
        r"extension\.regressor.*RandomForestRegressor",
    ),
    "complex": (em.ClassicalMDS(metric_params={"a": np.ones(2, dtype=complex)}), "complex128"),
    "objects": (em.ClassicalMDS(metric_params={"a": np.array([distance])}), "object"),
    "bytes": (em.ClassicalMDS(metric_params={"a": b"abc"}), "bytes"),
    "set": (em.ClassicalMDS(metric_params={"a": {1}}), "set"),
    "coo": (em.ClassicalMDS(metric_params={"a": sp.coo_array(np.eye(2))}), "coo"),
}


@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, existing, path):
    estimator, message = REFUSED[name]
    parameters = estimator.get_params(deep=False).get("metric_params")
    fitted = clone(estimator)
    if parameters:
        fitted.set_params(metric_params=None).fit(X).set_params(metric_params=parameters)
    else:
        fitted.fit(X)
    if existing:
        path.write_bytes(b"precious")
    with pytest.raises(TypeError, match=message) as caught:
        fitted.save(path)
    assert "joblib" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(path.parent.iterdir()) == [path] * existing
    assert not existing or path.read_bytes() == b"precious"


@pytest.mark.parametrize(
    "regressor", [LinearRegression(), Ridge(), KernelRidge(), extensions.RBFNetwork(5)]
)
def test_the_refusal_names_what_can_be_saved(regressor, path):
    forest = extensions.Regression(RandomForestRegressor(2))
    with pytest.raises(TypeError, match=type(regressor).__name__):
        em.ClassicalMDS(extension=forest).fit(X).save(path)
    em.ClassicalMDS(extension=extensions.Regression(regressor)).fit(X).save(path)


@pytest.mark.parametrize("name", ["mds", "clustering", "eigenmap"])
def test_unfitted(name, path):
    with pytest.raises(NotFittedError):
        ESTIMATORS[name]().save(path)
    assert not path.exists()


def test_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        em.ClassicalMDS().fit(X).save(tmp_path / "none" / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_replaced(path):
    path.mkdir()
    with pytest.raises(OSError, match="model"):
        em.ClassicalMDS().fit(X).save(path)
    assert list(path.parent.iterdir()) == [path]


# --- a crash leaves the old model whole -------------------------------------------------------


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    "place", ["os.replace", "os.fsync", "eigenmaps.store.save_file", "eigenmaps.store._examined"]
)
def test_crash(place, error, saved, monkeypatch):
    before, expected = saved.read_bytes(), em.load(saved).transform(NEW)
    other = em.KernelPCA(1).fit(X)

    def fail(*args, **kwargs):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(place, fail)
        with pytest.raises(type(error)):
            other.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
    assert np.array_equal(em.load(saved).transform(NEW), expected)
    other.save(saved)
    assert type(em.load(saved)) is em.KernelPCA


def test_a_half_written_file_never_has_the_name(saved, monkeypatch):
    """The new file is complete, synchronised and beside the old one when it takes its place."""
    synced, replaced = [], []
    fsync, replace = os.fsync, os.replace

    def watch_sync(fd):
        synced.append(os.fstat(fd).st_ino)
        fsync(fd)

    def watch_replace(source, target):
        replaced.append(os.stat(source).st_ino)
        assert os.path.dirname(source) == os.path.dirname(target)
        assert type(em.load(source)) is em.KernelPCA
        assert type(em.load(target)) is em.ClassicalMDS
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watch_sync)
    monkeypatch.setattr(os, "replace", watch_replace)
    em.KernelPCA(1).fit(X).save(saved)
    assert replaced
    assert synced == replaced


def test_permissions_are_those_of_any_new_file(saved, tmp_path):
    (tmp_path / "plain").touch()
    assert saved.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(saved, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(saved)
    em.KernelPCA(1).fit(X).save(link)
    assert link.is_symlink()
    assert type(em.load(saved)) is em.KernelPCA


# --- a file that is not a whole model is refused ----------------------------------------------


def refuses(path, match):
    with pytest.raises(ValueError, match=match) as caught:
        em.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def layout(blob):
    return 8 + int.from_bytes(blob[:8], "little")


@pytest.mark.parametrize("region", ["length", "start", "header", "padding", "data", "end"])
def test_one_changed_byte(region, saved):
    blob = saved.read_bytes()
    data, rng = layout(blob), np.random.RandomState(1)
    places = {
        "length": np.arange(8),
        "start": np.arange(8, 150),
        "header": rng.randint(8, data, 400),
        "padding": np.arange(data - 8, data),
        "data": rng.randint(data, len(blob), 200),
        "end": np.arange(len(blob) - 8, len(blob)),
    }[region]
    for place in places:
        for flip in (1 << rng.randint(8), rng.randint(1, 256), 0x20, ord(" ") ^ ord("\t")):
            changed = bytearray(blob)
            changed[place] ^= flip
            saved.write_bytes(changed)
            refuses(saved, "damaged|not an eigenmaps model")
    saved.write_bytes(blob)
    em.load(saved)


def test_truncated_or_extended(saved):
    blob = saved.read_bytes()
    data = layout(blob)
    recognised = blob.index(store.CHECKSUM) + len(store.CHECKSUM)
    lengths = [0, 1, 7, 8, 9, 40, recognised - 1, recognised, recognised + 20, data // 2]
    for length in [*lengths, data - 1, data, data + 1, len(blob) - 1]:
        saved.write_bytes(blob[:length])
        refuses(saved, "damaged" if length >= recognised else "not an eigenmaps model")
    saved.write_bytes(blob + b"\0")
    refuses(saved, "damaged")


FOREIGN = {
    "empty": b"",
    "random": np.random.RandomState(0).bytes(5000),
    "text": b"width,height\n" + b"1.0,2.0\n" * 100,
    "zeros": b"\0" * 1000,
    "pickle": pickle.dumps(em.ClassicalMDS()),
    "safetensors": safetensors.numpy.save({"a": np.ones(3)}),
    "metadata": safetensors.numpy.save({"a": np.ones(3)}, {"format": "pt"}),
    "namesake": safetensors.numpy.save({"a": np.ones(3)}, {"eigenmaps": "{}"}),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign(kind, path):
    path.write_bytes(FOREIGN[kind])
    refuses(path, "not an eigenmaps model.*save")


def test_directory(tmp_path):
    refuses(tmp_path, "director")


def test_missing(path):
    with pytest.raises(FileNotFoundError, match=r"model\.eigenmaps"):
        em.load(path)


def test_newer_format(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store, "FORMAT", store.FORMAT + 1)
        patch.setattr(em, "__version__", "9.8.7")
        em.ClassicalMDS().fit(X).save(path)
        em.load(path)
    refuses(path, r"newer.*9\.8\.7.*[Uu]pgrade")


def test_a_class_of_a_newer_version(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(store.NAMES, OwnKernel, "kernels.OwnKernel")
        patch.setitem(store.CLASSES, "kernels.OwnKernel", OwnKernel)
        em.Eigenmap(OwnKernel()).fit(X).save(path)
        assert type(em.load(path).kernel_) is OwnKernel
    refuses(path, r"kernels\.OwnKernel.*[Uu]pgrade")


def test_an_older_version_loads_silently(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(em, "__version__", "0.0.1")
        em.ClassicalMDS().fit(X).save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        em.load(path)


def forge(path, old, new):
    """Change the header of a file and make its checksum right again."""
    blob = path.read_bytes()
    data = layout(blob)
    header = blob[8:data].rstrip()
    assert header.count(old) == 1
    header = header.replace(old, new)
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + blob[data:])
    _, digest, place = store._examined(path)
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(digest)


def test_a_header_with_the_right_checksum_loads(saved):
    forge(saved, em.__version__.encode(), b"0.0.0")
    em.load(saved)


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "subprocess.Popen", "str", "list "])
def test_names_in_a_file_are_never_imported(name, saved):
    forge(saved, b"kernels.MDS", name.encode())
    refuses(saved, name)


def test_indices_out_of_bounds_are_refused(path):
    estimator = em.ClassicalMDS().fit(X)
    matrix = sp.csr_array(np.eye(3))
    matrix.indices[1] = 10**6
    estimator.metric_params = {"V": matrix}
    estimator.save(path)
    refuses(path, "index|indices")


def test_every_public_class_can_be_saved():
    rooms = ((em, SpectralEmbedder), (kernels, BaseEstimator), (extensions, BaseEstimator))
    for room, base in rooms:
        public = [getattr(room, name) for name in room.__all__]
        classes = [c for c in public if isinstance(c, type) and issubclass(c, base)]
        assert classes
        assert set(classes) <= set(store.NAMES)


def test_only_instances_of_our_own_classes_can_be_made():
    for cls in store.CLASSES.values():
        assert cls.__module__.startswith(("eigenmaps.", "sklearn.linear_model.", "sklearn.kernel"))
        assert issubclass(cls, BaseEstimator) or cls.__module__.startswith("eigenmaps.")
    assert len(set(store.CLASSES.values())) == len(store.CLASSES)


def test_examples():
    result = doctest.testmod(store)
    assert result.attempted > 0
    assert result.failed == 0
