"""Reading checkpoints: tensors as they were written, and nothing that could run."""

import io
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sederunt.errors import SetupError
from sederunt.transcription.diarization.checkpoint import read_tensors


class Storage:
    """What a checkpoint refers to by its key."""

    def __init__(self, key: str, values: NDArray[np.float32]) -> None:
        self.key, self.values = key, values


class Tensor:
    """Pickled as PyTorch pickles a tensor: storage, offset, shape, strides in elements."""

    def __init__(self, storage: Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.parts: tuple[Any, ...] = (storage, offset, shape, strides, False, {})

    def __reduce__(self) -> Any:
        return sys.modules["torch._utils"]._rebuild_tensor_v2, self.parts


@pytest.fixture
def torch_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that the pickler has to find; nothing behind them is ever called."""
    utils, torch = types.ModuleType("torch._utils"), types.ModuleType("torch")

    def _rebuild_tensor_v2(*_: Any) -> None:
        raise AssertionError("reading went to PyTorch")

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2  # type: ignore[attr-defined]
    torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch", "__qualname__": "FloatStorage"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)


def written(path: Path, content: Any) -> Path:
    """A file as PyTorch saves it."""
    storages: dict[str, bytes] = {}

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing: Any) -> Any:
            if not isinstance(thing, Storage):
                return None
            storages[thing.key] = thing.values.tobytes()
            return ("storage", sys.modules["torch"].FloatStorage, thing.key, "cpu", len(thing.values))

    described = io.BytesIO()
    Pickler(described, protocol=2).dump(content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", described.getvalue())
        for key, data in storages.items():
            archive.writestr(f"archive/data/{key}", data)
    return path


@pytest.mark.usefixtures("torch_names")
def test_tensors_come_with_their_shapes_and_strides(tmp_path: Path) -> None:
    storage = Storage("0", np.arange(12, dtype=np.float32))
    content = {
        "state": OrderedDict(
            plain=Tensor(storage, 0, (3, 4), (4, 1)),
            turned=Tensor(storage, 0, (4, 3), (1, 4)),
            part=Tensor(storage, 5, (2,), (1,)),
            single=Tensor(storage, 7, (), ()),
        ),
        "step": 3,
    }
    tensors = read_tensors(written(tmp_path / "weights.pt", content), within="state")
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(tensors["plain"], whole)
    assert np.array_equal(tensors["turned"], whole.T)
    assert tensors["part"].tolist() == [5, 6]
    assert float(tensors["single"]) == 7


@pytest.mark.usefixtures("torch_names")
def test_a_tensor_outside_of_its_storage_is_refused(tmp_path: Path) -> None:
    content = {"long": Tensor(Storage("0", np.zeros(4, np.float32)), 0, (4, 2), (1, 1))}
    with pytest.raises(SetupError, match="outside its storage"):
        read_tensors(written(tmp_path / "weights.pt", content))


def test_a_checkpoint_that_would_run_something_is_refused(tmp_path: Path) -> None:
    class Command:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    with pytest.raises(SetupError, match="it asks for"):
        read_tensors(written(tmp_path / "weights.pt", {"a": Command()}))
    assert not (tmp_path / "ran").exists()


def test_any_other_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(b"\x80\x02}q\x00.")
    with pytest.raises(SetupError, match=r"weights\.pt is not a PyTorch checkpoint"):
        read_tensors(tmp_path / "weights.pt")
