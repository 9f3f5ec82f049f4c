"""A bot's tracks at a vendor: one file, silence left out, names certain, billed once, whatever becomes of workers."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from obstore.store import MemoryStore

from harness.vendors.deepgram import Deepgram
from harness.vendors.live import pcm_of
from sederunt.errors import ProviderError
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.status import BotStatus
from sederunt.model.transcript import Transcript
from sederunt.practice.clips import SHIPPED
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.access import Access
from sederunt.transcription.models import find
from sederunt.transcripts.bot_transcript import BotTranscriptRequest, StoredRoster, transcribe_bot
from sederunt.transcripts.vendor_memory import prefix_of

BOT = UUID(int=7)
NOW = datetime(2026, 11, 22, tzinfo=UTC)
SILENCE_S = 60
MIX = f"bots/{BOT}/recording.wav"


@pytest.fixture
def vendor() -> Iterator[Deepgram]:
    with Deepgram() as simulated:
        yield simulated


def wav(samples: np.ndarray[tuple[int], np.dtype[np.int16]]) -> bytes:
    size = len(samples) * 2
    head = b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    head += b"\1\0\1\0" + (16_000).to_bytes(4, "little") + (32_000).to_bytes(4, "little") + b"\2\0\x10\0"
    return head + b"data" + size.to_bytes(4, "little") + samples.astype("<i2").tobytes()


@pytest.fixture
async def objects() -> Objects:
    """Two people, one after the other, with a minute of silence before the second, and in a track of each."""
    made = Objects(MemoryStore())
    quiet = np.zeros(16_000 * SILENCE_S, np.int16)
    first, second = pcm_of(SHIPPED / "jfk.wav"), pcm_of(SHIPPED / "two_cities.wav")[: 16_000 * 15]
    tracks = {"a": np.concatenate([first, quiet]), "b": np.concatenate([quiet, second])}
    sources = [{"source": name, "file": f"{name}.mka", "heard_s": 10.0} for name in tracks]
    await made.put(f"bots/{BOT}/tracks.json", json.dumps({"duration_s": 80.0, "sources": sources}).encode())
    for name, samples in tracks.items():
        await made.put(f"bots/{BOT}/tracks/{name}.mka", wav(samples))
    await made.put(MIX, wav(np.concatenate([first, quiet[len(first) :], second])))
    return made


def bot(**config: object) -> Bot:
    made = BotConfig(
        service=Service("gmeet"),
        meeting_url="https://meet.google.com/a",
        bot_name="S",
        transcription_model="deepgram",
        lang="en",
    )
    return Bot(
        id=BOT,
        account_id=UUID(int=1),
        config=replace(made, **config),  # type: ignore[arg-type]
        status=BotStatus.TRANSCRIBING,
        created_at=NOW,
        recording_started_at=NOW,
    )


def spoken(start_s: float, end_s: float) -> tuple[SpeakingEvent, ...]:
    began_ms = round(NOW.timestamp() * 1000)
    return (
        SpeakingEvent(type=SpeakingKind.STARTED, timestamp=began_ms + round(start_s * 1000)),
        SpeakingEvent(type=SpeakingKind.STOPPED, timestamp=began_ms + round(end_s * 1000)),
    )


async def transcribe(
    vendor: Deepgram, objects: Objects, scratch: Path, key: str = "", hears: str = "tracks"
) -> Transcript:
    row = find("deepgram")
    assert row is not None
    people = tuple(
        Participant(key=key, name=name, avatar=None, first_seen_at=NOW, events=spoken(*stretch))
        for key, name, stretch in (("k1", "Ada", (0.3, 10.5)), ("k2", "Ben", (SILENCE_S, SILENCE_S + 15.0)))
    )
    request = BotTranscriptRequest(
        bot=replace(bot(), recording_object=MIX),
        model=row,
        access=Access(key=key or vendor.key, label="the credential 0193"),
        roster=StoredRoster(participants=people, sources={"a": "k1", "b": "k2"}),
    )
    settings = Settings(providers={"deepgram": {"url": vendor.url}}, transcription={"participants": hears})
    return await transcribe_bot(
        request, settings=settings, objects=objects, scratch=scratch, cancelled=threading.Event()
    )


async def test_tracks_go_as_one_file_without_their_silence_and_words_have_their_names(
    vendor: Deepgram, objects: Objects, tmp_path: Path
) -> None:
    transcript = await transcribe(vendor, objects, tmp_path)
    said = {
        name: " ".join(s.transcript for s in transcript.segments if s.speaker_name == name) for name in ("Ada", "Ben")
    }
    assert "country" in said["Ada"]
    assert "times" in said["Ben"]
    assert "country" not in said["Ben"]
    assert all(segment.speaker_name for segment in transcript.segments)
    assert min(s.start for s in transcript.segments if s.speaker_name == "Ben") >= SILENCE_S - 1
    assert vendor.ledger.seconds_billed < 35  # of two tracks of more than a minute each
    assert len(vendor.ledger.billed) == 1
    assert list(tmp_path.iterdir()) == []


async def test_the_mix_goes_once_and_speaking_events_name_its_voices(
    vendor: Deepgram, objects: Objects, tmp_path: Path
) -> None:
    transcript = await transcribe(vendor, objects, tmp_path, hears="mix")
    said = {
        name: " ".join(s.transcript for s in transcript.segments if s.speaker_name == name) for name in ("Ada", "Ben")
    }
    assert "country" in said["Ada"]
    assert "times" in said["Ben"]
    assert "country" not in said["Ben"]
    (bill,) = vendor.ledger.billed
    assert bill.seconds == pytest.approx(SILENCE_S + 15, abs=1)  # the whole meeting, silence and all
    (request,) = vendor.ledger.of("submit")
    assert ("diarize_model", "latest") in request.query


async def test_a_worker_that_was_killed_with_the_transcript_in_hand_pays_nothing_again(
    vendor: Deepgram, objects: Objects, tmp_path: Path
) -> None:
    first = await transcribe(vendor, objects, tmp_path)
    assert await objects.keys(prefix_of(BOT))
    assert await transcribe(vendor, objects, tmp_path) == first
    assert len(vendor.ledger.billed) == 1


async def test_a_refused_key_is_no_passing_fault(vendor: Deepgram, objects: Objects, tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="did not accept the credential 0193") as caught:
        await transcribe(vendor, objects, tmp_path, key="wrong")
    assert not caught.value.retryable
