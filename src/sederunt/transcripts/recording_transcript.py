"""A standalone recording's transcript: one file, piece by piece, in bounded memory; the voices have no names."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sederunt import log
from sederunt.media.probe import refuse_overlong
from sederunt.media.readers import Readers
from sederunt.media.sandboxed_reader import probe_sandboxed
from sederunt.model.recording import Recording
from sederunt.model.transcript import Transcript
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.tracing import traced
from sederunt.transcription.access import Access
from sederunt.transcription.models import ModelRow
from sederunt.transcription.plugins import provider
from sederunt.transcription.profanity import mask
from sederunt.transcription.provider import Task
from sederunt.transcription.scheduler import Workload, workload_alone
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute, in_language
from sederunt.transcripts.parts import PartStore
from sederunt.transcripts.vendor_memory import Owner, VendorMemory

# A long file tells of its progress so often, in shares of its length, but not more than once in so many seconds of it.
PROGRESS_SHARE, PROGRESS_LEAST_S = 0.1, 120.0
NEARLY_S = 1.0  # so close to the end it is the end that is told

logger = log.get(component="transcripts")

OnProgress = Callable[[float, float], Awaitable[None]]


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
        facts = await asyncio.to_thread(probe_sandboxed, path, gives_way=gives_way)
    if recording.source_bot_id is None:
        refuse_overlong(facts, settings.api.max_recording_hours)  # an upload to a bucket was not judged whole before
    workload = workload or workload_alone()
    workload.sound_s = facts.duration_s
    parts = PartStore(objects, f"recordings/{recording.id}/transcript/parts.json")
    finished = await parts.read()
    if finished:
        logger.info(
            "transcription resumed",
            action="transcription_resumed",
            recording_id=str(recording.id),
            parts=len(finished),
            seconds=round(sum(part.end - part.start for part in finished), 1),
        )
    task = Task(
        path=path,
        caller_file_s=facts.duration_s,
        model=request.model,
        lang=recording.config.lang,
        vocabulary=recording.config.custom_vocabulary,
        mask_profanity=recording.config.profanity_filter,
        several_voices=True,
        access=request.access,
        reference=str(recording.id),
        memory=VendorMemory(objects, recording.id, request.model.identifier, owner_of(request)),
        cancelled=cancelled,
        resume=finished,
        on_part=parts.writer(),
        on_progress=_occasionally(on_progress, facts.duration_s),
        lane=workload.lane(sound_s=facts.duration_s, length_s=facts.duration_s),
    )
    assert request.model.provider is not None, "the model 'none' transcribes nothing"
    result = await workload.run(partial(provider(request.model.provider).transcribe, settings, task))
    said = in_language(result.utterances, result.detected_lang or recording.config.lang)
    speech = SourceSpeech(source="file", utterances=said, mixed=True, diarized=result.diarized)
    transcript = attribute([speech], MeetingFacts(duration_s=facts.duration_s), detected_lang=result.detected_lang)
    if recording.config.profanity_filter and not result.masked:
        transcript = mask(transcript, transcript.detected_lang or recording.config.lang)
    return replace(transcript, doubts=result.doubts)


def owner_of(request: RecordingTranscriptRequest) -> Owner:
    """Return with whose key the vendor is asked."""
    recording = request.recording
    assert request.model.provider is not None, "the model 'none' transcribes nothing"
    return Owner(
        provider=request.model.provider,
        account_id=recording.account_id,
        credential_id=recording.config.transcription_credentials,
    )


def _occasionally(on_progress: OnProgress, duration_s: float) -> Callable[[float], None]:
    """Return what passes progress on, for the provider's thread: only what is worth telling, without waiting."""
    loop = asyncio.get_running_loop()
    step_s = max(duration_s * PROGRESS_SHARE, PROGRESS_LEAST_S)
    told_s = 0.0

    def heard(done_s: float) -> None:
        nonlocal told_s
        if done_s - told_s >= step_s and done_s < duration_s - NEARLY_S:
            told_s = done_s
            asyncio.run_coroutine_threadsafe(_told(on_progress, done_s, duration_s), loop)

    return heard


async def _told(on_progress: OnProgress, done_s: float, duration_s: float) -> None:
    await on_progress(done_s, duration_s)
