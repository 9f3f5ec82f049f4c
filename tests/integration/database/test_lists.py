"""Lists of bots: paging, filters, schedules, and that ten thousand waiting bots are in nobody's way."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert, text

from harness.fake_clock import FakeClock
from harness.gathered import gathered
from harness.sent_off import sent_off
from sederunt.api.schemas.values import VOCABULARY_CHARACTERS, VOCABULARY_ENTRIES
from sederunt.database.accounts import Accounts
from sederunt.database.bot_rows import NoSeals, columns_of
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.parts import PART_BYTES, PART_ROWS, divided
from sederunt.database.tables import bots as table
from sederunt.database.waiting import WaitingBots
from sederunt.errors import InvalidConfig
from sederunt.model.bot import Bot
from sederunt.model.status import AT_WORK, BotStatus

MakeBot = Callable[..., Bot]


async def test_pages_go_from_the_newest_to_the_oldest_without_gap_or_repeat(
    bots: Bots, make_bot: MakeBot, clock: FakeClock, database: Database
) -> None:
    made = []
    for n in range(7):
        clock.advance(n % 2)  # some of the same moment
        made.append(await bots.create(make_bot(), job=False))
    seen: list[Bot] = []
    cursor = None
    for _ in range(3):
        page = await bots.find(database.default_account_id, cursor=cursor, limit=3)
        seen += page.bots
        cursor = page.cursor
    assert cursor is None
    assert sorted(seen, key=lambda bot: (bot.created_at, bot.id), reverse=True) == seen
    assert {bot.id for bot in seen} == {bot.id for bot in made}


async def test_lists_can_be_narrowed_by_status_and_metadata(bots: Bots, make_bot: MakeBot, database: Database) -> None:
    wanted = await bots.create(make_bot(status=BotStatus.FAILED, config={"custom_metadata": {"a": "1", "b": "2"}}))
    await bots.create(make_bot(status=BotStatus.FAILED, config={"custom_metadata": {"a": "1"}}))
    await bots.create(make_bot(config={"custom_metadata": {"a": "1", "b": "2"}}))
    account = database.default_account_id
    found = await bots.find(account, status=BotStatus.FAILED, metadata={"a": "1", "b": "2"})
    assert [bot.id for bot in found.bots] == [wanted.id]
    assert (await bots.find(account, metadata={"a": "2"})).bots == ()


async def test_an_account_lists_its_own_bots_only(
    bots: Bots, make_bot: MakeBot, database: Database, clock: FakeClock
) -> None:
    other, soon = (
        await Accounts(database).create("other"),
        {"status": BotStatus.SCHEDULED, "scheduled_for": clock.now()},
    )
    theirs = await bots.create(make_bot(account_id=other.id, config={"custom_metadata": {"a": "1"}}, **soon), job=False)
    await bots.create(make_bot(**soon), job=False)
    assert [bot.id for bot in (await bots.find(other.id)).bots] == [theirs.id]
    assert [bot.id for bot in await gathered(bots.schedule.parts(other.id))] == [theirs.id]
    assert (await bots.find(database.default_account_id, metadata={"a": "1"})).bots == ()
    assert await bots.active_count(other.id) == 0


@pytest.mark.parametrize("cursor", ["", "x", "nonsense", "WzEsMl0", "e30", "WyJhIiwiYiJd", "ÿ", "WzFlOTksIjAwIl0"])
async def test_a_cursor_of_somebody_elses_is_refused(bots: Bots, cursor: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        await bots.find(uuid4(), cursor=cursor)
    assert list(refused.value.fields) == ["cursor"]


async def test_schedules_come_soonest_first(bots: Bots, make_bot: MakeBot, clock: FakeClock) -> None:
    times = [clock.now() + timedelta(minutes=m) for m in (30, 5, 60)]
    made = [await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=t), job=False) for t in times]
    assert [bot.id for bot in await gathered(bots.schedule.parts(made[0].account_id))] == [
        made[1].id,
        made[0].id,
        made[2].id,
    ]


async def test_ten_thousand_waiting_bots_are_found_by_index(
    bots: Bots, make_bot: MakeBot, clock: FakeClock, database: Database
) -> None:
    waiting = [
        make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now() + timedelta(days=1)) for _ in range(10_000)
    ]
    async with database.begin() as connection:
        for start in range(0, len(waiting), 1000):
            rows = [columns_of(bot, NoSeals()) for bot in waiting[start : start + 1000]]
            await connection.execute(insert(table), rows)
        await connection.execute(text("ANALYZE"))
    assert await bots.active_count(database.default_account_id) == 0
    assert await sent_off(database, bots, clock.now()) == []
    listed = await gathered(bots.schedule.parts(database.default_account_id))
    assert [bot.id for bot in listed] == sorted(bot.id for bot in waiting)
    line = WaitingBots(database)
    for query in (bots._active, bots.schedule._keys, bots.schedule._parts._part, line._due, line._at_work):
        assert not await _scans(database, query.sql), query.sql


FULL = {
    "custom_vocabulary": ("\U0001f600" * VOCABULARY_CHARACTERS,) * VOCABULARY_ENTRIES,
    "custom_metadata": {"room": "7"},
}


async def test_bots_with_long_configs_are_read_few_at_once(
    bots: Bots, make_bot: MakeBot, clock: FakeClock, database: Database
) -> None:
    """Five hundred of them, read at once, were a gigabyte, and nobody else was served for seconds."""
    soon = {"status": BotStatus.SCHEDULED, "scheduled_for": clock.now()}
    configs: list[dict[str, Any]] = [{}] * 5 + [FULL] * 3 + [{}] * (PART_ROWS + 5)
    made = [make_bot(config=config, **soon) for config in configs]
    async with database.begin() as connection:
        await connection.execute(insert(table), [columns_of(bot, NoSeals()) for bot in made])
    made.sort(key=lambda bot: bot.id)
    account_id = database.default_account_id
    found = await bots.listed(account_id, limit=200)
    for parts, whole in ((bots.schedule.parts(account_id), made), (bots.parts(found), made[::-1])):
        read = [part async for part in parts]
        assert [bot for part in read for bot in part] == whole
        assert [len(part) for part in read if any(bot.config.custom_vocabulary for bot in part)] == [1] * 3
        assert max(map(len, read)) <= PART_ROWS
    overviews = (await bots.find(account_id, limit=200)).bots
    assert [bot.id for bot in overviews] == [bot.id for bot in made[::-1]]
    later = clock.now() + timedelta(days=1)
    overviews += tuple(await bots.schedule.between(account_id, clock.now(), later, most=200))
    assert not any(bot.config.custom_vocabulary or bot.config.custom_metadata for bot in overviews)


async def test_the_models_of_bots_at_work_are_known_without_their_configs(bots: Bots, make_bot: MakeBot) -> None:
    for status in BotStatus:
        await bots.create(make_bot(status=status, config={"transcription_model": status.value}), job=False)
    assert sorted(await bots.all_accounts.models_at_work()) == sorted(status.value for status in AT_WORK)


async def test_what_leaves_a_list_while_it_is_read_is_left_out(
    bots: Bots, make_bot: MakeBot, clock: FakeClock, database: Database
) -> None:
    soon = {"status": BotStatus.SCHEDULED, "scheduled_for": clock.now()}
    made = [await bots.create(make_bot(**soon), job=False) for _ in range(3)]
    account_id = database.default_account_id
    found = await bots.listed(account_id)
    await bots.request_deletion(made[1].id, account_id)
    assert {bot.id for bot in await gathered(bots.parts(found))} == {made[0].id, made[2].id}
    assert await gathered(bots.parts(await bots.listed(account_id, search="nowhere"))) == []


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        ([], []),
        ([1, 2, 3], [3]),
        ([PART_BYTES + 1, 1, PART_BYTES, 1], [1, 1, 1, 1]),
        ([PART_BYTES // 2] * 5, [2, 2, 1]),
        ([1] * (2 * PART_ROWS + 1), [PART_ROWS, PART_ROWS, 1]),
    ],
)
def test_parts_are_of_so_many_bytes_and_rows(sizes: list[int], parts: list[int]) -> None:
    keys = [(UUID(int=n), size) for n, size in enumerate(sizes)]
    divisions = list(divided(keys))
    assert [len(part) for part in divisions] == parts
    assert [id_ for part in divisions for id_ in part] == [id_ for id_, _ in keys]


async def _scans(database: Database, sql: str) -> bool:
    """Does the plan read the whole table?"""
    if not database.is_sqlite:
        return False  # the same indexes; the planner's choice depends on its statistics
    driver = database._reader()
    parameters = [1] * sql.count("?")
    plan = await driver.fetch(f"EXPLAIN QUERY PLAN {sql}", parameters)
    return any(str(row[3]).startswith("SCAN bots") and "INDEX" not in str(row[3]) for row in plan)
