"""Whatever happens in whatever order, a bot's history is a path through the table."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.outbox import Outbox, payload_of
from sederunt.errors import Superseded
from sederunt.model.bot import Bot
from sederunt.model.history import Event
from sederunt.model.status import ENDINGS, TRANSITIONS, BotStatus, Trigger

MakeBot = Callable[..., Bot]

_TRIGGERS = st.sampled_from(list(Trigger))
_SEVERAL = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


@pytest.fixture
async def rivals(address: str, database: Database) -> AsyncIterator[tuple[Bots, Bots]]:
    """Two writers as two processes would be: each with connections and locks of its own."""
    async with Database(address, clock=database.clock) as other:
        yield Bots(database), Bots(other)


async def _fresh(bots: Bots, make_bot: MakeBot, status: BotStatus) -> Bot:
    bot = make_bot(status=status)
    return await bots.create(replace(bot, id=new_id(bot.created_at)))


def _check_path(start: BotStatus, events: list[Event], end: BotStatus) -> None:
    at = start
    for event in events:
        assert event.data["old_status"] == at.value
        after = BotStatus(event.data["new_status"])
        assert after in TRANSITIONS[at].values()
        at = after
    assert at is end


@_SEVERAL
@given(triggers=st.lists(_TRIGGERS, max_size=14))
async def test_no_status_skips_the_table(bots: Bots, make_bot: MakeBot, triggers: list[Trigger]) -> None:
    bot = await _fresh(bots, make_bot, BotStatus.BOOTING)
    status = BotStatus.BOOTING
    for trigger in triggers:
        expected = TRANSITIONS[status].get(trigger)
        moved = await bots.record_transition(bot.id, trigger)
        assert (moved and moved.status) == expected
        status = expected or status
    now = await bots.get(bot.id)
    _check_path(BotStatus.BOOTING, await bots.events(bot.id), now.status)
    assert (now.finished_at is not None) == (now.status in ENDINGS)


@_SEVERAL
@given(
    start=st.sampled_from([BotStatus.JOINING, BotStatus.RECORDING, BotStatus.LEAVING]),
    mine=st.lists(_TRIGGERS, min_size=1, max_size=4),
    theirs=st.lists(_TRIGGERS, min_size=1, max_size=4),
)
async def test_two_writers_never_tear_the_path(
    rivals: tuple[Bots, Bots], make_bot: MakeBot, start: BotStatus, mine: list[Trigger], theirs: list[Trigger]
) -> None:
    bot = await _fresh(rivals[0], make_bot, start)

    async def write(bots: Bots, triggers: list[Trigger]) -> int:
        moves = [await bots.record_transition(bot.id, trigger) for trigger in triggers]
        return sum(move is not None for move in moves)

    moved = await asyncio.gather(write(rivals[0], mine), write(rivals[1], theirs))
    events = await rivals[1].events(bot.id)
    assert len(events) == sum(moved)
    _check_path(start, events, (await rivals[1].get(bot.id)).status)


@_SEVERAL
@given(case=st.sampled_from([(status, trigger) for status, row in TRANSITIONS.items() for trigger in row]))
async def test_of_two_writers_of_the_same_move_one_wins(
    rivals: tuple[Bots, Bots], make_bot: MakeBot, case: tuple[BotStatus, Trigger]
) -> None:
    status, trigger = case
    bot = await _fresh(rivals[0], make_bot, status)
    results = await asyncio.gather(*(writer.record_transition(bot.id, trigger) for writer in rivals))
    again = trigger in TRANSITIONS[TRANSITIONS[status][trigger]]  # a crash while leaving … may be told twice
    assert sum(result is not None for result in results) == (2 if again else 1)


async def test_events_keep_their_order_whoever_writes(rivals: tuple[Bots, Bots], make_bot: MakeBot) -> None:
    bot = await _fresh(rivals[0], make_bot, BotStatus.RECORDING)
    for n in range(6):
        await rivals[n % 2].add_event(bot.id, "chat_message", {"n": n})
    events = await rivals[0].events(bot.id)
    assert [event.data["n"] for event in events] == list(range(6))
    assert sorted({event.id for event in events}) == [event.id for event in events]


async def test_a_claim_in_between_supersedes_the_old_holder(rivals: tuple[Bots, Bots], make_bot: MakeBot) -> None:
    bot = await _fresh(rivals[0], make_bot, BotStatus.RECORDING)
    old = await rivals[0].claim(bot.id, "host-a")
    results = await asyncio.gather(
        rivals[1].claim(bot.id, "host-b"),
        rivals[0].record_transition(bot.id, Trigger.ENDED, epoch=old.epoch),
        return_exceptions=True,
    )
    new = await rivals[0].get(bot.id)
    assert (new.host, new.epoch) == ("host-b", old.epoch + 1)
    if isinstance(results[1], BaseException):
        assert isinstance(results[1], Superseded)
        assert new.status is BotStatus.RECORDING
    else:
        assert new.status is BotStatus.LEAVING


async def test_each_move_is_told_once(rivals: tuple[Bots, Bots], make_bot: MakeBot, database: Database) -> None:
    bot = await _fresh(rivals[0], make_bot, BotStatus.JOINING)
    await asyncio.gather(*(writer.record_transition(bot.id, Trigger.ADMITTED) for writer in rivals))
    told = [payload_of(row) for row in await Outbox(database).unsent() if row.kind == "feed"]
    change = {"type": "status-update", "data": {"old_status": "joining", "new_status": "recording"}}
    assert told == [change, {"type": "start"}]
