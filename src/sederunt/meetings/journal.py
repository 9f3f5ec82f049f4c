"""What came of a stay, or of a try at one, is written to the row: admission, gaps, departure, and every ending."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sederunt import log
from sederunt.clock import unix_ms
from sederunt.media.pieces import read_piece
from sederunt.meetings.context import BotContext, still_ours
from sederunt.meetings.live.messages import message_of
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
from sederunt.meetings.record.spool import pauses
from sederunt.meetings.session.roster import silenced
from sederunt.meetings.session.stop_rules import Departure
from sederunt.model.bot import Bot, Gap, Verdict
from sederunt.model.status import BotStatus, StopReason, Trigger
from sederunt.recordings.piece_keys import SOUND, pieces_prefix

MAX_CHALLENGES = 3  # retries of a bot that was taken for an unwanted robot
SHORTEST_GAP_S = 1.0
ASK_STORAGE_S = 5.0  # while a bot that came back waits to record
# By how much a speaking mark may be later than the last piece that was kept: what was in memory when the host died,
# while storage took its time to refuse a piece.
UNSURE_S = 120.0

logger = log.get(component="meetings")


async def record(bot: Bot, context: BotContext, trigger: Trigger, **facts: Any) -> Bot | None:
    """One transition under this holder's epoch."""
    return await context.bots.record_transition(bot.id, trigger, epoch=bot.epoch, **facts)


async def write_admission(bot: Bot, context: BotContext, away_cause: str) -> datetime:
    """Write that the bot is inside; returns the zero of its recording. A bot that came back marks a gap instead."""
    now = context.clock.now()
    if bot.recording_started_at is None:
        await record(bot, context, Trigger.ADMITTED, changes={"recording_started_at": now})
        return now
    await _mark_gap(bot, context, until=now, cause=away_cause)
    return bot.recording_started_at


async def _mark_gap(bot: Bot, context: BotContext, *, until: datetime, cause: str) -> None:
    """The stretch between the last piece that was kept and now becomes a gap of the recording."""
    assert bot.recording_started_at is not None
    zero = bot.recording_started_at
    start = await _known_heard_s(bot, context)
    await _silence(bot, context, start)
    end = (until - zero).total_seconds()
    if end - start < SHORTEST_GAP_S:
        return
    gap = Gap(start=round(start, 3), end=round(end, 3), cause=cause)
    await context.bots.mark(bot.id, epoch=bot.epoch, gaps=(*bot.gaps, gap))
    await context.bots.add_event(bot.id, "recording_gap", {"start": gap.start, "end": gap.end, "cause": cause})


async def _silence(bot: Bot, context: BotContext, at_s: float) -> None:
    """Nobody is known to have spoken on while the bot was away: a mark left open would name others' words too."""
    assert bot.recording_started_at is not None
    at_ms = unix_ms(bot.recording_started_at) + round(at_s * 1000)
    changes = silenced(await context.bots.participants(bot.id, with_events=True), at_ms)
    if not changes:
        return
    await context.bots.save_participants(bot.id, [change.participant for change in changes], epoch=bot.epoch)
    for change in changes:
        context.events.put(bot.id, message_of(change))


async def _known_heard_s(bot: Bot, context: BotContext) -> float:
    """Seconds into the recording up to which the bot heard, as far as is known at once: earlier at most, never later.

    It sits in the meeting already and records nothing yet, so that storage is not waited for: what that does not tell,
    this host's spool and the rows do, less exactly.
    """
    waiting = await asyncio.to_thread(context.spool_of(bot.id).newest)
    known_s = max(_end_s(waiting) if waiting else 0.0, bot.gaps[-1].end if bot.gaps else 0.0)
    try:
        async with asyncio.timeout(ASK_STORAGE_S):
            return max(known_s, await _stored_s(bot, context))
    except Exception:
        logger.exception("storage not asked when the bot came back", action="gap_guessed", bot_id=str(bot.id))
        return max(known_s, await _noted_s(bot, context))


async def _noted_s(bot: Bot, context: BotContext) -> float:
    """The same by the rows: the bot was there when somebody's speech was marked."""
    assert bot.recording_started_at is not None
    participants = await context.bots.participants(bot.id, with_events=True)
    marked_ms = max((event.timestamp for person in participants for event in person.events), default=0)
    return (marked_ms - unix_ms(bot.recording_started_at)) / 1000 - UNSURE_S


async def _stored_s(bot: Bot, context: BotContext) -> float:
    """The same by the last piece in storage. Raises what storage raises."""
    keys = await context.objects.keys(pieces_prefix(bot.id, SOUND))
    return _end_s(await context.objects.get(max(keys))) if keys else 0.0


def _end_s(piece: bytes) -> float:
    packets = read_piece(piece, salvage=True)
    return max((packet.start + packet.duration for packet in packets), default=0.0)


async def _all_stored_s(bot: Bot, context: BotContext) -> float:
    """Wait until storage has every piece of this host, and so tells up to where the bot heard: `_stored_s`.

    Who went on without would have the recording cut short, and nobody would know. Raises Superseded where another host
    took the bot over meanwhile. A bot whose deletion was asked for is not waited for: its pieces go here.
    """
    spool, told = context.spool_of(bot.id), False
    for pause_s in pauses():
        try:
            if await spool.sweep() == 0:
                return await _stored_s(bot, context)
        except Exception:
            if not told:
                logger.exception("storage does not answer", action="storage_awaited", bot_id=str(bot.id))
            told = True
        await context.clock.sleep(pause_s)
        if (await still_ours(bot, context)).delete_requested:
            await spool.discard()
            break
    return 0.0


async def write_departure(bot: Bot, context: BotContext, departure: Departure) -> None:
    """The bot is about to leave, for this reason."""
    trigger = Trigger.STOPPED if departure.reason is StopReason.MANUALLY_STOPPED else Trigger.ENDED
    data = {name: word for name, word in (("cause", departure.cause), ("evidence", departure.row)) if word}
    changes = {"recording_ended_at": context.clock.now()}
    await record(bot, context, trigger, reason=departure.reason, data=data, changes=changes)


async def conclude(bot: Bot, context: BotContext, outcome: Outcome) -> None:
    """Write the ending of this holder's try. What was recorded must be stored first, however long storage is away."""
    match outcome:
        case Departed():
            await _all_stored_s(bot, context)
            await record(bot, context, Trigger.LEFT)
        case Refused() if bot.status is BotStatus.RECORDING:
            await give_up_lost(bot, context, cause="host_lost", reason=_reason_after_loss(outcome))
        case _ if bot.status is BotStatus.RECORDING and not isinstance(outcome, CutOff):
            await give_up_lost(bot, context, cause=getattr(outcome, "cause", "host_lost"))
        case Refused():
            await refuse(bot, context, outcome)
        case SignInNeeded():
            await record(bot, context, Trigger.SIGN_IN_NEEDED, data={"evidence": outcome.row}, changes=_NEVER_ADMITTED)
        case SignInRejected():
            await record(
                bot, context, Trigger.SIGN_IN_REJECTED, data={"evidence": outcome.row}, changes=_NEVER_ADMITTED
            )
        case Challenged():
            await _challenged(bot, context, outcome)
        case Broken():
            data = {"cause": outcome.cause, "seen": outcome.seen[:500]}
            await record(bot, context, Trigger.CRASHED, data=data, changes={"verdict": Verdict.ENGINE_FAILED})
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


async def refuse(bot: Bot, context: BotContext, outcome: Refused) -> None:
    stopped = outcome.reason is StopReason.MANUALLY_STOPPED
    trigger = Trigger.STOPPED if stopped else Trigger.REFUSED
    await record(bot, context, trigger, reason=outcome.reason, data={"evidence": outcome.row}, changes=_NEVER_ADMITTED)


async def _challenged(bot: Bot, context: BotContext, outcome: Challenged) -> None:
    """The site took the bot for an unwanted robot: say so, and try again on a fresh context, at most three times."""
    if bot.status is not BotStatus.BOT_DETECTED:
        data = {"evidence": outcome.row, "attempt": bot.attempts + 1}
        changes = {**_NEVER_ADMITTED, **({} if outcome.again else {"attempts": MAX_CHALLENGES})}
        bot = await record(bot, context, Trigger.CHALLENGED, data=data, changes=changes) or bot
    if bot.attempts < MAX_CHALLENGES and not bot.stop_requested:
        await record(bot, context, Trigger.RETRIED, changes={"attempts": bot.attempts + 1})


async def retry_challenged(bot: Bot, context: BotContext) -> None:
    """A host died between the challenge and the retry: do the retry now."""
    await _challenged(bot, context, Challenged(row="host_lost"))


async def give_up_lost(bot: Bot, context: BotContext, *, cause: str, reason: StopReason | None = None) -> None:
    """The bot cannot go on; what was captured is processed, once storage has all of it."""
    heard_s = await _all_stored_s(bot, context)
    if bot.recording_started_at is not None:
        await _silence(bot, context, heard_s)
    ended = bot.recording_ended_at or _end_of_captured(bot, heard_s)
    await record(
        bot, context, Trigger.LOST, reason=reason, data={"cause": cause}, changes={"recording_ended_at": ended}
    )


def _end_of_captured(bot: Bot, last_s: float) -> datetime | None:
    if bot.recording_started_at is None:
        return None
    return datetime.fromtimestamp(bot.recording_started_at.timestamp() + last_s, UTC)
