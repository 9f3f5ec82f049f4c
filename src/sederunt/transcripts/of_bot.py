"""A bot's transcript: each heard track transcribed apart, then merged by time with the names of the roster."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sederunt import log
from sederunt.clock import unix_ms
from sederunt.media.timeline import Span
from sederunt.model.bot import Bot
from sederunt.model.participant import Participant
from sederunt.model.transcript import Transcript
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.attribution import Meeting, SourceSpeech, attribute, is_mixed
from sederunt.transcription.models import ModelRow
from sederunt.transcription.profanity import mask
from sederunt.transcription.provider import Result, Task, provider
from sederunt.transcripts.parts import PartStore

# A track with less audible sound than this holds no word.
LEAST_HEARD_S = 0.2

logger = log.get(room="transcripts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Roster:
    """Who was there, as the database tells it."""

    participants: tuple[Participant, ...]
    sources: dict[str, str]  # audio source → participant key


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What to transcribe with."""

    bot: Bot
    model: ModelRow
    key: str | None  # the vendor's, if it needs one
    roster: Roster
    spans: Sequence[Span] = ()  # who was in mixed tracks, and when


async def transcribe_bot(
    request: Request, *, settings: Settings, objects: Objects, scratch: Path, cancelled: threading.Event
) -> Transcript:
    """The named transcript. A second run after a crash repeats no finished part of any track.

    Raises ProviderError, SetupError, MediaError; Cancelled when `cancelled` is set.
    """
    bot = request.bot
    facts = json.loads(await objects.get(f"bots/{bot.id}/tracks.json"))
    speeches: list[SourceSpeech] = []
    languages: Counter[str] = Counter()
    for track in facts["sources"]:
        if track["heard_s"] < LEAST_HEARD_S:
            continue
        result = await _transcribe_track(request, track, settings, objects, scratch, cancelled)
        mixed = is_mixed(track["source"], request.roster.sources)
        speeches.append(
            SourceSpeech(
                source=track["source"], utterances=result.utterances, mixed=mixed, diarized=mixed and result.diarized
            )
        )
        if result.detected_lang:
            languages[result.detected_lang] += round(track["heard_s"] * 10)
        logger.info("track transcribed", action="track_transcribed", bot_id=str(bot.id), track=track["file"])
    meeting = Meeting(
        duration_s=facts["duration_s"],
        started_ms=unix_ms(bot.recording_started_at) if bot.recording_started_at else 0,
        participants=request.roster.participants,
        links=request.roster.sources,
        spans=request.spans,
    )
    transcript = attribute(
        speeches, meeting, detected_lang=max(languages, key=lambda lang: languages[lang], default=None)
    )
    if bot.config.profanity_filter:
        transcript = mask(transcript, transcript.detected_lang or bot.config.lang)
    return transcript


async def _transcribe_track(
    request: Request,
    track: dict[str, Any],
    settings: Settings,
    objects: Objects,
    scratch: Path,
    cancelled: threading.Event,
) -> Result:
    bot = request.bot
    path = scratch / track["file"]
    await objects.get_file(f"bots/{bot.id}/tracks/{track['file']}", path)
    parts = PartStore(objects, f"bots/{bot.id}/transcript/{path.stem}.json")
    task = Task(
        path=path,
        model=request.model,
        lang=bot.config.lang,
        vocabulary=bot.config.custom_vocabulary,
        key=request.key,
        cancelled=cancelled,
    )
    task = replace(task, resume=await parts.read(), on_part=parts.writer())
    assert request.model.provider is not None, "the model 'none' transcribes nothing"
    try:
        return await asyncio.to_thread(provider(request.model.provider).transcribe, settings, task)
    finally:
        path.unlink(missing_ok=True)
