"""Webhooks to be delivered, and the outbox."""

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest

from harness.fake_clock import FakeClock
from sederunt.database import outbox
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Attempt, Deliveries, DeliveryState
from sederunt.database.delivery_lists import DeliveryLists
from sederunt.database.engine import Database, OutboxRow
from sederunt.database.outbox import Outbox
from sederunt.errors import NotFound
from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus, Trigger

MakeBot = Callable[..., Bot]


@pytest.fixture
def deliveries(database: Database) -> Deliveries:
    return Deliveries(database)


@pytest.fixture
async def bot(bots: Bots, make_bot: MakeBot) -> Bot:
    """A bot with two webhooks to be delivered: launched, admitted."""
    asked = {"webhook_url": "https://x.test/h?token=a%20b&c", "custom_metadata": {"deal": "42"}}
    made = await bots.create(make_bot(config=asked), job=False)
    await bots.record_transition(made.id, Trigger.LAUNCHED)
    await bots.record_transition(made.id, Trigger.ADMITTED)
    return await bots.get(made.id)


async def test_webhooks_wait_for_the_one_before(deliveries: Deliveries, bot: Bot, clock: FakeClock) -> None:
    first = await deliveries.next(bot.id)
    assert first is not None
    assert (first.url, first.type, first.state) == ("https://x.test/h?token=a%20b&c", "status_update", "pending")
    assert first.data == {"old_status": "booting", "new_status": "joining"}
    assert first.custom_metadata == {"deal": "42"}
    failed = Attempt(at=clock.now(), status=None, ms=10_000, answer="x" * 999)
    later = clock.now() + timedelta(seconds=30)
    await deliveries.record_attempt(first.id, failed, state=DeliveryState.PENDING, next_attempt_at=later)
    again = await deliveries.next(bot.id)
    assert again is not None
    assert (again.id, again.next_attempt_at, again.attempts[0].answer) == (first.id, later, "x" * 250)
    assert await deliveries.due(clock.now()) == []  # the second is pending too, but behind the first
    assert await deliveries.due(later) == [("bot", bot.id)]
    ok = Attempt(at=clock.now(), status=204, ms=7, answer="")
    await deliveries.record_attempt(first.id, ok, state=DeliveryState.DELIVERED)
    second = await deliveries.next(bot.id)
    assert second is not None
    assert second.data["new_status"] == "recording"
    assert [attempt.status for attempt in (await deliveries.of(bot.id, bot.account_id))[0].attempts] == [None, 204]


async def test_a_webhook_that_was_given_up_holds_up_nobody(deliveries: Deliveries, bot: Bot, clock: FakeClock) -> None:
    first = await deliveries.next(bot.id)
    assert first is not None
    await deliveries.record_attempt(
        first.id, Attempt(at=clock.now(), status=500, ms=1, answer="no"), state=DeliveryState.GIVEN_UP
    )
    second = await deliveries.next(bot.id)
    assert second is not None
    assert second.id != first.id
    assert [delivery.state for delivery in await deliveries.of(bot.id, bot.account_id)] == ["given_up", "pending"]


@pytest.mark.parametrize("state", [DeliveryState.DELIVERED, DeliveryState.GIVEN_UP])
async def test_an_attempt_that_ends_late_is_noted_and_changes_nothing(
    deliveries: Deliveries, bot: Bot, clock: FakeClock, state: DeliveryState
) -> None:
    first = await deliveries.next(bot.id)
    assert first is not None
    await deliveries.record_attempt(first.id, Attempt(at=clock.now(), status=299, ms=1, answer=""), state=state)
    late = Attempt(at=clock.now(), status=None, ms=10_000, answer="No answer.")
    again_at = clock.now() + timedelta(seconds=5)
    await deliveries.record_attempt(first.id, late, state=DeliveryState.PENDING, next_attempt_at=again_at)
    noted, second = await deliveries.of(bot.id, bot.account_id)
    assert (noted.state, noted.next_attempt_at) == (state, None)
    assert [attempt.status for attempt in noted.attempts] == [299, None]
    assert (await deliveries.next(bot.id) or noted).id == second.id


async def test_a_webhook_can_be_sent_again(
    deliveries: Deliveries, database: Database, bot: Bot, clock: FakeClock, announced: list[OutboxRow]
) -> None:
    for _ in range(2):
        pending = await deliveries.next(bot.id)
        assert pending is not None
        ok = Attempt(at=clock.now(), status=200, ms=1, answer="")
        await deliveries.record_attempt(pending.id, ok, state=DeliveryState.DELIVERED)
    assert await deliveries.next(bot.id) is None
    announced.clear()
    first = (await deliveries.of(bot.id, bot.account_id))[0]
    await DeliveryLists(database).replay(first.id, bot.account_id)
    assert [row.kind for row in announced] == ["deliver"]
    assert (await deliveries.next(bot.id) or first).id == first.id
    assert await deliveries.due(clock.now()) == [("bot", bot.id)]


async def test_deliveries_are_their_accounts_own(deliveries: Deliveries, database: Database, bot: Bot) -> None:
    assert await deliveries.of(bot.id, uuid4()) == []
    first = await deliveries.next(bot.id)
    assert first is not None
    with pytest.raises(NotFound):
        await DeliveryLists(database).replay(first.id, uuid4())


async def test_an_attempt_at_a_deleted_delivery_changes_nothing(deliveries: Deliveries, clock: FakeClock) -> None:
    await deliveries.record_attempt(
        uuid4(), Attempt(at=clock.now(), status=200, ms=1, answer=""), state=DeliveryState.DELIVERED
    )


async def test_the_outbox_gives_the_oldest_first_and_forgets_what_was_sent(
    database: Database, clock: FakeClock
) -> None:
    box = Outbox(database)
    ids = [uuid4() for _ in range(3)]
    for n, resource_id in enumerate(ids):
        await box.post([outbox.job("job.attend", "bot", resource_id, n)])
        clock.advance(1)
    assert [str(resource_id) for resource_id in ids] == [
        outbox.payload_of(row)["id"] for row in await box.unsent(limit=3)
    ]
    old = await box.unsent(older_than_s=2)
    assert [outbox.payload_of(row)["id"] for row in old] == [str(ids[0]), str(ids[1])]
    await box.mark_sent([row.id for row in old])
    [left] = await box.unsent()
    assert outbox.payload_of(left)["id"] == str(ids[2])
    await box.mark_sent([])


async def test_an_id_of_the_outbox_never_comes_again(database: Database) -> None:
    box = Outbox(database)
    [first] = await box.post([outbox.job("job.attend", "bot", uuid4(), 1)])
    await box.mark_sent([first.id])
    [second] = await box.post([outbox.job("job.attend", "bot", uuid4(), 1)])
    assert second.id > first.id


async def test_without_a_webhook_address_nothing_is_to_be_delivered(
    bots: Bots, make_bot: MakeBot, deliveries: Deliveries
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.JOINING), job=False)
    await bots.record_transition(bot.id, Trigger.ADMITTED)
    assert await deliveries.next(bot.id) is None
