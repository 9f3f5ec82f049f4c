"""A real receiver over loopback, which fails and recovers; a real database that remembers."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any
from uuid import UUID

import pytest
from standardwebhooks import Webhook

from harness.fake_clock import FakeClock
from harness.receiver import Receiver
from sederunt.addresses import guarded_client
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Deliveries
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.budgets import count_of
from sederunt.model.status import BotStatus, Trigger
from sederunt.webhooks.deliverer import WRITE_AGAIN_S, Deliverer
from sederunt.webhooks.destinations import OPENS_AFTER
from sederunt.webhooks.schedule import PAUSES_S

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
async def database(address: str, clock: FakeClock) -> AsyncIterator[Database]:
    async with Database(address, clock=clock) as opened:
        yield opened


@pytest.fixture
def bots(database: Database) -> Bots:
    return Bots(database)


@pytest.fixture
async def deliverer(database: Database, clock: FakeClock) -> AsyncIterator[Deliverer]:
    async def secrets_of(_: UUID) -> tuple[str, ...]:
        return (SECRET,)

    async with guarded_client(allow_private=True, timeout_s=60) as client:
        yield Deliverer(
            deliveries=Deliveries(database), client=client, secrets_of=secrets_of, clock=clock, timeout_s=60
        )


async def live(bots: Bots, database: Database, clock: FakeClock, url: str) -> Bot:
    """A bot with three events to tell."""
    config = BotConfig(
        service=Service("gmeet"),
        meeting_url="https://meet.google.com/abc-defg-hij",
        bot_name="Notes",
        transcription_model="none",
        webhook_url=url,
        custom_metadata={"order": "7"},
    )
    bot = Bot(
        id=new_id(clock.now()),
        account_id=database.default_account_id,
        config=config,
        status=BotStatus.BOOTING,
        created_at=clock.now(),
    )
    await bots.create(bot)
    for trigger in (Trigger.LAUNCHED, Trigger.ADMITTED, Trigger.ENDED):
        await bots.record_transition(bot.id, trigger)
    return bot


async def test_events_arrive_in_order_signed_and_with_their_query_string(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    bot = await live(bots, database, clock, f"{receiver.url}?token=a%2Fb&x=1")
    assert await deliverer.deliver_all(bot.id) == 3
    assert receiver.statuses(str(bot.id)) == ["joining", "recording", "leaving"]
    first = receiver.deliveries[0]
    assert first.path == "/hook?token=a%2Fb&x=1"
    assert first.body["custom_metadata"] == {"order": "7"}
    again = Webhook(SECRET).sign(first.headers["webhook-id"], clock.now(), first.raw.decode())
    assert first.headers["webhook-signature"] == again


async def test_a_receiver_that_fails_holds_back_the_later_events_until_it_recovers(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    receiver.answer = 503
    bot = await live(bots, database, clock, receiver.url)
    assert await deliverer.deliver_all(bot.id) == 1
    assert await deliverer.deliver_all(bot.id) == 0, "its pause is not over"
    assert await deliverer.deliveries.due(clock.now()) == []
    clock.advance(PAUSES_S[0] + 1)
    assert await deliverer.deliveries.due(clock.now()) == [("bot", bot.id)]
    assert await deliverer.deliver_all(bot.id) == 1
    clock.advance(PAUSES_S[1] + 1)
    receiver.answer = 200
    assert await deliverer.deliver_all(bot.id) == 3
    assert receiver.statuses(str(bot.id)) == ["joining", "recording", "leaving"]
    attempts = [
        [attempt.status for attempt in delivery.attempts]
        for delivery in await deliverer.deliveries.of(bot.id, database.default_account_id)
    ]
    assert attempts == [[503, 503, 200], [200], [200]]


async def test_a_receiver_that_never_answers_well_loses_one_event_after_a_day_and_then_the_next_is_tried(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    receiver.answer = 500
    bot = await live(bots, database, clock, receiver.url)
    for pause in PAUSES_S:
        assert await deliverer.deliver_all(bot.id) == 1
        clock.advance(pause)
    assert await deliverer.deliver_all(bot.id) == 2
    states = [delivery.state for delivery in await deliverer.deliveries.of(bot.id, database.default_account_id)]
    assert states == ["given_up", "pending", "pending"]


async def test_nothing_is_told_twice_because_the_database_took_nothing_for_a_while(
    deliverer: Deliverer,
    bots: Bots,
    database: Database,
    clock: FakeClock,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write, failed = deliverer.deliveries.record_attempt, 0

    async def fail_twice(*arguments: Any, **named: Any) -> None:
        nonlocal failed
        if failed < 2:
            failed += 1
            raise sqlite3.OperationalError("database is locked")
        await write(*arguments, **named)

    monkeypatch.setattr(deliverer.deliveries, "record_attempt", fail_twice)
    bot = await live(bots, database, clock, receiver.url)
    delivering = asyncio.create_task(deliverer.deliver_all(bot.id))
    for _ in range(2):
        while not clock.sleepers:
            assert not delivering.done() or delivering.result()
            await asyncio.sleep(0)
        assert receiver.statuses(str(bot.id)) == ["joining"]
        clock.advance(WRITE_AGAIN_S)
    assert await delivering == 3
    assert receiver.statuses(str(bot.id)) == ["joining", "recording", "leaving"]


async def test_who_is_cut_off_makes_no_further_attempt(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    cut_off = asyncio.Event()

    async def cut_off_meanwhile(_: UUID) -> tuple[str, ...]:
        cut_off.set()
        return (SECRET,)

    bot = await live(bots, database, clock, receiver.url)
    assert await replace(deliverer, secrets_of=cut_off_meanwhile).deliver_all(bot.id, cut_off) == 1
    assert receiver.statuses(str(bot.id)) == ["joining"]
    assert await deliverer.deliver_all(bot.id, cut_off) == 0
    assert await deliverer.deliver_all(bot.id, asyncio.Event()) == 2


async def test_attempts_that_begin_together_count_from_their_first_step(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    go, begun = asyncio.Event(), 0

    async def slow_secrets_of(_: UUID) -> tuple[str, ...]:  # as from a database with much to do
        nonlocal begun
        begun += 1
        await go.wait()
        return (SECRET,)

    slow = replace(deliverer, secrets_of=slow_secrets_of)
    there = count_of("receiver_attempts")
    mine = [await live(bots, database, clock, receiver.url) for _ in range(there + 2)]
    attempts = [asyncio.create_task(slow.deliver_all(bot.id)) for bot in mine]
    async with asyncio.timeout(60):
        for sent_back in islice(asyncio.as_completed(attempts), 2):
            assert await sent_back == 0
        assert begun == there
        go.set()
        assert sum(await asyncio.gather(*attempts)) == 3 * there


async def test_a_receiver_on_a_private_network_is_never_reached_unless_that_is_allowed(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    bot = await live(bots, database, clock, receiver.url)
    async with guarded_client(allow_private=False, timeout_s=60) as client:
        strict = Deliverer(
            deliveries=deliverer.deliveries,
            client=client,
            secrets_of=deliverer.secrets_of,
            clock=clock,
            timeout_s=60,
        )
        await strict.deliver_all(bot.id)
    deliveries = await deliverer.deliveries.of(bot.id, database.default_account_id)
    assert {delivery.state for delivery in deliveries} == {"given_up"}
    assert "private network" in deliveries[0].attempts[0].answer
    assert receiver.deliveries == []


async def test_every_event_is_json_a_receiver_can_read(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    bot = await live(bots, database, clock, receiver.url)
    await deliverer.deliver_all(bot.id)
    for delivery in receiver.deliveries:
        assert set(json.loads(delivery.raw)) == {"bot_id", "type", "data", "custom_metadata"}


async def test_a_silent_receiver_is_left_alone_and_what_waits_for_it_goes_when_it_is_back(
    deliverer: Deliverer, bots: Bots, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    silent = "http://127.0.0.1:9/hook"  # nobody listens
    waiting = [await live(bots, database, clock, silent) for _ in range(OPENS_AFTER + 2)]
    for bot in waiting:
        await deliverer.deliver_all(bot.id)
    made = [sum(len(d.attempts) for d in await deliverer.deliveries.of(b.id, b.account_id)) for b in waiting]
    assert made == [1] * OPENS_AFTER + [0, 0]
    assert await deliverer.deliver_all((await live(bots, database, clock, receiver.url)).id) == 3
    later = await deliverer.deliveries.of(waiting[-1].id, waiting[-1].account_id)
    assert later[0].next_attempt_at is not None
    assert later[0].next_attempt_at > clock.now()
    await deliverer.deliveries.hasten(silent, database.default_account_id)
    assert {id_ for _, id_ in await deliverer.deliveries.due(clock.now())} >= {bot.id for bot in waiting}
