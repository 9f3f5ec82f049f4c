"""The job `attend`: sit in one meeting for one bot. May be given out again at any time; the row knows the rest."""

import asyncio

from sederunt import log
from sederunt.accounts.meeting_accounts import MeetingAccounts
from sederunt.bus.streams import command_subject
from sederunt.clock import SteadyClock
from sederunt.errors import SetupError
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.work import Again, GiveUp, Job
from sederunt.meetings.context import BotContext
from sederunt.meetings.journal import Journal
from sederunt.meetings.lifecycle import attend as attend_meeting
from sederunt.meetings.lifecycle import give_up_lost
from sederunt.meetings.session.commands import Commands
from sederunt.model.bot import HOST_LOST, Verdict
from sederunt.model.status import BotStatus, Trigger
from sederunt.transcription.models import is_live_here

# Statuses in which a host has something to do; anything later belongs to the workers.
ATTENDED = frozenset(
    {BotStatus.BOOTING, BotStatus.JOINING, BotStatus.RECORDING, BotStatus.LEAVING, BotStatus.BOT_DETECTED}
)

MOST_TRIES_WITHOUT_BROWSER = 6
RELEASE_S = 3.0  # of a drain, for the database to take a word

logger = log.get(component="jobs")


async def attend(job: Job, context: WorkerContext) -> None:
    """Claim the bot, answer its commands, and sit in its meeting until the row says what came of it."""
    if (await context.bots.get(job.id)).status not in ATTENDED:
        return
    journal = await Journal.claim(
        job.id,
        context.name,
        bots=context.bots,
        live_lines=context.live_lines,
        feed=context.events,
        ledger=context.ledger,
    )
    commands = Commands(job.cut_off)
    serving = await context.bus.serve(command_subject(job.id), commands.carry_out)
    if is_live_here(journal.bot.config.transcription_model):
        context.transcribed_live.add(job.id)
    try:
        await attend_meeting(_bot_context(context, journal), commands)
    except asyncio.CancelledError:  # by a drain
        await asyncio.shield(_release(journal))
        raise
    except SetupError as error:
        # This host has no browser that works; another may. A bot that none can seat must not wait for ever.
        if job.delivered >= MOST_TRIES_WITHOUT_BROWSER:
            raise GiveUp(str(error)) from error
        raise
    finally:
        context.transcribed_live.discard(job.id)
        journal.end_counting()
        await serving.close()
    if job.cut_off.is_set():
        raise Again(0.0, "this host was cut off")


async def _release(journal: Journal) -> None:
    """Name the move of a bot that this host gives back. The bot goes on without that: its gap is named less exactly."""
    try:
        async with asyncio.timeout(RELEASE_S):
            await journal.release()
    except Exception:
        logger.exception("planned move not named", action="release_failed", bot_id=str(journal.bot.id))


async def give_up(job: Job, context: WorkerContext, error: BaseException) -> None:
    """Write that every attempt failed by our fault: what was recorded is processed, else the bot has failed."""
    bot = await context.bots.get(job.id)
    journal = Journal(bot, bots=context.bots, live_lines=context.live_lines, feed=context.events)
    logger.error("bot given up", action="given_up", bot_id=str(job.id), error=str(error))
    if bot.status in (BotStatus.RECORDING, BotStatus.LEAVING):
        spool = _bot_context(context, journal).spool()
        await give_up_lost(journal, spool, context.clock, cause=HOST_LOST)
    elif bot.status in ATTENDED:
        data = {"cause": "engine_failed", "seen": str(error)[:500]}
        await journal.move(Trigger.CRASHED, data=data, changes={"verdict": Verdict.ENGINE_FAILED})


def _bot_context(context: WorkerContext, journal: Journal) -> BotContext:
    assert context.pool is not None, "bots sit on hosts, which have browsers"
    return BotContext(
        journal=journal,
        settings=context.settings,
        objects=context.objects,
        pool=context.pool,
        feed=context.events,
        accounts=MeetingAccounts(context.database, context.sealer),
        # A page's time stamps count on from its start as well, so both stay together when the machine's clock is set.
        clock=SteadyClock(context.clock),
        vendor_keys=context.vendor_access,
    )
