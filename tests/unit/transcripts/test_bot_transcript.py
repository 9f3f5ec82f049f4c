"""Which language the tracks of a bot are taken for. The provider is sure of what a table says, and reads nothing."""

import json
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from obstore.store import MemoryStore

from sederunt.errors import ProviderError
from sederunt.media.timeline import Span
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.recording import Recording, RecordingConfig
from sederunt.model.status import BotStatus, RecordingStatus
from sederunt.model.transcript import Transcript
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.models import ModelRow, find
from sederunt.transcription.provider import FinishedPart, Result, Task
from sederunt.transcription.sessions import RealtimeProvider
from sederunt.transcripts import bot_transcript
from sederunt.transcripts.bot_transcript import BotTranscriptRequest, StoredRoster, transcribe_bot

BOT = UUID(int=7)
# Track → seconds heard, in the order of the meeting.
HEARD = {"guest": 1.0, "hum": 900.0, "ada": 300.0, "ben": 200.0}


class Table:
    """Sure of these tracks' languages; notes what it was asked and told."""

    name = "whisper"
    realtime: RealtimeProvider | None = None

    def __init__(self, sure: Mapping[str, str]) -> None:
        self.sure = sure
        self.asked: list[str] = []
        self.told: dict[str, str | None] = {}
        self.several_voices: dict[str, bool] = {}
        self.failing = ""

    def fault(self, _settings: Settings, _model: ModelRow) -> str | None:
        return None

    def language(self, _settings: Settings, task: Task) -> str | None:
        self.asked.append(task.path.stem)
        return self.sure.get(task.path.stem)

    def transcribe(self, _settings: Settings, task: Task) -> Result:
        track = task.path.stem
        self.several_voices[track] = task.several_voices
        if track == self.failing:
            raise ProviderError("Struck by lightning.", retryable=True)
        if not task.resume and task.on_part:
            self.told[track] = task.likely_lang
            task.on_part(FinishedPart(start=0.0, end=HEARD.get(track, 9.0)))
        else:
            assert task.likely_lang == self.told[track], "a finished track was taken for another language"
        return Result(utterances=(), detected_lang=self.sure.get(track))


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    made = Table({"ada": "de", "ben": "sv"})
    monkeypatch.setattr(bot_transcript, "provider", lambda _name: made)
    return made


@pytest.fixture
async def objects() -> Objects:
    made = Objects(MemoryStore())
    sources = [{"source": name, "file": f"{name}.mka", "heard_s": heard_s} for name, heard_s in HEARD.items()]
    await made.put(f"bots/{BOT}/tracks.json", json.dumps({"duration_s": 1000.0, "sources": sources}).encode())
    for name in HEARD:
        await made.put(f"bots/{BOT}/tracks/{name}.mka", b"sound")
    return made


async def transcribe(
    objects: Objects,
    scratch: Path,
    lang: str | None = None,
    spans: Sequence[Span] = (),
    recording: Recording | None = None,
) -> Transcript:
    model = find("vendor1")
    assert model is not None
    config = BotConfig(
        service=Service("gmeet"),
        meeting_url="https://meet.google.com/a",
        bot_name="S",
        transcription_model="vendor1",
        lang=lang,
    )
    bot = Bot(
        id=BOT, account_id=UUID(int=1), config=config, status=BotStatus.TRANSCRIBING, created_at=datetime.now(UTC)
    )
    roster = StoredRoster(participants=(), sources={})
    request = BotTranscriptRequest(bot=bot, model=model, access=None, roster=roster, spans=spans, recording=recording)
    return await transcribe_bot(
        request, settings=Settings(), objects=objects, scratch=scratch, cancelled=threading.Event()
    )


async def test_all_are_told_the_first_sure_language_those_heard_most_asked_first(
    table: Table, objects: Objects, tmp_path: Path
) -> None:
    transcript = await transcribe(objects, tmp_path)
    assert table.asked == ["hum", "ada"]
    assert table.told == dict.fromkeys(HEARD, "de")
    assert transcript.detected_lang == "de"
    assert list(tmp_path.iterdir()) == []


async def test_after_a_crash_the_language_is_the_same(table: Table, objects: Objects, tmp_path: Path) -> None:
    table.failing = "ada"
    with pytest.raises(ProviderError):
        await transcribe(objects, tmp_path)
    table.failing = ""
    await transcribe(objects, tmp_path)
    assert table.told == dict.fromkeys(HEARD, "de")


async def test_a_language_that_was_named_is_not_looked_for(table: Table, objects: Objects, tmp_path: Path) -> None:
    await transcribe(objects, tmp_path, lang="fr-CA")
    assert table.asked == []
    assert table.told == dict.fromkeys(HEARD, None)


async def test_where_nobody_is_sure_each_is_taken_for_what_it_seems(
    table: Table, objects: Objects, tmp_path: Path
) -> None:
    table.sure = {}
    await transcribe(objects, tmp_path)
    assert sorted(table.asked) == sorted(HEARD)
    assert table.told == dict.fromkeys(HEARD, None)


async def test_voices_are_told_apart_where_nothing_else_says_who_speaks(
    table: Table, objects: Objects, tmp_path: Path
) -> None:
    sources = [{"source": name, "file": "ada.mka", "heard_s": 9.0} for name in ("ada", "track-1", "track-2")]
    for source in sources[1:]:
        source["file"] = f"{source['source']}.mka"
        await objects.put(f"bots/{BOT}/tracks/{source['file']}", b"sound")
    await objects.put(f"bots/{BOT}/tracks.json", json.dumps({"duration_s": 90.0, "sources": sources}).encode())
    span = Span(source="7", track="track-2", start=0.0, end=5.0, level=None)
    await transcribe(objects, tmp_path, lang="en", spans=[span])
    assert table.several_voices == {"ada": False, "track-1": True, "track-2": False}


async def test_a_recording_of_a_bot_takes_its_tracks_and_asks_in_its_own_way(
    table: Table, objects: Objects, tmp_path: Path
) -> None:
    config = RecordingConfig(transcription_model="vendor1", lang="de")
    recording = Recording(
        id=UUID(int=9),
        account_id=UUID(int=1),
        config=config,
        status=RecordingStatus.TRANSCRIBING,
        created_at=datetime.now(UTC),
        source_bot_id=BOT,
    )
    await transcribe(objects, tmp_path, lang="auto", recording=recording)
    assert table.asked == []  # the recording names its language
    assert sorted(table.told) == sorted(HEARD)
    assert sorted(await objects.keys("recordings/")) == sorted(
        f"recordings/{recording.id}/transcript/{track}/000000.json" for track in HEARD
    )
    assert await objects.keys(f"bots/{BOT}/transcript/") == []
