"""The laws on the papers' own data: Isomap's faces and swiss roll, Ionosphere, Yale's faces.

Needs a folder with their files, named by EIGENMAPS_DATA.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import eigenmaps as em

FOLDER = Path(os.environ.get("EIGENMAPS_DATA", "absent"))
DATA = {
    "faces": ("isomap_faces_32.npz", 698),
    "ionosphere": ("ionosphere.npz", 351),
    "roll": ("isomap_swiss_roll.npz", 1000),
}
METHODS = {
    "mds": em.ClassicalMDS(),
    "isomap": em.Isomap(n_neighbors=10),
    "lle": em.LocallyLinearEmbedding(n_neighbors=10),
    "laplacian": em.LaplacianEigenmaps(),
    "laplacian rbf": em.LaplacianEigenmaps(affinity="rbf"),
    "clustering": em.SpectralClustering(3, affinity="rbf"),
    "kernel pca": em.KernelPCA(2, kernel="rbf"),
}


@pytest.fixture(scope="module", params=DATA)
def points(request):
    file, rows = DATA[request.param]
    if not (FOLDER / file).exists():
        pytest.skip(f"{file} is not at hand: set EIGENMAPS_DATA to the folder that holds it")
    return np.load(FOLDER / file)["X"][:rows]


@pytest.mark.filterwarnings("ignore:The neighbourhood graph", "ignore:The affinity is almost")
@pytest.mark.parametrize("name", METHODS)
def test_training_points_stay_and_rows_are_independent(points, name):
    model = METHODS[name].fit(points)
    Y = model.embedding_
    size = np.abs(Y).max()
    error = np.abs(model.transform(points) - Y).max(axis=1)
    if name == "lle":  # copies of a point cannot be told apart by any function of it
        copies = np.unique(points, axis=0, return_inverse=True, return_counts=True)
        error = error[copies[2][copies[1].ravel()] == 1]
    assert error.max() <= 1e-8 * size
    some = points[::97] * 0.99 + 0.01 * points.mean(axis=0)
    batch = model.transform(some)
    alone = np.vstack([model.transform(row[None]) for row in some])
    assert np.abs(batch - alone).max() <= 1e-10 * max(size, np.abs(batch).max())
    assert model.solve_.residuals.max() < 1e-10


def test_isomap_of_the_faces_finds_their_pose():
    """Tenenbaum et al.'s figure: the first axis is left-right pose (698 faces, 6 neighbours)."""
    file = FOLDER / "isomap_faces_32.npz"
    if not file.exists():
        pytest.skip(f"{file.name} is not at hand: set EIGENMAPS_DATA to the folder that holds it")
    faces = np.load(file)
    poses = faces["poses"] if faces["poses"].shape[0] == 698 else faces["poses"].T
    train, new = slice(0, None, 2), slice(1, None, 2)
    model = em.Isomap(n_neighbors=6, n_components=3).fit(faces["X"][train])
    for Y, part in ((model.embedding_, train), (model.transform(faces["X"][new]), new)):
        A = np.column_stack([Y, np.ones(len(Y))])
        angle = subspace_angles(A, poses[part, :1]).max()
        assert np.cos(angle) > 0.9


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_codes_of_faces_are_certified(share):
    """Raducanu & Dornaika's Yale faces, 30% and 70% of them for training."""
    file = FOLDER / "yale_32x32.npz"
    if not file.exists():
        pytest.skip(f"{file.name} is not at hand: set EIGENMAPS_DATA to the folder that holds it")
    faces = np.load(file)["X"].astype(float)
    order = np.random.default_rng(0).permutation(len(faces))
    train, new = np.split(faces[order], [round(share * len(faces))])
    model = em.LaplacianEigenmaps(affinity="rbf", gamma="mean", extension="sparse").fit(train)
    model.transform(new)
    assert len(model.extension_.gap_) == len(new)
    assert model.extension_.gap_.max() <= 1e-6
    assert not model.extension_.fell_back_.any()
    assert np.abs(model.transform(train) - model.embedding_).max() < 1e-10
