"""A planned move: the new holder's page sits in the meeting before the old holder's leaves.

The old holder drains and offered its job. The new one enters beside it, as another guest of the same name, and writes
nothing: until it has claimed the bot it is nobody. Once its page is in the call and sees what is told there, it claims
the bot, so that no word of the old holder reaches the row any more, and records; then it asks the old one for its
place. That one makes durable what it heard, answers, and leaves. Both recordings overlap by a second, which the
assembly merges.

Where the site does not let a second one in, the old holder leaves first and the bot joins again, with a gap. Where
the old one is silent, it is waited for no longer than the leases hold.
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

OVERLAP_S = 1.0  # that both record: the first packets of a new page wait 0.2 s for their order
WATCH_S = 1.0  # how often the old holder is looked for while the new one is on its way in

logger = log.get(component="meetings")


class HolderAnswer(StrEnum):
    """What came of a question to the old holder."""

    DONE = "done"
    SILENT = "silent"  # it is there, and does not answer
    GONE = "gone"  # nobody is there


class Predecessor(Protocol):
    """The holder whose place is taken: `jobs.attend.HolderBefore`."""

    async def ask(self) -> HolderAnswer:
        """Ask whether it still holds its place: DONE for yes."""

    async def leave(self) -> HolderAnswer:
        """Have it secure what it heard, and leave: DONE once all of it is on its disk."""


class Move:
    """The move of one bot to this holder. `is_over` once the bot is claimed, by whichever way.

    Args:
        claim: makes this holder the holder; the journal knows it afterwards. Raises Superseded.
        lease_s: for how long a silent holder may believe that it holds the bot.
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
        """Look after the old holder while this one is on its way in; claims the bot where that one is gone."""
        silent_s = 0.0
        while True:
            answer = await self._predecessor.ask()
            silent_s = silent_s + WATCH_S if answer is HolderAnswer.SILENT else 0.0
            if answer is HolderAnswer.GONE or silent_s > self._lease_s:
                await self._take_alone()
                return
            await self._clock.sleep(WATCH_S)

    async def take_place(self) -> None:
        """Claim the bot while the old holder still sits. Nothing that it does is written from now on."""
        await self._claim()
        self.is_over = True
        logger.info("place taken", action="place_taken", bot_id=str(self._journal.bot.id))

    async def enter_alone(self) -> None:
        """Have the old holder leave first: the site lets no second one in. The bot is claimed afterwards."""
        logger.warning("not let in beside the old page", action="move_refused", bot_id=str(self._journal.bot.id))
        await self._predecessor.leave()
        await self._take_alone()

    async def _take_alone(self) -> None:
        await self._claim()
        self.is_over = self.alone = True
        self._journal.away_cause = PLANNED_MOVE

    async def relieve(self, spool: PieceSpool, at_s: float) -> None:
        """Have the old holder leave, once both have recorded for a while, and write what became of the move.

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
    """Run `Move.relieve`; that it failed must not end the meeting."""
    try:
        await move.relieve(spool, at_s)
    except asyncio.CancelledError:
        raise
    except Exception:
        logger.exception("old holder not relieved", action="relief_failed")
