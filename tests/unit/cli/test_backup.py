"""A backup holds all that is there when it ends, or says what it could not read; a broken one blocks no later one."""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sederunt.cli import backup as module
from sederunt.cli.backup import DRAFT, backup
from sederunt.errors import SetupError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with six bots, each with a recording and a folder."""
    data = tmp_path / "data"
    for bot in range(6):
        folder = data / "objects" / "bots" / f"bot{bot}"
        (folder / "tracks").mkdir(parents=True)
        (folder / "recording.webm").write_bytes(b"x")
    sqlite3.connect(data / "sederunt.db").close()
    return data


def _recordings(copy: Path) -> int:
    return len(list((copy / "objects").glob("bots/*/recording.webm")))


def test_folders_that_are_deleted_meanwhile_are_left_out(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Path.rglob` of Python 3.11 raises for a folder that is gone when its turn comes."""
    copy2, copied = shutil.copy2, list[Path]()

    def copy_and_delete(source: Path, goal: Path) -> object:
        copied.append(source)
        if len(copied) == 2:  # retention removes two bots while this file is copied
            others = [path for path in (data / "objects" / "bots").iterdir() if path / source.name not in copied]
            for folder in others[:2]:
                shutil.rmtree(folder)
        return copy2(source, goal)

    monkeypatch.setattr(shutil, "copy2", copy_and_delete)
    backup(tmp_path / "copy", data, with_key=False)
    assert _recordings(tmp_path / "copy") == 4
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["objects", "sederunt.db"]


def test_a_folder_that_cannot_be_read_ends_the_backup_and_blocks_no_later_one(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, scandir = data / "objects" / "bots" / "bot3", os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:  # no mode keeps root out, which tests may run as
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    target = tmp_path / "copy"
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        with pytest.raises(PermissionError):
            backup(target, data, with_key=False)
    assert [path.name for path in target.iterdir()] == [DRAFT]
    backup(target, data, with_key=False)
    assert _recordings(target) == 6
    assert not (target / DRAFT).exists()
    with pytest.raises(SetupError, match="is there already"):
        backup(target, data, with_key=False)


def test_a_second_backup_to_the_same_place_is_refused_while_the_first_runs(data: Path, tmp_path: Path) -> None:
    with module._draft_in(tmp_path / "copy") as draft:
        (draft / "sederunt.db").touch()
        with pytest.raises(SetupError, match="under way"):
            backup(tmp_path / "copy", data, with_key=False)
    assert (tmp_path / "copy" / "sederunt.db").exists()


@pytest.mark.parametrize("name", ["a%20b", "a#b", "a?b"])
def test_the_database_of_a_directory_with_signs_in_its_name_is_copied(name: str, tmp_path: Path) -> None:
    """SQLite reads the place as an address: it made an empty file beside the directory, and copied that."""
    data = tmp_path / name
    (data / "objects").mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(data / "sederunt.db")) as source, source:
        source.execute("CREATE TABLE kept AS SELECT 7 AS it")
    backup(tmp_path / "copy", data, with_key=False)
    with contextlib.closing(sqlite3.connect(tmp_path / "copy" / "sederunt.db")) as copy:
        assert copy.execute("SELECT it FROM kept").fetchall() == [(7,)]
    assert {path.name for path in tmp_path.iterdir()} == {name, "copy"}


def test_a_database_that_lies_elsewhere_is_copied_from_there(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = (data / "sederunt.db").rename(tmp_path / "else where.db")
    monkeypatch.setenv("SEDERUNT_DATABASE__URL", f"sqlite:///{str(elsewhere).replace(' ', '%20')}")
    backup(tmp_path / "copy", data, with_key=False)
    assert (tmp_path / "copy" / "sederunt.db").is_file()
    monkeypatch.setenv("SEDERUNT_DATABASE__URL", "postgresql://u:p@h/d")
    with pytest.raises(SetupError, match="back it up by pg_dump"):
        backup(tmp_path / "other", data, with_key=False)
