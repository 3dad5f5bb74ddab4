"""The model file: data, never code.

One safetensors file: the arrays, and a JSON header with all the rest. Whatever JSON has no plain
value for is a *node*, ``[kind, content]``, written once, and ``[number]`` where it is referred to,
so that what was shared stays shared. A node comes after those it refers to; the last one is the
estimator, with its parameters and what it has fitted.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable
from inspect import isabstract
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from sklearn.base import RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.validation import check_is_fitted

from . import estimators, extensions, kernels
from .assignment import Centres, Discretization, PivotedQR
from .eigen import Solve
from .eigenmap import Eigenmap, SpectralEmbedder
from .neighbors import Neighbors
from .normalization import Centring, Degrees
from .scaling import Scaling

FORMAT = 1
KEY = "eigenmaps"  # of the header, in the file's metadata
CHECKSUM = b'{\\"checksum\\":\\"'  # what stands before the checksum's digits in the file
DIGITS = 64
LONGEST_HEADER = 100_000_000  # by the safetensors format

#: All there is that a file may hold objects of. Names in a file are looked up here, nowhere else.
CLASSES: dict[str, type] = {
    prefix + name: cls
    for prefix, room in (("", estimators), ("kernels.", kernels), ("extensions.", extensions))
    for name in room.__all__
    if isinstance(cls := getattr(room, name), type) and not isabstract(cls)
} | {
    cls.__name__: cls
    for cls in (
        *(Eigenmap, Solve, Neighbors, Centring, Degrees, Scaling),
        *(Centres, PivotedQR, Discretization, LinearRegression, Ridge, KernelRidge),
    )
}
NAMES = {cls: name for name, cls in CLASSES.items()}


def save(estimator: SpectralEmbedder, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, at once or not at all.

    Parameters
    ----------
    estimator : fitted estimator
    path : str or path

    Notes
    -----
    A function as metric, kernel or affinity, a class of your own, and regressors other than
    linear ones, kernel ridge and RBF networks are refused: they are code, or may hold it. A
    ``RandomState`` is left out, as it serves fitting only.
    """
    from . import __version__

    check_is_fitted(estimator)
    state = _State()
    state.refer(estimator, type(estimator).__name__)
    header = {"checksum": "0" * DIGITS, "format": FORMAT, "library": __version__}
    text = json.dumps(header | {"nodes": state.nodes}, allow_nan=False, separators=(",", ":"))
    path = Path(path).resolve()
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        new.touch(exist_ok=False)
        mode = new.stat().st_mode
        save_file(state.arrays, new, {KEY: text})
        new.chmod(mode)  # safetensors makes files that no one else may read
        digest, place = _digest(new)
        with open(new, "r+b") as file:
            file.seek(place)
            file.write(digest)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> SpectralEmbedder:
    """Read a model written by an estimator's ``save``. It transforms as before, to the bit.

    The file is data: none of it is run or imported, so that a file from others is safe to load.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    fitted estimator

    Raises
    ------
    ValueError
        The file is damaged, is no model, or was written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> import eigenmaps
    >>> X = load_iris().data
    >>> model = eigenmaps.ClassicalMDS().fit(X[:100])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/iris.eigenmaps")
    ...     again = eigenmaps.load(f"{folder}/iris.eigenmaps")
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    from . import __version__

    if os.path.isdir(path):
        raise ValueError(f"{path} is a directory; give the path of a model file inside.")
    with open(path, "rb") as file:
        start = _start(file)
    if CHECKSUM not in start:
        raise ValueError(
            f"{path} is not an eigenmaps model; give a file that an estimator's save wrote."
        )
    damaged = ValueError(
        f"{path} is damaged: it is cut short, or its contents changed since it was saved. "
        "Copy it again from where it came, or save the model again."
    )
    try:
        header = json.loads(json.loads(start[8:])["__metadata__"][KEY])
        version, newer = header["library"], header["format"] > FORMAT
    except (ValueError, KeyError, TypeError):
        raise damaged from None
    if newer:
        raise ValueError(
            f"{path} has the newer format {header['format']} of eigenmaps {version}; version "
            f"{__version__} reads formats up to {FORMAT}. Upgrade eigenmaps."
        )
    if _digest(path)[0] != header["checksum"].encode():
        raise damaged
    try:
        with safe_open(path, framework="numpy") as arrays:
            return _restored(header["nodes"], arrays)
    except (LookupError, TypeError, ValueError, AttributeError, SafetensorError) as error:
        raise ValueError(
            f"{path} was written by eigenmaps {version} and holds what version {__version__} "
            f"does not know ({error}). Upgrade eigenmaps, or fit and save the model again."
        ) from error


class _State:
    """What objects become: nodes for the header, and arrays."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.arrays: dict[str, np.ndarray] = {}
        # The object is kept beside its number: an id is unique only as long as it lives.
        self._seen: dict[int, tuple[int, Any]] = {}

    def refer(self, x: Any, where: str) -> Any:
        """The value itself, where JSON has it, or a reference to its node."""
        if x is None or type(x) in (bool, int, str) or (type(x) is float and math.isfinite(x)):
            return x
        if isinstance(x, np.random.RandomState):
            return None  # of use to another fit only, which then starts from its default
        if id(x) not in self._seen:
            node = self._node(x, where)
            self._seen[id(x)] = len(self.nodes), x
            self.nodes.append(node)
        return [self._seen[id(x)][0]]

    def _node(self, x: Any, where: str) -> list[Any]:
        kind = type(x)
        if kind is float:
            return ["float", [repr(x)]]
        if kind is np.str_ or (isinstance(x, np.generic) and _plain(x.dtype)):
            return ["scalar", [x.dtype.str, self.refer(x.item(), where)]]
        if isinstance(x, np.dtype) and _plain(x):
            return ["dtype", [x.str]]
        if kind is np.ndarray and _plain(x.dtype):
            return ["array", self._array(x)]
        if kind is np.ndarray and x.ndim == 1 and all(type(s) is str for s in x):
            return ["names", x.tolist()]
        if kind is sp.csr_array:
            parts = (x.data, x.indices, x.indptr, *map(int, x.shape))
            return ["csr", [self.refer(part, where) for part in parts]]
        if kind in (list, tuple):
            return [kind.__name__, [self.refer(v, f"{where}[{i}]") for i, v in enumerate(x)]]
        if kind is dict:
            items = ((self.refer(k, where), self.refer(v, f"{where}[{k!r}]")) for k, v in x.items())
            return ["dict", list(chain.from_iterable(items))]
        if kind in NAMES:
            state = x._asdict() if issubclass(kind, tuple) else x.__getstate__() or {}
            return [NAMES[kind], {k: self.refer(v, f"{where}.{k}") for k, v in state.items()}]
        raise _refusal(x, where)

    def _array(self, x: np.ndarray) -> list[Any]:
        """Matrix products round differently in another memory order: it is kept."""
        name, transposed = str(len(self.arrays)), x.ndim > 1 and x.strides[0] < x.strides[-1]
        self.arrays[name] = np.asarray(x.T if transposed else x, order="C")
        return [name, transposed]


def _restored(nodes: list[list[Any]], arrays: Any) -> Any:
    """The object of the last node."""
    built: list[Any] = []

    def get(x: Any) -> Any:
        return built[x[0]] if type(x) is list else x

    for kind, content in nodes:
        if kind == "array":
            array = arrays.get_tensor(content[0])
            built.append(array.T if content[1] else array)
        elif kind in MAKE:
            built.append(MAKE[kind]([get(x) for x in content]))
        else:
            built.append(_instance(CLASSES[kind], {name: get(x) for name, x in content.items()}))
    return built[-1]


def _instance(cls: type, state: dict[str, Any]) -> Any:
    if issubclass(cls, tuple):
        return cls(**state)
    instance = cls.__new__(cls)
    vars(instance).update(state)
    return instance


def _csr(parts: list[Any]) -> sp.csr_array:
    matrix = sp.csr_array(tuple(parts[:3]), shape=tuple(parts[3:]))
    matrix.indices, matrix.indptr = parts[1:3]  # of the type they had
    return matrix


MAKE: dict[str, Callable[[list[Any]], Any]] = {
    "float": lambda parts: float(parts[0]),
    "scalar": lambda parts: np.dtype(parts[0]).type(parts[1]),
    "dtype": lambda parts: np.dtype(parts[0]),
    "names": lambda parts: np.array(parts, dtype=object),
    "csr": _csr,
    "list": list,
    "tuple": tuple,
    "dict": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
}


def _plain(dtype: np.dtype) -> bool:
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def _start(file: BinaryIO) -> bytes:
    """The length and the header of a safetensors file, as far as it goes."""
    length = file.read(8)
    return length + file.read(min(int.from_bytes(length, "little"), LONGEST_HEADER))


def _digest(path: str | os.PathLike[str]) -> tuple[bytes, int]:
    """SHA-256 of all of a file but the digits of its checksum, and where these begin."""
    with open(path, "rb") as file:
        start = _start(file)
        place = start.index(CHECKSUM) + len(CHECKSUM)
        sha = hashlib.sha256(start[:place] + start[place + DIGITS :])
        while chunk := file.read(2**20):
            sha.update(chunk)
    return sha.hexdigest().encode(), place


def _refusal(x: Any, where: str) -> TypeError:
    """Why something cannot be saved, and what can be done instead."""
    kind = type(x)
    what, cure = f"a {kind.__module__}.{kind.__qualname__}", "Use one of eigenmaps' own classes"
    if hasattr(x, "dtype"):
        what, cure = f"{what} of {x.dtype}", "Use real numbers, or text"
    elif hasattr(x, "__qualname__"):
        what, cure = f"the {kind.__name__} {x.__qualname__}", "Use a metric or kernel by its name"
    elif hasattr(x, "predict"):
        regressors = [name for name, cls in CLASSES.items() if issubclass(cls, RegressorMixin)]
        cure = f"Of regressors, use {', '.join(regressors)}"
    return TypeError(
        f"{where} is {what}, which cannot be saved: a model file holds data, never code. {cure}; "
        "or joblib.dump the model, for those who trust you: loading that runs code."
    )
