"""Tracks how much of a bot's sound is in storage: a gap begins there, and the end of a stay waits for it."""

import asyncio

from sederunt import log
from sederunt.clock import Clock, unix_ms
from sederunt.meetings.journal import Journal
from sederunt.meetings.record.spool import PieceSpool, pauses

ASK_STORAGE_S = 5.0  # while a bot that came back waits to record
# How much later than the last stored piece a speaking mark may be: the length of sound that was in memory when the host
# died while storage was slow to refuse a piece.
UNSURE_S = 120.0

logger = log.get(component="meetings")


async def heard_until_s(journal: Journal, spool: PieceSpool) -> float:
    """Return the second of the recording up to which the bot heard; it may be too early, but never too late.

    The bot is in the meeting already and records nothing yet, so storage is not waited for. If it does not answer, this
    host's spool and the rows give a less exact answer.
    """
    gaps = journal.bot.gaps
    local_s = max(await spool.waiting_until_s(), gaps[-1].end if gaps else 0.0)
    try:
        async with asyncio.timeout(ASK_STORAGE_S):
            return max(local_s, await spool.stored_until_s())
    except Exception:
        logger.exception("storage not asked when the bot came back", action="gap_guessed", bot_id=str(journal.bot.id))
        # A speaking mark proves that the bot was in the meeting at that time.
        assert journal.bot.recording_started_at is not None, "a bot that came back was inside before"
        people = await journal.participants(with_events=True)
        marked_ms = max((event.timestamp for person in people for event in person.events), default=0)
        return max(local_s, (marked_ms - unix_ms(journal.bot.recording_started_at)) / 1000 - UNSURE_S)


async def store_rest(spool: PieceSpool, clock: Clock) -> None:
    """Store the remaining pieces of a bot that another host holds by now, however long that takes. Pieces that remain
    when this is cancelled stay on the disk for the next start here.
    """
    for pause_s in pauses():
        if await spool.sweep() == 0:
            return
        await clock.sleep(pause_s)


async def wait_until_stored(journal: Journal, spool: PieceSpool, clock: Clock) -> float:
    """Wait until storage has every piece of this host; return the second up to which the bot heard.

    Without this wait the recording would be cut short unnoticed. Raises Superseded if another host took the bot over
    meanwhile. The pieces of a bot whose deletion was requested are removed here instead.
    """
    has_failed = False
    for pause_s in pauses():
        try:
            if await spool.sweep() == 0:
                return await spool.stored_until_s()
        except Exception:
            if not has_failed:
                logger.exception("storage does not answer", action="storage_awaited", bot_id=str(journal.bot.id))
            has_failed = True
        await clock.sleep(pause_s)
        if (await journal.refresh()).delete_requested:
            await spool.discard()
            break
    return 0.0
