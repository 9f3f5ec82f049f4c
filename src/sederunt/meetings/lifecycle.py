"""A bot's life in its meeting, from the knock to the door: each outcome is on the row before the next step begins.

Three things can bring a bot here: a new booking (status booting), a retry after a challenge (booting again), and the
death of the host that held it (joining, recording or leaving). A bot that was already recording comes back under the
same id and goes on with the same recording; the time away is marked as a gap.
"""

import asyncio
import itertools
from functools import partial
from typing import Any

from sederunt import log
from sederunt.clock import Clock, unix_ms
from sederunt.errors import PageError
from sederunt.meetings.context import BotContext, still_ours
from sederunt.meetings.diagnostics import keep_diagnostics
from sederunt.meetings.join.avatar import picture_of
from sederunt.meetings.join.identity import GUEST, Identity, NoIdentity, VoidIdentity, identity_of, renew
from sederunt.meetings.journal import conclude, give_up_lost, record, refuse, write_admission, write_departure
from sederunt.meetings.live.live_session import warm_up
from sederunt.meetings.outcomes import Broken, CutOff, Departed, Outcome, Refused, SignInNeeded, SignInRejected, broken
from sederunt.meetings.session.commands import Commands
from sederunt.meetings.session.meeting_session import MeetingSession
from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus, StopReason, Trigger
from sederunt.platforms.links import InvalidLink, MeetingLink
from sederunt.platforms.platform import Platform
from sederunt.platforms.registry import platform_of

MAX_PAGES = 3  # fresh pages in a row before a broken one is believed
STEADY_S = 60.0  # a page that was in the meeting for so long was a good one
# Before a fresh page, after the first broken one in a row, the second, and so on. The first is short: a page that
# merely crashed shall be back at once. The later ones outlive a network that is away.
PAUSES_S = (1.0, 5.0, 15.0, 30.0)
# A recording is given up only after it has been away for so long: a router that starts anew or a provider that
# stumbles takes minutes, and the rest of the meeting is worth more than they are.
OUTAGE_S = 300.0
MOST_PAGES = 20  # fresh pages in a row though each sat for a moment: each is one more coming and going in the meeting

logger = log.get(component="meetings")


async def attend(bot: Bot, context: BotContext, commands: Commands) -> None:
    """Bring the bot into its meeting, record, leave. Returns when the row says what came of it.

    Raises Superseded when another host took the bot over, and lets storage and database faults through: the job is
    then given out again.
    """
    if bot.status is BotStatus.LEAVING:
        await give_up_lost(bot, context, cause="host_lost")
        return
    if bot.stop_requested:  # while nobody held it: nobody wants to see it knock any more
        await conclude(bot, context, Refused(reason=StopReason.MANUALLY_STOPPED, row="order.stop"))
        return
    platform = platform_of(bot.config.service)
    try:
        link = platform.parse_link(bot.config.meeting_url)
    except InvalidLink:
        await refuse(bot, context, Refused(reason=StopReason.INVALID_MEETING_URL, row="link.form"))
        return
    if bot.status is BotStatus.BOOTING:
        bot = await record(bot, context, Trigger.LAUNCHED) or bot
    warming = asyncio.create_task(warm_up(bot, context), name=f"warm up {bot.id}")
    try:
        await _try_pages(bot, context, commands, platform, link)
    finally:
        warming.cancel()


async def _try_pages(bot: Bot, context: BotContext, commands: Commands, platform: Platform, link: MeetingLink) -> None:
    """Visit the meeting on fresh pages, as a guest first, until an outcome is worth believing."""
    avatar = await picture_of(bot, context.settings, context.objects)
    open_page = partial(MeetingSession, context=context, platform=platform, link=link, commands=commands, avatar=avatar)
    identity = await _sign_in(bot, context, SignInNeeded(row="order.always_authenticate")) if _insists(bot) else GUEST
    failures, away_cause = Failures(context.clock), "host_lost"
    for number in itertools.count(1):
        if not isinstance(identity, Identity):
            await conclude(bot, context, identity)
            return
        visit = open_page(bot=bot, number=number, identity=identity)
        outcome = await _visit(bot, context, visit, away_cause)
        if isinstance(outcome, CutOff):
            await conclude(bot, context, outcome)
            return
        bot = await still_ours(bot, context)
        used, identity = identity, visit.identity
        if isinstance(outcome, SignInRejected) and (another := used.next_after_rejection(identity)) is not None:
            identity = another
            continue
        if isinstance(outcome, SignInNeeded) and identity is GUEST:
            identity = await _sign_in(bot, context, outcome)
            continue
        if isinstance(outcome, Broken):
            failures.add(sat_s=visit.sat_s)
            away_cause = outcome.cause if visit.sat_s else away_cause  # what threw it out, not what kept it out
            if outcome.again and not failures.are_believed(recording=bot.recording_started_at is not None):
                logger.warning("page broken", action="page_broken", bot_id=str(bot.id), cause=outcome.cause)
                ordered = await _rest(bot, context, commands, failures.pause_s)
                if ordered is None:
                    continue
                outcome = ordered
        await conclude(bot, context, outcome)
        return


class Failures:
    """Broken pages in a row, and whether they are to be believed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0
        self._away_since = clock.monotonic()  # the last time that the bot sat

    def add(self, *, sat_s: float) -> None:
        """One more page broke, after it had been in the meeting for so long."""
        self._count = 1 if sat_s >= STEADY_S else self._count + 1
        if sat_s:
            self._away_since = self._clock.monotonic()

    def are_believed(self, *, recording: bool) -> bool:
        if not recording:
            return self._count >= MAX_PAGES
        away_s = self._clock.monotonic() - self._away_since
        return self._count >= MOST_PAGES or (self._count >= MAX_PAGES and away_s >= OUTAGE_S)

    @property
    def pause_s(self) -> float:
        return PAUSES_S[min(self._count, len(PAUSES_S)) - 1]


async def _rest(bot: Bot, context: BotContext, commands: Commands, pause_s: float) -> Outcome | None:
    """Wait before another page is tried. How it ended, where an order came meanwhile. Raises Superseded."""
    waiting = [context.clock.sleep(pause_s), commands.stop.wait(), commands.cut_off.wait()]
    tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(each) for each in waiting]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    if commands.cut_off.is_set():
        return CutOff()
    if (await still_ours(bot, context)).stop_requested or commands.stop.is_set():
        return Refused(reason=StopReason.MANUALLY_STOPPED, row="order.stop")
    return None


def _insists(bot: Bot) -> bool:
    return bot.config.authentication is not None and bot.config.authentication.always_authenticate


async def _sign_in(bot: Bot, context: BotContext, needed: SignInNeeded) -> Identity | Outcome:
    """As whom the bot goes on now that a guest is not let in, or how it ends."""
    try:
        return await identity_of(bot, context.accounts)
    except NoIdentity:
        return needed
    except VoidIdentity as error:
        return SignInRejected(row=str(error))


async def _visit(bot: Bot, context: BotContext, visit: MeetingSession, away_cause: str) -> Outcome:
    """One page: knock, sit, leave. What it shows of an odd ending is kept while it still stands."""
    try:
        async with visit:
            outcome = await visit.knock()
            if outcome is None:
                started = await write_admission(bot, context, away_cause)
                outcome = await visit.sit(started_ms=unix_ms(started))
            if isinstance(outcome, Departed):
                await write_departure(bot, context, outcome.departure)
            await _keep_facts(bot, context, visit, outcome)
            if isinstance(outcome, Departed):
                await renew(bot, visit.identity, visit.page, context.accounts)
                if outcome.departure.reason not in (StopReason.KICKED, StopReason.MEETING_ENDED):
                    await visit.leave()
        return outcome
    except PageError as error:  # the browser gave no page
        return broken(error)


async def _keep_facts(bot: Bot, context: BotContext, visit: MeetingSession, outcome: Outcome) -> None:
    """What was captured; of an ending that nobody ordered, the evidence."""
    if _wants_diagnostics(outcome):
        row, seen = _decided_by(outcome)
        page, objects = visit.page, context.objects
        kept = await keep_diagnostics(
            bot.id, page, visit.signals, row=row, seen=seen, objects=objects, answers=visit.answers
        )
        await context.bots.mark(bot.id, epoch=bot.epoch, evidence=kept)
    if visit.recorder is not None and not isinstance(outcome, CutOff):
        await context.bots.mark(bot.id, epoch=bot.epoch, capture=await visit.capture_facts(ask=visit.answers))


def _wants_diagnostics(outcome: Outcome) -> bool:
    """Every ending other than a normal one keeps what was seen. Long silence may be a capture that is deaf."""
    match outcome:
        case Departed(departure=departure):
            return departure.reason in (StopReason.KICKED, StopReason.SILENCE_DETECTION_TRIGGERED)
        case Refused(reason=StopReason.MANUALLY_STOPPED) | CutOff():
            return False
    return True


def _decided_by(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Departed(departure=departure):
            return departure.row or "", ""
        case Broken(cause=cause, seen=seen):
            return cause, seen
        case CutOff():
            return "", ""
    return outcome.row, ""
