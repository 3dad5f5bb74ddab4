"""The frame of the papers' experiments, and the quick ones."""

import json

import numpy as np
import pytest

from eigenmaps import cli, reproduce
from eigenmaps.reproduce import Absent, Lab, figure1


def test_data_sets_are_found_or_their_origin_is_said(tmp_path):
    lab = Lab(tmp_path / "out", data=tmp_path)
    with pytest.raises(Absent, match=r"ionosphere\.npz is not in .*: UCI.*--data"):
        lab.load("ionosphere")
    np.savez(tmp_path / "ionosphere.npz", X=np.ones((3, 2), np.uint8), y=np.arange(3))
    X, y = lab.load("ionosphere")
    assert X.dtype == np.float64
    assert y.tolist() == [0, 1, 2]
    np.savez(tmp_path / "isomap_swiss_roll.npz", X=np.ones((3, 3)))
    assert lab.load("roll")[1] is None


def test_what_was_interrupted_goes_on(tmp_path):
    done = []

    def job(value, fails=False):
        def run():
            if fails:
                raise KeyboardInterrupt
            done.append(value)
            return {"value": value / 3, "array": np.ones(2).tolist()}

        return run

    lab = Lab(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        lab.results("trial", {"n": 1}, {"a": job(1), "b": job(2, fails=True)})
    assert not (tmp_path / "trial.json").exists()
    found = lab.results("trial", {"n": 1}, {"a": job(1), "b": job(2)})
    assert done == [1, 2]
    assert found == {
        "a": {"value": 0.333333, "array": [1, 1]}, "b": {"value": 0.666667, "array": [1, 1]}
    }  # fmt: skip
    kept = json.loads((tmp_path / "trial.json").read_text())
    assert kept["results"] == found
    assert kept["settings"] == {"n": 1, "quick": False}
    assert {"eigenmaps", "numpy", "system"} <= set(kept["machine"])
    assert not list(tmp_path.glob("*.unfinished.json"))
    # finished: a new run starts anew; with other settings so does an interrupted one
    lab.results("trial", {"n": 1}, {"a": job(3)})
    assert done == [1, 2, 3]
    with pytest.raises(KeyboardInterrupt):
        lab.results("trial", {"n": 2}, {"a": job(4), "b": job(5, fails=True)})
    lab.results("trial", {"n": 3}, {"a": job(6)})
    assert done == [1, 2, 3, 4, 6]


def test_the_command_line_runs_an_experiment(tmp_path, capsys):
    assert cli.main(["reproduce", "figure1", "--quick", "--output", str(tmp_path)]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"figure1.json", "figure1.md", "figure1.png"}
    assert "adjusted Rand index | 1.000" in capsys.readouterr().out


def test_the_command_line_says_what_is_missing(tmp_path, capsys, monkeypatch):
    def needs_data(lab):
        lab.load("umist")

    monkeypatch.setitem(reproduce.EXPERIMENTS, "figure1", needs_data)
    command = ["reproduce", "figure1", "--output", str(tmp_path), "--data", str(tmp_path)]
    assert cli.main(command) == 1
    assert "UMIST (Sheffield)" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", "figure17"])
    assert stop.value.code == 2
    assert "figure1, convergence" in capsys.readouterr().err.replace("'", "")


def test_two_arcs():
    X, place, arc = figure1.curves(50, 0)
    assert X.shape == (100, 2)
    assert np.bincount(arc).tolist() == [50, 50]
    assert np.array_equal(X, figure1.curves(50, 0)[0])
    top = X[arc == 0]
    assert np.abs(np.linalg.norm(top, axis=1) - 1).max() < 0.3
    assert np.all((place >= 0) & (place <= 1))
