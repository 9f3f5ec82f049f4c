"""A bot's life in its meeting, from the knock to the door: each outcome is on the row before the next step begins.

Three things can bring a bot here: a new booking (status booting), a retry after a challenge (booting again), and the
death of the host that held it (joining, recording or leaving). A bot that was already recording comes back under the
same id and goes on with the same recording; the time away is marked as a gap.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sederunt import log
from sederunt.clock import unix_ms
from sederunt.media.pieces import read_piece
from sederunt.meetings.avatar import picture_of
from sederunt.meetings.evidence import keep_evidence
from sederunt.meetings.orders import Orders
from sederunt.meetings.outcomes import (
    Broken,
    Challenged,
    CutOff,
    Departed,
    Outcome,
    Refused,
    SignInNeeded,
    SignInRejected,
)
from sederunt.meetings.seat import Seat
from sederunt.meetings.spool import SOUND, pieces_prefix
from sederunt.meetings.visit import Visit
from sederunt.model.bot import Bot, Gap, Verdict
from sederunt.model.status import BotStatus, StopReason, Trigger
from sederunt.platforms.platform import InvalidLink, MeetingLink, Platform
from sederunt.platforms.registry import platform_of

MAX_PAGES = 3  # fresh pages per holder before a broken one is believed
MAX_CHALLENGES = 3  # retries of a bot that was taken for an unwanted robot
SHORTEST_GAP_S = 1.0

logger = log.get(room="meetings")


async def attend(bot: Bot, seat: Seat, orders: Orders) -> None:
    """Bring the bot into its meeting, record, leave. Returns when the row says what came of it.

    Raises Superseded when another host took the bot over, and lets storage and database faults through: the job is
    then given out again.
    """
    if bot.status is BotStatus.LEAVING:
        await give_up_lost(bot, seat, cause="host_lost")
        return
    platform = platform_of(bot.config.service)
    try:
        link = platform.parse_link(bot.config.meeting_url)
    except InvalidLink:
        await _refuse(bot, seat, Refused(reason=StopReason.INVALID_MEETING_URL, row="link.form"))
        return
    if bot.status is BotStatus.BOOTING:
        bot = await _record(bot, seat, Trigger.LAUNCHED) or bot
    await _try_pages(bot, seat, orders, platform, link)


async def _try_pages(bot: Bot, seat: Seat, orders: Orders, platform: Platform, link: MeetingLink) -> None:
    """Visit the meeting on fresh pages until an outcome is worth believing."""
    away_cause = "host_lost"
    avatar = await picture_of(bot, seat.settings, seat.objects)
    for page_number in range(1, MAX_PAGES + 1):
        visit = Visit(
            bot=bot, seat=seat, platform=platform, link=link, orders=orders, number=page_number, avatar=avatar
        )
        outcome = await _visit(bot, seat, visit, away_cause)
        bot = await seat.bots.get(bot.id)
        if not isinstance(outcome, Broken) or page_number == MAX_PAGES:
            await _conclude(bot, seat, outcome)
            return
        away_cause = outcome.cause
        logger.warning("page broken, trying a fresh one", action="page_broken", bot_id=str(bot.id), cause=outcome.cause)


async def _visit(bot: Bot, seat: Seat, visit: Visit, away_cause: str) -> Outcome:
    """One page: knock, sit, leave. Evidence is kept while the page still stands."""
    async with visit:
        outcome = await visit.knock(lambda reading: None)
        if outcome is None:
            started = await _admitted(bot, seat, away_cause)
            outcome = await visit.sit(started_ms=unix_ms(started))
            if isinstance(outcome, Departed):
                await _leave(bot, seat, visit, outcome)
        if _wants_evidence(outcome):
            assert visit.page is not None
            row, seen = _decided_by(outcome)
            kept = await keep_evidence(
                bot.id,
                visit.page,
                visit.signals,
                row=row,
                seen=seen,
                objects=seat.objects,
                answers=_page_answers(outcome),
            )
            await seat.bots.mark(bot.id, epoch=bot.epoch, evidence=kept)
        if visit.recorder is not None and not isinstance(outcome, CutOff):
            await seat.bots.mark(bot.id, epoch=bot.epoch, capture=await visit.capture_facts(ask=_page_answers(outcome)))
    return outcome


async def _admitted(bot: Bot, seat: Seat, away_cause: str) -> datetime:
    """Write that the bot is inside; returns the zero of its recording. A bot that came back marks a gap instead."""
    now = seat.clock.now()
    if bot.recording_started_at is None:
        await _record(bot, seat, Trigger.ADMITTED, changes={"recording_started_at": now})
        return now
    await _mark_gap(bot, seat, until=now, cause=away_cause)
    return bot.recording_started_at


async def _mark_gap(bot: Bot, seat: Seat, *, until: datetime, cause: str) -> None:
    """The stretch between the last piece that was kept and now becomes a gap of the recording."""
    assert bot.recording_started_at is not None
    zero = bot.recording_started_at
    start = await _last_heard_s(bot, seat)
    end = (until - zero).total_seconds()
    if end - start < SHORTEST_GAP_S:
        return
    gap = Gap(start=round(start, 3), end=round(end, 3), cause=cause)
    await seat.bots.mark(bot.id, epoch=bot.epoch, gaps=(*bot.gaps, gap))
    await seat.bots.add_event(bot.id, "recording_gap", {"start": gap.start, "end": gap.end, "cause": cause})


async def _last_heard_s(bot: Bot, seat: Seat) -> float:
    """Seconds into the recording up to which pieces of earlier holders and pages are safe."""
    await seat.spool_of(bot.id).sweep()
    keys = await seat.objects.keys(pieces_prefix(bot.id, SOUND))
    if not keys:
        return 0.0
    packets = read_piece(await seat.objects.get(max(keys)), salvage=True)
    return max((packet.start + packet.duration for packet in packets), default=0.0)


async def _leave(bot: Bot, seat: Seat, visit: Visit, outcome: Departed) -> None:
    """Say why, then go; the recorder closes with the visit."""
    departure = outcome.departure
    trigger = Trigger.STOPPED if departure.reason is StopReason.MANUALLY_STOPPED else Trigger.ENDED
    data = {name: word for name, word in (("cause", departure.cause), ("evidence", departure.row)) if word}
    changes = {"recording_ended_at": seat.clock.now()}
    await _record(bot, seat, trigger, reason=departure.reason, data=data, changes=changes)
    if departure.reason not in (StopReason.KICKED, StopReason.MEETING_ENDED):
        await visit.leave()


async def _conclude(bot: Bot, seat: Seat, outcome: Outcome) -> None:
    """Write the ending of this holder's try."""
    match outcome:
        case Departed():
            await _record(bot, seat, Trigger.LEFT)
        case Refused() if bot.status is BotStatus.RECORDING:
            await give_up_lost(bot, seat, cause="host_lost", reason=_reason_after_loss(outcome))
        case _ if bot.status is BotStatus.RECORDING and not isinstance(outcome, CutOff):
            await give_up_lost(bot, seat, cause=getattr(outcome, "cause", "host_lost"))
        case Refused():
            await _refuse(bot, seat, outcome)
        case SignInNeeded():
            await _record(bot, seat, Trigger.SIGN_IN_NEEDED, data={"evidence": outcome.row}, changes=_NEVER_ADMITTED)
        case SignInRejected():
            await _record(bot, seat, Trigger.SIGN_IN_REJECTED, data={"evidence": outcome.row}, changes=_NEVER_ADMITTED)
        case Challenged():
            await _challenged(bot, seat, outcome)
        case Broken():
            data = {"cause": outcome.cause, "seen": outcome.seen[:500]}
            await _record(bot, seat, Trigger.CRASHED, data=data, changes={"verdict": Verdict.ENGINE_FAILED})
        case CutOff():
            logger.warning("left: this host was cut off", action="cut_off", bot_id=str(bot.id))


_NEVER_ADMITTED: Mapping[str, Any] = {"verdict": Verdict.NEVER_ADMITTED}

# What a refusal means for a bot that had been inside before: the meeting went on or ended without it.
_AFTER_LOSS: Mapping[StopReason | None, StopReason | None] = {
    StopReason.CALL_ALREADY_FINISHED: StopReason.MEETING_ENDED,
    StopReason.INVALID_MEETING_URL: StopReason.MEETING_ENDED,
    StopReason.MANUALLY_STOPPED: StopReason.MANUALLY_STOPPED,
    StopReason.REQUEST_DENIED: StopReason.KICKED,
}


def _reason_after_loss(outcome: Refused) -> StopReason | None:
    return _AFTER_LOSS.get(outcome.reason)


async def _refuse(bot: Bot, seat: Seat, outcome: Refused) -> None:
    stopped = outcome.reason is StopReason.MANUALLY_STOPPED
    trigger = Trigger.STOPPED if stopped else Trigger.REFUSED
    await _record(bot, seat, trigger, reason=outcome.reason, data={"evidence": outcome.row}, changes=_NEVER_ADMITTED)


async def _challenged(bot: Bot, seat: Seat, outcome: Challenged) -> None:
    """The site took the bot for an unwanted robot: say so, and try again on a fresh context, at most three times."""
    if bot.status is not BotStatus.BOT_DETECTED:
        data = {"evidence": outcome.row, "attempt": bot.attempts + 1}
        bot = await _record(bot, seat, Trigger.CHALLENGED, data=data, changes=_NEVER_ADMITTED) or bot
    if bot.attempts < MAX_CHALLENGES and not bot.stop_requested:
        await _record(bot, seat, Trigger.RETRIED, changes={"attempts": bot.attempts + 1})


async def retry_challenged(bot: Bot, seat: Seat) -> None:
    """A host died between the challenge and the retry: do the retry now."""
    await _challenged(bot, seat, Challenged(row="host_lost"))


async def give_up_lost(bot: Bot, seat: Seat, *, cause: str, reason: StopReason | None = None) -> None:
    """The bot cannot go on; what was captured is processed."""
    await seat.spool_of(bot.id).sweep()
    ended = bot.recording_ended_at or _end_of_captured(bot, await _last_heard_s(bot, seat))
    await _record(bot, seat, Trigger.LOST, reason=reason, data={"cause": cause}, changes={"recording_ended_at": ended})


def _end_of_captured(bot: Bot, last_s: float) -> datetime | None:
    if bot.recording_started_at is None:
        return None
    return datetime.fromtimestamp(bot.recording_started_at.timestamp() + last_s, UTC)


async def _record(bot: Bot, seat: Seat, trigger: Trigger, **facts: Any) -> Bot | None:
    """One transition under this holder's epoch."""
    return await seat.bots.record_transition(bot.id, trigger, epoch=bot.epoch, **facts)


def _page_answers(outcome: Outcome) -> bool:
    """A dead or frozen page is asked nothing more: each question would cost its deadline, and the meeting goes on."""
    return not (isinstance(outcome, Broken) and outcome.cause in ("page_crashed", "page_stuck"))


def _wants_evidence(outcome: Outcome) -> bool:
    """Every ending other than a normal one keeps what was seen."""
    match outcome:
        case Departed(departure=departure):
            return departure.reason is StopReason.KICKED
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
