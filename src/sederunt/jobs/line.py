"""Works through the line for seats once a second: sends bots to hosts, tells their places, or ends them unseated."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sederunt import log
from sederunt.bus.heartbeat import Heartbeats
from sederunt.clock import Clock
from sederunt.database.bots import Bots
from sederunt.database.waiting import LineEntry, WaitingBots, by_account, unclaimed
from sederunt.errors import NotFound, Superseded
from sederunt.jobs.installation import Seats, seats_of
from sederunt.jobs.seating import LEAD_S, DueBot, InUse, Lack, SeatLimits, Waiting, plan
from sederunt.model.bot import Verdict
from sederunt.model.status import Trigger
from sederunt.transcription.models import is_live_here

logger = log.get(component="jobs")

UNCLAIMED_S = 1.0  # how long a bot may lie in the hosts' queue before it counts as waiting
# Hosts of an older version send no heartbeats. If no host was ever heard, bots are sent off after this time.
UNHEARD_S = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Walked:
    """The result of one walk along the line."""

    sent: int = 0
    told: int = 0
    ended: int = 0


class WaitingLine:
    """Walks along the line.

    Args:
        heartbeats: of all processes; None to send every due bot.
        longest_wait_s: how long a bot waits for a seat before it ends.
    """

    def __init__(
        self,
        bots: Bots,
        waiting: WaitingBots,
        clock: Clock,
        *,
        limits: SeatLimits,
        longest_wait_s: float,
        heartbeats: Heartbeats | None = None,
    ) -> None:
        self._bots, self._waiting, self._clock = bots, waiting, clock
        self._limits, self._longest_wait_s, self._heartbeats = limits, longest_wait_s, heartbeats
        self._told: dict[UUID, int] = {}  # the place that each bot was told last, to spare the database

    async def walk(self) -> Walked:
        """Walk along the line once."""
        now = self._clock.now()
        due_bots = await self._waiting.due(now + timedelta(seconds=LEAD_S))
        at_work = await self._waiting.at_work()
        booting = unclaimed(at_work)
        in_use = InUse(
            by_account=by_account(at_work),
            live=sum(is_live_here(bot.model) for bot in at_work),
            unclaimed=len(booting),
        )
        seating = plan(map(_due_bot, due_bots), now, self._seats(due_bots, now), in_use, self._limits)
        in_queue = [entry for entry in booting if now - entry.wanted_at >= timedelta(seconds=UNCLAIMED_S)]
        line = _line(in_queue, seating.wait)
        overdue = [waiting for waiting in line if (now - waiting.since).total_seconds() > self._longest_wait_s]
        overdue_ids = {waiting.id for waiting in overdue}
        # Before the others are sent, which takes a transaction each, so that nobody learns it after the due moment.
        told_count = 0
        try:
            told_count = await self._tell([waiting for waiting in line if waiting.id not in overdue_ids])
        except Exception:  # bots with a seat must not miss a meeting because of this
            logger.exception("places in the line not written", action="line_untold")
        sent_ids = await self._bots.send_off(seating.send, now + timedelta(seconds=LEAD_S))
        for waiting in overdue:
            try:
                await self._end(waiting, now)
            except Exception:
                logger.exception("bot not ended", action="line_unended", bot_id=str(waiting.id))
        return Walked(sent=len(sent_ids), told=told_count, ended=len(overdue))

    def _seats(self, due_bots: Sequence[LineEntry], now: datetime) -> Seats | None:
        if self._heartbeats is None:
            return None
        hosts = self._heartbeats.living("host")
        is_unheard = not hosts and not self._heartbeats.silent("host")
        if is_unheard and due_bots and now - due_bots[0].wanted_at > timedelta(seconds=UNHEARD_S):
            return None
        return seats_of(hosts)

    async def _tell(self, line: Sequence[Waiting]) -> int:
        moved_bots = [bot for bot in line if bot.id not in self._told or bot.place * 2 <= self._told[bot.id]]
        places = {bot.id: {"place": bot.place, "waiting": bot.of, "reason": bot.lack.value} for bot in moved_bots}
        count = await self._waiting.tell(places) if places else 0
        # After the write: what the database did not take is told at the next walk.
        self._told = {bot.id: self._told.get(bot.id, bot.place) for bot in line} | {
            bot.id: bot.place for bot in moved_bots
        }
        return count

    async def _end(self, waiting: Waiting, now: datetime) -> None:
        data = {
            "cause": "no_capacity",
            "reason": waiting.lack.value,
            "waited_s": round((now - waiting.since).total_seconds(), 1),
        }
        try:
            await self._bots.record_transition(
                waiting.id, Trigger.UNSEATED, data=data, epoch=0, changes={"verdict": Verdict.NO_CAPACITY}
            )
        except (Superseded, NotFound):  # a host just took it, or its caller deleted it
            return
        logger.warning("bot got no seat in time", action="bot_unseated", bot_id=str(waiting.id), **data)


def _due_bot(entry: LineEntry) -> DueBot:
    return DueBot(id=entry.id, account_id=entry.account_id, at=entry.wanted_at, live=is_live_here(entry.model))


def _line(in_queue: Sequence[LineEntry], waiting: Sequence[Waiting]) -> list[Waiting]:
    """Return the whole line: bots that were sent off and wait for a host come first."""
    total, ahead = len(in_queue) + len(waiting), len(in_queue)
    first = [
        Waiting(id=entry.id, place=place, of=total, lack=Lack.NO_SEAT, since=entry.wanted_at)
        for place, entry in enumerate(in_queue, start=1)
    ]
    rest = [Waiting(id=bot.id, place=ahead + bot.place, of=total, lack=bot.lack, since=bot.since) for bot in waiting]
    return [*first, *rest]
