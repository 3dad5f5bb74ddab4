"""Where an experiment works: its data, its results so far, its pictures."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import scipy
import sklearn
from tqdm import tqdm

from .. import __version__, report
from ..gram import Array, Index


class Absent(LookupError):  # noqa: N818
    """A data set is not at hand."""


class Source(NamedTuple):
    """A file of a data set (X, and y where there are labels), and where it comes from."""

    file: str
    origin: str


SOURCES = {
    "faces": Source(
        "isomap_faces_32.npz", "698 synthetic faces of Tenenbaum et al. 2000, every second pixel"
    ),
    "ionosphere": Source("ionosphere.npz", "UCI Machine Learning Repository, Ionosphere"),
    "roll": Source("isomap_swiss_roll.npz", "the swiss roll of Tenenbaum et al. 2000"),
    "mnist": Source("mnist.npz", "MNIST of LeCun et al."),
    "yale": Source("yale_32x32.npz", "Yale faces, 165 images of 15 persons, 32 × 32 pixels"),
    "orl": Source("orl_32x32.npz", "ORL (AT&T) faces, 400 images of 40 persons, 32 × 32 pixels"),
    "umist": Source(
        "umist_32x32.npz",
        "UMIST (Sheffield) faces, 575 images of 20 persons, scaled to 32 × 32 pixels",
    ),
    "yaleb": Source(
        "yaleb_ext_32x32.npz", "Extended Yale B, cropped, 2,414 images of 38 persons, 32 × 32"
    ),
}


class Lab:
    """One place of work.

    Parameters
    ----------
    output : path
        Where results and pictures go.
    data : path, optional
        The folder of the data sets; by default the environment variable ``EIGENMAPS_DATA``.
    quick : bool, default=False
        Smaller sizes, to try that all runs.
    """

    def __init__(self, output: Path, data: Path | None = None, quick: bool = False) -> None:
        self.output = output
        self.data = data or Path(os.environ.get("EIGENMAPS_DATA", "."))
        self.quick = quick
        self.loaded: dict[str, str] = {}  # the files that were read, and their digests
        output.mkdir(parents=True, exist_ok=True)
        report.sheet(1, 1)  # pictures come last: that nothing can draw them is said first

    def load(self, name: str) -> tuple[Array, Index | None]:
        """X and labels of a data set; :class:`Absent` says what is missing, and its origin."""
        source = SOURCES[name]
        path = self.data / source.file
        if not path.exists():
            raise Absent(
                f"{source.file} is not in {self.data}: {source.origin}. Name the folder that has "
                "it with --data or EIGENMAPS_DATA."
            )
        try:
            with np.load(path) as arrays:
                labels = np.asarray(arrays["y"], dtype=np.int64) if "y" in arrays else None
                X = np.asarray(arrays["X"], dtype=np.float64)
        except (ValueError, KeyError, BadZipFile) as error:
            raise Absent(
                f"{source.file} has no X, or no labels y, as it should: {error}."
            ) from error
        self.loaded[source.file] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        return X, labels

    def results(
        self, name: str, settings: Mapping[str, Any], jobs: Mapping[str, Callable[[], Any]]
    ) -> dict[str, Any]:
        """Do the jobs that are not done yet; what each returns, as it is kept in ``name.json``.

        After each job all results so far are on disk, in ``name.unfinished.json``, from which a
        later run with the same settings goes on.
        """
        head = {
            "settings": {**settings, "quick": self.quick},
            "data": dict(self.loaded),
            "machine": machine(),
        }
        draft = self.output / f"{name}.unfinished.json"
        done: dict[str, Any] = {}
        if draft.exists():
            before = json.loads(draft.read_text())
            if {key: before.get(key) for key in head} == json.loads(json.dumps(head)):
                done = before["results"]
        for key, job in tqdm(jobs.items(), desc=name, unit="job", disable=None):
            if key not in done:
                done[key] = job()
                write(draft, {**head, "results": done})
        found = json.loads(
            json.dumps(done), parse_float=lambda digits: float(f"{float(digits):.6g}")
        )
        write(draft, {**head, "results": found})
        draft.replace(self.output / f"{name}.json")
        return found

    def picture(self, name: str, figure: Any) -> None:
        """Keep a figure as ``name.png``."""
        figure.savefig(self.output / f"{name}.png", dpi=100)

    def page(self, name: str, text: str) -> None:
        """Keep a text, such as a table, as ``name.md``, and show it."""
        (self.output / f"{name}.md").write_text(text + "\n", encoding="utf-8")
        print(text)


def machine() -> dict[str, Any]:
    """What the figures were measured with."""
    return {
        "eigenmaps": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def write(path: Path, content: Mapping[str, Any]) -> None:
    """A JSON file, written whole or not at all."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1) + "\n")
    new.replace(path)
