"""Models from packages and folders: known by their content, whoever carries them."""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import ValidationError

from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files, hub, packages, resolution, sources
from sederunt.transcription.whisper.catalog import PINNED, Pinned

CONTENT = {"model.bin": b"weights " * 50, "config.json": b"{}", "tokenizer.json": b"[1]", "vocabulary.txt": b"a\nb\nc"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of four small files, which no package brings."""
    known: Mapping[str, Any] = {
        file: Pinned(len(data), hashlib.sha256(data).hexdigest()) for file, data in CONTENT.items()
    }
    pinned = MappingProxyType({"base": known})
    for module in (sources, resolution, packages):
        monkeypatch.setattr(module, "PINNED", pinned)
    monkeypatch.setattr(packages, "_WHOLE", {})
    monkeypatch.setattr(packages, "_PARTS", {})


def write(folder: Path, **contents: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return folder


def settings(*named: object) -> WhisperSettings:
    return WhisperSettings(model="base", sources=tuple(str(source) for source in named))


def test_a_folder_that_has_all_of_a_model_is_used_where_it_lies(tmp_path: Path) -> None:
    mirror = write(tmp_path / "mirror" / "base", **CONTENT).parent
    chosen = settings("packages", mirror)
    assert resolution.is_present(chosen, tmp_path)
    found = resolution.resolve(chosen, tmp_path)
    assert (found.directory, found.origin, found.faults()) == (mirror / "base", "folder", [])
    assert [(each.name, each.origin) for each in resolution.present(chosen, tmp_path)] == [("base", "folder")]
    write(mirror / "base", **{"tokenizer.json": b"[2]"})
    assert found.faults() == ["tokenizer.json is not what it was (SHA-256 differs)"]


def test_files_are_put_together_from_wherever_they_are_under_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of it in a package of another name, the weights in two pieces, one of them in a folder."""
    weights = CONTENT["model.bin"]
    package = write(tmp_path / "site" / "some_weights", **{"__init__.py": b"", "w.bin.part1": weights[:100]})
    write(package / "deep", **{"c.json": CONTENT["config.json"], "t": b"[9]", "tok": CONTENT["tokenizer.json"]})
    mirror = write(tmp_path / "mirror", **{"w.bin.part2": weights[100:], "words": CONTENT["vocabulary.txt"]})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    chosen = settings("package:some_weights", mirror)
    assert resolution.is_present(chosen, tmp_path)
    found = resolution.resolve(chosen, tmp_path)
    assert {path.name: path.read_bytes() for path in found.directory.iterdir()} == CONTENT
    assert found.faults() == []
    assert [path.name for path in (tmp_path / "models").iterdir()] == [found.directory.name], "no draft is left"
    assert "some_weights" not in sys.modules
    (mirror / "words").unlink()
    assert resolution.resolve(chosen, tmp_path).directory == found.directory, "what was put together stays"


def test_what_is_not_it_is_not_taken(tmp_path: Path) -> None:
    mirror = write(tmp_path / "mirror", **{**CONTENT, "model.bin": b"Weights " * 50})
    chosen = settings(mirror, tmp_path / "nowhere", "package:not_installed_anywhere")
    with pytest.raises(SetupError, match="not on this machine"):
        resolution.resolve(chosen, tmp_path)
    assert not list((tmp_path / "models").iterdir())
    write(mirror, **{"model.bin": b"shorter"})
    assert not resolution.is_present(chosen, tmp_path)


def test_sources_come_in_their_order_and_the_hub_only_where_it_is_named(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name / "base", **CONTENT).parent for name in ("first", "second"))
    assert resolution.resolve(settings(second, first), tmp_path).directory == second / "base"
    with pytest.raises(SetupError, match="SEDERUNT_WHISPER__SOURCES"):
        hub.look(settings("packages"), "base")
    with pytest.raises(ValidationError):
        settings("ftp://mirror")


WRONG = {**CONTENT, "model.bin": b"Weights " * 50}


@pytest.fixture
def wrong_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that bring weights in pieces, which are not the known ones."""
    for n in (1, 2):
        package = write(tmp_path / "site" / f"wrong_pieces{n}", **{"__init__.py": b""})
        write(package / "data", **{f"model.bin.part{n}": b"not it"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(packages, "_PARTS", {"base": ("wrong_pieces1", "wrong_pieces2")})


def test_a_right_copy_is_found_behind_a_wrong_one(tmp_path: Path) -> None:
    wrong, right = (
        write(tmp_path / name / "base", **files).parent for name, files in (("one", WRONG), ("two", CONTENT))
    )
    assert resolution.resolve(settings(wrong, right), tmp_path).directory == right / "base"
    write(wrong / "base", **CONTENT)
    os.utime(wrong / "base" / "model.bin", ns=(1, 1))
    assert resolution.resolve(settings(wrong, right), tmp_path).directory == wrong / "base", "it was put right"


@pytest.mark.usefixtures("wrong_pieces")
def test_a_folder_is_found_behind_packages_with_wrong_pieces(tmp_path: Path) -> None:
    right = write(tmp_path / "right" / "base", **CONTENT).parent
    assert resolution.resolve(settings("packages", right), tmp_path).directory == right / "base"
    in_disorder = write(tmp_path / "disorder", **CONTENT)
    gathered = resolution.resolve(settings("packages", in_disorder), tmp_path)
    assert gathered.directory == sources.gathered("base", tmp_path / "models")


@pytest.mark.usefixtures("wrong_pieces")
def test_auto_goes_on_with_the_next_model_behind_wrong_copies(tmp_path: Path) -> None:
    write(tmp_path / "models" / "tiny.en", **CONTENT)
    wrong = write(tmp_path / "wrong" / "base", **WRONG).parent
    chosen = WhisperSettings(sources=("packages", str(wrong)))
    assert resolution.resolve(chosen, tmp_path).name == "tiny.en"


@pytest.mark.usefixtures("wrong_pieces")
def test_where_all_copies_are_wrong_each_is_told_of(tmp_path: Path) -> None:
    wrong = write(tmp_path / "wrong" / "base", **WRONG).parent
    chosen = settings("packages", wrong)
    with pytest.raises(SetupError) as caught:
        resolution.resolve(chosen, tmp_path)
    assert "pieces of Whisper 'base' are not the ones we know" in str(caught.value)
    assert f"in {wrong / 'base'} is damaged: model.bin is not what it was" in str(caught.value)
    assert resolution.find(chosen, tmp_path, "base") is None, "the finder of languages does without"
    [listed] = resolution.present(settings(wrong), tmp_path)
    assert listed.faults() == ["model.bin is not what it was (SHA-256 differs)"]


def test_every_file_of_the_known_models_is_pinned() -> None:
    for known in PINNED.values():
        assert {*known} == {files.WEIGHTS, "config.json", "tokenizer.json", "vocabulary.txt"}
