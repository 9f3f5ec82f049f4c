"""Decides after each page that a bot tried: another page, under which identity and when, or a final outcome."""

from dataclasses import dataclass, replace

from sederunt import log
from sederunt.clock import Clock
from sederunt.errors import Superseded
from sederunt.meetings.context import BotContext
from sederunt.meetings.handover import Move
from sederunt.meetings.join.identity import GUEST, Identity, NoIdentity, VoidIdentity, identity_of
from sederunt.meetings.join.knock_times import pause_before_s
from sederunt.meetings.outcomes import Broken, Challenged, CutOff, Moved, Outcome, Refused, SignInNeeded, SignInRejected
from sederunt.meetings.session.commands import Commands
from sederunt.model.status import MEETING_FULL, StopReason
from sederunt.model.trouble import PageTrouble
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.platform import Platform

MAX_PAGES = 3  # fresh pages in a row before a broken one is believed
STEADY_S = 60.0  # a page that was in the meeting for this long counts as good
# Before a fresh page, after the first broken one in a row, the second, and so on. The first is short, because a page
# that merely crashed should be back at once. The later ones outlast a network outage.
PAUSES_S = (1.0, 5.0, 15.0, 30.0)
# A recording is given up only after it has been away this long: a router that restarts or an outage of a provider takes
# minutes, and the rest of the meeting is worth more than they are.
OUTAGE_S = 300.0
MOST_PAGES = 20  # fresh pages in a row, even if each sat for a moment: each joins and leaves in everybody's sight


KEPT_OUT = "kept_out"  # kept out of a recording without a reason that is final
STOPPED = Refused(reason=StopReason.MANUALLY_STOPPED, row="order.stop")

logger = log.get(component="meetings")


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedPage:
    """The result of one page."""

    outcome: Outcome
    identity: Identity  # the page's final identity
    sat_s: float = 0.0  # seconds in the meeting


@dataclass(frozen=True, kw_only=True, slots=True)
class StayPlan:
    """What all pages of one holder have in common."""

    context: BotContext
    commands: Commands
    platform: Platform
    link: MeetingLink
    limits: EntryLimits
    avatar: bytes | None
    move: Move | None

    @property
    def pending(self) -> Move | None:
        """Return the move while another holder still has the bot."""
        return self.move if self.move is not None and not self.move.is_over else None


class PageTries:
    """The results of one holder's pages so far, and what follows from them: a final outcome, or another page."""

    def __init__(self, plan: StayPlan, identity: Identity) -> None:
        self.identity = identity  # of the next page
        self._plan = plan
        self._journal = plan.context.journal
        self._failures = PageFailures(plan.context.clock)
        self._refusals = 0

    async def believed(self, page: TriedPage) -> Outcome | None:
        """Return the outcome that ends the tries; None if another page is to be opened now. Raises Superseded."""
        outcome = page.outcome
        if isinstance(outcome, CutOff | Moved):
            return outcome
        await self._journal.refresh()
        previous, self.identity = self.identity, page.identity
        match outcome:
            case SignInRejected() if (next_identity := previous.next_after_rejection(self.identity)) is not None:
                return self._go_on_as(next_identity)
            case SignInNeeded() if self.identity is GUEST:
                return self._go_on_as(await identity_or_end(self._plan.context, outcome))
            case _ if self._plan.pending is not None:
                await self._enter_alone(self._plan.pending)
                return None
            case Challenged(again=True) | Refused(unexplained=True):
                return await self._after_keeping_out(outcome)
            case Refused(cause=cause) if cause == MEETING_FULL and self._was_inside:
                return await self._come_back(outcome)  # the bot's former page may still count, and somebody may leave
            case Broken():
                return await self._after_break(outcome, page.sat_s)
        return outcome

    @property
    def _was_inside(self) -> bool:
        return self._journal.bot.recording_started_at is not None

    def _go_on_as(self, identity: Identity | Outcome) -> Outcome | None:
        if not isinstance(identity, Identity):
            return identity
        self.identity = identity
        self._plan.limits.begin_again()
        return None

    async def _enter_alone(self, move: Move) -> None:
        # The old holder has to leave first, because the site did not admit the new one beside it.
        if self._plan.commands.stop.is_set():
            raise Superseded(f"Bot {self._journal.bot.id} is to leave: its holder sees to it.")
        await move.enter_alone()
        self._plan.limits.begin_again()

    async def _after_keeping_out(self, outcome: Challenged | Refused) -> Outcome | None:
        # Use the caller's account if there is one: the site may admit no guests at all, and takes a person with an
        # account for no robot. A recording is worth more pages: the meeting goes on, and a fresh page may get in.
        if self.identity is GUEST and self._journal.bot.config.authentication is not None:
            identity = await identity_or_end(self._plan.context, SignInNeeded(row=outcome.row))
            if isinstance(identity, Identity) or not self._was_inside:
                return self._go_on_as(identity)
        if self._was_inside:
            return await self._come_back(outcome)
        return await self._after_refusal(outcome) if isinstance(outcome, Refused) else outcome

    async def _come_back(self, outcome: Challenged | Refused) -> Outcome | None:
        # A recording is tried again for as long as after a page that broke.
        result = await self._after_break(Broken(cause=KEPT_OUT, seen=outcome.row), 0.0)
        return outcome if isinstance(result, Broken) else result

    async def _after_refusal(self, outcome: Refused) -> Outcome | None:
        self._refusals += 1
        if self._refusals >= MAX_PAGES:
            return outcome
        return await self._pause(pause_before_s(self._refusals))

    async def _after_break(self, outcome: Broken, sat_s: float) -> Outcome | None:
        self._journal.note_trouble(PageTrouble(cause=outcome.cause, seen=outcome.seen, recovery=outcome.recovery))
        await self._journal.write_troubles()
        self._failures.add(sat_s=sat_s)
        if sat_s:  # the cause is what ended a stay, not what kept the bot out
            self._journal.away_cause = outcome.cause
        out_of_time = self._plan.limits.left_s <= 0 and not self._was_inside
        if out_of_time or not outcome.again or self._failures.are_believed(recording=self._was_inside):
            return outcome
        logger.warning("page broken", action="page_broken", bot_id=str(self._journal.bot.id), cause=outcome.cause)
        return await self._pause(self._failures.pause_s)

    async def _pause(self, pause_s: float) -> Outcome | None:
        # Returns an outcome if a command came meanwhile. Raises Superseded.
        commands = self._plan.commands
        await commands.wait(self._plan.context.clock.sleep(pause_s))
        if commands.cut_off.is_set():
            return CutOff()
        if commands.moved.is_set():
            commands.left.set()
            return Moved()
        if (await self._journal.refresh()).stop_requested or commands.stop.is_set():
            return STOPPED
        return None


class PageFailures:
    """Counts the broken pages of one holder."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0
        self._away_since = clock.monotonic()  # when the bot was last in the meeting

    def add(self, *, sat_s: float) -> None:
        """Count one more broken page, which was in the meeting for `sat_s` seconds."""
        self._count = 1 if sat_s >= STEADY_S else self._count + 1
        if sat_s:
            self._away_since = self._clock.monotonic()

    def are_believed(self, *, recording: bool) -> bool:
        """Return whether to stop trying pages; a recording is given up much later than a first try."""
        if not recording:
            return self._count >= MAX_PAGES
        away_s = self._clock.monotonic() - self._away_since
        return self._count >= MOST_PAGES or (self._count >= MAX_PAGES and away_s >= OUTAGE_S)

    @property
    def pause_s(self) -> float:
        """Return the seconds to wait before the next page."""
        return PAUSES_S[min(self._count, len(PAUSES_S)) - 1]


async def identity_or_end(context: BotContext, outcome: SignInNeeded) -> Identity | Outcome:
    """Return the identity with which to go on now that guests are not admitted, or how the bot ends."""
    try:
        return replace(await identity_of(context.journal.bot, context.accounts), asked_at=outcome.url)
    except NoIdentity:
        return outcome
    except VoidIdentity as error:
        return SignInRejected(row=str(error))
