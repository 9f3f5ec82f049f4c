"""A standalone recording's transcript: one file, piece by piece, in bounded memory; voices have no names.

Two channels with different people, as in a recorded telephone call, are transcribed separately: each is one voice.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sederunt import log
from sederunt.media.channels import CallChannel
from sederunt.media.facts import refuse_overlong
from sederunt.media.readers import Readers, until_read
from sederunt.media.sandboxed_probe import probe_sandboxed
from sederunt.media.sandboxed_reader import read_pcm_sandboxed, separate_channels_sandboxed
from sederunt.model.recording import Recording
from sederunt.model.transcript import ENDS_EARLY, NO_WORD_AT_ALL, Doubt, Transcript
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.tracing import traced
from sederunt.transcription.access import Access
from sederunt.transcription.languages import is_known
from sederunt.transcription.models import ModelRow, provider_of
from sederunt.transcription.plugins import provider
from sederunt.transcription.profanity import mask
from sederunt.transcription.provider import Result, Task
from sederunt.transcription.scheduler import Workload, workload_alone
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute, in_language
from sederunt.transcripts.parts import PartStore
from sederunt.transcripts.vendor_memory import Owner, VendorMemory

# Steps of the progress reports: a share of the file's length, but at least so many of its seconds.
PROGRESS_SHARE, PROGRESS_LEAST_S = 0.1, 120.0
NEARLY_S = 1.0  # no progress is reported this close to the end
# Sound with a second this loud (RMS, of full scale; -40 dB) should have words: quiet rooms are below.
LOUD, LOUD_S = 0.01, 1.0

logger = log.get(component="transcripts")

OnProgress = Callable[[float, float], Coroutine[Any, Any, None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordingTranscriptRequest:
    """What to transcribe, and with what."""

    recording: Recording
    model: ModelRow
    access: Access | None  # to the vendor, if it needs one
    readers: Readers


@traced("transcribe file")
async def transcribe_recording(
    request: RecordingTranscriptRequest,
    *,
    settings: Settings,
    objects: Objects,
    scratch: Path,
    cancelled: threading.Event,
    on_progress: OnProgress,
    workload: Workload | None = None,
) -> Transcript:
    """Return the transcript of one file. A second run after a crash repeats no finished part.

    `on_progress` is called with (seconds done, seconds in all). `workload` lends the cores; default: one.

    Raises MediaError, ProviderError, SetupError; Cancelled when `cancelled` is set.
    """
    recording = request.recording
    assert recording.recording_object is not None, "a recording is stored before it is transcribed"
    path = scratch / "source"
    await objects.get_file(recording.recording_object, path)
    async with request.readers.place(recording.account_id) as gives_way:
        facts = await until_read(partial(probe_sandboxed, path, gives_way=gives_way))
        if recording.source_bot_id is None:
            # An upload to a bucket was not checked before.
            refuse_overlong(facts, settings.api.max_recording_hours)
        channels: Sequence[CallChannel | None] = (None,)
        row = provider_of(request.model)
        if facts.channels == 2 and row is not None and row.reads_channels:
            judge = partial(separate_channels_sandboxed, path, duration_s=facts.duration_s, gives_way=gives_way)
            channels = await until_read(judge) or channels
    workload = workload or workload_alone()
    workload.sound_s = facts.duration_s * len(channels)
    task = Task(
        path=path,
        caller_file_s=facts.duration_s,
        model=request.model,
        lang=recording.config.lang,
        vocabulary=recording.config.custom_vocabulary,
        mask_profanity=recording.config.profanity_filter,
        several_voices=len(channels) == 1,
        access=request.access,
        reference=str(recording.id),
        memory=VendorMemory(objects, recording.id, request.model.identifier, owner_of(request)),
        cancelled=cancelled,
        lane=workload.lane(),
    )
    progress = _together(_occasionally(on_progress, facts.duration_s), len(channels))
    transcriber = _FileTranscriber(task, settings=settings, objects=objects, recording=recording, workload=workload)
    if len(channels) > 1 and not is_known(task.lang):
        transcriber.likely_lang = await transcriber.language(channels)
    work = [transcriber.transcribe(channel, report) for channel, report in zip(channels, progress, strict=True)]
    results = await asyncio.gather(*work)
    transcript = await asyncio.to_thread(_transcript, recording, channels, results, facts.duration_s)  # takes seconds
    if not transcript.segments and not transcript.doubts:
        async with request.readers.place(recording.account_id) as gives_way:
            look = partial(_loud_stretch, path, facts.duration_s, gives_way=gives_way)
            transcript = replace(transcript, doubts=await until_read(look))
    if facts.ends_early and recording.source_bot_id is None:
        missing_end = Doubt(start=facts.duration_s, end=max(facts.duration_s, facts.stated_s or 0.0), why=ENDS_EARLY)
        transcript = replace(transcript, doubts=(*transcript.doubts, missing_end))
    return transcript


def _loud_stretch(path: Path, duration_s: float, *, gives_way: int, left: threading.Event) -> tuple[Doubt, ...]:
    """Return one doubt from the first to the last loud second of a file without words; none if all is quiet."""
    blocks = read_pcm_sandboxed(path, duration_s=duration_s, block_s=LOUD_S, gives_way=gives_way, left=left)
    loud_starts_s = [block.start_s for block in blocks if float((block.samples**2).mean()) >= LOUD**2]
    if not loud_starts_s:
        return ()
    return (Doubt(start=loud_starts_s[0], end=min(loud_starts_s[-1] + LOUD_S, duration_s), why=NO_WORD_AT_ALL),)


class _FileTranscriber:
    """One file and the provider, for the whole file or each of its channels."""

    def __init__(
        self, task: Task, *, settings: Settings, objects: Objects, recording: Recording, workload: Workload
    ) -> None:
        assert task.model.provider is not None, "the model 'none' transcribes nothing"
        self._provider = provider(task.model.provider)
        self._task, self._settings, self._objects = task, settings, objects
        self._recording, self._workload = recording, workload
        self.likely_lang: str | None = None

    async def language(self, channels: Iterable[CallChannel | None]) -> str | None:
        """Return the first certain language among the channels; None if all are uncertain."""
        for channel in channels:
            task = replace(self._task, channel=channel)
            lang = await self._workload.run(partial(self._provider.language, self._settings, task))
            if lang is not None:
                return lang
        return None

    async def transcribe(self, channel: CallChannel | None, on_progress: Callable[[float], None]) -> Result:
        length_s = self._task.caller_file_s
        assert length_s is not None
        name = "parts" if channel is None else channel.name
        parts = PartStore(self._objects, f"recordings/{self._recording.id}/transcript/{name}.json")
        finished_parts = await parts.read()
        if finished_parts:
            logger.info(
                "transcription resumed",
                action="transcription_resumed",
                recording_id=str(self._recording.id),
                parts=len(finished_parts),
                seconds=round(sum(part.end - part.start for part in finished_parts), 1),
            )
        task = replace(
            self._task,
            channel=channel,
            likely_lang=self.likely_lang,
            resume=finished_parts,
            on_part=parts.writer(),
            on_progress=on_progress,
            lane=self._workload.lane(sound_s=length_s, length_s=length_s),
        )
        return await self._workload.run(partial(self._provider.transcribe, self._settings, task))


def _transcript(
    recording: Recording, channels: Sequence[CallChannel | None], results: Sequence[Result], duration_s: float
) -> Transcript:
    """Return one transcript of all channels; each of several channels is one voice."""
    fullest = max(results, key=lambda result: (result.detected_lang is not None, _words(result)))
    speeches = [
        SourceSpeech(
            source="file" if channel is None else channel.name,
            utterances=in_language(result.utterances, result.detected_lang or recording.config.lang),
            mixed=channel is None,
            diarized=result.diarized,
        )
        for channel, result in zip(channels, results, strict=True)
    ]
    transcript = attribute(speeches, MeetingFacts(duration_s=duration_s), detected_lang=fullest.detected_lang)
    if recording.config.profanity_filter and not all(result.masked for result in results):
        transcript = mask(transcript, transcript.detected_lang or recording.config.lang)
    doubts = sorted((doubt for result in results for doubt in result.doubts), key=lambda doubt: doubt.start)
    return replace(transcript, doubts=tuple(doubts))


def _words(result: Result) -> int:
    return sum(len(utterance.words) for utterance in result.utterances)


def _together(on_progress: Callable[[float], None], channels: int) -> list[Callable[[float], None]]:
    """Return a progress function per channel; together they report the mean."""
    seconds_done = [0.0] * channels

    def heard(number: int, done_s: float) -> None:
        seconds_done[number] = done_s
        on_progress(sum(seconds_done) / channels)

    return [partial(heard, number) for number in range(channels)]


def owner_of(request: RecordingTranscriptRequest) -> Owner:
    """Return whose key is used with the vendor."""
    recording = request.recording
    assert request.model.provider is not None, "the model 'none' transcribes nothing"
    return Owner(
        provider=request.model.provider,
        account_id=recording.account_id,
        credential_id=recording.config.transcription_credentials,
    )


def _occasionally(on_progress: OnProgress, duration_s: float) -> Callable[[float], None]:
    """Return a function for the provider's thread that reports significant progress without waiting."""
    loop = asyncio.get_running_loop()
    step_s = max(duration_s * PROGRESS_SHARE, PROGRESS_LEAST_S)
    reported_s = 0.0

    def heard(done_s: float) -> None:
        nonlocal reported_s
        if done_s - reported_s >= step_s and done_s < duration_s - NEARLY_S:
            reported_s = done_s
            asyncio.run_coroutine_threadsafe(on_progress(done_s, duration_s), loop)

    return heard
