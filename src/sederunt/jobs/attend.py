"""The job `attend`: sit in one meeting for one bot. It may be delivered again at any time; the row holds the state."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, TypedDict

from sederunt import log
from sederunt.accounting import Ledger
from sederunt.accounts.meeting_accounts import MeetingAccounts
from sederunt.bus.connection import Bus, BusAway, NoResponder
from sederunt.bus.silent_holder import ASK_S, MARGIN_S
from sederunt.bus.streams import command_subject, place_subject
from sederunt.clock import SteadyClock
from sederunt.database.bots import Bots
from sederunt.database.live_lines import LiveLineStore
from sederunt.errors import SetupError
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.job import Again, GiveUp, Job
from sederunt.meetings.context import BotContext
from sederunt.meetings.handover import HolderAnswer, Move
from sederunt.meetings.journal import Feed, Journal
from sederunt.meetings.lifecycle import attend as attend_meeting
from sederunt.meetings.milestones import give_up_lost
from sederunt.meetings.session.commands import Commands
from sederunt.model.bot import HOST_LOST, Bot, Verdict
from sederunt.model.status import BotStatus, Trigger
from sederunt.transcription.models import is_live_here

# Statuses in which a host has work; later ones belong to the workers.
ATTENDED = frozenset(
    {BotStatus.BOOTING, BotStatus.JOINING, BotStatus.RECORDING, BotStatus.LEAVING, BotStatus.BOT_DETECTED}
)

MOST_TRIES_WITHOUT_BROWSER = 6
LEAVE_S = 15.0  # for the previous holder to store its sound: its last piece, and a flush of its page
RELEASE_S = 3.0  # of a drain, for one write to the database

logger = log.get(component="jobs")


async def attend(job: Job, context: WorkerContext) -> None:
    """Claim the bot, answer its commands, and sit in its meeting until the row has its outcome."""
    bot = await context.bots.get(job.id)
    if bot.status not in ATTENDED:
        return
    commands = Commands(job.cut_off)
    async with AsyncExitStack() as stack:
        journal, move = await _journal_of(job, bot, context, commands, stack)
        if is_live_here(bot.config.transcription_model):
            context.transcribed_live.add(job.id)
        try:
            await attend_meeting(_bot_context(context, journal), commands, move=move)
        except asyncio.CancelledError:  # by a drain
            if move is None or move.is_over:
                await asyncio.shield(_release(journal))
            raise
        except SetupError as error:
            # This host has no working browser; another may. A bot that none can seat must not wait for ever.
            if job.delivered >= MOST_TRIES_WITHOUT_BROWSER and (move is None or move.is_over):
                raise GiveUp(str(error)) from error
            raise
        finally:
            context.transcribed_live.discard(job.id)
            journal.end_counting()
    if job.cut_off.is_set():
        raise Again(0.0, "this host was cut off")


async def _journal_of(
    job: Job, bot: Bot, context: WorkerContext, commands: Commands, stack: AsyncExitStack
) -> tuple[Journal, Move | None]:
    """Claim the bot and answer commands for it. If its holder is still in the meeting and offers its place, the move
    claims the bot later.
    """
    stores: _Stores = {
        "bots": context.bots,
        "live_lines": context.live_lines,
        "feed": context.events,
        "ledger": context.ledger,
    }
    previous_holder = HolderBefore(context.bus, place_subject(bot.id, bot.epoch))
    if not job.beside or bot.status is not BotStatus.RECORDING:
        if job.beside:  # a bot that was not admitted has no place to keep
            await previous_holder.leave()
        journal = await Journal.claim(job.id, context.name, **stores)
        await _serve(context.bus, journal, commands, stack)
        return journal, None
    journal = Journal(bot, **stores)
    journal.is_holder = False
    await journal.expect_second_self()

    async def claim() -> None:
        await journal.take_over(context.name)
        await _serve(context.bus, journal, commands, stack)

    lease_s = 2 * context.bus.settings.ack_wait_s + MARGIN_S
    return journal, Move(journal, previous_holder, context.clock, claim=claim, lease_s=lease_s)


class _Stores(TypedDict):
    bots: Bots
    live_lines: LiveLineStore
    feed: Feed
    ledger: Ledger


async def _serve(bus: Bus, journal: Journal, commands: Commands, stack: AsyncExitStack) -> None:
    """Answer for a bot until the stack is closed."""

    async def give_place(order: Mapping[str, Any]) -> dict[str, Any]:
        await journal.expect_second_self()
        return await commands.give_place(order)

    bot = journal.bot
    for subject, answer in (
        (command_subject(bot.id), commands.carry_out),
        (place_subject(bot.id, bot.epoch), give_place),
    ):
        stack.push_async_callback((await bus.serve(subject, answer)).close)


class HolderBefore:
    """The current holder of a bot, as seen by the host that takes over from it."""

    def __init__(self, bus: Bus, subject: str) -> None:
        self._bus, self._subject = bus, subject

    async def ask(self) -> HolderAnswer:
        return await self._ask("are-you-there", ASK_S)

    async def leave(self) -> HolderAnswer:
        return await self._ask("leave", LEAVE_S)

    async def _ask(self, order: str, within_s: float) -> HolderAnswer:
        try:
            answer = await self._bus.request(self._subject, {"do": order}, within_s=within_s)
        except NoResponder:
            return HolderAnswer.GONE
        except BusAway:
            return HolderAnswer.SILENT
        return HolderAnswer.DONE if answer.get("ok") else HolderAnswer.GONE


async def _release(journal: Journal) -> None:
    """Note the planned move of a bot that this host gives back. Without the note its gap is only described less
    exactly.
    """
    try:
        async with asyncio.timeout(RELEASE_S):
            await journal.release()
    except Exception:
        logger.exception("planned move not named", action="release_failed", bot_id=str(journal.bot.id))


async def give_up(job: Job, context: WorkerContext, error: BaseException) -> None:
    """Write that all attempts failed through our fault: process what was recorded, else fail the bot."""
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
    assert context.spools is not None, "bots sit on hosts, which have browsers"
    return BotContext(
        journal=journal,
        settings=context.settings,
        objects=context.objects,
        pool=context.pool,
        feed=context.events,
        accounts=MeetingAccounts(context.database, context.sealer),
        # A page's time stamps count on from its start as well, so both stay together when the machine's clock is set.
        clock=SteadyClock(context.clock),
        readers=context.readers,
        spools=context.spools,
        vendor_keys=context.vendor_access,
    )
