"""One file, whole or channel by channel. The provider reads nothing, and its channels are in a table."""

import threading
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from obstore.store import MemoryStore

from sederunt.accounting import Ledger
from sederunt.errors import ProviderError
from sederunt.media.channels import CallChannel
from sederunt.media.facts import MediaFacts
from sederunt.media.pcm import RATE, Block
from sederunt.media.readers import Readers
from sederunt.model.recording import Recording, RecordingConfig
from sederunt.model.status import RecordingStatus
from sederunt.model.transcript import ENDS_EARLY, NO_WORD_AT_ALL, Doubt, Transcript, Utterance
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.models import find
from sederunt.transcription.provider import FinishedPart, Result, Task
from sederunt.transcripts import recording_transcript
from sederunt.transcripts.recording_transcript import RecordingTranscriptRequest, transcribe_recording

ID = UUID(int=9)
CALL = tuple(CallChannel(number=number, levels_db=(-20.0, -30.0)) for number in (0, 1))
# CallChannel → when it speaks, and what.
SAID: dict[str, list[tuple[float, float, str]]] = {
    "channel-0": [(1, 2, "Good morning."), (6, 9, "It is on its way.")],
    "channel-1": [(2.5, 5, "Where is my parcel?"), (8, 10, "At last.")],
    "whole": [(1, 2, "Good morning."), (2.5, 5, "Where is my parcel?")],
}


class Clerk:
    """Writes what the table says; fails once in one channel, if told to."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.failing = ""
        self.sure: dict[str, str] = {"channel-1": "en"}

    def language(self, _settings: Settings, task: Task) -> str | None:
        return self.sure.get(name_of(task))

    def transcribe(self, _settings: Settings, task: Task) -> Result:
        name = name_of(task)
        if name == self.failing:
            raise ProviderError("Struck by lightning.", retryable=True)
        self.tasks.append(task)
        if task.on_part and not task.resume:
            task.on_part(FinishedPart(start=0, end=10))
        said = tuple(
            Utterance(start=start, end=end, speaker=0, confidence=0.9, transcript=text, words=())
            for start, end, text in SAID[name]
        )
        doubts = (Doubt(start=5.0 if name == "channel-0" else 1.0, end=6.0, why="loud"),)
        return Result(utterances=said, detected_lang="en", diarized=task.several_voices, doubts=doubts)


def name_of(task: Task) -> str:
    return "whole" if task.channel is None else task.channel.name


@pytest.fixture
def clerk(monkeypatch: pytest.MonkeyPatch) -> Clerk:
    made = Clerk()
    monkeypatch.setattr(recording_transcript, "provider", lambda _name: made)
    return made


@pytest.fixture
async def objects() -> Objects:
    made = Objects(MemoryStore())
    await made.put("recordings/9/file", b"sound")
    return made


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the file be a call of two channels."""
    facts = MediaFacts(container="wav", duration_s=10.0, has_audio=True, has_video=False, codec="pcm", channels=2)
    monkeypatch.setattr(recording_transcript, "probe_sandboxed", lambda *_, **__: facts)
    monkeypatch.setattr(recording_transcript, "separate_channels_sandboxed", lambda *_, **__: CALL)


async def transcribe(objects: Objects, scratch: Path, model: str = "vendor1") -> Transcript:
    row = find(model)
    assert row is not None
    recording = Recording(
        id=ID,
        account_id=UUID(int=1),
        config=RecordingConfig(transcription_model=model),
        status=RecordingStatus.TRANSCRIBING,
        created_at=datetime.now(UTC),
        recording_object="recordings/9/file",
    )
    request = RecordingTranscriptRequest(recording=recording, model=row, access=None, readers=Readers(Ledger()))

    async def nobody_listens(_done_s: float, _of_s: float) -> None: ...

    return await transcribe_recording(
        request,
        settings=Settings(),
        objects=objects,
        scratch=scratch,
        cancelled=threading.Event(),
        on_progress=nobody_listens,
    )


@pytest.mark.usefixtures("call")
async def test_each_channel_of_a_call_is_one_voice(clerk: Clerk, objects: Objects, tmp_path: Path) -> None:
    found = await transcribe(objects, tmp_path)
    assert [(segment.speaker, segment.transcript) for segment in found.segments] == [
        (0, "Good morning."),
        (1, "Where is my parcel?"),
        (0, "It is on its way."),
        (1, "At last."),
    ]
    assert not any(task.several_voices for task in clerk.tasks)
    assert [task.likely_lang for task in clerk.tasks] == ["en", "en"]  # one channel was sure
    assert [doubt.start for doubt in found.doubts] == [1.0, 5.0]


@pytest.mark.usefixtures("call")
async def test_a_channel_that_was_finished_is_not_read_again(clerk: Clerk, objects: Objects, tmp_path: Path) -> None:
    clerk.failing = "channel-1"
    with pytest.raises(ProviderError):
        await transcribe(objects, tmp_path)
    clerk.failing, clerk.tasks = "", []
    await transcribe(objects, tmp_path)
    assert {name_of(task): bool(task.resume) for task in clerk.tasks} == {"channel-0": True, "channel-1": False}


@pytest.mark.usefixtures("call")
async def test_a_vendor_is_given_the_file_as_it_is(clerk: Clerk, objects: Objects, tmp_path: Path) -> None:
    await transcribe(objects, tmp_path, "vendor2")
    (task,) = clerk.tasks
    assert task.channel is None
    assert task.several_voices


@pytest.mark.usefixtures("call")
async def test_other_stereo_is_read_as_one(
    clerk: Clerk, objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_transcript, "separate_channels_sandboxed", lambda *_, **__: ())
    await transcribe(objects, tmp_path)
    (task,) = clerk.tasks
    assert task.channel is None
    assert task.several_voices


@pytest.mark.usefixtures("call")
@pytest.mark.parametrize("amplitude", [0.1, 0.001])
async def test_an_empty_transcript_of_loud_sound_is_a_doubt(
    clerk: Clerk, objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, amplitude: float
) -> None:
    sound = np.zeros((10, RATE), np.float32)
    sound[3:6] = amplitude
    blocks = [Block(start_s=float(second), samples=samples) for second, samples in enumerate(sound)]
    monkeypatch.setattr(clerk, "transcribe", lambda *_: Result(utterances=(), detected_lang=None))
    monkeypatch.setattr(recording_transcript, "read_pcm_sandboxed", lambda *_, **__: iter(blocks))
    found = await transcribe(objects, tmp_path)
    is_loud = amplitude > 0.01
    assert found.doubts == ((Doubt(start=3.0, end=6.0, why=NO_WORD_AT_ALL),) if is_loud else ())


async def test_that_a_file_ends_early_is_a_doubt(
    clerk: Clerk, objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = MediaFacts(
        container="wav",
        duration_s=10.0,
        has_audio=True,
        has_video=False,
        codec="pcm",
        channels=1,
        ends_early=True,
        stated_s=25.0,
    )
    monkeypatch.setattr(recording_transcript, "probe_sandboxed", lambda *_, **__: facts)
    found = await transcribe(objects, tmp_path)
    assert found.segments
    assert found.doubts[-1] == Doubt(start=10.0, end=25.0, why=ENDS_EARLY)
