"""Reads the tensors of a PyTorch checkpoint with numpy alone.

A checkpoint is a zip file: a pickle that describes the tensors, and one member of raw bytes per storage. Pickles can
run code, so this unpickler maps the expected names to harmless functions and refuses every other name.
"""

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sederunt.errors import SetupError

Tensors = Mapping[str, NDArray[np.float32]]

# Storage class → layout of its bytes.
_KINDS = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


def read_tensors(path: Path, *, within: str = "") -> Tensors:
    """Read all floating-point tensors of a checkpoint by name; `within` is the entry that holds them.

    Raises SetupError if the file is not such a checkpoint, or builds anything but tensors.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            pickle_name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            folder = pickle_name.removesuffix("data.pkl")
            content = _Unpickler(archive.read(pickle_name), lambda key: archive.read(f"{folder}data/{key}")).load()
        entry = content[within] if within else content
        return {name: value for name, value in entry.items() if getattr(value, "dtype", None) == np.float32}
    except (zipfile.BadZipFile, StopIteration, pickle.UnpicklingError, KeyError, ValueError, AttributeError) as fault:
        raise SetupError(
            f"{path.name} is not a PyTorch checkpoint of tensors ({fault}): reinstall the package it came with."
        ) from fault


class _Unpickler(pickle.Unpickler):
    """Builds dictionaries and arrays, nothing else."""

    def __init__(self, pickle_bytes: bytes, storage: Callable[[str], bytes]) -> None:
        super().__init__(io.BytesIO(pickle_bytes))
        self._storage = storage

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in _KINDS:
            return _KINDS[name]
        allowed: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
        }
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return allowed[module, name]

    def persistent_load(self, pid: Any) -> Any:
        _, kind, key, _, _ = pid
        return np.frombuffer(self._storage(key), kind)


def _tensor(storage: NDArray[Any], offset: int, shape: Sequence[int], strides: Sequence[int], *_: Any) -> NDArray[Any]:
    """Return a copy of part of a storage; offset and strides count elements."""
    if not shape:
        return storage[offset : offset + 1].reshape(()).copy()
    last_element = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    if min(offset, *strides) < 0 or last_element >= len(storage):
        raise pickle.UnpicklingError("a tensor lies outside its storage")
    steps = [step * storage.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(shape), steps).copy()
