"""Where a model's name leads, with directories that look like models."""

from pathlib import Path

import pytest

from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files, packages, resolution


def make_model(directory: Path, weights: bytes = b"weights") -> Path:
    directory.mkdir(parents=True)
    (directory / "model.bin").write_bytes(weights)
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (directory / name).write_text("{}")
    return directory


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_WHOLE", {})
    monkeypatch.setattr(packages, "_PARTS", {})


def test_a_path_in_the_settings_wins(tmp_path: Path) -> None:
    own = make_model(tmp_path / "own")
    make_model(tmp_path / "models" / "base")
    found = resolution.resolve(WhisperSettings(path=own), tmp_path)
    assert (found.directory, found.origin) == (own, "path")


def test_a_path_that_is_no_model_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"")
    with pytest.raises(SetupError, match=r"lacks config\.json, tokenizer\.json, vocabulary\.txt"):
        resolution.resolve(WhisperSettings(path=tmp_path), tmp_path)


def test_the_cache_comes_before_packages(tmp_path: Path) -> None:
    kept = make_model(tmp_path / "models" / "tiny.en")
    found = resolution.resolve(WhisperSettings(), tmp_path, "tiny.en")
    assert (found.directory, found.origin) == (kept, "cache")


def test_auto_is_base_where_there_is_one_else_tiny_en(tmp_path: Path, nothing_installed: None) -> None:
    make_model(tmp_path / "models" / "tiny.en")
    assert resolution.resolve(WhisperSettings(), tmp_path).name == "tiny.en"
    make_model(tmp_path / "models" / "base")
    assert resolution.resolve(WhisperSettings(), tmp_path).name == "base"


def test_a_hub_id_has_a_directory_of_its_own(tmp_path: Path, nothing_installed: None) -> None:
    make_model(tmp_path / "models" / "someone--my-whisper")
    assert resolution.resolve(WhisperSettings(model="someone/my-whisper"), tmp_path).name == "someone/my-whisper"
    assert [found.name for found in resolution.present(WhisperSettings(), tmp_path)] == ["someone/my-whisper"]


def test_a_missing_model_names_every_remedy(tmp_path: Path, nothing_installed: None) -> None:
    assert not resolution.is_present(WhisperSettings(model="base"), tmp_path)
    with pytest.raises(SetupError) as caught:
        resolution.resolve(WhisperSettings(model="base"), tmp_path)
    for remedy in ("sederunt models pull base", "pip install sederunt[models]", "SEDERUNT_WHISPER__PATH"):
        assert remedy in str(caught.value)


def test_offline_is_named_where_it_stands_in_the_way() -> None:
    assert "SEDERUNT_WHISPER__OFFLINE" in resolution.remedies("small", offline=True)
    assert "SEDERUNT_WHISPER__OFFLINE" not in resolution.remedies("small", offline=False)


def test_a_name_that_nobody_knows_lists_those_we_do() -> None:
    told = resolution.remedies("basee", offline=False)
    assert "large-v3" in told
    assert ": choose another, or set SEDERUNT_WHISPER__PATH" in told


def test_changed_weights_are_a_fault(tmp_path: Path) -> None:
    directory = make_model(tmp_path / "models" / "small")
    sums = {"model.bin": files.sha256(directory / "model.bin")}
    files.write_manifest(directory, files.Manifest("a/b", "main", sums))
    found = resolution.resolve(WhisperSettings(), tmp_path, "small")
    assert files.faults(directory, found.expected_sums()) == []
    (directory / "model.bin").write_bytes(b"others")
    assert files.faults(directory, found.expected_sums()) == ["model.bin is not what it was (SHA-256 differs)"]


def test_pieces_that_are_not_the_known_ones_are_refused_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (1, 2):
        data = tmp_path / f"pieces{n}" / "data"
        data.mkdir(parents=True)
        (data / f"model.bin.part{n}").write_bytes(b"not it")
        (data.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(packages, "_PARTS", {"base": ("pieces1", "pieces2")})
    with pytest.raises(SetupError, match="are not the ones we know"):
        packages.find("base", tmp_path / "models")
    assert not (tmp_path / "models").exists()
