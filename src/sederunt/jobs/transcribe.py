"""The job `transcribe`: stored sound becomes a transcript, for a bot or a standalone recording."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sederunt import log
from sederunt.errors import SederuntError
from sederunt.jobs.house import House
from sederunt.jobs.scratch import scratch_of
from sederunt.jobs.work import GiveUp, Job
from sederunt.meetings.spans import read_spans
from sederunt.model.bot import Bot, Verdict
from sederunt.model.status import BotStatus, RecordingStatus, Trigger
from sederunt.model.transcript import Transcript
from sederunt.transcription.models import ModelRow, batch_twin, find
from sederunt.transcription.provider import is_installed
from sederunt.transcripts import of_recording
from sederunt.transcripts.of_bot import Request, Roster, transcribe_bot
from sederunt.transcripts.of_live import doubt, transcript_of_lines
from sederunt.transcripts.of_recording import transcribe_recording

logger = log.get(room="jobs")


async def transcribe(job: Job, house: House) -> None:
    """Idempotent: finished parts are kept in storage, the transcript is written before the status."""
    if job.resource == "bot":
        await _transcribe_bot(job, house)
    else:
        await _transcribe_recording(job, house)


async def _transcribe_bot(job: Job, house: House) -> None:
    bot = await house.bots.get(job.id)
    if bot.status is not BotStatus.TRANSCRIBING:
        return
    model = model_of(bot.config.transcription_model)
    transcript = await _told_live(bot, house) if model.realtime else None
    if transcript is None:
        transcript = await _heard_again(bot, batch_twin(model), job, house)
    await house.transcripts.save(bot.id, transcript)
    await house.bots.record_transition(bot.id, Trigger.TRANSCRIBED, changes={"detected_lang": transcript.detected_lang})
    await house.objects.delete_prefix(f"bots/{bot.id}/transcript/")
    logger.info("bot transcribed", action="transcribed", bot_id=str(bot.id), segments=len(transcript.segments))


async def _told_live(bot: Bot, house: House) -> Transcript | None:
    """What live listeners were told, as the bot's transcript; None where it has to be transcribed again."""
    lines = await house.live_lines.of(bot.id)
    tracks = json.loads(await house.objects.get(f"bots/{bot.id}/tracks.json"))["sources"]
    why = doubt(lines, events=await house.bots.events(bot.id), gaps=bot.gaps, tracks=tracks)
    if house.settings.live.post_call_pass:
        why = why or "the settings ask for it"
    if why is None:
        return transcript_of_lines(lines, bot.detected_lang)
    logger.info("transcribed again after the meeting", action="post_call_pass", bot_id=str(bot.id), why=why)
    return None


async def _heard_again(bot: Bot, model: ModelRow, job: Job, house: House) -> Transcript:
    """The transcript of what was recorded."""
    async with stoppable(job) as cancelled:
        with scratch_of(house, job) as scratch:
            return await transcribe_bot(
                await _request(bot, model, house),
                settings=house.settings,
                objects=house.objects,
                scratch=scratch,
                cancelled=cancelled,
            )


async def _transcribe_recording(job: Job, house: House) -> None:
    recording = await house.recordings.get(job.id)
    if recording.status is not RecordingStatus.TRANSCRIBING or recording.recording_object is None:
        return

    async def progress(done_s: float, of_s: float) -> None:
        data = {"seconds_done": round(done_s, 1), "seconds": round(of_s, 1)}
        await house.recordings.add_event(recording.id, "transcription_progress", data)

    async with stoppable(job) as cancelled:
        with scratch_of(house, job) as scratch:
            transcript = await transcribe_recording(
                of_recording.Request(
                    recording=recording, model=model_of(recording.config.transcription_model), key=None
                ),
                settings=house.settings,
                objects=house.objects,
                scratch=scratch,
                cancelled=cancelled,
                on_progress=progress,
            )
    await house.transcripts.save(recording.id, transcript)
    changes = {"detected_lang": transcript.detected_lang}
    await house.recordings.record_transition(recording.id, Trigger.TRANSCRIBED, changes=changes)
    await house.objects.delete_prefix(f"recordings/{recording.id}/transcript/")
    logger.info("recording transcribed", action="transcribed", recording_id=str(recording.id))


async def give_up(job: Job, house: House, error: BaseException) -> None:
    """The recording stays; what went wrong stands in the event."""
    sentence = str(error) if isinstance(error, SederuntError) else "The recording could not be transcribed."
    data = {"cause": "transcription_failed", "message": sentence[:500]}
    if job.resource == "bot":
        changes = {"verdict": Verdict.ENGINE_FAILED}
        await house.bots.record_transition(job.id, Trigger.CRASHED, data=data, changes=changes)
    else:
        await house.recordings.record_transition(job.id, Trigger.CRASHED, data=data)


def model_of(identifier: str) -> ModelRow:
    """The row of a model that transcribes."""
    model = find(identifier)
    if model is None or model.provider is None:
        raise GiveUp(f"There is no transcription model '{identifier}'.")
    if not is_installed(model.provider):
        raise GiveUp(f"The provider of '{identifier}' is not part of this installation.")
    return model


async def _request(bot: Bot, model: ModelRow, house: House) -> Request:
    participants = await house.bots.participants(bot.id, with_events=True)
    return Request(
        bot=bot,
        model=model,
        key=None,
        roster=Roster(participants=tuple(participants), sources=dict(await house.bots.sources(bot.id))),
        spans=await read_spans(house.objects, bot.id),
    )


@asynccontextmanager
async def stoppable(job: Job) -> AsyncIterator[threading.Event]:
    """An event that tells a working thread to stop: set when the job is cancelled or may be somebody else's."""
    cancelled = threading.Event()

    async def watch() -> None:
        await job.cut_off.wait()
        cancelled.set()

    watching = asyncio.create_task(watch())
    try:
        yield cancelled
    finally:
        cancelled.set()
        watching.cancel()
