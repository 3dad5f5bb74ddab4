"""The model file: data, never code.

One safetensors file: the arrays, and a JSON header. What JSON has no plain value for is a *node*,
``[kind, content]``, written once, and ``[number]`` where it is referred to, so that what was shared
stays shared. A node comes after those it refers to; the last is the estimator with all it has.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.validation import check_is_fitted

from . import estimators, extensions, kernels
from .assignment import Centres, Discretization, PivotedQR
from .clustering import SpectralClustering
from .coding import Dictionary
from .eigen import Solve
from .eigenmap import Eigenmap
from .embedder import SpectralEmbedder
from .extensions.rewiring import Rewired
from .inverse import Inverse
from .neighbors import Neighbors
from .normalization import Centring, Degrees
from .scaling import Scaling

FORMAT = 1
KEY = "eigenmaps"  # of the header, in the file's metadata
CHECKSUM = b'{\\"checksum\\":\\"'  # what stands before the checksum's digits in the file
DIGITS = 64
PLAIN = {np.dtype(code).name for code in "?bhiqBHIQefd"}  # numbers

#: All there is that a file may hold objects of. Names in a file are looked up here, nowhere else.
CLASSES: dict[str, type] = {
    prefix + name: cls
    for prefix, room in (("", estimators), ("kernels.", kernels), ("extensions.", extensions))
    for name in room.__all__
    if isinstance(cls := getattr(room, name), type)
} | {
    cls.__name__: cls
    for cls in (
        *(Eigenmap, SpectralClustering, Solve, Scaling, Centring, Degrees, Neighbors, Inverse),
        *(Dictionary, Rewired),
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
    """
    from . import __version__

    check_is_fitted(estimator)
    nodes, arrays = _flattened(estimator)
    header = {"checksum": "0" * DIGITS, "format": FORMAT, "library": __version__, "nodes": nodes}
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    path = Path(path).resolve()
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    new.touch(exist_ok=False)
    mode = new.stat().st_mode
    try:
        save_file(arrays, new, {KEY: text})
        new.chmod(mode)  # safetensors makes files that no one else may read
        _, digest, place = _examined(new)
        with open(new, "r+b", buffering=0) as file:
            file.seek(place)
            file.write(digest)
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> SpectralEmbedder:
    """Read a model written by an estimator's ``save``. It transforms as before, to the bit.

    The file is data: nothing in it is run or imported, whoever wrote it.

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
    start, digest, place = _examined(path)
    if start[place : place + DIGITS] != digest:
        raise ValueError(
            f"{path} is damaged: it is cut short, or its contents changed since it was saved. "
            "Copy it again from where it came, or save the model again."
        )
    header = json.loads(json.loads(start[8:])["__metadata__"][KEY])
    version = header["library"]
    if header["format"] > FORMAT:
        raise ValueError(
            f"{path} has the newer format {header['format']} of eigenmaps {version}; version "
            f"{__version__} reads formats up to {FORMAT}. Upgrade eigenmaps."
        )
    try:
        with safe_open(path, framework="numpy") as arrays:
            return _restored(header["nodes"], arrays)
    except (LookupError, TypeError, ValueError, AttributeError, SafetensorError) as error:
        raise ValueError(
            f"{path} was written by eigenmaps {version} and holds what version {__version__} "
            f"does not know ({error}). Upgrade eigenmaps, or fit and save the model again."
        ) from error


def _flattened(root: Any) -> tuple[list[list[Any]], dict[str, np.ndarray]]:
    """The nodes of all that an object is made of, and the arrays among it."""
    nodes: list[list[Any]] = []
    arrays: dict[str, np.ndarray] = {}
    seen: dict[int, tuple[int, Any]] = {}  # the object too: an id is unique only while it lives

    def refer(x: Any, where: str) -> Any:
        if x is None or isinstance(x, np.random.RandomState):
            return None  # a generator is of use to another fit only
        if type(x) in (bool, int, str) or (type(x) is float and np.isfinite(x)):
            return x
        if id(x) not in seen:
            nodes.append(node(x, where))
            seen[id(x)] = len(nodes) - 1, x
        return [seen[id(x)][0]]

    def node(x: Any, where: str) -> list[Any]:
        kind = type(x)
        if kind is float:
            return ["float", [repr(x)]]
        if kind is np.str_ or (isinstance(x, np.generic) and x.dtype.name in PLAIN):
            return ["scalar", [x.dtype.str, refer(x.item(), where)]]
        if isinstance(x, np.dtype) and x.name in PLAIN:
            return ["dtype", [x.str]]
        if kind is np.ndarray and x.dtype.name in PLAIN:
            # In another memory order matrix products round differently.
            name, transposed = str(len(arrays)), x.ndim > 1 and x.strides[0] < x.strides[-1]
            arrays[name] = np.asarray(x.T if transposed else x, order="C")
            return ["array", [name, transposed]]
        if kind is np.ndarray and x.ndim == 1 and all(type(s) is str for s in x):
            return ["names", x.tolist()]
        if kind is sp.csr_array:
            parts = (x.data, x.indices, x.indptr, *map(int, x.shape))
            return ["csr", [refer(part, where) for part in parts]]
        if kind in (list, tuple):
            return [kind.__name__, [refer(v, f"{where}[{i}]") for i, v in enumerate(x)]]
        if kind is dict:
            items = [(refer(k, where), refer(v, f"{where}[{k!r}]")) for k, v in x.items()]
            return ["dict", [part for item in items for part in item]]
        if kind in NAMES:
            state = x._asdict() if issubclass(kind, tuple) else x.__getstate__() or {}
            return [NAMES[kind], {k: refer(v, f"{where}.{k}") for k, v in state.items()}]
        which = getattr(x, "__qualname__", getattr(x, "dtype", f"from {kind.__module__}"))
        raise TypeError(
            f"{where} ({kind.__name__} {which}) cannot be saved: a model file holds data, never "
            "code. Use a metric, kernel or affinity that has a name, a class of eigenmaps itself "
            "(RBFNetwork is one), LinearRegression, Ridge or KernelRidge; or joblib.dump the "
            "model, if those who load it trust you: that runs code."
        )

    refer(root, type(root).__name__)
    return nodes, arrays


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
            cls, state = CLASSES[kind], {name: get(x) for name, x in content.items()}
            built.append(cls(**state) if issubclass(cls, tuple) else cls.__new__(cls))
            if not issubclass(cls, tuple):
                vars(built[-1]).update(state)
    return built[-1]


def _csr(parts: list[Any]) -> sp.csr_array:
    matrix = sp.csr_array(tuple(parts[:3]), shape=tuple(parts[3:]))
    matrix.check_format()  # in full: SciPy's products trust the indices
    return matrix


MAKE: dict[str, Any] = {
    "float": lambda parts: float(parts[0]),
    "scalar": lambda parts: np.dtype(parts[0]).type(parts[1]),
    "dtype": lambda parts: np.dtype(parts[0]),
    "names": lambda parts: np.array(parts, dtype=object),
    "csr": _csr,
    "list": list,
    "tuple": tuple,
    "dict": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
}


def _examined(path: str | os.PathLike[str]) -> tuple[bytes, bytes, int]:
    """The start of a model file, SHA-256 of all but its checksum's digits, and their place."""
    with open(path, "rb") as file:
        length = file.read(8)
        size = min(int.from_bytes(length, "little"), os.path.getsize(path))
        start = length + file.read(size)
        if CHECKSUM not in start:
            raise ValueError(f"{path} is not an eigenmaps model; give a file that save wrote.")
        place = start.index(CHECKSUM) + len(CHECKSUM)
        sha = hashlib.sha256(start[:place] + start[place + DIGITS :])
        hashlib.file_digest(file, lambda: sha)  # the rest
    return start, sha.hexdigest().encode(), place
