"""A planned move: the new holder's page is in the meeting before the old holder's page leaves.

The old holder drains and has offered its job. The new holder enters beside it as another guest of the same name, and
writes nothing until it has claimed the bot. Once its page is in the call and receives its signals, the new holder
claims the bot, so that the old one can no longer write to the row, and records. Then it asks the old holder to leave.
The old holder makes its recording durable, answers, and leaves. Both recordings overlap by a second, which the assembly
merges.

If the site does not admit the second page, the old holder leaves first and the bot joins again, with a gap. If the old
holder does not answer, the new one waits for it no longer than the leases last.
"""

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Protocol

from sederunt import log
from sederunt.clock import Clock
from sederunt.meetings.journal import Journal
from sederunt.meetings.record.spool import PieceSpool
from sederunt.meetings.record.stored_until import heard_until_s
from sederunt.model.bot import HOST_LOST, PLANNED_MOVE, SHORTEST_GAP_S

OVERLAP_S = 1.0  # for which both record: the first packets of a new page wait 0.2 s for their order
WATCH_S = 1.0  # interval of questions to the old holder while the new one enters

logger = log.get(component="meetings")


class HolderAnswer(StrEnum):
    """The result of a question to the old holder."""

    DONE = "done"
    SILENT = "silent"  # the holder exists but does not answer
    GONE = "gone"  # there is no holder


class Predecessor(Protocol):
    """The old holder, which is being replaced: `jobs.attend.HolderBefore`."""

    async def ask(self) -> HolderAnswer:
        """Ask whether it still holds the bot: DONE for yes."""

    async def leave(self) -> HolderAnswer:
        """Have it secure its recording and leave: DONE once all of it is on its disk."""


class Move:
    """The move of one bot to this holder. `is_over` is set once the bot is claimed in any way.

    Args:
        claim: makes this host the bot's holder, also in the journal. Raises Superseded.
        lease_s: how long a holder that does not answer may believe that it holds the bot.
    """

    def __init__(
        self,
        journal: Journal,
        predecessor: Predecessor,
        clock: Clock,
        *,
        claim: Callable[[], Awaitable[None]],
        lease_s: float,
    ) -> None:
        self._journal, self._predecessor, self._clock = journal, predecessor, clock
        self._claim, self._lease_s = claim, lease_s
        self.is_over = False
        self.alone = False  # the old holder had left before this one was inside

    async def watch(self) -> None:
        """Watch the old holder while this one enters; claim the bot if the old holder is gone."""
        silent_s = 0.0
        while True:
            answer = await self._predecessor.ask()
            silent_s = silent_s + WATCH_S if answer is HolderAnswer.SILENT else 0.0
            if answer is HolderAnswer.GONE or silent_s > self._lease_s:
                await self._take_alone()
                return
            await self._clock.sleep(WATCH_S)

    async def take_place(self) -> None:
        """Claim the bot while the old holder is still in the meeting. The old holder can write nothing from now on."""
        await self._claim()
        self.is_over = True
        logger.info("place taken", action="place_taken", bot_id=str(self._journal.bot.id))

    async def enter_alone(self) -> None:
        """Have the old holder leave first, because the site admits no second page; then claim the bot."""
        logger.warning("not let in beside the old page", action="move_refused", bot_id=str(self._journal.bot.id))
        await self._predecessor.leave()
        await self._take_alone()

    async def _take_alone(self) -> None:
        await self._claim()
        self.is_over = self.alone = True
        self._journal.away_cause = PLANNED_MOVE

    async def relieve(self, spool: PieceSpool, at_s: float) -> None:
        """Have the old holder leave once both have recorded for a while, and write the result of the move.

        Args:
            at_s: the second of the recording at which this holder began to record.
        """
        await self._clock.sleep(OVERLAP_S)
        answer = await self._predecessor.leave()
        if answer is not HolderAnswer.DONE:
            heard_s = await heard_until_s(self._journal, spool)
            if at_s - heard_s >= SHORTEST_GAP_S:
                await self._journal.add_gap(heard_s, at_s, HOST_LOST)
        await self._journal.note_move(at_s)
        self._journal.end_second_self()


async def relieved(move: Move, spool: PieceSpool, at_s: float) -> None:
    """Run `Move.relieve`; a failure must not end the meeting."""
    try:
        await move.relieve(spool, at_s)
    except asyncio.CancelledError:
        raise
    except Exception:
        logger.exception("old holder not relieved", action="relief_failed")
