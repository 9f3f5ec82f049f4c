"""Housekeeping on a real database, a real nats-server and a real folder of objects."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from obstore.store import MemoryStore
from sqlalchemy import update

from harness.fake_clock import FakeClock
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import Heartbeats
from sederunt.bus.streams import QUEUES
from sederunt.bus.tasks import end
from sederunt.database.accounts import Accounts
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Attempt, Deliveries, Delivery, DeliveryState
from sederunt.database.engine import Database
from sederunt.database.holdings import Holdings
from sederunt.database.ids import new_id
from sederunt.database.outbox import Outbox
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletion, Deletions, RetentionTimes, kept_until
from sederunt.database.search import Search
from sederunt.database.tables import transcript_lines
from sederunt.database.transcripts import Transcripts
from sederunt.database.waiting import WaitingBots
from sederunt.errors import NotFound
from sederunt.jobs.housekeeping import Housekeeping, Stores
from sederunt.jobs.line import WaitingLine
from sederunt.jobs.seating import SeatLimits
from sederunt.jobs.vendor_deletion import VendorDeletion
from sederunt.model.bot import Bot, Verdict
from sederunt.model.history import WAITING_FOR_CAPACITY
from sederunt.model.recording import Recording, RecordingConfig
from sederunt.model.search_terms import phrases
from sederunt.model.status import BotStatus, RecordingStatus, StopReason, Trigger
from sederunt.model.transcript import Segment, Transcript
from sederunt.settings import Settings
from sederunt.storage.objects import Objects, open_objects

MakeBot = Callable[..., Bot]


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return open_objects(Settings(data=tmp_path))


@pytest.fixture
def stores(database: Database, bots: Bots, outbox: Outbox, objects: Objects, tmp_path: Path) -> Stores:
    return Stores(
        bots=bots,
        recordings=Recordings(database),
        deliveries=Deliveries(database),
        deletions=Deletions(database),
        times=RetentionTimes(database),
        outbox=outbox,
        holdings=Holdings(database),
        search=Search(database),
        objects=objects,
        scratch=tmp_path / "scratch",
    )


@pytest.fixture
def heartbeats() -> Heartbeats:
    """Of no process yet."""
    return Heartbeats()


@pytest.fixture
def line(bots: Bots, database: Database, clock: FakeClock, heartbeats: Heartbeats) -> WaitingLine:
    limits = SeatLimits(per_account=3, live=2)
    return WaitingLine(bots, WaitingBots(database), clock, limits=limits, longest_wait_s=900, heartbeats=heartbeats)


@pytest.fixture
def housekeeping(stores: Stores, bus: Bus, clock: FakeClock, line: WaitingLine) -> Housekeeping:
    return Housekeeping(stores, bus, clock, line)


def host_with(free: int, *, name: str = "a", held: int = 0) -> dict[str, Any]:
    """What a host tells."""
    seats = {"total": free + held, "held": held, "free": free}
    return {"role": "host", "name": name, "pid": 1, "parts": {"browser": "ok"}, "seats": seats, "cores": 2}


async def told(bots: Bots, bot: Bot) -> list[dict[str, Any]]:
    """What a bot was told of its place in the line."""
    return [dict(event.data) for event in await bots.events(bot.id) if event.event == WAITING_FOR_CAPACITY]


async def test_bots_without_a_seat_stay_scheduled_know_their_place_and_go_when_one_is_free(
    housekeeping: Housekeeping, bots: Bots, clock: FakeClock, make_bot: MakeBot, heartbeats: Heartbeats
) -> None:
    heartbeats.hear(host_with(1))
    made = [
        await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False) for _ in range(4)
    ]
    done = await housekeeping.quick_pass()
    assert (done.due, done.waiting) == (1, 3)
    made.sort(key=lambda bot: bot.id)
    waiting = [bot for bot in made if (await bots.get(bot.id)).status is BotStatus.SCHEDULED]
    places = [await told(bots, bot) for bot in waiting]
    assert places == [[{"place": place, "waiting": 3, "reason": "no_seat"}] for place in (1, 2, 3)]
    assert (await housekeeping.quick_pass()).waiting == 0, "nobody is told twice"
    (gone,) = [bot for bot in made if bot not in waiting]
    await bots.claim(gone.id, "a")
    heartbeats.hear(host_with(1, held=1))
    assert (await housekeeping.quick_pass()).due == 1
    assert (await bots.get(waiting[0].id)).status is BotStatus.BOOTING


async def test_an_account_at_its_limit_waits_and_keeps_nobody_else_from_a_seat(
    housekeeping: Housekeeping,
    bots: Bots,
    clock: FakeClock,
    make_bot: MakeBot,
    heartbeats: Heartbeats,
    database: Database,
) -> None:
    heartbeats.hear(host_with(40))
    other = (await Accounts(database).create("other")).id
    many = [make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()) for _ in range(5)]
    few = [make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now(), account_id=other) for _ in range(2)]
    for bot in [*many, *few]:
        await bots.create(bot, job=False)
    assert (await housekeeping.quick_pass()).due == 5
    assert all([(await bots.get(bot.id)).status is BotStatus.BOOTING for bot in few])
    reasons = [data["reason"] for bot in many for data in await told(bots, bot)]
    assert reasons == ["account_limit"] * 2


async def test_a_bot_that_no_host_takes_is_told_why_and_ends_with_a_reason_of_its_own(
    housekeeping: Housekeeping, bots: Bots, clock: FakeClock, make_bot: MakeBot
) -> None:
    scheduled = await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False)
    asked_for = await bots.create(make_bot())
    clock.advance(2)
    await housekeeping.quick_pass()
    assert await told(bots, scheduled) == [{"place": 2, "waiting": 2, "reason": "no_host"}]
    assert await told(bots, asked_for) == [{"place": 1, "waiting": 2, "reason": "no_seat"}]
    clock.advance(900)
    assert (await housekeeping.quick_pass()).unseated >= 1
    for bot in (await bots.get(asked_for.id),):
        assert (bot.status, bot.verdict, bot.stop_reason) == (BotStatus.FAILED, Verdict.NO_CAPACITY, None)
        assert (await bots.events(bot.id))[-1].data["cause"] == "no_capacity"


async def test_events_besides_the_statuses_are_told_by_webhook_when_asked_for(
    housekeeping: Housekeeping, bots: Bots, make_bot: MakeBot, database: Database, clock: FakeClock, bus: Bus
) -> None:
    made = make_bot(webhook_url="https://receiver.example/")
    asks = replace(made, config=replace(made.config, webhook_events=("recording_gap", "waiting_for_capacity")))
    await bots.create(asks)
    gap = {"start": 1.0, "end": 2.5, "cause": "planned_move"}
    await bots.add_event(asks.id, "recording_gap", gap)
    await bots.add_event(asks.id, "chat_message", {"content": "hi"})
    clock.advance(2)
    await housekeeping.quick_pass()
    told = await Deliveries(database).of(asks.id, asks.account_id)
    assert [(delivery.type, delivery.custom_metadata) for delivery in told] == [
        ("recording_gap", {"order": "7"}),
        ("waiting_for_capacity", {"order": "7"}),
    ]
    assert told[0].data == gap
    assert (await bots.get(asks.id)).config.webhook_events == ("recording_gap", "waiting_for_capacity")
    assert await bus.queued("deliver") == {str(asks.id)}


async def test_a_bot_that_a_host_has_is_not_ended_for_lack_of_a_seat(
    housekeeping: Housekeeping, bots: Bots, clock: FakeClock, make_bot: MakeBot
) -> None:
    bot = await bots.create(make_bot())
    await bots.claim(bot.id, "a")
    clock.advance(1000)
    assert (await housekeeping.quick_pass()).unseated == 0
    assert (await bots.get(bot.id)).status is BotStatus.BOOTING


async def test_a_scheduled_bot_is_sent_off_when_its_time_has_come(
    housekeeping: Housekeeping, bus: Bus, bots: Bots, clock: FakeClock, make_bot: MakeBot, heartbeats: Heartbeats
) -> None:
    heartbeats.hear(host_with(9))
    at = clock.now() + timedelta(minutes=5)
    bot = await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=at), job=False)
    assert (await housekeeping.quick_pass()).due == 0
    clock.advance(301)
    assert (await housekeeping.quick_pass()).due == 1
    assert (await bots.get(bot.id)).status is BotStatus.BOOTING
    clock.advance(10)
    await housekeeping.quick_pass()
    assert await bus.queued("attend") == {str(bot.id)}


async def test_a_due_webhook_is_called_for_once_however_often_housekeeping_looks(
    housekeeping: Housekeeping, bus: Bus, bots: Bots, make_bot: MakeBot
) -> None:
    bot = await bots.create(make_bot(webhook_url="https://receiver.example/"))
    await bots.record_transition(bot.id, Trigger.LAUNCHED)
    for _ in range(3):
        await housekeeping.quick_pass()
    assert await bus.queued("deliver") == {str(bot.id)}
    assert (await bus.js.stream_info(QUEUES["deliver"].stream)).state.messages == 1


async def _launched(bots: Bots, stores: Stores, make_bot: MakeBot) -> tuple[Bot, Delivery]:
    """A bot that is on its way, and the webhook that tells of it."""
    bot = await bots.create(make_bot(webhook_url="https://receiver.example/"))
    await bots.record_transition(bot.id, Trigger.LAUNCHED)
    (delivery,) = await stores.deliveries.of(bot.id, bot.account_id)
    return bot, delivery


async def test_webhooks_do_not_wait_for_the_time_that_was_before_the_clock_was_set_back(
    housekeeping: Housekeeping, stores: Stores, bus: Bus, bots: Bots, clock: FakeClock, make_bot: MakeBot
) -> None:
    bot, delivery = await _launched(bots, stores, make_bot)
    await stores.deliveries.postpone(delivery.id, clock.now() + timedelta(seconds=30))
    assert (await housekeeping.quick_pass()).deliveries == 0
    clock.set_wall(3600)
    clock.set_wall(-3600 - 1.9)
    assert (await housekeeping.quick_pass()).deliveries == 0, "the time service at work"
    clock.set_wall(-600)
    assert (await housekeeping.quick_pass()).deliveries == 1
    assert await bus.queued("deliver") == {str(bot.id)}


async def test_whoever_stands_in_again_does_not_take_what_it_saw_long_ago_for_new(
    stores: Stores, bus: Bus, line: WaitingLine, bots: Bots, clock: FakeClock, make_bot: MakeBot
) -> None:
    """The clock was set back while a worker was up, which heeded it."""
    _, delivery = await _launched(bots, stores, make_bot)
    looks, wanted = asyncio.Queue[bool](), False

    def is_wanted() -> bool:
        looks.put_nowait(wanted)
        return wanted

    async def next_quick_look() -> None:
        while looks.qsize():
            looks.get_nowait()
        clock.advance(1)
        await looks.get()

    keeping = asyncio.create_task(Housekeeping(stores, bus, clock, line, is_wanted=is_wanted).run())
    async with asyncio.timeout(60):
        await looks.get()
        clock.set_wall(-3600)
        await next_quick_look()
        await stores.deliveries.postpone(delivery.id, clock.now() + timedelta(seconds=30))
        wanted = True
        for _ in range(3):
            await next_quick_look()
        assert await bus.queued("deliver") == frozenset()
        clock.set_wall(-3600)
        while not await bus.queued("deliver"):
            await next_quick_look()
    await end(keeping)


async def test_a_job_that_the_queue_lost_is_put_back_after_it_was_missed_twice(
    housekeeping: Housekeeping, bus: Bus, bots: Bots, outbox: Outbox, make_bot: MakeBot
) -> None:
    bot = await bots.create(make_bot())
    await outbox.mark_sent([row.id for row in await outbox.unsent()])  # published, and then lost by the server
    assert (await housekeeping.slow_pass()).requeued == 0
    assert (await housekeeping.slow_pass()).requeued == 1
    assert await bus.queued("attend") == {str(bot.id)}
    assert (await housekeeping.slow_pass()).requeued == 0


async def test_media_that_had_its_time_goes_and_a_deleted_bot_goes_whole(
    housekeeping: Housekeeping, bots: Bots, database: Database, objects: Objects, clock: FakeClock, make_bot: MakeBot
) -> None:
    old, deleted = await bots.create(make_bot()), await bots.create(make_bot())
    for bot in (old, deleted):
        await bots.record_transition(bot.id, Trigger.REFUSED, reason=StopReason.REQUEST_DENIED)
        await objects.put(f"bots/{bot.id}/recording.webm", b"media")
    await bots.request_deletion(deleted.id, database.default_account_id)
    assert (await housekeeping.slow_pass()).deleted == 1
    assert await objects.keys("bots/") == [f"bots/{old.id}/recording.webm"]
    clock.advance(timedelta(days=8).total_seconds())
    assert (await housekeeping.slow_pass()).expired == 1
    assert await objects.keys("bots/") == []
    assert (await bots.get(old.id)).recording_object is None


async def _deleted_untold(
    bots: Bots, stores: Stores, make_bot: MakeBot, status: BotStatus = BotStatus.JOINING
) -> tuple[Bot, Delivery]:
    """A bot that was deleted while its receiver was down; what waits for that receiver."""
    bot = await bots.create(make_bot(webhook_url="https://receiver.example/", status=status))
    if status is BotStatus.LEAVING:
        await bots.request_deletion(bot.id, bot.account_id)
        await bots.record_transition(bot.id, Trigger.LEFT)
    else:
        await bots.record_transition(bot.id, Trigger.REFUSED, reason=StopReason.REQUEST_DENIED)
        await bots.request_deletion(bot.id, bot.account_id)
    await stores.objects.put(f"bots/{bot.id}/recording.webm", b"media")
    delivery = await stores.deliveries.next(bot.id)
    assert delivery is not None
    return bot, delivery


async def _attempted(stores: Stores, delivery: Delivery, clock: FakeClock, state: DeliveryState) -> None:
    attempt = Attempt(at=clock.now(), status=500, ms=3, answer="")
    again_at = clock.now() if state is DeliveryState.PENDING else None
    await stores.deliveries.record_attempt(delivery.id, attempt, state=state, next_attempt_at=again_at)


@pytest.mark.parametrize("status", [BotStatus.JOINING, BotStatus.LEAVING])
@pytest.mark.parametrize("end", [DeliveryState.DELIVERED, DeliveryState.GIVEN_UP])
async def test_the_last_changes_of_a_deleted_bot_are_told_and_then_gone(
    housekeeping: Housekeeping,
    bots: Bots,
    stores: Stores,
    clock: FakeClock,
    make_bot: MakeBot,
    status: BotStatus,
    end: DeliveryState,
) -> None:
    bot, delivery = await _deleted_untold(bots, stores, make_bot, status)
    await _attempted(stores, delivery, clock, DeliveryState.PENDING)
    assert (await housekeeping.slow_pass()).deleted == 1
    assert await stores.objects.keys("bots/") == []
    with pytest.raises(NotFound):
        await bots.get(bot.id)
    assert [deletion.resource_id for deletion in await stores.deletions.unfinished()] == [bot.id]
    assert await stores.deliveries.due(clock.now()) == [("bot", bot.id)]
    waiting = await stores.deliveries.next(bot.id)
    assert waiting is not None
    assert (waiting.data, len(waiting.attempts)) == (delivery.data, 1)
    assert (await housekeeping.slow_pass()).deleted == 0, "nothing more is to be done here"
    await _attempted(stores, waiting, clock, end)
    await housekeeping.slow_pass()
    assert await stores.deletions.unfinished() == []
    assert await stores.deliveries.of(bot.id, bot.account_id) == []


async def test_the_last_changes_of_a_deleted_bot_wait_for_a_day_also_over_a_restart(
    housekeeping: Housekeeping,
    bots: Bots,
    stores: Stores,
    bus: Bus,
    line: WaitingLine,
    clock: FakeClock,
    make_bot: MakeBot,
) -> None:
    bot, _ = await _deleted_untold(bots, stores, make_bot)
    await housekeeping.slow_pass()
    clock.advance(timedelta(hours=23).total_seconds())
    again = Housekeeping(stores, bus, clock, line)
    await again.slow_pass()
    assert await stores.deliveries.next(bot.id) is not None
    clock.advance(timedelta(hours=1).total_seconds())
    await again.slow_pass()
    assert await stores.deletions.unfinished() == []
    assert await stores.deliveries.next(bot.id) is None


async def test_of_what_a_deleted_bot_has_to_tell_words_go_at_once(
    housekeeping: Housekeeping, bots: Bots, stores: Stores, clock: FakeClock, make_bot: MakeBot
) -> None:
    bot = make_bot(webhook_url="https://receiver.example/", status=BotStatus.JOINING)
    bot = await bots.create(replace(bot, config=replace(bot.config, webhook_events=("chat_message",))))
    await bots.add_event(bot.id, "chat_message", {"content": "Hello."})
    for trigger in (Trigger.ADMITTED, Trigger.CRASHED):
        await bots.record_transition(bot.id, trigger)
    first, told, untold = await stores.deliveries.of(bot.id, bot.account_id)
    assert (first.type, told.type, untold.type) == ("chat_message", "status_update", "status_update")
    await _attempted(stores, told, clock, DeliveryState.DELIVERED)
    await bots.request_deletion(bot.id, bot.account_id)
    await housekeeping.slow_pass()
    assert [delivery.id for delivery in await stores.deliveries.of(bot.id, bot.account_id)] == [untold.id]


@pytest.mark.parametrize(("for_1_year", "days"), [(False, 1), (True, 365)])
async def test_a_recordings_file_goes_when_its_time_is_over_and_its_transcript_stays(
    housekeeping: Housekeeping, database: Database, objects: Objects, clock: FakeClock, for_1_year: bool, days: int
) -> None:
    recordings, transcripts = Recordings(database), Transcripts(database)
    now = clock.now()
    recording_id = new_id(now)
    source = f"recordings/{recording_id}/source"
    await objects.put(source, b"media")
    await recordings.create(
        Recording(
            id=recording_id,
            account_id=database.default_account_id,
            config=RecordingConfig(transcription_model="vendor1", store_recording_for_1_year=for_1_year),
            status=RecordingStatus.TRANSCRIBING,
            created_at=now,
            recording_object=source,
            recording_available_until=kept_until("recording", for_1_year=for_1_year, since=now),
        ),
        job="job.transcribe",
    )
    clock.advance(timedelta(days=days).total_seconds() - 60)
    assert (await housekeeping.slow_pass()).expired == 0
    await transcripts.save(recording_id, Transcript(segments=()))
    await recordings.record_transition(recording_id, Trigger.TRANSCRIBED)
    assert (await housekeeping.slow_pass()).expired == 0
    clock.advance(60)
    assert (await housekeeping.slow_pass()).expired == 1
    assert await objects.keys("recordings/") == []
    found = await recordings.get(recording_id)
    assert (found.recording_object, found.status) == (None, RecordingStatus.FINISHED)
    assert (await recordings.view(recording_id, database.default_account_id)).transcript is not None
    assert (await housekeeping.slow_pass()).expired == 0


async def test_files_of_an_upload_that_was_cut_off_go_after_a_day(
    housekeeping: Housekeeping, database: Database, objects: Objects, clock: FakeClock
) -> None:
    """A killed api leaves the file without a row: nobody has its id."""
    recording_id, deletions = new_id(clock.now()), Deletions(database)
    await deletions.expect_row("recording", recording_id, database.default_account_id)
    await objects.put(f"recordings/{recording_id}/source", b"media")
    clock.advance(timedelta(hours=23).total_seconds())
    assert (await housekeeping.slow_pass()).deleted == 0
    assert await objects.keys("recordings/") != []
    clock.advance(timedelta(hours=1).total_seconds())
    assert (await housekeeping.slow_pass()).deleted == 1
    assert await objects.keys("recordings/") == []


async def test_a_bot_that_was_cancelled_takes_nobodys_seat(
    housekeeping: Housekeeping, bots: Bots, clock: FakeClock, make_bot: MakeBot, heartbeats: Heartbeats
) -> None:
    """Its row stands there until it is removed, for as long as the storage is away."""
    heartbeats.hear(host_with(1))
    due = {"status": BotStatus.SCHEDULED, "scheduled_for": clock.now()}
    cancelled, wanted = [await bots.create(make_bot(**due), job=False) for _ in range(2)]
    await bots.request_deletion(cancelled.id, cancelled.account_id)
    assert (await housekeeping.quick_pass()).due == 1
    assert (await bots.get(wanted.id)).status is BotStatus.BOOTING


async def test_a_place_that_the_database_did_not_take_is_told_at_the_next_walk_and_webhooks_go_on(
    housekeeping: Housekeeping,
    bots: Bots,
    clock: FakeClock,
    make_bot: MakeBot,
    heartbeats: Heartbeats,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heartbeats.hear(host_with(1))
    for _ in range(2):
        await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False)
    tell, heeded = WaitingBots.tell, list[bool]()

    async def refused(*_: object) -> int:
        raise OSError("disk full")

    async def heed(_: object) -> list[tuple[str, UUID]]:
        heeded.append(True)
        return []

    monkeypatch.setattr(WaitingBots, "tell", refused)
    monkeypatch.setattr(Deliveries, "due", lambda self, now: heed(now))
    done = await housekeeping.quick_pass()
    assert (done.due, done.waiting, heeded) == (1, 0, [True]), "whoever has a seat misses no meeting"
    monkeypatch.setattr(WaitingBots, "tell", tell)
    assert (await housekeeping.quick_pass()).waiting == 1


async def test_storage_that_is_away_keeps_no_row_of_what_was_deleted(
    stores: Stores, bus: Bus, bots: Bots, clock: FakeClock, make_bot: MakeBot, line: WaitingLine
) -> None:
    class Away(Objects):
        async def delete_prefix(self, prefix: str) -> int:
            raise OSError("storage away")

    made = [await bots.create(make_bot(status=BotStatus.FINISHED), job=False) for _ in range(8)]
    for bot in made:
        await bots.request_deletion(bot.id, bot.account_id)
    away = replace(stores, objects=Away(MemoryStore()))
    await Housekeeping(away, bus, clock, line).slow_pass()
    for bot in made:
        with pytest.raises(NotFound):
            await bots.get(bot.id)
    assert len(await stores.deletions.unfinished()) == len(made)


class Stuck(Objects):
    """A store that refuses to delete the files of some, as one with an object lock does."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.kept: set[UUID] = set()
        self.tried: list[str] = []

    async def delete_prefix(self, prefix: str) -> int:
        self.tried.append(prefix)
        self._refuse(prefix)
        return await super().delete_prefix(prefix)

    async def stored_bytes(self, prefix: str) -> int:
        self._refuse(prefix)
        return await super().stored_bytes(prefix)

    def _refuse(self, prefix: str) -> None:
        if any(str(id_) in prefix for id_ in self.kept):
            raise PermissionError("the object is locked")


async def ended(bots: Bots, make_bot: MakeBot, count: int) -> list[Bot]:
    """Bots that have ended, and whose media goes after its time."""
    made = [await bots.create(make_bot()) for _ in range(count)]
    for bot in made:
        await bots.record_transition(bot.id, Trigger.REFUSED, reason=StopReason.REQUEST_DENIED)
    return made


async def test_a_file_that_cannot_be_deleted_holds_up_no_other_media_and_no_deletion(
    stores: Stores, bus: Bus, bots: Bots, clock: FakeClock, make_bot: MakeBot, line: WaitingLine
) -> None:
    stuck, _, deleted = await ended(bots, make_bot, 3)
    objects = Stuck()
    objects.kept.add(stuck.id)
    keeping = Housekeeping(replace(stores, objects=objects), bus, clock, line)
    await keeping.slow_pass()
    clock.advance(timedelta(days=8).total_seconds())
    await bots.request_deletion(deleted.id, deleted.account_id)
    tidied = await keeping.slow_pass()
    assert (tidied.expired, tidied.deleted) == (1, 1)
    assert await stores.deletions.unfinished() == []
    assert await bots.all_accounts.expired(clock.now()) == [stuck.id]
    objects.kept.clear()
    assert (await keeping.slow_pass()).expired == 1


async def test_more_files_that_cannot_be_deleted_than_are_looked_at_hold_up_no_other(
    stores: Stores,
    bus: Bus,
    bots: Bots,
    clock: FakeClock,
    make_bot: MakeBot,
    line: WaitingLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sederunt.jobs.housekeeping.EXPIRED_AT_ONCE", 3)
    objects = Stuck()
    objects.kept = {bot.id for bot in await ended(bots, make_bot, 7)}
    clock.advance(1)
    await ended(bots, make_bot, 1)
    keeping = Housekeeping(replace(stores, objects=objects), bus, clock, line)
    await keeping.slow_pass()
    clock.advance(timedelta(days=8).total_seconds())
    passes = [(await keeping.slow_pass()).expired for _ in range(4)]
    assert sum(passes) == 1
    objects.tried.clear()
    for _ in range(3):
        await keeping.slow_pass()
    assert {f"bots/{id_}/" for id_ in objects.kept} == set(objects.tried), "they are tried by turns"


async def test_all_media_that_has_had_its_time_goes_in_one_pass(
    stores: Stores,
    bus: Bus,
    bots: Bots,
    clock: FakeClock,
    make_bot: MakeBot,
    line: WaitingLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sederunt.jobs.housekeeping.EXPIRED_AT_ONCE", 3)
    stuck, *_ = await ended(bots, make_bot, 9)
    objects = Stuck()
    objects.kept.add(stuck.id)
    keeping = Housekeeping(replace(stores, objects=objects), bus, clock, line)
    await keeping.slow_pass()
    clock.advance(timedelta(days=8).total_seconds())
    assert (await keeping.slow_pass()).expired == 2, "a page of which something failed is the last one"
    assert (await keeping.slow_pass()).expired == 6, "what failed before ends nothing"
    assert await bots.all_accounts.expired(clock.now()) == [stuck.id]


async def test_what_cannot_be_measured_holds_up_no_other_measuring(
    stores: Stores, bus: Bus, bots: Bots, clock: FakeClock, make_bot: MakeBot, line: WaitingLine
) -> None:
    stuck, other = [await bots.create(make_bot(recording_object="bots/1/recording.webm")) for _ in range(2)]
    objects = Stuck()
    objects.kept.add(stuck.id)
    await Housekeeping(replace(stores, objects=objects), bus, clock, line).slow_pass()
    assert [each.resource_id for each in await stores.holdings.unmeasured()] == [stuck.id]
    assert await stores.holdings.of(other.id) is not None


async def test_a_deletion_that_failed_stays_behind_fresh_ones_while_many_fail(
    stores: Stores, bus: Bus, bots: Bots, clock: FakeClock, make_bot: MakeBot, line: WaitingLine
) -> None:
    objects = Stuck()
    keeping = Housekeeping(replace(stores, objects=objects), bus, clock, line)
    stuck = [await bots.create(make_bot(status=BotStatus.FINISHED), job=False) for _ in range(8)]
    objects.kept = {bot.id for bot in stuck}
    for bot in stuck:
        await bots.request_deletion(bot.id, bot.account_id)
    for _ in range(4):  # all of them have failed, and most wait for their turn
        await keeping.slow_pass()
    fresh = await bots.create(make_bot(status=BotStatus.FINISHED), job=False)
    clock.advance(1)
    await bots.request_deletion(fresh.id, fresh.account_id)
    assert (await keeping.slow_pass()).deleted == 1


class SilentVendors:
    """Vendors that confirm nothing until they are told to."""

    def __init__(self) -> None:
        self.copies: set[UUID] = set()
        self.confirms = False

    async def has_copies(self, resource_id: UUID) -> bool:
        return resource_id in self.copies

    async def erase(self, resource_id: UUID) -> int | None:
        return 1 if self.confirms else None


async def test_what_vendors_do_not_confirm_holds_up_no_other_deletion(
    stores: Stores, bus: Bus, bots: Bots, clock: FakeClock, database: Database, make_bot: MakeBot, line: WaitingLine
) -> None:
    """A page of receipts that one account's vendor left open was all that was ever looked at."""
    vendors = SilentVendors()
    keeping = Housekeeping(replace(stores, vendors=cast(VendorDeletion, vendors)), bus, clock, line)
    made = [await bots.create(make_bot(status=BotStatus.FINISHED), job=False) for _ in range(102)]
    vendors.copies = {bot.id for bot in made[:101]}
    for bot in made:
        await bots.request_deletion(bot.id, bot.account_id)
    assert (await keeping.slow_pass()).deleted == 102
    deletions = Deletions(database)
    other = await deletions.get(made[101].id)
    assert other is not None
    assert other.finished_at is not None
    assert (await keeping.vendor_pass()).erased == 0
    assert (await keeping.slow_pass()).deleted == 0, "nothing more is to be done here"
    vendors.confirms = True
    assert (await keeping.vendor_pass()).erased == 101
    assert await deletions.unfinished() == []


async def test_a_bot_that_is_due_does_not_wait_for_deletions(
    stores: Stores, bus: Bus, bots: Bots, clock: FakeClock, database: Database, make_bot: MakeBot, line: WaitingLine
) -> None:
    class Endless(Deletions):
        begun = asyncio.Event()

        async def unfinished(self, *, behind: Deletion | None = None, limit: int = 100) -> list[Deletion]:
            self.begun.set()
            await asyncio.Event().wait()
            return []

    deletions = Endless(database)
    keeping = asyncio.create_task(Housekeeping(replace(stores, deletions=deletions), bus, clock, line).run())
    await deletions.begun.wait()
    bot = await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False)
    async with asyncio.timeout(60):  # of what hangs
        while (await bots.get(bot.id)).status is BotStatus.SCHEDULED:
            assert not keeping.done()
            clock.advance(1)
            await asyncio.sleep(0)
    await end(keeping)


async def test_what_killed_workers_left_is_removed(
    housekeeping: Housekeeping, stores: Stores, bots: Bots, make_bot: MakeBot
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.FINISHED))
    old, fresh, deleted = (stores.scratch / name for name in ("fetch-1", "fetch-2", f"transcribe-{bot.id}"))
    for folder in (old, fresh, deleted):
        folder.mkdir(parents=True)
        (folder / "source").write_bytes(b"media")
    os.utime(old, (0, 0))
    await housekeeping.slow_pass()
    assert sorted(stores.scratch.iterdir()) == sorted([fresh, deleted])
    await bots.request_deletion(bot.id, bot.account_id)
    await housekeeping.slow_pass()
    assert list(stores.scratch.iterdir()) == [fresh]


async def test_a_clock_set_forward_deletes_no_media_and_no_upload_that_comes_just_now(
    stores: Stores, bus: Bus, line: WaitingLine, bots: Bots, clock: FakeClock, database: Database, make_bot: MakeBot
) -> None:
    def started() -> Housekeeping:
        return Housekeeping(stores, bus, clock, line)

    housekeeping, month_s = started(), timedelta(days=30).total_seconds()
    await housekeeping.slow_pass()
    bot, coming = await bots.create(make_bot()), new_id(clock.now())
    await bots.record_transition(bot.id, Trigger.REFUSED, reason=StopReason.REQUEST_DENIED)
    await stores.deletions.expect_row("recording", coming, database.default_account_id)
    files = [f"bots/{bot.id}/recording.webm", f"recordings/{coming}/source"]
    for file in files:
        await stores.objects.put(file, b"media")
    clock.set_wall(month_s)
    for each in (housekeeping, started()):  # whoever is started meanwhile believes it no more
        tidied = await each.slow_pass()
        assert (tidied.expired, tidied.deleted) == (0, 0)
    assert sorted(await stores.objects.keys("")) == files
    clock.set_wall(-month_s)
    assert (await housekeeping.slow_pass()).expired == 0
    clock.advance(month_s)
    tidied = await housekeeping.slow_pass()
    assert (tidied.expired, tidied.deleted) == (1, 1)
    assert await stores.objects.keys("") == []


async def test_words_that_an_older_program_wrote_become_those_of_their_account(
    housekeeping: Housekeeping, bots: Bots, make_bot: MakeBot, database: Database
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.FINISHED))
    line = Segment(start=0, end=1, speaker=0, confidence=1, transcript="Hello")
    await Transcripts(database).save(bot.id, Transcript(segments=(line, line)))
    async with database.begin() as connection:
        await connection.execute(update(transcript_lines).values(is_apart=False))
    assert (await housekeeping.slow_pass()).set_apart == 2
    assert (await housekeeping.slow_pass()).set_apart == 0
    assert len(await Search(database).find(bot.account_id, phrases("hell"))) == 2
