"""The job `assemble`: pieces become one recording, and the bot goes on to its transcript or its end."""

from sederunt import log
from sederunt.database.holdings import Holding
from sederunt.database.retention import kept_until
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.holdings import measure
from sederunt.jobs.job import Job
from sederunt.jobs.scratch import scratch_of
from sederunt.model.bot import Verdict
from sederunt.model.status import BotStatus, Trigger
from sederunt.recordings.assembly import assemble_recording, remaining_gaps, verdict_of
from sederunt.transcription.models import find

TRIES_OF_DAMAGE = 3  # over a minute, in which a store that returns incomplete data may recover

logger = log.get(component="jobs")


async def assemble(job: Job, context: WorkerContext) -> None:
    """Assemble a bot's recording. A second run finds it stored and only moves the status on."""
    bot = await context.bots.get(job.id)
    if bot.status is not BotStatus.PROCESSING:
        return
    with scratch_of(context, job) as scratch:
        tracks = await assemble_recording(
            bot,
            context.objects,
            scratch,
            participants=await context.bots.participants(bot.id, with_events=bot.config.video),
            sources=await context.bots.sources(bot.id),
            believes_damage=job.delivered > TRIES_OF_DAMAGE,
        )
    model = find(bot.config.transcription_model)
    wants_transcript = tracks is not None and model is not None and model.provider is not None
    changes: dict[str, object] = {
        "verdict": verdict_of(bot, tracks["heard_s"] if tracks else 0.0),
        "recording_object": f"bots/{bot.id}/recording.webm" if tracks else None,
        "recording_available_until": kept_until(
            "bot", for_1_year=bot.config.store_recording_for_1_year, since=context.clock.now()
        ),
    }
    if tracks is not None:
        changes["gaps"] = remaining_gaps(bot.gaps, tracks.get("stays", ()))
        sound_s = float(tracks.get("duration_s", 0.0))
        holding = Holding(resource="bot", resource_id=bot.id, account_id=bot.account_id, sound_s=sound_s)
        await measure(holding, context.holdings, context.objects)
    trigger = Trigger.ASSEMBLED if wants_transcript else Trigger.CLOSED
    await context.bots.record_transition(bot.id, trigger, changes=changes)
    logger.info("recording assembled", action="assembled", bot_id=str(bot.id))


async def give_up(job: Job, context: WorkerContext, error: BaseException) -> None:
    """Write that the bot failed through our fault, unless it has moved on already. The pieces stay."""
    if (await context.bots.get(job.id)).status is not BotStatus.PROCESSING:
        return
    data = {"cause": "assembly_failed", "seen": str(error)[:500]}
    await context.bots.record_transition(job.id, Trigger.CRASHED, data=data, changes={"verdict": Verdict.ENGINE_FAILED})
