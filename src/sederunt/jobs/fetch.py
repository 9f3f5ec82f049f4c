"""The job `fetch`: copies a recording's sound into storage, from an address or from a bot, to be transcribed then."""

from functools import partial
from pathlib import Path
from uuid import UUID

from sederunt import log
from sederunt.addresses import guarded_client
from sederunt.database.holdings import Holding, refuse_stored
from sederunt.errors import LimitReached, NotFound, SederuntError
from sederunt.jobs.cancellation import while_wanted
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.holdings import measure
from sederunt.jobs.job import GiveUp, Job
from sederunt.jobs.scratch import scratch_of
from sederunt.media.facts import refuse_overlong
from sederunt.media.readers import until_read
from sederunt.media.sandboxed_probe import probe_sandboxed
from sederunt.model.recording import Recording
from sederunt.model.status import RecordingStatus, Trigger
from sederunt.recordings.download import download

logger = log.get(component="jobs")

IDLE_S = 60.0  # how long an address may send nothing


async def fetch(job: Job, context: WorkerContext) -> None:
    """Fetch a recording's file. The file is written whole, and noted together with the message for the next job."""
    try:
        await _fetch(job, context)
    except NotFound:
        # Its caller deleted it, and its receipt may have been closed before this file was complete.
        await context.objects.delete_prefix(f"recordings/{job.id}/")
        raise


async def _fetch(job: Job, context: WorkerContext) -> None:
    recording = await context.recordings.get(job.id)
    if recording.status is not RecordingStatus.TRANSCRIBING or recording.recording_object is not None:
        return
    key = f"recordings/{recording.id}/source"
    with scratch_of(context, job) as scratch:
        path = scratch / "source"
        async with while_wanted(recording, context.recordings):
            await _bring(recording, path, context)
            async with context.readers.place(recording.account_id) as gives_way:
                facts = await until_read(partial(probe_sandboxed, path, gives_way=gives_way))
            if recording.source_bot_id is None:  # our own recordings may be as long as their meetings
                refuse_overlong(facts, context.settings.api.max_recording_hours)
            await context.objects.put_file(key, path)
    holding = Holding(
        resource="recording", resource_id=recording.id, account_id=recording.account_id, sound_s=facts.duration_s
    )
    await measure(holding, context.holdings, context.objects)
    await context.recordings.mark(recording.id, job="job.transcribe", recording_object=key)
    logger.info(
        "recording fetched",
        action="fetched",
        recording_id=str(recording.id),
        container=facts.container,
        duration_s=facts.duration_s,
    )


async def _bring(recording: Recording, path: Path, context: WorkerContext) -> None:
    if recording.source_recording_id is not None:
        await _copy_recording(recording.source_recording_id, recording, path, context)
        return
    if recording.source_bot_id is not None:
        await _copy_bots(recording.source_bot_id, recording, path, context)
        return
    if recording.source_url is None:
        raise GiveUp("The recording has neither a file nor an address.")
    settings = context.settings
    stored_bytes = await context.holdings.stored_bytes(recording.account_id)
    refuse_stored(stored_bytes, settings.limits.stored_gb)
    async with guarded_client(allow_private=settings.allow_private_addresses, timeout_s=IDLE_S) as client:
        await download(
            client,
            recording.source_url,
            path,
            most_bytes=settings.api.max_upload_bytes,
            allow_private=settings.allow_private_addresses,
        )


async def _copy_recording(source_id: UUID, recording: Recording, path: Path, context: WorkerContext) -> None:
    """Copy another recording's file. Later changes of that recording do not affect the copy."""
    try:
        source = await context.recordings.get(source_id, recording.account_id)
    except NotFound:
        raise GiveUp("The recording that was to be transcribed anew is deleted.") from None
    if source.recording_object is None:
        raise GiveUp("The recording that was to be transcribed anew has no file any more.")
    await context.objects.get_file(source.recording_object, path)


async def _copy_bots(bot_id: UUID, recording: Recording, path: Path, context: WorkerContext) -> None:
    """Copy a bot's recording as it is now. Deleting the bot later does not affect the copy."""
    try:
        bot = await context.bots.get(bot_id, recording.account_id)
    except NotFound:
        raise GiveUp("The bot of this recording is deleted.") from None
    if bot.recording_object is None:
        raise GiveUp("The bot of this recording has none any more.")
    await context.objects.get_file(bot.recording_object, path)


async def give_up(job: Job, context: WorkerContext, error: BaseException) -> None:
    """Write that the recording has failed; its event says why."""
    sentence = str(error) if isinstance(error, SederuntError) else "The recording could not be fetched."
    data = {"cause": "fetch_failed", "message": sentence[:500]}
    if isinstance(error, LimitReached):
        data = {"cause": "budget_spent", "budget": error.budget, "message": sentence[:500]}
    await context.recordings.record_transition(job.id, Trigger.CRASHED, data=data)
    recording = await context.recordings.get(job.id)
    empty_holding = Holding(resource="recording", resource_id=recording.id, account_id=recording.account_id)
    await measure(empty_holding, context.holdings, context.objects)  # replaces what the copy was counted as
