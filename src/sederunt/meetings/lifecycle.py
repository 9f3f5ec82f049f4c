"""One bot from its first knock to its ending, over as many pages as it takes.

Four things can bring a bot here: a new booking (status booting), a retry after a challenge (booting again), the death
of the host that held it (joining, recording or leaving), and a planned move (`handover`). A bot that was already
recording comes back under the same id and goes on with its recording; the time away is marked as a gap. Each outcome is
on the row before the next step begins.
"""

import asyncio
import itertools
from dataclasses import dataclass, replace

from sederunt import log, tally
from sederunt.bus.tasks import end
from sederunt.clock import unix_ms
from sederunt.errors import PageError, Superseded
from sederunt.meetings.context import BotContext
from sederunt.meetings.diagnostics import keep_claims, keep_diagnostics
from sederunt.meetings.handover import Move, relieved
from sederunt.meetings.join.avatar import picture_of
from sederunt.meetings.join.identity import GUEST, Identity, NoIdentity, VoidIdentity, identity_of, renew
from sederunt.meetings.join.tries import knocks_in_s, pause_before_s
from sederunt.meetings.journal import Journal
from sederunt.meetings.live.live_session import warm_up
from sederunt.meetings.milestones import admit, challenged, conclude, depart, give_up_lost, never_admitted
from sederunt.meetings.outcomes import (
    Broken,
    Challenged,
    CutOff,
    Departed,
    Moved,
    Outcome,
    Refused,
    SignInNeeded,
    SignInRejected,
    broken,
    decided_by,
    is_ordinary,
)
from sederunt.meetings.page_failures import MAX_PAGES, PageFailures
from sederunt.meetings.session.commands import Commands
from sederunt.meetings.session.meeting_session import MeetingSession, open_session
from sederunt.model.bot import PLANNED_MOVE
from sederunt.model.status import BotStatus, StopReason, Trigger
from sederunt.model.trouble import PageTrouble
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import InvalidLink, MeetingLink
from sederunt.platforms.platform import Platform
from sederunt.platforms.registry import platform_of

_STOPPED = Refused(reason=StopReason.MANUALLY_STOPPED, row="order.stop")

logger = log.get(component="meetings")


async def attend(context: BotContext, commands: Commands, *, move: Move | None = None) -> None:
    """Bring a bot into its meeting, record, leave. Returns when the row says what came of it.

    Args:
        move: where the bot is another holder's still, which sits in the meeting and gives its place to this one.

    Raises Superseded when another host took the bot over, and lets storage and database faults through: the job is
    then given out again.
    """
    journal, config = context.journal, context.journal.bot.config
    match journal.bot.status:
        case BotStatus.LEAVING:
            await give_up_lost(journal, context.spool(), context.clock, cause=journal.away_cause)
            return
        case BotStatus.BOT_DETECTED:  # a host died between the challenge and the retry
            await challenged(journal, context.clock, Challenged(row="host_lost"))
            return
    if journal.bot.stop_requested and move is not None:
        raise Superseded(f"Bot {journal.bot.id} is to leave: its holder sees to it.")
    if journal.bot.stop_requested:  # while nobody held it: nobody wants to see it knock any more
        await conclude(journal, context.spool(), context.clock, _STOPPED)
        return
    platform = platform_of(config.service)
    try:
        link = platform.parse_link(config.meeting_url)
    except InvalidLink:
        await never_admitted(journal, Refused(reason=StopReason.INVALID_MEETING_URL, row="link.form"))
        return
    if journal.bot.status is BotStatus.BOOTING:
        await journal.move(Trigger.LAUNCHED)
    warming = asyncio.create_task(warm_up(journal.bot, context.settings), name=f"warm up {journal.bot.id}")
    try:
        outcome = await _try_pages(context, commands, platform, link, move)
        await conclude(journal, context.spool(), context.clock, outcome)
    finally:
        warming.cancel()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tried:
    """What came of one page."""

    outcome: Outcome
    identity: Identity  # as whom it was in the end
    sat_s: float = 0.0  # seconds in the meeting


@dataclass(frozen=True, kw_only=True, slots=True)
class _Errand:
    """What every page of one holder is opened for, and with."""

    context: BotContext
    commands: Commands
    platform: Platform
    link: MeetingLink
    limits: EntryLimits
    avatar: bytes | None
    move: Move | None

    @property
    def pending(self) -> Move | None:
        """Return the move for as long as the bot is another holder's."""
        return self.move if self.move is not None and not self.move.is_over else None


async def _try_pages(
    context: BotContext, commands: Commands, platform: Platform, link: MeetingLink, move: Move | None
) -> Outcome:
    """Try fresh pages, as a guest first, until an outcome is worth believing; returns that one."""
    journal, bot = context.journal, context.journal.bot
    allow_private = context.settings.allow_private_addresses
    avatar = await picture_of(bot, context.objects, allow_private=allow_private)
    insists = bot.config.authentication is not None and bot.config.authentication.always_authenticate
    identity = await _sign_in(context, SignInNeeded(row="order.always_authenticate")) if insists else GUEST
    failures, refusals, away_cause = PageFailures(context.clock), 0, journal.away_cause
    waiting_room_s = bot.config.stop_options.waiting_room_timeout * 60
    early_s = knocks_in_s((bot.scheduled_for - context.clock.now()).total_seconds()) if bot.scheduled_for else 0.0
    came_back = bot.recording_started_at is not None
    limits = EntryLimits(context.clock, waiting_room_s, endless=came_back, early_s=0.0 if came_back else early_s)
    errand = _Errand(
        context=context, commands=commands, platform=platform, link=link, limits=limits, avatar=avatar, move=move
    )
    for number in itertools.count(1):
        if not isinstance(identity, Identity):
            return identity
        tried = await _try_page(errand, number, identity, away_cause)
        if isinstance(tried.outcome, CutOff | Moved):
            return tried.outcome
        await journal.refresh()
        used, identity = identity, tried.identity
        match tried.outcome:
            case SignInRejected() if (another := used.next_after_rejection(identity)) is not None:
                identity = another
                limits.begin_again()
                continue
            case SignInNeeded() if identity is GUEST:
                identity = await _sign_in(context, tried.outcome)
                limits.begin_again()
                continue
            case _ if errand.pending is not None:
                if commands.stop.is_set():
                    raise Superseded(f"Bot {bot.id} is to leave: its holder sees to it.")
                await errand.pending.enter_alone()
                limits.begin_again()
                continue
            case Refused(unexplained=True) if journal.bot.recording_started_at is None:
                if identity is GUEST and bot.config.authentication is not None:  # guests may be kept out altogether
                    identity = await _sign_in(context, SignInNeeded(row=tried.outcome.row))
                    limits.begin_again()
                    continue
                refusals += 1
                if refusals < MAX_PAGES:
                    if (ended := await _pause(context, commands, pause_before_s(refusals))) is None:
                        continue
                    return ended
            case Broken(cause=cause, again=again):
                await _tell_of(journal, tried.outcome)
                failures.add(sat_s=tried.sat_s)
                away_cause = cause if tried.sat_s else away_cause  # what threw it out, not what kept it out
                if limits.left_s <= 0 and journal.bot.recording_started_at is None:
                    return tried.outcome
                if again and not failures.are_believed(recording=journal.bot.recording_started_at is not None):
                    logger.warning("page broken", action="page_broken", bot_id=str(bot.id), cause=cause)
                    if (ended := await _pause(context, commands, failures.pause_s)) is None:
                        continue
                    return ended
        return tried.outcome
    raise AssertionError("pages are tried until one is believed")


async def _tell_of(journal: Journal, broken: Broken) -> None:
    """Write why a page is given up."""
    journal.note_trouble(PageTrouble(cause=broken.cause, seen=broken.seen, recovery=broken.recovery))
    await journal.write_troubles()


async def _pause(context: BotContext, commands: Commands, pause_s: float) -> Outcome | None:
    """Wait before another page is tried; returns the outcome where a command came meanwhile. Raises Superseded."""
    await commands.wait(context.clock.sleep(pause_s))
    if commands.cut_off.is_set():
        return CutOff()
    if commands.moved.is_set():
        commands.left.set()
        return Moved()
    if (await context.journal.refresh()).stop_requested or commands.stop.is_set():
        return _STOPPED
    return None


async def _sign_in(context: BotContext, needed: SignInNeeded) -> Identity | Outcome:
    """Return as whom the bot goes on now that a guest is not let in, or how it ends."""
    try:
        return replace(await identity_of(context.journal.bot, context.accounts), asked_at=needed.url)
    except NoIdentity:
        return needed
    except VoidIdentity as error:
        return SignInRejected(row=str(error))


async def _try_page(errand: _Errand, number: int, identity: Identity, away_cause: str) -> _Tried:
    """Open one page: knock, sit, leave. What it shows of an odd ending is kept while it still stands."""
    context, journal = errand.context, errand.context.journal
    opening = open_session(
        context, errand.platform, errand.commands, number=number, identity=identity, avatar=errand.avatar
    )
    try:
        async with opening as session:
            outcome = await _knock(errand, session) or await _sit(errand, session, away_cause)
            if isinstance(outcome, Moved):
                await session.secure()
                errand.commands.left.set()
                await session.leave()
                return _Tried(outcome=outcome, identity=session.identity, sat_s=session.sat_s)
            if isinstance(outcome, Departed):
                await session.secure()  # a host that dies while it leaves shall take nothing along
                await depart(journal, context.clock, outcome.departure)
            await _keep_facts(context, session, outcome)
            if isinstance(outcome, Departed):
                await renew(journal.bot, session.identity, session.page, context.accounts)
                if outcome.departure.reason not in (StopReason.KICKED, StopReason.MEETING_ENDED):
                    await session.leave()
        return _Tried(outcome=outcome, identity=session.identity, sat_s=session.sat_s)
    except PageError as error:  # the browser gave no page
        return _Tried(outcome=broken(error), identity=identity)


async def _knock(errand: _Errand, session: MeetingSession) -> Outcome | None:
    """Try to get in; while the bot is another's still, look after that one meanwhile."""
    if (move := errand.pending) is None:
        return await session.knock(errand.link, errand.limits)
    knocking = asyncio.ensure_future(session.knock(errand.link, errand.limits))
    watching = asyncio.ensure_future(move.watch())
    try:
        await asyncio.wait({knocking, watching}, return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()  # a bot that could not be claimed is nobody's to knock for
        return await knocking
    finally:
        await end(knocking, watching)


async def _sit(errand: _Errand, session: MeetingSession, away_cause: str) -> Outcome:
    """Record; a bot that is another's still is claimed first, and that one leaves when this one records."""
    context, journal = errand.context, errand.context.journal
    if (move := errand.pending) is None:
        zero = await admit(journal, context.spool(), context.clock, _away_cause(errand, away_cause))
        return await session.sit(started_ms=unix_ms(zero))
    await session.settle()
    await move.take_place()
    zero = journal.bot.recording_started_at or context.clock.now()
    relieving: list[asyncio.Task[None]] = []

    def seconds() -> float:
        return (context.clock.now() - zero).total_seconds()

    def relieve() -> None:
        relieving.append(asyncio.create_task(relieved(move, context.spool(), seconds()), name="relieve"))

    await journal.end_open_speech(seconds(), but=session.observer.roster.speaking)
    try:
        outcome = await session.sit(started_ms=unix_ms(zero), on_recording=relieve)
        await asyncio.gather(*relieving)  # also where the meeting ended meanwhile: the old page is not left behind
        return outcome
    finally:
        await end(*relieving)


def _away_cause(errand: _Errand, otherwise: str) -> str:
    """Return why the bot was away before this page: because of its move, where this is the first page after it."""
    if errand.move is None or not errand.move.alone:
        return otherwise
    errand.move.alone = False
    return PLANNED_MOVE


async def _keep_facts(context: BotContext, session: MeetingSession, outcome: Outcome) -> None:
    """Write what was captured, what was claimed, and, of an ending that nobody ordered, what the page showed."""
    kept: dict[str, str] = {}
    if not is_ordinary(outcome):
        row, seen = decided_by(outcome)
        kept |= await keep_diagnostics(
            context.journal.bot.id,
            session.page,
            session.observer.signals,
            row=row,
            seen=seen,
            objects=context.objects,
            answers=session.answers,
        )
    if session.recorder is not None:
        kept |= await keep_claims(context.journal.bot.id, session.stay, session.observer.roster, context.objects)
    if kept and not isinstance(outcome, CutOff):
        await context.journal.keep_evidence(kept)
    if session.recorder is not None and not isinstance(outcome, CutOff):
        facts = await session.capture_facts(ask=session.answers)
        tally.add("stays", str(facts.get("backend") or "none"))
        for state in ("packets", "lost"):
            if isinstance(count := facts.get(state), int):
                tally.add("packets", "heard" if state == "packets" else state, count)
        await context.journal.mark(capture=facts)
