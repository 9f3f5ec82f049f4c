"""Clips that scripts can use: those shipped, and those of other folders."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sederunt.errors import InvalidConfig
from sederunt.practice import clips


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with one clip of ours under another id; no process-wide trace is left."""
    row = clips.catalogue()["concord"]
    shutil.copy(row.path, tmp_path / "mine.wav")
    (tmp_path / clips.LIST).write_text(json.dumps([{"id": "mine", "file": "mine.wav", "text": row.text, "lang": "en"}]))
    yield tmp_path
    clips.withdraw(tmp_path)


def test_clips_of_another_folder_stand_beside_ours(folder: Path) -> None:
    clips.offer(folder)
    assert clips.catalogue()["mine"].text == clips.catalogue()["concord"].text
    assert [f.digest for f in clips.load("mine").frames] == [f.digest for f in clips.load("concord").frames]


def test_a_clip_of_the_same_id_goes_before_ours(folder: Path) -> None:
    (folder / clips.LIST).write_text(json.dumps([{"id": "jfk", "file": "mine.wav", "text": None}]))
    clips.offer(folder)
    assert clips.load("jfk").duration_s == clips.load("concord").duration_s
    assert clips.catalogue()["jfk"].text == ""


@pytest.mark.parametrize(
    ("listed", "named"),
    [
        ("not JSON", clips.LIST),
        (json.dumps([{"id": "mine", "text": "words"}]), "file"),
        (json.dumps([{"id": "mine", "file": "gone.wav", "text": "words"}]), "gone.wav"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused_with_what_was_expected(folder: Path, listed: str, named: str) -> None:
    (folder / clips.LIST).write_text(listed)
    with pytest.raises(InvalidConfig, match=named) as refused:
        clips.offer(folder)
    assert list(refused.value.fields) == ["speech"]


def test_a_folder_without_a_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="should be a list"):
        clips.offer(tmp_path)
