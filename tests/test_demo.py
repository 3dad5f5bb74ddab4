"""The demo, run once as a user runs it, and its pictures."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from eigenmaps import __version__, cli, demo, report

NAMES = [type(method).__name__ for method in demo.METHODS]


def command(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "eigenmaps.cli", *arguments],
        capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "made" / "on demand"


@pytest.fixture(scope="module")
def ran(folder):
    done = command("demo", "--output", str(folder))
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def table(ran):
    """The numbers of each row, by method."""
    rows = re.findall(r"^(\w+) +(\d+ .+%)$", ran.stdout, re.MULTILINE)
    return {name: [float(x) for x in re.findall(r"[\d.]+", rest)] for name, rest in rows}


def test_the_table_has_the_six_methods_in_aligned_rows(ran, table):
    assert list(table) == NAMES
    assert len(NAMES) == 6
    rows = [line for line in ran.stdout.splitlines() if line.split(" ")[0] in NAMES]
    assert len({len(line) for line in rows}) == 1
    assert max(map(len, ran.stdout.splitlines()[:-1])) <= 80, "the last line names a folder"
    assert ran.stderr == ""


def test_the_numbers_are_what_the_methods_can_do(table):
    for name, (dims, fit, point, of_new, of_old, trust, correct) in table.items():
        assert dims == (10 if name == "SpectralClustering" else 2)
        assert fit > 0
        assert point >= 0
        assert abs(of_new - of_old) < 8, "a new point is placed as well as an old one"
        assert 0.8 < trust < 1
        assert 60 < correct < 100


def test_predict_finds_the_digits(ran):
    (index,) = re.findall(r"adjusted Rand index ([\d.]+)", ran.stdout)
    assert 0.7 < float(index) < 1


def test_pictures_are_drawn(ran, folder):
    image = pytest.importorskip("matplotlib.image")
    assert {path.name for path in folder.iterdir()} == {f"{name}.png" for name in NAMES} | {
        "overview.png"
    }
    for path in folder.iterdir():
        pixels = image.imread(path)
        assert min(pixels.shape[:2]) > 800
        assert 0.02 < (pixels[:, :, :3] < 1).any(axis=2).mean() < 0.5
        assert len(np.unique(pixels[:, :, :3] @ [1, 10, 100])) > 100, "colours"
    assert str(folder / "overview.png") in ran.stdout


def test_the_process_ends_with_the_exit_code():
    assert command("dream").returncode == 2


def test_version():
    done = command("--version")
    assert (done.returncode, done.stdout) == (0, f"eigenmaps {__version__}\n")


@pytest.mark.parametrize("arguments", [["dream"], [], ["demo", "--inches"]])
def test_what_is_no_command_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "usage: eigenmaps" in capsys.readouterr().err


def test_an_error_is_one_line_and_exit_code_1(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    (tmp_path / "file").touch()
    assert cli.main(["demo", "--output", str(tmp_path / "file")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"eigenmaps: .*file.*\n", err)


@pytest.fixture
def only_clustering(monkeypatch):
    monkeypatch.setattr(demo, "METHODS", demo.METHODS[NAMES.index("SpectralClustering") :][:1])


def test_without_matplotlib_the_table_and_a_hint(tmp_path, monkeypatch, capsys, only_clustering):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["demo", "--output", str(tmp_path / "new")]) == 0
    out = capsys.readouterr().out
    assert "SpectralClustering  " in out
    assert "pip install 'eigenmaps[report]'" in out
    assert not list(tmp_path.iterdir())


def test_no_pictures(tmp_path, monkeypatch, capsys, only_clustering):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "--no-pictures"]) == 0
    out = capsys.readouterr().out
    assert "ictures" not in out
    assert "matplotlib" not in out
    assert not list(tmp_path.iterdir())


@pytest.fixture
def ax():
    return pytest.importorskip("matplotlib.figure").Figure().subplots()


def test_embedding_takes_axes_and_returns_them(ax):
    rng = np.random.default_rng(0)
    Y, Y_new, digits = rng.random((30, 2)), rng.random((20, 2)), np.arange(50) % 10
    drawn = report.embedding(ax, Y, Y_new, digits[:30], digits[30:], rng.random((20, 8, 8)))
    assert drawn is ax
    assert [len(dots.get_offsets()) for dots in ax.collections] == [30, 20]
    assert np.ptp(ax.get_xlim()) == pytest.approx(np.ptp(ax.get_ylim()))
    assert ax.get_aspect() == 1


def test_images_cover_no_point_and_not_each_other(ax):
    rng = np.random.default_rng(0)
    Y, Y_new = rng.standard_normal((200, 2)), rng.standard_normal((100, 2))
    one = np.zeros
    report.embedding(ax, Y, Y_new, one(200), one(100), np.ones((100, 8, 8)))
    boxes = np.array([image.get_extent() for image in ax.images])
    assert len(boxes) > 10
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    assert (boxes >= [x0, x0, y0, y0]).all()
    assert (boxes <= [x1, x1, y1, y1]).all()
    for left, right, bottom, top in boxes:
        x, y = np.vstack([Y, Y_new]).T
        assert not ((x > left) & (x < right) & (y > bottom) & (y < top)).any()
        over = (boxes[:, 0] < right) & (boxes[:, 1] > left)
        over &= (boxes[:, 2] < top) & (boxes[:, 3] > bottom)
        assert over.sum() == 1


def test_more_labels_than_colours_are_refused(ax):
    with pytest.raises(ValueError, match="11 labels, but the palette has 10"):
        report.legend(ax.figure, np.arange(11))
