"""The job `attend`: sit in one meeting for one bot. May be given out again at any time; the row knows the rest."""

from sederunt import log
from sederunt.accounts.meeting_accounts import MeetingAccounts
from sederunt.bus.streams import command_subject
from sederunt.errors import SetupError
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.work import Again, GiveUp, Job
from sederunt.meetings.context import BotContext
from sederunt.meetings.journal import give_up_lost, retry_challenged
from sederunt.meetings.lifecycle import attend as attend_meeting
from sederunt.meetings.session.commands import Commands
from sederunt.model.bot import Verdict
from sederunt.model.status import BotStatus, Trigger
from sederunt.transcription.models import is_live_here

# Statuses in which a host has something to do; anything later belongs to the workers.
ATTENDED = frozenset(
    {BotStatus.BOOTING, BotStatus.JOINING, BotStatus.RECORDING, BotStatus.LEAVING, BotStatus.BOT_DETECTED}
)

MOST_TRIES_WITHOUT_BROWSER = 6

logger = log.get(component="jobs")


async def attend(job: Job, context: WorkerContext) -> None:
    """Claim the bot, answer its commands, and sit in its meeting until the row says what came of it."""
    bot = await context.bots.get(job.id)
    if bot.status not in ATTENDED:
        return
    bot = await context.bots.claim(job.id, context.name)
    commands = Commands(job.cut_off)
    serving = await context.bus.serve(command_subject(job.id), commands.carry_out)
    if is_live_here(bot.config.transcription_model):
        context.transcribed_live.add(bot.id)
    try:
        if bot.status is BotStatus.BOT_DETECTED:
            await retry_challenged(bot, context_of(context))
        else:
            await attend_meeting(bot, context_of(context), commands)
    except SetupError as error:
        # This host has no browser that works; another may. A bot that none can seat must not wait for ever.
        if job.delivered >= MOST_TRIES_WITHOUT_BROWSER:
            raise GiveUp(str(error)) from error
        raise
    finally:
        context.transcribed_live.discard(bot.id)
        await serving.close()
    if job.cut_off.is_set():
        raise Again(0.0, "this host was cut off")


async def give_up(job: Job, context: WorkerContext, error: BaseException) -> None:
    """Every attempt failed by our fault: what was recorded is processed, a bot that was never inside has failed."""
    bot = await context.bots.get(job.id)
    logger.error("bot given up", action="given_up", bot_id=str(job.id), error=str(error))
    if bot.status in (BotStatus.RECORDING, BotStatus.LEAVING):
        await give_up_lost(bot, context_of(context), cause="host_lost")
    elif bot.status in ATTENDED:
        data = {"cause": "engine_failed", "seen": str(error)[:500]}
        await context.bots.record_transition(
            job.id, Trigger.CRASHED, data=data, changes={"verdict": Verdict.ENGINE_FAILED}
        )


def context_of(context: WorkerContext) -> BotContext:
    """What this host lends a bot."""
    assert context.pool is not None, "bots sit on hosts, which have browsers"
    return BotContext(
        settings=context.settings,
        bots=context.bots,
        objects=context.objects,
        pool=context.pool,
        events=context.events,
        bus=context.bus,
        live_lines=context.live_lines,
        accounts=MeetingAccounts(context.database, context.sealer),
        clock=context.clock,
        host=context.name,
    )
