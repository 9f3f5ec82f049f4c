"""What is said of a data directory."""

from pathlib import Path

import pytest

from sederunt.jobs import readiness
from sederunt.jobs.readiness import state_of


def test_a_folder_that_takes_files_is_fine_and_left_as_it_was(tmp_path: Path) -> None:
    assert state_of(tmp_path) == "ok"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert state_of(tmp_path / "gone") == "missing"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system that takes no files, also of root")
def test_a_folder_that_takes_no_files_is_not_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "LEAST_FREE_BYTES", 0)
    assert state_of(Path("/proc")) == "not writable"


def test_a_disk_with_less_room_than_is_needed_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "LEAST_FREE_BYTES", 1 << 62)
    assert state_of(tmp_path) == "full"
