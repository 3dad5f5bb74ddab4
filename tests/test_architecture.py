"""The plan of the house, read off the imports."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import eigenmaps

SOURCE = Path(eigenmaps.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
# Rooms from the ground up: a room may use those below it, and its own floor where listed.
FLOORS = [
    {"_compute"},
    {"gram"},
    {"blocks", "scaling", "roots", "interior"},
    {"threads"},
    {"tiles"},
    {"neighbors", "normalization", "solvers", "ritz"},
    {"graphs"},
    {"eigen", "barycenter", "selection", "assignment", "inverse", "coding"},
    {"kernels", "extensions"},
    {"validation", "growth", "loss"},
    {"embedder"},
    {"eigenmap"},
    {"estimators", "testing"},
    {"clustering"},
    {"stability"},
    {"metrics", "store"},
    {"report"},
    {"demo", "reproduce"},
    {"cli"},
]
FLOOR = {room: height for height, floor in enumerate(FLOORS) for room in floor}


def room(path):
    part = path.relative_to(SOURCE).parts[0]
    return part.removesuffix(".py")


def imports(path):
    """Rooms of the package that a file imports, and the names of other packages."""
    inside, outside = set(), set()
    package = path.relative_to(SOURCE).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            outside |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            outside.add(node.module.split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1])
            parts = base + (node.module.split(".") if node.module else [])
            inside |= {parts[0]} if parts else {alias.name for alias in node.names}
    return inside, outside


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_dependencies_point_down(path):
    here = room(path)
    if here == "__init__":
        return
    for other in imports(path)[0] - {here}:
        if here == "embedder" and other == "store":
            continue  # `save` hands over to the room that writes files
        if other == "__version__":
            continue
        assert FLOOR[other] < FLOOR[here], f"{here} imports {other}"


def test_every_room_is_on_the_plan():
    assert {room(p) for p in FILES} - {"__init__"} == set(FLOOR)


def test_numba_and_others_come_through_one_door():
    doors = {"numba": {"_compute"}, "matplotlib": {"report"}, "pyamg": {"solvers"}}
    doors |= {"safetensors": {"store"}}
    for path in FILES:
        for name in imports(path)[1] & set(doors):
            assert room(path) in doors[name], f"{path.name} imports {name}"


def test_kernels_and_extensions_do_not_know_each_other():
    for path in FILES:
        other = {"kernels": "extensions", "extensions": "kernels"}.get(room(path))
        assert other not in imports(path)[0]


def test_only_public_names_of_scikit_learn():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                names = node.module.split(".") + [alias.name for alias in node.names]
                assert not any(name.startswith("_") for name in names), f"{path}: {names}"


def test_no_room_for_odds_and_ends():
    assert not [p for p in FILES if p.stem in ("utils", "helpers", "misc", "common")]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_are_rooms_not_halls(path):
    limit = 425 if path.stem == "estimators" else 400  # five docstrings and parameter lists
    assert len(path.read_text().splitlines()) <= limit


def test_public_surface():
    assert set(eigenmaps.__all__) == {
        "ClassicalMDS",
        "Eigenmap",
        "Isomap",
        "KernelPCA",
        "LaplacianEigenmaps",
        "LocallyLinearEmbedding",
        "SpectralClustering",
        "extensions",
        "kernels",
        "load",
        "metrics",
    }
    assert all(getattr(eigenmaps, name).__doc__ for name in eigenmaps.__all__)


def test_import_is_light():
    """No compiler, no plotting, no multigrid at import."""
    code = "import sys, sklearn.base; old = set(sys.modules)"
    code += "; import eigenmaps; print(*set(sys.modules) - old)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"numba", "matplotlib", "pyamg", "polars", "dask"}


def test_typed():
    assert (SOURCE / "py.typed").exists()
