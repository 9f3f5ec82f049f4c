"""One bot from its first knock to its ending, over as many pages as it takes.

A bot comes here in four cases: a new booking (status booting), a retry after a challenge (booting again), the death of
the host that held it (joining, recording or leaving), and a planned move (`handover`). A bot that was already recording
comes back under the same id and continues its recording; the time away is marked as a gap. Each outcome is written to
the row before the next step begins.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from sederunt import counters, log
from sederunt.bus.tasks import end
from sederunt.clock import unix_ms
from sederunt.errors import NotFound, PageError, Superseded
from sederunt.meetings.context import BotContext
from sederunt.meetings.diagnostics import keep_claims, keep_diagnostics
from sederunt.meetings.handover import Move, relieved
from sederunt.meetings.join.avatar import picture_of
from sederunt.meetings.join.identity import GUEST, Identity, renew
from sederunt.meetings.join.knock_times import host_may_be_late, knocks_in_s
from sederunt.meetings.live.live_session import warm_up
from sederunt.meetings.milestones import admit, challenged, conclude, depart, give_up_lost, never_admitted
from sederunt.meetings.outcomes import (
    Challenged,
    CutOff,
    Departed,
    Moved,
    Outcome,
    Refused,
    SignInNeeded,
    broken,
    decided_by,
    is_ordinary,
)
from sederunt.meetings.page_tries import STOPPED, PageTries, StayPlan, TriedPage, identity_or_end
from sederunt.meetings.session.commands import Commands
from sederunt.meetings.session.meeting_session import MeetingSession, open_session
from sederunt.model.bot import PLANNED_MOVE
from sederunt.model.status import BotStatus, StopReason, Trigger
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import InvalidLink, MeetingLink
from sederunt.platforms.platform import Platform
from sederunt.platforms.registry import platform_of

_Told = TypeVar("_Told")

# A minute and a half in all: enough to restart a database, or to free disk space.
WRITE_PAUSES_S = (1.0, 2.0, 5.0, 5.0, 5.0, 10.0, 10.0, 10.0, 20.0, 20.0)

logger = log.get(component="meetings")


async def attend(context: BotContext, commands: Commands, *, move: Move | None = None) -> None:
    """Bring a bot into its meeting, record, leave. Returns when the result is on the row.

    Args:
        move: set if another holder still has the bot in the meeting and hands it over to this one.

    Raises Superseded when another host took the bot over, and lets storage and database faults through: the job is
    then given out again.
    """
    journal, config = context.journal, context.journal.bot.config
    match journal.bot.status:
        case BotStatus.LEAVING:
            away = await journal.left_while_away()
            await give_up_lost(journal, context.spool(), context.clock, cause=journal.away_cause, away=away)
            return
        case BotStatus.BOT_DETECTED:  # a host died between the challenge and the retry
            await challenged(journal, context.clock, Challenged(row="host_lost"))
            return
    if journal.bot.stop_requested and move is not None:
        raise Superseded(f"Bot {journal.bot.id} is to leave: its holder sees to it.")
    if journal.bot.stop_requested:  # the stop came while nobody held the bot, so it must not knock any more
        await conclude(journal, context.spool(), context.clock, STOPPED)
        return
    platform = platform_of(config.service)
    try:
        link = platform.parse_link(config.meeting_url)
    except InvalidLink:
        await never_admitted(journal, Refused(reason=StopReason.INVALID_MEETING_URL, row="link.form"))
        return
    if journal.bot.status is BotStatus.BOOTING:
        await journal.move(Trigger.LAUNCHED)
    warm_up_task = asyncio.create_task(warm_up(journal.bot, context.settings), name=f"warm up {journal.bot.id}")
    try:
        outcome = await _try_pages(context, commands, platform, link, move)
        await conclude(journal, context.spool(), context.clock, outcome)
    finally:
        warm_up_task.cancel()


async def _try_pages(
    context: BotContext, commands: Commands, platform: Platform, link: MeetingLink, move: Move | None
) -> Outcome:
    bot = context.journal.bot
    avatar = await picture_of(
        bot, context.objects, context.readers, allow_private=context.settings.allow_private_addresses
    )
    must_sign_in = bot.config.authentication is not None and bot.config.authentication.always_authenticate
    identity = await identity_or_end(context, SignInNeeded(row="order.always_authenticate")) if must_sign_in else GUEST
    if not isinstance(identity, Identity):
        return identity
    waiting_room_s = bot.config.stop_options.waiting_room_timeout * 60
    early_s = knocks_in_s((bot.scheduled_for - context.clock.now()).total_seconds()) if bot.scheduled_for else 0.0
    is_return = bot.recording_started_at is not None
    limits = EntryLimits(
        context.clock,
        waiting_room_s,
        endless=is_return,
        early_s=0.0 if is_return else early_s,
        host_late=host_may_be_late(bot),
    )
    plan = StayPlan(
        context=context, commands=commands, platform=platform, link=link, limits=limits, avatar=avatar, move=move
    )
    tries = PageTries(plan, identity)
    for number in itertools.count(1):
        page = await _try_page(plan, number, tries.identity)
        if (outcome := await tries.believed(page)) is not None:
            return outcome
    raise AssertionError("pages are tried until one is believed")


async def _try_page(plan: StayPlan, number: int, identity: Identity) -> TriedPage:
    opening = open_session(
        plan.context, plan.platform, plan.commands, number=number, identity=identity, avatar=plan.avatar
    )
    try:
        async with opening as session:
            outcome = await _stay_until_cut_off(plan, session)
        return TriedPage(outcome=outcome, identity=session.identity, sat_s=session.sat_s)
    except PageError as error:  # the browser gave no page
        return TriedPage(outcome=broken(error), identity=identity)


async def _stay_until_cut_off(plan: StayPlan, session: MeetingSession) -> Outcome:
    # The page goes as soon as this host is cut off, whatever the stay waits for at that moment: another host is about
    # to knock, and the wait for an unreachable database may take longer than that.
    cut_off = plan.commands.cut_off
    try:
        async with asyncio.timeout(None) as deadline:

            async def vanish() -> None:
                await cut_off.wait()
                await session.vanish()
                deadline.reschedule(asyncio.get_running_loop().time())

            vanish_task = asyncio.create_task(vanish(), name=f"vanish {plan.context.journal.bot.id}")
            try:
                outcome = await _stay(plan, session)
            finally:
                await (vanish_task if cut_off.is_set() else end(vanish_task))
    except (PageError, TimeoutError):
        if not cut_off.is_set():
            raise
    return CutOff() if cut_off.is_set() else outcome


async def _stay(plan: StayPlan, session: MeetingSession) -> Outcome:
    # If the ending is unusual, what the page shows is stored before it goes.
    context, journal = plan.context, plan.context.journal
    outcome = await _knock(plan, session) or await _sit(plan, session)
    if isinstance(outcome, CutOff):
        return outcome
    if isinstance(outcome, Moved):
        await session.secure()
        plan.commands.left.set()
        await session.leave()
        return outcome
    if isinstance(outcome, Departed):
        await session.secure()  # a host that dies while the bot leaves must not lose any of it
        departure = outcome.departure
        for start_s, end_s in outcome.outages:
            await _written(plan, partial(journal.add_gap, start_s, end_s, "connection_lost"))
        await _written(plan, lambda: depart(journal, context.clock, departure))
    await _keep_facts(context, session, outcome)
    if isinstance(outcome, Departed):
        await renew(journal.bot, session.identity, session.page, context.accounts)
        if outcome.departure.reason not in (StopReason.KICKED, StopReason.MEETING_ENDED):
            await session.leave()
    return outcome


async def _knock(plan: StayPlan, session: MeetingSession) -> Outcome | None:
    # While another holder still has the bot, that one is watched meanwhile.
    if (move := plan.pending) is None:
        return await session.knock(plan.link, plan.limits)
    knock_task = asyncio.ensure_future(session.knock(plan.link, plan.limits))
    watch_task = asyncio.ensure_future(move.watch())
    try:
        await asyncio.wait({knock_task, watch_task}, return_when=asyncio.FIRST_COMPLETED)
        if watch_task.done():
            watch_task.result()  # raises if the bot could not be claimed: then it must not knock
        return await knock_task
    finally:
        await end(knock_task, watch_task)


async def _sit(plan: StayPlan, session: MeetingSession) -> Outcome:
    # A bot that another holder still has is claimed first; that holder leaves once this one records.
    context, journal = plan.context, plan.context.journal
    if (move := plan.pending) is None:
        away_cause, entered_at = _away_cause(plan), context.clock.now()
        session.observer.keep_frames()  # a disk that hangs may delay the row by a minute
        recording_start = await _written(plan, lambda: admit(journal, context.spool(), entered_at, away_cause))
        return await session.sit(started_ms=unix_ms(recording_start))
    await session.settle()
    await move.take_place()
    recording_start = journal.bot.recording_started_at or context.clock.now()
    relief_tasks: list[asyncio.Task[None]] = []

    def seconds() -> float:
        return (context.clock.now() - recording_start).total_seconds()

    def relieve() -> None:
        relief_tasks.append(asyncio.create_task(relieved(move, context.spool(), seconds()), name="relieve"))

    await journal.end_open_speech(seconds(), except_for=session.observer.roster.speaking)
    try:
        outcome = await session.sit(started_ms=unix_ms(recording_start), on_recording=relieve)
        # Also if the meeting ended meanwhile, so that the old page is not left behind.
        await asyncio.gather(*relief_tasks)
        return outcome
    finally:
        await end(*relief_tasks)


async def _written(plan: StayPlan, write: Callable[[], Awaitable[_Told]]) -> _Told:
    # Writes to the row and retries while the database is unreachable. A bot that gave up its seat for that would have
    # to knock again, and one that could not write that it leaves would come back into a meeting that is over or that
    # removed it.
    for pause_s in WRITE_PAUSES_S:
        try:
            return await write()
        except (Superseded, NotFound):
            raise
        except Exception:
            if plan.commands.cut_off.is_set():  # another host has the bot by now
                raise
            logger.exception("row not written", action="row_unwritten", bot_id=str(plan.context.journal.bot.id))
        await plan.commands.wait(plan.context.clock.sleep(pause_s))
    return await write()


def _away_cause(plan: StayPlan) -> str:
    # The first page after a move was preceded by the move.
    if plan.move is None or not plan.move.alone:
        return plan.context.journal.away_cause
    plan.move.alone = False
    return PLANNED_MOVE


async def _keep_facts(context: BotContext, session: MeetingSession, outcome: Outcome) -> None:
    evidence: dict[str, str] = {}
    if not is_ordinary(outcome):
        row, seen = decided_by(outcome)
        evidence |= await keep_diagnostics(
            context.journal.bot.id,
            session.page,
            session.observer.signals,
            row=row,
            seen=seen,
            objects=context.objects,
            answers=session.answers,
        )
    if session.recorder is not None:
        evidence |= await keep_claims(context.journal.bot.id, session.stay, session.observer.roster, context.objects)
    if evidence:
        await context.journal.keep_evidence(evidence)
    if session.recorder is not None:
        facts = await session.capture_facts(ask=session.answers)
        counters.add("stays", str(facts.get("backend") or "none"))
        for state in ("packets", "lost"):
            if isinstance(count := facts.get(state), int):
                counters.add("packets", "heard" if state == "packets" else state, count)
        await context.journal.mark(capture=facts)
