"""Two hundred bots due in one second: as many as there are seats sit at their hosts by then, the others know why not.

The hosts are scripted: they take jobs as real ones do and have no browsers. Time is the test's, so nothing is timed.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from harness.nats import Connections
from sederunt.bus.connection import Bus
from sederunt.bus.consume import Consumer
from sederunt.bus.heartbeat import Heartbeats
from sederunt.bus.held_job import Done, JobDelivery, Outcome
from sederunt.bus.tasks import end
from sederunt.database.accounts import Accounts
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.outbox import Outbox
from sederunt.database.seats import BookingLimits
from sederunt.database.waiting import WaitingBots
from sederunt.errors import LimitReached
from sederunt.jobs.line import WaitingLine
from sederunt.jobs.publish import sweep
from sederunt.jobs.seating import LEAD_S, SeatLimits
from sederunt.model.bot import Bot
from sederunt.model.history import OVERBOOKED, WAITING_FOR_CAPACITY
from sederunt.model.status import BotStatus, Trigger

MakeBot = Callable[..., Bot]
HOSTS, SEATS, DUE = 3, 7, 200  # seats of each host


class ScriptedHost:
    """Takes bots and seats them at once."""

    def __init__(self, bus: Bus, bots: Bots, name: str) -> None:
        self.name, self._bots = name, bots
        self.bots: list[UUID] = []
        self.consumer = Consumer(bus, "attend", self._attend, slots=SEATS)

    async def _attend(self, delivery: JobDelivery) -> Outcome:
        bot = await self._bots.claim(UUID(delivery.message["id"]), self.name)
        await self._bots.record_transition(bot.id, Trigger.LAUNCHED, epoch=bot.epoch)
        self.bots.append(bot.id)
        await asyncio.Event().wait()
        return Done()

    def heartbeat(self) -> dict[str, Any]:
        held = self.consumer.held
        seats = {"total": SEATS, "held": held, "free": SEATS - held}
        return {"role": "host", "name": self.name, "pid": 1, "parts": {"browser": "ok"}, "seats": seats, "cores": 8}


@asynccontextmanager
async def scripted_hosts(connect: Connections, bots: Bots) -> AsyncIterator[list[ScriptedHost]]:
    hosts = [ScriptedHost(await connect(name=f"host-{number}"), bots, f"host-{number}") for number in range(HOSTS)]
    running = [asyncio.create_task(host.consumer.run()) for host in hosts]
    try:
        yield hosts
    finally:
        await asyncio.gather(*(host.consumer.drain(0) for host in hosts))
        await end(*running)


async def statuses(bots: Bots, made: list[Bot]) -> dict[UUID, BotStatus]:
    return {bot.id: (await bots.get(bot.id)).status for bot in made}


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
async def test_of_two_hundred_bots_due_in_one_second_the_seats_are_full_by_then_and_the_others_know_why(
    connect: Connections, bots: Bots, outbox: Outbox, database: Database, clock: FakeClock, make_bot: MakeBot
) -> None:
    heartbeats = Heartbeats(clock.monotonic)
    due = clock.now() + timedelta(seconds=LEAD_S + 5)
    other = (await Accounts(database).create("other")).id
    made = []
    for number in range(DUE):
        bot = make_bot(id=new_id(clock.now()), status=BotStatus.SCHEDULED, scheduled_for=due)
        made.append(await bots.create(replace(bot, account_id=other) if number >= DUE - 12 else bot, job=False))
    line = WaitingLine(
        bots,
        WaitingBots(database),
        clock,
        limits=SeatLimits(per_account=150, live=0),
        longest_wait_s=900,
        heartbeats=heartbeats,
    )
    bus = await connect(name="worker")
    async with scripted_hosts(connect, bots) as hosts:
        sent = 0
        while clock.now() < due:
            for host in hosts:
                heartbeats.hear(host.heartbeat())
            sent += (await line.walk()).sent
            await sweep(bus, outbox, older_than_s=0)
            async with asyncio.timeout(60):
                while sum(len(host.bots) for host in hosts) < sent:  # noqa: ASYNC110  # a queue is no event of ours
                    await asyncio.sleep(0.01)
            clock.advance(1)
        found = await statuses(bots, made)
        seated = [bot for bot in made if found[bot.id] is BotStatus.JOINING]
        assert len(seated) == HOSTS * SEATS, "every seat is taken by the due moment"
        assert {len(host.bots) for host in hosts} == {SEATS}
        by_account = Counter(bot.account_id for bot in seated)
        assert abs(by_account[other] - by_account[database.default_account_id]) <= 1, "by turns between accounts"
        waiting = [bot for bot in made if bot not in seated]
        told = [event for bot in waiting for event in await bots.events(bot.id) if event.event == WAITING_FOR_CAPACITY]
    assert len(told) == len(waiting), "each is told, and once"
    assert max(event.created_at for event in told) <= due, "and not after the due moment"
    assert sorted(event.data["place"] for event in told) == list(range(1, len(waiting) + 1))
    assert Counter(event.data["reason"] for event in told) == {"no_seat": len(waiting)}
    for bot in seated:
        assert all(event.event != WAITING_FOR_CAPACITY for event in await bots.events(bot.id))


async def test_a_booking_beyond_the_seats_of_its_half_hour_is_told_or_refused(
    bots: Bots, clock: FakeClock, make_bot: MakeBot
) -> None:
    at = clock.now() + timedelta(days=1)

    async def book(minutes: float, limits: BookingLimits) -> list[dict[str, Any]]:
        bot = make_bot(
            id=new_id(clock.now()), status=BotStatus.SCHEDULED, scheduled_for=at + timedelta(minutes=minutes)
        )
        await bots.create(bot, job=False, booking=limits)
        return [dict(event.data) for event in await bots.events(bot.id) if event.event == OVERBOOKED]

    own, whole = BookingLimits(per_account=2), BookingLimits(per_account=9, seats=3)
    assert [await book(minutes, own) for minutes in (0, 20)] == [[], []]
    assert await book(10, own) == [{"booked": 2, "limit": 2, "reason": "account_limit"}]
    assert await book(50, own) == [], "by then their half hours are over"
    assert await book(15, whole) == [{"booked": 3, "limit": 3, "reason": "no_seat"}]
    with pytest.raises(LimitReached, match="4 bots are booked for that time already, and 3 may be at work at once"):
        await book(12, replace(whole, refuses=True))


async def test_a_bot_for_now_is_refused_the_seat_of_one_that_is_due_within_a_minute(
    bots: Bots, clock: FakeClock, make_bot: MakeBot
) -> None:
    due = [clock.now() + timedelta(seconds=seconds) for seconds in (30, 300)]
    for at in due:
        await bots.create(make_bot(id=new_id(clock.now()), status=BotStatus.SCHEDULED, scheduled_for=at), job=False)
    await bots.create(make_bot(id=new_id(clock.now())), most=2)
    with pytest.raises(LimitReached, match="1 are, 1 are due within a minute"):
        await bots.create(make_bot(id=new_id(clock.now())), most=2)
