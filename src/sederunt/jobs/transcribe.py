"""The job `transcribe`: stored sound becomes a transcript, for a bot or a standalone recording."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sederunt import log
from sederunt.jobs.assemble import scratch_of
from sederunt.jobs.house import House
from sederunt.jobs.work import GiveUp, Job
from sederunt.meetings.spans import read_spans
from sederunt.model.bot import Bot, Verdict
from sederunt.model.status import BotStatus, Trigger
from sederunt.transcription.models import ModelRow, find
from sederunt.transcripts.of_bot import Request, Roster, transcribe_bot

logger = log.get(room="jobs")


async def transcribe(job: Job, house: House) -> None:
    """Idempotent: finished parts are kept in storage, the transcript is written before the status."""
    if job.resource == "bot":
        await _transcribe_bot(job, house)


async def _transcribe_bot(job: Job, house: House) -> None:
    bot = await house.bots.get(job.id)
    if bot.status is not BotStatus.TRANSCRIBING:
        return
    async with stoppable(job) as cancelled:
        with scratch_of(house, job) as scratch:
            transcript = await transcribe_bot(
                await _request(bot, house),
                settings=house.settings,
                objects=house.objects,
                scratch=scratch,
                cancelled=cancelled,
            )
    await house.transcripts.save(bot.id, transcript)
    await house.bots.record_transition(bot.id, Trigger.TRANSCRIBED, changes={"detected_lang": transcript.detected_lang})
    await house.objects.delete_prefix(f"bots/{bot.id}/transcript/")
    logger.info("bot transcribed", action="transcribed", bot_id=str(bot.id), segments=len(transcript.segments))


async def give_up(job: Job, house: House, error: BaseException) -> None:
    """The recording stays; what went wrong stands in the event."""
    data = {"cause": "transcription_failed", "message": str(error)[:500]}
    changes = {"verdict": Verdict.ENGINE_FAILED}
    if job.resource == "bot":
        await house.bots.record_transition(job.id, Trigger.CRASHED, data=data, changes=changes)


def model_of(bot: Bot) -> ModelRow:
    model = find(bot.config.transcription_model)
    if model is None or model.provider is None:
        raise GiveUp(f"There is no transcription model '{bot.config.transcription_model}'.")
    return model


async def _request(bot: Bot, house: House) -> Request:
    participants = await house.bots.participants(bot.id, with_events=True)
    return Request(
        bot=bot,
        model=model_of(bot),
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
