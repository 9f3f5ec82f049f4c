"""Writes a bot's milestones to its row: admitted, leaving, and how it ended."""

from dataclasses import replace
from datetime import UTC, datetime

from sederunt import log
from sederunt.clock import Clock
from sederunt.meetings.join.knock_times import pause_before_s
from sederunt.meetings.journal import Journal
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
    ending_of,
    loss_of,
)
from sederunt.meetings.record.spool import PieceSpool
from sederunt.meetings.record.stored_until import heard_until_s, store_rest, wait_until_stored
from sederunt.meetings.session.stop_rules import Departure
from sederunt.model.bot import SHORTEST_GAP_S, Verdict
from sederunt.model.status import MAX_CHALLENGES, BotStatus, StopReason, Trigger

logger = log.get(component="meetings")


async def admit(journal: Journal, spool: PieceSpool, entered_at: datetime, away_cause: str) -> datetime:
    """Write when the bot was admitted; return the zero of its recording. A bot that came back marks a gap."""
    recording_start = journal.bot.recording_started_at
    if recording_start is None:
        await journal.move(Trigger.ADMITTED, changes={"recording_started_at": entered_at})
        return entered_at
    start_s, end_s = await heard_until_s(journal, spool), (entered_at - recording_start).total_seconds()
    await journal.end_open_speech(start_s)
    if end_s - start_s >= SHORTEST_GAP_S:
        await journal.add_gap(start_s, end_s, away_cause)
    return recording_start


async def depart(journal: Journal, clock: Clock, departure: Departure) -> None:
    """Write that the bot is about to leave, and why."""
    await journal.move(
        Trigger.STOPPED if departure.reason is StopReason.MANUALLY_STOPPED else Trigger.ENDED,
        reason=departure.reason,
        data={name: value for name, value in (("cause", departure.cause), ("evidence", departure.row)) if value},
        changes={"recording_ended_at": clock.now()},
    )


async def conclude(journal: Journal, spool: PieceSpool, clock: Clock, outcome: Outcome) -> None:
    """Write how this holder's try ended. The recording is stored first, however long storage is away."""
    match outcome:
        case CutOff():
            logger.warning("left: this host was cut off", action="cut_off", bot_id=str(journal.bot.id))
        case Moved():
            logger.info("left: another host has the bot", action="moved", bot_id=str(journal.bot.id))
            await store_rest(spool, clock)
        case Departed():
            await wait_until_stored(journal, spool, clock)
            await journal.move(Trigger.LEFT)
        case _ if journal.bot.status is BotStatus.RECORDING:
            cause, reason = loss_of(outcome, journal.away_cause)
            # A caller who stops a bot that is away does not want the rest of the meeting.
            away = None if reason is StopReason.MANUALLY_STOPPED else (journal.away_cause, clock.now())
            await give_up_lost(journal, spool, clock, cause=cause, reason=reason, away=away)
        case Challenged():
            await challenged(journal, clock, outcome)
        case _:
            await never_admitted(journal, outcome)


async def never_admitted(journal: Journal, outcome: Refused | SignInNeeded | SignInRejected | Broken) -> None:
    ending = ending_of(outcome)
    if ending.reason is StopReason.CALL_ALREADY_FINISHED and await journal.waited_for_seat():
        # The meeting took place while the bot waited for a host: that is the service's fault.
        ending = replace(ending, verdict=Verdict.NO_CAPACITY, data={**ending.data, "cause": "no_capacity"})
    await journal.move(ending.trigger, reason=ending.reason, data=ending.data, changes={"verdict": ending.verdict})


async def challenged(journal: Journal, clock: Clock, outcome: Challenged) -> None:
    """Write that the site took the bot for an unwanted robot, and begin a retry after a pause: at most three."""
    if journal.bot.status is not BotStatus.BOT_DETECTED:
        data = {"evidence": outcome.row, "attempt": journal.bot.attempts + 1}
        attempts = {} if outcome.again else {"attempts": MAX_CHALLENGES}
        await journal.move(Trigger.CHALLENGED, data=data, changes={"verdict": Verdict.NEVER_ADMITTED, **attempts})
    if not journal.bot.is_over:
        await clock.sleep(pause_before_s(journal.bot.attempts + 1))
        if (await journal.refresh()).stop_requested:
            return
        await journal.move(Trigger.RETRIED, changes={"attempts": journal.bot.attempts + 1})


async def give_up_lost(
    journal: Journal,
    spool: PieceSpool,
    clock: Clock,
    *,
    cause: str,
    reason: StopReason | None = None,
    away: tuple[str, datetime] | None = None,
) -> None:
    """Write that the bot cannot continue. Its recording is processed once storage has all of it.

    The status becomes leaving first, as for every bot that recorded, although the bot is out of the meeting already.

    Args:
        away: why the bot was not in the meeting at the end, and when it gave up: a last gap, after the recording's end.
    """
    if journal.bot.status is BotStatus.RECORDING:
        await journal.move(Trigger.LOST, reason=reason, data={"cause": cause})
    heard_s = await wait_until_stored(journal, spool, clock)
    ended_at = journal.bot.recording_ended_at
    if (recording_start := journal.bot.recording_started_at) is not None:
        await journal.end_open_speech(heard_s)
        if away is not None and not journal.bot.delete_requested:
            away_cause, gave_up_at = away
            if (until_s := (gave_up_at - recording_start).total_seconds()) - heard_s >= SHORTEST_GAP_S:
                await journal.add_gap(heard_s, until_s, away_cause)
        ended_at = ended_at or datetime.fromtimestamp(recording_start.timestamp() + heard_s, UTC)
    await journal.move(Trigger.LOST, data={"cause": cause}, changes={"recording_ended_at": ended_at})
