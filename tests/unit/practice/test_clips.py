"""Clips that scripts can use: those shipped, and those of other folders."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
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
        (json.dumps([{"id": "mine", "file": "mine.wav", "text": "words", "start_s": "1"}]), "0.start_s"),
        (json.dumps([{"id": "mine", "file": "mine.wav", "text": "words", "start_s": -1}]), "0.start_s"),
        (json.dumps([{"id": "mine", "file": "mine.wav", "text": "words", "end_s": [2]}]), "0.end_s"),
        (json.dumps([{"id": "mine", "file": "mine.wav", "text": "words", "start_s": 2, "end_s": 2}]), "mine.wav"),
        (json.dumps([{"id": "mine", "file": "mine.wav", "text": "words", "start_s": 900}]), "mine.wav"),
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


@pytest.mark.parametrize(
    ("codec", "layout"),
    [
        ("pcm_s16le", "mono"),
        ("pcm_s16le", "stereo"),
        ("pcm_s24le", "mono"),
        ("pcm_f32le", "mono"),
        ("pcm_f32le", "stereo"),
        ("pcm_u8", "mono"),
    ],
)
def test_a_wav_file_of_any_kind_sounds_and_lasts_as_it_should(folder: Path, codec: str, layout: str) -> None:
    write_sine(folder / "mine.wav", codec, layout)
    clips.offer(folder)
    samples = clips.load("mine").samples
    assert clips.load("mine").duration_s == 1.0
    assert np.argmax(np.abs(np.fft.rfft(samples))) == SINE_HZ  # of one second
    assert np.sqrt(np.mean(samples.astype(np.float64) ** 2)) == pytest.approx(0.5 * 32768 / np.sqrt(2), rel=0.05)


def test_a_part_of_a_stereo_file_is_cut_where_it_was_said(folder: Path) -> None:
    write_sine(folder / "mine.wav", "pcm_s16le", "stereo")
    rows = [{"id": "mine", "file": "mine.wav", "text": "", "start_s": 0.5, "end_s": 0.9}]
    (folder / clips.LIST).write_text(json.dumps(rows))
    clips.offer(folder)
    assert clips.load("mine").duration_s == pytest.approx(0.4)


@pytest.mark.parametrize("content", [b"", b"no sound at all" * 100, b"without a sample"])
def test_a_file_without_sound_is_refused_by_its_name(folder: Path, content: bytes) -> None:
    (folder / "mine.wav").write_bytes(content)
    if content == b"without a sample":
        write_sine(folder / "mine.wav", "pcm_s16le", "mono", seconds=0)
    with pytest.raises(InvalidConfig, match=r"mine\.wav") as refused:
        clips.offer(folder)
    assert list(refused.value.fields) == ["speech"]
    assert "mine" not in clips.catalogue()


SINE_HZ = 440
SINE_RATE = 16_000


def write_sine(path: Path, codec: str, layout: str, seconds: int = 1) -> None:
    """Write a tone at half of full scale, the same in every channel."""
    tone = 0.5 * np.sin(2 * np.pi * SINE_HZ * np.arange(seconds * SINE_RATE) / SINE_RATE)
    channels = 2 if layout == "stereo" else 1
    with av.open(str(path), "w", format="wav") as made:
        stream = made.add_stream(codec, rate=SINE_RATE, layout=layout)
        assert isinstance(stream, av.AudioStream)
        if seconds:
            planes = np.repeat(tone[np.newaxis].astype(np.float32), channels, axis=0)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(planes), format="fltp", layout=layout)
            frame.sample_rate = SINE_RATE
            made.mux(stream.encode(frame))
        made.mux(stream.encode(None))
