"""Table 1 of the sparse paper: the shortcuts are the library, and what is interrupted goes on."""

import json
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier

import eigenmaps as em
from eigenmaps.cli import main
from eigenmaps.reproduce import Absent, Lab, table1
from eigenmaps.reproduce.faces import Faces, dimensions, orientations, ways

PAPER = """
YALE 72.36% 51.84% 41.66% 33.15% 65.43%
ORL 69.25% 51.35% 37.71% 30.25% 41.71%
UMIST 87.56% 69.72% 60.49% 52.65% 58.31%
Ext. Yale 87.29% 46.66% 31.33% 24.25% 49.90%
YALE 81.85% 70.12% 61.60% 52.09% 68.14%
ORL 82.50% 72.05% 60.35% 49.25% 46.38%
UMIST 95.03% 85.90% 76.04% 70.03% 76.25%
Ext. Yale 91.46% 61.09% 46.85% 39.03% 53.14%
YALE 86.73% 77.15% 73.87% 67.95% 75.51%
ORL 88.75% 82.16% 73.66% 65.41% 53.25%
UMIST 97.74% 93.06% 85.20% 79.94% 80.52%
Ext. Yale 92.12% 70.97% 58.36% 48.74% 57.14%
"""


def portraits(persons=10, images=20):
    """Pictures, 0 to 255, that are mostly a person and somewhat a light."""
    rng = np.random.default_rng(0)
    smooth = np.exp(-((np.arange(32)[:, None] - np.arange(32)) ** 2) / 18)
    person, light = (
        (smooth @ rng.standard_normal((n, 32, 32)) @ smooth).reshape(n, -1)
        for n in (persons, persons * images)
    )
    y = np.repeat(np.arange(persons), images)
    X = person[y] + 0.7 * light
    return np.round(255 * (X - X.min()) / np.ptp(X)), y


X, Y = portraits()
FACES = Faces.split(X, Y, 0.4, 3)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for file in ("yale_32x32.npz", "orl_32x32.npz"):
        np.savez(folder / file, X=X.astype(np.uint8), y=Y)
    return folder


def test_a_split_is_a_partition_and_always_the_same():
    again, other = Faces.split(X, Y, 0.4, 3), Faces.split(X, Y, 0.4, 4)
    assert_array_equal(FACES.X, again.X)
    assert not np.array_equal(FACES.y, other.y)
    assert len(FACES.X) == 80
    assert_array_equal(np.sort(np.vstack([FACES.X, FACES.X_new]), axis=0), np.sort(X, axis=0))


def test_recognition_is_one_nearest_neighbour():
    A, B = FACES.X - X.mean(axis=0), FACES.X_new - X.mean(axis=0)
    dims = [3, 10, 400]
    rates = FACES.recognised(A, B, dims)
    for row, metric in zip(rates, ("euclidean", "cosine"), strict=True):
        for d, rate in zip(dims, row, strict=True):
            nearest = KNeighborsClassifier(1, metric=metric).fit(A[:, :d], FACES.y)
            assert rate == nearest.score(B[:, :d], FACES.y_new)


@pytest.mark.parametrize("affinity", ["l1", "rbf"])
def test_shares_and_slices_are_the_estimator(affinity):
    fit = partial(em.LaplacianEigenmaps, affinity=affinity, gamma="mean", eigen_solver="dense")
    whole = fit(None).fit(FACES.X).embedding_
    for name, c in FACES.shares().items():
        model = fit(7, extension=ways()[name]).fit(FACES.X)
        assert_allclose(model.embedding_, whole[:, :7], rtol=0, atol=1e-10)
        assert_allclose(model.transform(FACES.X_new), (c @ whole)[:, :7], rtol=0, atol=1e-9)


def test_nystrom_of_the_l1_graph_is_sparse_over_the_eigenvalue():
    model = em.LaplacianEigenmaps(12, affinity="l1").fit(FACES.X)
    sparse = model.with_extension("sparse").transform(FACES.X_new)
    nystrom = model.transform(FACES.X_new)
    assert_allclose(nystrom, sparse / model.eigenvalues_, atol=1e-10)
    both = FACES.of_graph("ℓ1", FACES.shares())
    for way, coordinates in (("sparse", sparse), ("Nyström", nystrom)):
        rates = FACES.recognised(model.embedding_, coordinates, [5, 10])
        assert_array_equal(both[way][:, :2], rates)


def test_dimensions_are_the_first_of_a_longer_list():
    assert dimensions(23) == [5, 10, 15, 20]
    assert dimensions(2000)[: len(dimensions(600))] == dimensions(600)


def test_orientations_do_not_see_how_bright_an_image_is():
    bright, dark = X[:5] + 20, 0.3 * (X[:5] + 20)
    A, B = orientations(bright), orientations(dark)
    assert_allclose((A**2).sum(axis=1), 1)
    assert ((A * B).sum(axis=1) > 0.99).all()


def test_published_figures_are_those_of_the_paper():
    lines = [line.replace("Ext. Yale", "YALEB").split() for line in PAPER.strip().splitlines()]
    for i, (name, *figures) in enumerate(lines):
        expected = [float(text.rstrip("%")) for text in figures]
        assert list(table1.PUBLISHED[name.lower()][i // 4]) == expected


def test_the_interval_is_students():
    values = np.array([61.0, 64.5, 58.2, 66.0])
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    mean, half = table1.interval(values)
    assert_allclose([mean - half, mean + half], [low, high])


@pytest.mark.parametrize(("mean", "half", "sign"), [(3, 2, ""), (1, 2, " ≈"), (-3, 2, " ▼")])
def test_marks(mean, half, sign):
    assert table1.mark(mean, half) == sign


def test_a_quick_run_goes_on_where_it_stopped(data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    lab, measure, done = Lab(tmp_path / "out", data, quick=True), table1.measure, []

    def counted(X, y, share, split, most):
        if len(done) == most:
            raise KeyboardInterrupt
        done.append((share, split))
        return measure(X, y, share, split)

    monkeypatch.setattr(table1, "measure", partial(counted, most=1))
    with pytest.raises(KeyboardInterrupt):
        table1.run(lab)
    monkeypatch.setattr(table1, "measure", partial(counted, most=9))
    table1.run(lab)
    assert len(done) == 4  # two data sets, one share, two splits
    results = json.loads((tmp_path / "out" / "table1.json").read_text())["results"]
    assert set(results) == {f"{name} 30% {i}" for name in ("yale", "orl") for i in (1, 2)}
    page = (tmp_path / "out" / "table1.md").read_text()
    assert "## ORL" in page
    assert "72.36" in page
    assert (tmp_path / "out" / "table1.png").exists()


def test_without_data_it_says_what_is_missing(tmp_path, capsys):
    with pytest.raises(Absent, match="yale_32x32.npz"):
        table1.run(Lab(tmp_path, tmp_path, quick=True))
    assert main(["reproduce", "table1", "--output", str(tmp_path), "--data", str(tmp_path)]) == 1
    assert "umist_32x32.npz" in capsys.readouterr().err
