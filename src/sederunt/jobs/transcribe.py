"""The job `transcribe`: stored sound becomes a transcript, for a bot or a standalone recording."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from sederunt import counters, log
from sederunt.bus.held_job import Drop
from sederunt.errors import Cancelled, LimitReached, NotFound, ProviderError, ProviderFault, SederuntError, SetupError
from sederunt.jobs.cancellation import while_wanted
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.fallback import chain_of
from sederunt.jobs.follow_ups import KINDS
from sederunt.jobs.job import GiveUp, Job, outcome_of
from sederunt.jobs.scratch import scratch_of
from sederunt.jobs.second_reading import ADDED, NOT_READ_AGAIN, SECOND_MODEL, SecondReading, TrackReader, tell
from sederunt.jobs.time_limit import within_cpu, within_time
from sederunt.model.bot import Bot, Verdict
from sederunt.model.history import TRANSCRIPTION_PROGRESS
from sederunt.model.recording import Recording
from sederunt.model.status import BotStatus, RecordingStatus, Trigger
from sederunt.model.transcript import OF_A_WHOLE_FILE, Doubt, LiveLine, Transcript
from sederunt.recordings.spans import read_spans
from sederunt.transcription.access import Access
from sederunt.transcription.models import ModelRow, batch_twin, find, is_live_here, provider_of
from sederunt.transcription.plugins import is_installed
from sederunt.transcription.scheduler import Urgency, Workload
from sederunt.transcripts.bot_transcript import BotTranscriptRequest, StoredRoster, transcribe_bot
from sederunt.transcripts.live_transcript import doubt, transcript_of_lines
from sederunt.transcripts.recording_transcript import RecordingTranscriptRequest, transcribe_recording
from sederunt.transcripts.vendor_memory import keep_copies_only

# Faults that a caller can fix have their own cause.
_CAUSES: dict[ProviderFault | None, str] = {
    ProviderFault.AUTH: "credential_rejected",
    ProviderFault.PAYMENT: "credential_without_credit",
    ProviderFault.IN_DOUBT: "transcription_in_doubt",
}

# Only this many stretches without words are reported one by one.
MOST_DOUBTS = 50

logger = log.get(component="jobs")


@dataclass(frozen=True, kw_only=True, slots=True)
class Workplace:
    """The resources of one transcription."""

    scratch: Path  # for its files
    cancelled: threading.Event
    workload: Workload  # lends the cores


async def transcribe(job: Job, context: WorkerContext) -> None:
    """Transcribe a bot or a recording. Finished parts are kept; the transcript is written before the status."""
    holding = await context.holdings.of(job.id)
    sound_s = holding.sound_s if holding else 0.0
    if job.resource == "bot":
        await _transcribe_bot(job, context, sound_s)
    else:
        async with within_time(context.ledger, sound_s):
            await _transcribe_recording(job, context)
    counters.add("transcribed_sound_seconds", job.resource, sound_s)


async def _transcribe_bot(job: Job, context: WorkerContext, sound_s: float) -> None:
    bot = await context.bots.get(job.id)
    if bot.status is not BotStatus.TRANSCRIBING:
        return
    model = model_of(bot.config.transcription_model)
    transcript = await _told_live(bot, job, context, sound_s) if model.realtime else None
    data: Mapping[str, Any] = {}
    if transcript is None:
        chain = await chain_of(bot, batch_twin(model), job, context)
        async with within_time(context.ledger, sound_s):
            transcript = await chain.first_that_can(lambda row: _heard_again(bot, row, job, context))
        data = chain.told
    await context.transcripts.save(bot.id, transcript)
    await context.bots.record_transition(
        bot.id,
        Trigger.TRANSCRIBED,
        data={**data, **told_doubts(transcript)},
        changes={"detected_lang": transcript.detected_lang},
    )
    await context.objects.delete_prefix(f"bots/{bot.id}/transcript/")
    await keep_copies_only(context.objects, bot.id)
    logger.info("bot transcribed", action="transcribed", bot_id=str(bot.id), segments=len(transcript.segments))


async def _told_live(bot: Bot, job: Job, context: WorkerContext, sound_s: float) -> Transcript | None:
    """Return the live lines as the bot's transcript; None if it has to be transcribed again."""
    lines = await context.live_lines.of(bot.id)
    facts = json.loads(await context.objects.get(f"bots/{bot.id}/tracks.json"))
    is_here = is_live_here(bot.config.transcription_model)
    # Sound without lines is read again here, line by line; a vendor transcribes whole tracks or none.
    tracks = () if is_here else facts["sources"]
    why = doubt(lines, events=await context.bots.events(bot.id), gaps=bot.gaps, tracks=tracks)
    if context.settings.live.post_call_pass:
        why = why or "the settings ask for it"
    if why is not None:
        logger.info("transcribed again after the meeting", action="post_call_pass", bot_id=str(bot.id), why=why)
        return None
    if not is_here:
        return transcript_of_lines(lines, bot.detected_lang)
    return await _put_right(bot, lines, facts, job, context, sound_s)


async def _put_right(
    bot: Bot, lines: Sequence[LiveLine], facts: Mapping[str, Any], job: Job, context: WorkerContext, sound_s: float
) -> Transcript:
    """Return the live lines with those that a second reading of loud sound without words added. Publishes them."""
    try:
        async with (
            within_time(context.ledger, sound_s),
            workplace(job, context, bot.account_id, Urgency.LIVE) as place,
        ):
            reader = TrackReader(
                bot=bot,
                facts=facts,
                model=model_of(SECOND_MODEL),
                context=context,
                scratch=place.scratch,
                cancelled=place.cancelled,
                workload=place.workload,
            )
            reading = await reader.read_again(lines)
    except Exception as fault:
        if not _is_in_vain(fault, job):
            raise
        # The published lines stay.
        logger.warning("not read again", action="second_reading_failed", bot_id=str(bot.id), why=str(fault))
        reading = SecondReading(changed=(), doubts=(Doubt(start=0.0, end=facts["duration_s"], why=NOT_READ_AGAIN),))
    if reading.changed:
        await context.live_lines.save(bot.id, reading.changed, epoch=bot.epoch)
    # A killed worker may have written lines without publishing them; the feed drops repeats.
    earlier_lines = [line for line in lines if line.revision or line.segment_id.startswith(ADDED)]
    await tell(bot, [*(earlier_lines if job.delivered > 1 else ()), *reading.changed], context)
    lines_by_id = {line.segment_id: line for line in (*lines, *reading.changed)}
    return replace(transcript_of_lines(lines_by_id.values(), bot.detected_lang), doubts=reading.doubts)


def _is_in_vain(fault: Exception, job: Job) -> bool:
    """Return whether a failed second reading is not tried again, because the job itself would be given up for it."""
    if isinstance(fault, Cancelled):
        return False
    return isinstance(fault, SetupError) or isinstance(outcome_of(fault, KINDS[job.kind], job.delivered), Drop)


async def _heard_again(bot: Bot, model: ModelRow, job: Job, context: WorkerContext) -> Transcript:
    """Return a transcript made anew from the recorded tracks."""
    urgency = Urgency.LIVE if model_of(bot.config.transcription_model).realtime else Urgency.BOT
    async with workplace(job, context, bot.account_id, urgency) as place:
        return await transcribe_bot(
            await _request(bot, model, context),
            settings=context.settings,
            objects=context.objects,
            scratch=place.scratch,
            cancelled=place.cancelled,
            workload=place.workload,
        )


async def _transcribe_recording(job: Job, context: WorkerContext) -> None:
    recording = await context.recordings.get(job.id)
    if recording.status is not RecordingStatus.TRANSCRIBING or recording.recording_object is None:
        return

    model = model_of(recording.config.transcription_model)

    chain = await chain_of(recording, model, job, context)
    async with while_wanted(recording, context.recordings):
        transcript = await chain.first_that_can(lambda row: _of_recording(recording, row, job, context))
    await context.transcripts.save(recording.id, transcript)
    changes = {"detected_lang": transcript.detected_lang}
    await context.recordings.record_transition(
        recording.id, Trigger.TRANSCRIBED, data={**chain.told, **told_doubts(transcript)}, changes=changes
    )
    del transcript  # hours of words, and the following step reads as many
    await context.objects.delete_prefix(f"recordings/{recording.id}/transcript/")
    await keep_copies_only(context.objects, recording.id)
    logger.info("recording transcribed", action="transcribed", recording_id=str(recording.id))


async def _of_recording(recording: Recording, model: ModelRow, job: Job, context: WorkerContext) -> Transcript:
    """Return the transcript of an uploaded or fetched file, or of a bot's tracks."""
    bot = await _source_bot(recording, context)
    async with workplace(job, context, recording.account_id, Urgency.UPLOAD) as place:
        if bot is None:
            return await _of_file(recording, model, context, place)
        return await transcribe_bot(
            await _request(bot, model, context, recording),
            settings=context.settings,
            objects=context.objects,
            scratch=place.scratch,
            cancelled=place.cancelled,
            workload=place.workload,
        )


async def _source_bot(recording: Recording, context: WorkerContext) -> Bot | None:
    """Return the bot that made this recording if its tracks still exist: they contain more than their mix."""
    if recording.source_bot_id is None:
        return None
    try:
        bot = await context.bots.get(recording.source_bot_id, recording.account_id)
    except NotFound:
        return None
    return bot if await context.objects.size(f"bots/{bot.id}/tracks.json") is not None else None


async def _of_file(recording: Recording, model: ModelRow, context: WorkerContext, place: Workplace) -> Transcript:
    async def progress(done_s: float, of_s: float) -> None:
        data = {"seconds_done": round(done_s, 1), "seconds": round(of_s, 1)}
        await context.recordings.add_event(recording.id, TRANSCRIPTION_PROGRESS, data)

    access = await _access(recording, model, context)
    return await transcribe_recording(
        RecordingTranscriptRequest(recording=recording, model=model, access=access, readers=context.readers),
        settings=context.settings,
        objects=context.objects,
        scratch=place.scratch,
        cancelled=place.cancelled,
        on_progress=progress,
        workload=place.workload,
    )


def told_doubts(transcript: Transcript) -> dict[str, Any]:
    """Return the event data about stretches that may lack words; if there are many, the longest.

    Those of a whole file come first.
    """
    longest = sorted(transcript.doubts, key=lambda doubt: (doubt.why not in OF_A_WHOLE_FILE, doubt.start - doubt.end))
    longest = longest[:MOST_DOUBTS]
    doubts = [asdict(doubt) for doubt in sorted(longest, key=lambda doubt: doubt.start)]
    return {"transcript_doubts": doubts} if doubts else {}


async def give_up(job: Job, context: WorkerContext, error: BaseException) -> None:
    """Write the fault into the event. The recording stays."""
    sentence = str(error) if isinstance(error, SederuntError) else "The recording could not be transcribed."
    kind = error.kind if isinstance(error, ProviderError) else None
    data = {"cause": _CAUSES.get(kind, "transcription_failed"), "message": sentence[:500]}
    if isinstance(error, LimitReached):
        data |= {"cause": "budget_spent", "budget": error.budget}
    if job.resource == "bot":
        changes = {"verdict": Verdict.ENGINE_FAILED}
        await context.bots.record_transition(job.id, Trigger.CRASHED, data=data, changes=changes)
    else:
        await context.recordings.record_transition(job.id, Trigger.CRASHED, data=data)
    try:  # the stored address of a sent file may suffice to read it
        await keep_copies_only(context.objects, job.id)
    except Exception:
        logger.exception("a vendor's answers stay noted", action="answers_kept", id=str(job.id))


def model_of(identifier: str) -> ModelRow:
    """Return the row of a model that transcribes."""
    model = find(identifier)
    if model is None or model.provider is None:
        raise GiveUp(f"There is no transcription model '{identifier}'.")
    if not is_installed(model.provider):
        raise GiveUp(f"The provider of '{identifier}' is not part of this installation.")
    return model


async def _request(
    bot: Bot, model: ModelRow, context: WorkerContext, recording: Recording | None = None
) -> BotTranscriptRequest:
    participants = await context.bots.participants(bot.id, with_events=True)
    return BotTranscriptRequest(
        bot=bot,
        model=model,
        access=await _access(recording or bot, model, context),
        roster=StoredRoster(participants=tuple(participants), sources=dict(await context.bots.sources(bot.id))),
        spans=await read_spans(context.objects, bot.id),
        recording=recording,
    )


async def _access(resource: Bot | Recording, model: ModelRow, context: WorkerContext) -> Access | None:
    """Return the key for the vendor."""
    row = provider_of(model)
    assert row is not None
    return await context.vendor_access.of(resource.account_id, resource.config.transcription_credentials, row)


@asynccontextmanager
async def workplace(job: Job, context: WorkerContext, account_id: UUID, urgency: Urgency) -> AsyncIterator[Workplace]:
    """Lend what a transcription needs. Raises LimitReached if its windows cost more than its sound justifies."""
    async with stoppable(job) as cancelled:
        with scratch_of(context, job) as scratch, context.scheduler.workload(account_id, urgency) as workload:
            async with within_cpu(context.ledger, workload):
                yield Workplace(scratch=scratch, cancelled=cancelled, workload=workload)


@asynccontextmanager
async def stoppable(job: Job) -> AsyncIterator[threading.Event]:
    """Lend an event that stops a working thread: set when the job is cancelled or may have another holder."""
    cancelled = threading.Event()

    async def watch() -> None:
        await job.cut_off.wait()
        cancelled.set()

    watch_task = asyncio.create_task(watch())
    try:
        yield cancelled
    finally:
        cancelled.set()
        watch_task.cancel()
