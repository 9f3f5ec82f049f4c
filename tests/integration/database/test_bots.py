"""The store of bots, on SQLite and on PostgreSQL."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from harness.fake_clock import FakeClock
from harness.gathered import gathered
from harness.sent_off import sent_off
from sederunt.database.bots import Bots
from sederunt.database.engine import Database, OutboxRow
from sederunt.database.outbox import Outbox, payload_of
from sederunt.errors import Conflict, LimitReached, NotFound, Superseded
from sederunt.model.bot import Bot, Gap, StopOptions, Verdict
from sederunt.model.status import MAX_CHALLENGES, BotStatus, StopReason, Trigger

MakeBot = Callable[..., Bot]


async def test_a_bot_comes_back_as_it_was_stored(bots: Bots, make_bot: MakeBot) -> None:
    stored = make_bot(
        config={
            "bot_name": 'Nötes \ud83d "\x00',
            "transcription_credentials": uuid4(),
            "stop_options": StopOptions(time_limit=30),
            "custom_vocabulary": ("Sederunt", "minutes"),
            "custom_metadata": {"deal": "42"},
        },
        secret="s3cret",
    )
    await bots.create(stored)
    assert await bots.get(stored.id) == stored
    assert (await bots.view(stored.id, stored.account_id)).bot == stored


async def test_another_account_sees_nothing(bots: Bots, make_bot: MakeBot) -> None:
    bot = await bots.create(make_bot())
    with pytest.raises(NotFound):
        await bots.get(bot.id, uuid4())
    with pytest.raises(NotFound):
        await bots.view(bot.id, uuid4())
    with pytest.raises(NotFound):
        await bots.request_stop(bot.id, uuid4())
    with pytest.raises(NotFound):
        await bots.request_deletion(bot.id, uuid4())
    assert not (await bots.get(bot.id)).stop_requested


async def test_creating_calls_for_the_job_of_its_status(
    bots: Bots, make_bot: MakeBot, announced: list[OutboxRow], database: Database
) -> None:
    bot = await bots.create(make_bot())
    [row] = await Outbox(database).unsent()
    assert (row.kind, row.subject, payload_of(row)) == ("job", "job.attend", {"id": str(bot.id), "resource": "bot"})
    assert announced == [row]


async def test_a_scheduled_bot_calls_for_nothing(bots: Bots, make_bot: MakeBot, database: Database) -> None:
    await bots.create(make_bot(status=BotStatus.SCHEDULED), job=False)
    assert await Outbox(database).unsent() == []


async def test_a_transition_writes_status_event_webhook_and_follow_up(
    bots: Bots, make_bot: MakeBot, announced: list[OutboxRow], clock: FakeClock
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.LEAVING, config={"webhook_url": "https://x.test/h?a=1&b"}))
    announced.clear()
    clock.advance(5)
    moved = await bots.record_transition(bot.id, Trigger.LEFT, data={"cause": "time_limit"})
    assert moved == replace(bot, status=BotStatus.PROCESSING) == await bots.get(bot.id)
    [event] = await bots.events(bot.id)
    expected = {"old_status": "leaving", "new_status": "processing", "cause": "time_limit"}
    assert (event.event, event.data, event.created_at) == ("status_update", expected, clock.now())
    assert [(row.kind, row.subject) for row in announced] == [
        ("feed", f"feed.{bot.id}.events"),
        ("feed", f"feed.{bot.id}.events"),
        ("deliver", "job.deliver"),
        ("job", "job.assemble"),
    ]
    told = [payload_of(row) for row in announced[:2]]
    assert [message["type"] for message in told] == ["status-update", "stop"]
    assert (told[0]["data"]["old_status"], told[0]["data"]["new_status"]) == ("leaving", "processing")
    assert len({row.message_id for row in announced}) == 4


async def test_the_stop_reason_is_kept_while_leaving_and_shown_at_the_end(bots: Bots, make_bot: MakeBot) -> None:
    bot = await bots.create(make_bot(status=BotStatus.RECORDING))
    left = await bots.record_transition(bot.id, Trigger.ENDED, reason=StopReason.KICKED)
    assert left is not None
    assert left.stop_reason is None
    await bots.record_transition(bot.id, Trigger.LEFT)
    ended = await bots.record_transition(bot.id, Trigger.CLOSED)
    assert ended is not None
    assert ended.stop_reason is StopReason.KICKED
    assert ended.finished_at is not None
    events = await bots.events(bot.id)
    assert [event.data.get("stop_reason") for event in events] == [None, None, "kicked"]


async def test_a_forbidden_move_changes_nothing(bots: Bots, make_bot: MakeBot, announced: list[OutboxRow]) -> None:
    bot = await bots.create(make_bot(status=BotStatus.FINISHED), job=False)
    assert await bots.record_transition(bot.id, Trigger.ADMITTED) is None
    assert await bots.get(bot.id) == bot
    assert await bots.events(bot.id) == []
    assert announced == []


async def test_a_stale_holder_is_superseded_and_changes_nothing(bots: Bots, make_bot: MakeBot) -> None:
    bot = await bots.create(make_bot(status=BotStatus.RECORDING))
    first = await bots.claim(bot.id, "host-a")
    second = await bots.claim(bot.id, "host-b")
    assert (first.epoch, second.epoch, second.host) == (1, 2, "host-b")
    with pytest.raises(Superseded):
        await bots.record_transition(bot.id, Trigger.ENDED, epoch=first.epoch)
    with pytest.raises(Superseded):
        await bots.mark(bot.id, epoch=first.epoch, capture={"packets": 1})
    with pytest.raises(Superseded):
        await bots.add_event(bot.id, "chat_message", {}, epoch=first.epoch)
    with pytest.raises(Superseded):
        await bots.save_participants(bot.id, [], epoch=first.epoch)
    assert await bots.get(bot.id) == second


async def test_of_two_writers_of_one_move_one_wins(bots: Bots, make_bot: MakeBot) -> None:
    bot = await bots.create(make_bot(status=BotStatus.RECORDING))
    results = await asyncio.gather(
        bots.record_transition(bot.id, Trigger.ENDED, reason=StopReason.MEETING_ENDED),
        bots.record_transition(bot.id, Trigger.STOPPED, reason=StopReason.MANUALLY_STOPPED),
        bots.record_transition(bot.id, Trigger.LOST),
    )
    [event] = [e for e in await bots.events(bot.id) if e.data["old_status"] == "recording"]
    assert sum(result is not None for result in results) in (1, 2)  # LOST is allowed after leaving too
    assert event.data["new_status"] == "leaving"


async def test_facts_are_written_beside_the_status(bots: Bots, make_bot: MakeBot) -> None:
    bot = await bots.create(make_bot(status=BotStatus.PROCESSING))
    await bots.mark(bot.id, gaps=(Gap(start=1, end=2.5, cause="host_lost"),), evidence={"page_text": "bots/x/y"})
    moved = await bots.record_transition(
        bot.id, Trigger.ASSEMBLED, changes={"recording_object": "bots/r.webm", "verdict": Verdict.HEALTHY}
    )
    assert moved is not None
    assert (moved.recording_object, moved.verdict, moved.gaps[0].end) == ("bots/r.webm", Verdict.HEALTHY, 2.5)
    assert moved == await bots.get(bot.id)
    with pytest.raises(ValueError, match="status"):
        await bots.mark(bot.id, status="finished")


async def test_a_detected_bot_that_tries_again_is_not_finished_any_more(bots: Bots, make_bot: MakeBot) -> None:
    bot = await bots.create(make_bot(status=BotStatus.JOINING))
    detected = await bots.record_transition(bot.id, Trigger.CHALLENGED)
    assert detected is not None
    assert detected.finished_at is not None
    again = await bots.record_transition(bot.id, Trigger.RETRIED)
    assert again is not None
    assert (again.finished_at, again.attempts, again.status) == (None, 1, BotStatus.BOOTING)


async def test_a_due_bot_is_given_out_once(bots: Bots, make_bot: MakeBot, clock: FakeClock, database: Database) -> None:
    times = (clock.now() + timedelta(seconds=wait) for wait in (10, 99))
    soon, later = [make_bot(status=BotStatus.SCHEDULED, scheduled_for=time) for time in times]
    for bot in (soon, later):
        await bots.create(bot, job=False)
    assert await sent_off(database, bots, clock.now()) == []
    clock.advance(10)
    given = await asyncio.gather(*(sent_off(database, bots, clock.now()) for _ in range(3)))
    assert sorted(given) == [[], [], [soon.id]]
    assert [bot.id for bot in await gathered(bots.schedule.parts(soon.account_id))] == [later.id]


async def test_a_due_bot_that_is_moved_before_its_turn_stays(
    database: Database, make_bot: MakeBot, clock: FakeClock
) -> None:
    tomorrow = clock.now() + timedelta(days=1)

    class Interrupted(Bots):
        async def _send_off(self, bot_id: UUID, *due: Any) -> bool:
            found = await self.get(bot_id)
            if found.config.bot_name == "moved":
                assert await self.update_config(found, found.config, tomorrow)
            return await super()._send_off(bot_id, *due)

    bots = Interrupted(database)
    moved, other = [
        await bots.create(
            make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now(), config={"bot_name": name}), job=False
        )
        for name in ("moved", "other")
    ]
    assert await sent_off(database, bots, clock.now()) == [other.id]
    found = await bots.get(moved.id)
    assert (found.status, found.scheduled_for) == (BotStatus.SCHEDULED, tomorrow)
    assert await bots.events(moved.id) == []
    assert await sent_off(database, bots, tomorrow) == [moved.id]


async def test_an_account_has_so_many_scheduled_bots(bots: Bots, make_bot: MakeBot, clock: FakeClock) -> None:
    later = clock.now() + timedelta(hours=1)
    for _ in range(2):
        await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=later), job=False, most=2)
    with pytest.raises(LimitReached, match="2 scheduled bots"):
        await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=later), job=False, most=2)
    await bots.create(make_bot(status=BotStatus.BOOTING), job=False, most=2)


async def test_only_a_scheduled_bot_can_be_changed(bots: Bots, make_bot: MakeBot, clock: FakeClock) -> None:
    bot = await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False)
    changed = replace(bot.config, bot_name="Other", custom_metadata={"a": "b"})
    assert await bots.update_config(bot, changed, clock.now())
    assert (await bots.get(bot.id)).config == changed
    assert [b.id for b in (await bots.find(bot.account_id, metadata={"a": "b"})).bots] == [bot.id]
    await bots.record_transition(bot.id, Trigger.DUE)
    with pytest.raises(Conflict, match="booting"):
        await bots.update_config(bot, bot.config, None)


async def test_of_two_changes_at_once_the_later_one_is_told(bots: Bots, make_bot: MakeBot, clock: FakeClock) -> None:
    bot = await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False)
    named, spoken = replace(bot.config, bot_name="Other"), replace(bot.config, lang="de")
    done = await asyncio.gather(*(bots.update_config(bot, config, bot.scheduled_for) for config in (named, spoken)))
    assert sorted(done) == [False, True]
    assert (await bots.get(bot.id)).config == (named if done[0] else spoken)


@pytest.mark.parametrize("status", list(BotStatus))
async def test_a_stop_is_for_running_bots(bots: Bots, make_bot: MakeBot, status: BotStatus) -> None:
    bot = await bots.create(make_bot(status=status, attempts=MAX_CHALLENGES), job=False)
    if status in (BotStatus.BOOTING, BotStatus.JOINING, BotStatus.RECORDING):
        assert (await bots.request_stop(bot.id, bot.account_id)).stop_requested
    else:
        with pytest.raises(Conflict, match=status.value):
            await bots.request_stop(bot.id, bot.account_id)


async def test_a_bot_that_is_about_to_try_again_can_be_stopped_once(bots: Bots, make_bot: MakeBot) -> None:
    bot = await bots.create(make_bot(status=BotStatus.BOT_DETECTED, attempts=MAX_CHALLENGES - 1), job=False)
    assert (await bots.request_stop(bot.id, bot.account_id)).stop_requested
    with pytest.raises(Conflict, match="bot_detected"):
        await bots.request_stop(bot.id, bot.account_id)


async def test_active_bots_are_those_with_a_seat(bots: Bots, make_bot: MakeBot) -> None:
    for status in BotStatus:
        await bots.create(make_bot(status=status), job=False)
    [any_bot] = (await bots.find((await bots.create(make_bot())).account_id, limit=1)).bots
    assert await bots.active_count(any_bot.account_id) == 5


async def test_the_limit_of_bots_at_work_holds_over_several_processes(
    address: str, bots: Bots, database: Database, make_bot: MakeBot
) -> None:
    async with Database(address) as other:  # an engine of its own, as another process has
        stores = (bots, Bots(other))
        tries = [stores[number % 2].create(make_bot(), job=False, most=5) for number in range(20)]
        done = await asyncio.gather(*tries, return_exceptions=True)
        refused = [result for result in done if not isinstance(result, Bot)]
        assert {type(result) for result in refused} == {LimitReached}
        assert len(refused) == 15
        assert await bots.active_count(database.default_account_id) == 5
        await Bots(other).create(make_bot(status=BotStatus.SCHEDULED), job=False)
        with pytest.raises(LimitReached, match="5"):
            await Bots(other).create(make_bot(), job=False, most=5)
