"""Works through the line for seats once a second: bots are sent to hosts, told their place, or end unseated."""

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

UNCLAIMED_S = 1.0  # so long a bot may lie in the queue of the hosts before it counts as waiting
# Hosts of an older version send no heartbeats. Where no host was ever heard, bots are sent off after this time.
UNHEARD_S = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Walked:
    """What one walk along the line did."""

    sent: int = 0
    told: int = 0
    ended: int = 0


class WaitingLine:
    """Walks along the line.

    Args:
        heartbeats: of all processes; None to send every bot whose time has come.
        longest_wait_s: after which a bot that got no seat ends.
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
        self._told: dict[UUID, int] = {}  # the place that each was told last, to spare the database

    async def walk(self) -> Walked:
        """Walk along the line once."""
        now = self._clock.now()
        due = await self._waiting.due(now + timedelta(seconds=LEAD_S))
        at_work = await self._waiting.at_work()
        booting = unclaimed(at_work)
        used = InUse(
            by_account=by_account(at_work),
            live=sum(is_live_here(bot.model) for bot in at_work),
            unclaimed=len(booting),
        )
        made = plan(map(_due_bot, due), now, self._seats(due, now), used, self._limits)
        in_queue = [entry for entry in booting if now - entry.wanted_at >= timedelta(seconds=UNCLAIMED_S)]
        line = _line(in_queue, made.wait)
        ended = [waiting for waiting in line if (now - waiting.since).total_seconds() > self._longest_wait_s]
        gone = {waiting.id for waiting in ended}
        # Before the others are sent, which takes a transaction each: nobody shall learn it after the due moment.
        told = 0
        try:
            told = await self._tell([waiting for waiting in line if waiting.id not in gone])
        except Exception:  # whoever has a seat does not miss a meeting for it
            logger.exception("places in the line not written", action="line_untold")
        sent = await self._bots.send_off(made.send, now + timedelta(seconds=LEAD_S))
        for waiting in ended:
            try:
                await self._end(waiting, now)
            except Exception:
                logger.exception("bot not ended", action="line_unended", bot_id=str(waiting.id))
        return Walked(sent=len(sent), told=told, ended=len(ended))

    def _seats(self, due: Sequence[LineEntry], now: datetime) -> Seats | None:
        if self._heartbeats is None:
            return None
        hosts = self._heartbeats.living("host")
        unheard = not hosts and not self._heartbeats.silent("host")
        if unheard and due and now - due[0].wanted_at > timedelta(seconds=UNHEARD_S):
            return None
        return seats_of(hosts)

    async def _tell(self, line: Sequence[Waiting]) -> int:
        news = [w for w in line if w.id not in self._told or w.place * 2 <= self._told[w.id]]
        places = {w.id: {"place": w.place, "waiting": w.of, "reason": w.lack.value} for w in news}
        count = await self._waiting.tell(places) if places else 0
        # Once it is written: what the database did not take is told at the next walk.
        self._told = {w.id: self._told.get(w.id, w.place) for w in line} | {w.id: w.place for w in news}
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
        except (Superseded, NotFound):  # at this moment a host took it, or its caller deleted it
            return
        logger.warning("bot got no seat in time", action="bot_unseated", bot_id=str(waiting.id), **data)


def _due_bot(entry: LineEntry) -> DueBot:
    return DueBot(id=entry.id, account_id=entry.account_id, at=entry.wanted_at, live=is_live_here(entry.model))


def _line(in_queue: Sequence[LineEntry], waiting: Sequence[Waiting]) -> list[Waiting]:
    """Return the whole line: bots that were sent off and wait for a host come first."""
    of, ahead = len(in_queue) + len(waiting), len(in_queue)
    first = [
        Waiting(id=entry.id, place=place, of=of, lack=Lack.NO_SEAT, since=entry.wanted_at)
        for place, entry in enumerate(in_queue, start=1)
    ]
    then = [Waiting(id=w.id, place=ahead + w.place, of=of, lack=w.lack, since=w.since) for w in waiting]
    return [*first, *then]
