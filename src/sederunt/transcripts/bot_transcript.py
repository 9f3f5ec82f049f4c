"""A bot's transcript: transcribe each audible track, then merge them by time with the roster's names."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sederunt import log
from sederunt.clock import unix_ms
from sederunt.media.timeline import Span
from sederunt.model.bot import Bot
from sederunt.model.participant import Participant
from sederunt.model.recording import Recording
from sederunt.model.transcript import Doubt, Transcript
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.tracing import traced
from sederunt.transcription.access import Access
from sederunt.transcription.languages import is_known
from sederunt.transcription.models import ModelRow
from sederunt.transcription.plugins import provider
from sederunt.transcription.profanity import mask
from sederunt.transcription.provider import Result, Task, TrackJoiner
from sederunt.transcription.scheduler import Workload, workload_alone
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute, in_language, is_mixed
from sederunt.transcripts.parts import PartStore
from sederunt.transcripts.vendor_memory import Owner, VendorMemory

# A track with less audible sound than this has no words.
LEAST_HEARD_S = 0.2
# The source name of the whole recording.
MIX = "mix"

logger = log.get(component="transcripts")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRoster:
    """The participants of a meeting, from the database."""

    participants: tuple[Participant, ...]
    sources: dict[str, str]  # audio source → participant key


@dataclass(frozen=True, kw_only=True, slots=True)
class BotTranscriptRequest:
    """What to transcribe with."""

    bot: Bot
    model: ModelRow
    access: Access | None  # to the vendor, if it needs one
    roster: StoredRoster
    spans: Sequence[Span] = ()  # who was in mixed tracks, and when
    recording: Recording | None = None  # if it requests another transcript of the bot's meeting, with its own settings

    @property
    def order(self) -> Bot | Recording:
        """Return whose settings apply, and whose id the work is stored under."""
        return self.recording or self.bot


@traced("transcribe tracks")
async def transcribe_bot(
    request: BotTranscriptRequest,
    *,
    settings: Settings,
    objects: Objects,
    scratch: Path,
    cancelled: threading.Event,
    workload: Workload | None = None,
) -> Transcript:
    """Return the named transcript. A second run after a crash repeats no finished part of any track.

    `workload` lends the cores; default: one.

    If the language is unknown, the meeting's is detected first, for tracks whose own language is uncertain. It depends
    on the stored sound alone, so a second run finds the same.

    Raises ProviderError, SetupError, MediaError; Cancelled when `cancelled` is set.
    """
    bot, config = request.bot, request.order.config
    facts = json.loads(await objects.get(f"bots/{bot.id}/tracks.json"))
    speeches: list[SourceSpeech] = []
    languages: Counter[str] = Counter()
    length_s = facts["duration_s"]
    tracks = [{**track, "length_s": length_s} for track in facts["sources"] if track["heard_s"] >= LEAST_HEARD_S]
    workload = workload or workload_alone()
    workload.sound_s = sum(track["heard_s"] for track in tracks)
    transcriber = TrackTranscriber(request, settings, objects, scratch, cancelled, workload)
    needs_no_guess = is_known(config.lang) or len(tracks) < 2
    likely_lang = None if needs_no_guess or transcriber.joins else await transcriber.language(tracks)
    is_masked, doubts = True, list[Doubt]()
    async for track, has_several, result in transcriber.results(tracks, likely_lang):
        speeches.append(
            SourceSpeech(
                source=track["source"],
                utterances=in_language(result.utterances, result.detected_lang or config.lang),
                mixed=has_several,
                diarized=has_several and result.diarized,
            )
        )
        is_masked = is_masked and result.masked
        doubts += result.doubts
        if result.detected_lang:
            languages[result.detected_lang] += round(track["heard_s"] * 10)
        logger.info("track transcribed", action="track_transcribed", bot_id=str(bot.id), track=track["file"])
    meeting = MeetingFacts(
        duration_s=length_s,
        started_ms=unix_ms(bot.recording_started_at) if bot.recording_started_at else 0,
        participants=request.roster.participants,
        links=request.roster.sources,
        spans=request.spans,
    )
    detected_lang = max(languages, key=lambda lang: languages[lang], default=None)

    def named() -> Transcript:
        transcript = attribute(speeches, meeting, detected_lang=detected_lang)
        if config.profanity_filter and not is_masked:
            transcript = mask(transcript, transcript.detected_lang or config.lang)
        return replace(transcript, doubts=tuple(sorted(doubts, key=lambda doubt: doubt.start)))

    # Takes seconds for hours of sound or hundreds of people: on the loop, the worker would seem to hang.
    return await asyncio.to_thread(named)


class TrackTranscriber:
    """One bot's tracks and the provider; files are in `scratch` only while they are read."""

    def __init__(
        self,
        request: BotTranscriptRequest,
        settings: Settings,
        objects: Objects,
        scratch: Path,
        cancelled: threading.Event,
        workload: Workload,
    ) -> None:
        assert request.model.provider is not None, "the model 'none' transcribes nothing"
        self._provider = provider(request.model.provider)
        self._request = request
        self._told_apart = {span.track for span in request.spans}  # exactly, by the packets
        self._folder = f"bots/{request.bot.id}"
        second_recording = request.recording
        self._parts = f"{self._folder if second_recording is None else f'recordings/{second_recording.id}'}/transcript"
        self._settings, self._objects, self._scratch, self._workload = settings, objects, scratch, workload
        self._task = Task(
            path=scratch,
            model=request.model,
            lang=request.order.config.lang,
            vocabulary=request.order.config.custom_vocabulary,
            mask_profanity=request.order.config.profanity_filter,
            access=request.access,
            cancelled=cancelled,
            lane=workload.lane(),
        )

    @property
    def joins(self) -> bool:
        """Return whether the provider gets all tracks together, being paid by the second."""
        return isinstance(self._provider, TrackJoiner)

    async def results(
        self, tracks: Sequence[dict[str, Any]], likely_lang: str | None
    ) -> AsyncIterator[tuple[dict[str, Any], bool, Result]]:
        """Return each track, whether several people are in it, and its result."""
        mixed_flags = [is_mixed(track["source"], self._request.roster.sources) for track in tracks]
        if self.joins and self._settings.transcription.participants == "mix" and len(tracks) > 1:
            mix = {"source": MIX, "file": "recording.webm", "heard_s": sum(track["heard_s"] for track in tracks)}
            yield mix, True, await self._apart(mix)
            return
        single_voice_tracks = [track for track, has_several in zip(tracks, mixed_flags, strict=True) if not has_several]
        if self.joins and single_voice_tracks:
            for track, result in zip(single_voice_tracks, await self._joined(single_voice_tracks), strict=True):
                yield track, False, result
        for track, has_several in zip(tracks, mixed_flags, strict=True):
            if has_several and self.joins:
                yield track, True, await self._apart(track)
        if not self.joins:
            for track, has_several, result in zip(
                tracks, mixed_flags, await self._each(tracks, mixed_flags, likely_lang), strict=True
            ):
                yield track, has_several, result

    async def _each(
        self, tracks: Sequence[dict[str, Any]], mixed_flags: Sequence[bool], likely_lang: str | None
    ) -> list[Result]:
        """Return every track's result; tracks with most sound begin first, one more at once than there are cores."""
        places = asyncio.Semaphore(self._workload.cores + 1)

        async def one(track: dict[str, Any], has_several: bool) -> Result:
            async with places:
                is_told_apart = track["source"] in self._told_apart
                return await self.transcribe(track, likely_lang, several_voices=has_several and not is_told_apart)

        order = sorted(range(len(tracks)), key=lambda index: -tracks[index]["heard_s"])
        tasks = {index: asyncio.create_task(one(tracks[index], mixed_flags[index])) for index in order}
        try:
            await asyncio.gather(*tasks.values())
        finally:
            for task in tasks.values():
                task.cancel()
        return [tasks[index].result() for index in range(len(tracks))]

    async def _joined(self, tracks: Sequence[dict[str, Any]]) -> list[Result]:
        """Transcribe tracks of single people as one file."""
        assert isinstance(self._provider, TrackJoiner)
        async with AsyncExitStack() as stack:
            paths = [await stack.enter_async_context(self._file_of(track)) for track in tracks]
            task = self._remembering(replace(self._task, path=paths[0]), "tracks")
            return await self._workload.run(partial(self._provider.transcribe_tracks, self._settings, task, paths))

    async def _apart(self, track: dict[str, Any]) -> Result:
        """Transcribe a shared track with its voices separated."""
        async with self._file_of(track) as path:
            task = self._remembering(replace(self._task, path=path, several_voices=True), path.stem)
            return await self._workload.run(partial(self._provider.transcribe, self._settings, task))

    def _remembering(self, task: Task, name: str) -> Task:
        order, model = self._request.order, self._request.model
        assert model.provider is not None
        owner = Owner(
            provider=model.provider,
            account_id=order.account_id,
            credential_id=order.config.transcription_credentials,
        )
        memory = VendorMemory(self._objects, order.id, f"{model.identifier}-{name}", owner)
        return replace(task, memory=memory, reference=f"{order.id}-{name}")

    async def language(self, tracks: Sequence[dict[str, Any]]) -> str | None:
        """Return the first certain language among the tracks, from most to least sound; None if all are uncertain."""
        for track in sorted(tracks, key=lambda track: -track["heard_s"]):
            async with self._file_of(track) as path:
                task = replace(self._task, path=path)
                lang = await self._workload.run(partial(self._provider.language, self._settings, task))
            if lang is not None:
                return lang
        return None

    async def transcribe(self, track: dict[str, Any], likely_lang: str | None, *, several_voices: bool) -> Result:
        async with self._file_of(track) as path:
            parts = PartStore(self._objects, f"{self._parts}/{path.stem}.json")
            task = replace(self._task, path=path, likely_lang=likely_lang, several_voices=several_voices)
            task = replace(task, resume=await parts.read(), on_part=parts.writer())
            lane = self._workload.lane(sound_s=track["heard_s"], length_s=track["length_s"])
            task = replace(task, lane=lane)
            return await self._workload.run(partial(self._provider.transcribe, self._settings, task))

    @asynccontextmanager
    async def _file_of(self, track: dict[str, Any]) -> AsyncIterator[Path]:
        path = self._scratch / track["file"]
        stored_object = self._request.bot.recording_object if track["source"] == MIX else None
        await self._objects.get_file(stored_object or f"{self._folder}/tracks/{track['file']}", path)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)
