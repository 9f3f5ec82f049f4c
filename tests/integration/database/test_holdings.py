"""What accounts have stored and under way is counted, and refuses them more, never what runs."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from sederunt.database.accounts import Accounts
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.holdings import GB, AccountLimits, Holding, Holdings
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletion, Deletions
from sederunt.database.seats import BookingLimits
from sederunt.errors import LimitReached
from sederunt.jobs.holdings import measure
from sederunt.model.bot import Bot
from sederunt.model.recording import Recording
from sederunt.model.status import BotStatus, Trigger
from sederunt.settings import Settings
from sederunt.storage.objects import open_objects

MakeBot = Callable[..., Bot]
MakeRecording = Callable[..., Recording]
LIMITS = AccountLimits(stored_gb=1, transcription_minutes=100)


@pytest.fixture
def holdings(database: Database) -> Holdings:
    return Holdings(database)


def of(account_id: UUID, resource_id: UUID, *, stored_bytes: float = 0, sound_s: float = 0.0) -> Holding:
    return Holding(
        resource="recording",
        resource_id=resource_id,
        account_id=account_id,
        stored_bytes=int(stored_bytes),
        sound_s=sound_s,
    )


async def test_a_full_account_gets_no_bot_and_no_recording_and_another_does(
    holdings: Holdings,
    recordings: Recordings,
    bots: Bots,
    make_recording: MakeRecording,
    make_bot: MakeBot,
    database: Database,
) -> None:
    other = await Accounts(database).create("other")
    first = make_recording()
    held = of(first.account_id, first.id, stored_bytes=GB)
    await recordings.create(first, job=None, holding=held, limits=LIMITS)
    with pytest.raises(LimitReached, match=r"1\.0 GB of recordings stored, of 1 GB") as refused:
        await recordings.create(make_recording(), job=None, limits=LIMITS)
    assert refused.value.budget == "stored_gb"
    with pytest.raises(LimitReached):
        await bots.create(make_bot(), limits=LIMITS)
    await bots.create(make_bot(), limits=AccountLimits())  # no limit
    await recordings.create(replace(make_recording(), account_id=other.id), job=None, limits=LIMITS)
    # What the account booked before goes on: only asking for more is refused.
    await holdings.note(replace(held, stored_bytes=int(2 * GB)))
    assert await holdings.stored_bytes(first.account_id) == 2 * GB
    await recordings.media_removed(first.id)
    await bots.create(make_bot(), limits=LIMITS)


async def test_pictures_of_bots_that_wait_are_counted_until_they_go(
    holdings: Holdings, bots: Bots, make_bot: MakeBot, database: Database, clock: FakeClock
) -> None:
    def waiting() -> Bot:
        return make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now())

    def picture_of(bot: Bot, stored_bytes: float) -> Holding:
        return replace(of(bot.account_id, bot.id, stored_bytes=stored_bytes), resource="bot")

    first, second = waiting(), waiting()
    await bots.create(first, holding=picture_of(first, 0.6 * GB), limits=LIMITS)
    await bots.create(second, limits=LIMITS)
    assert await holdings.stored_bytes(first.account_id) == 0.6 * GB
    # In place of its own picture, which does not count then; and beside that of another.
    for size in (0.7 * GB, 1.1 * GB, 1.0 * GB):
        shown = picture_of(first, size)
        assert await bots.update_config(first, first.config, clock.now(), holding=shown, limits=LIMITS)
        assert await holdings.stored_bytes(first.account_id) == size
    with pytest.raises(LimitReached) as refused:
        await bots.update_config(second, second.config, clock.now(), holding=picture_of(second, 5e6), limits=LIMITS)
    assert refused.value.budget == "stored_gb"
    assert await bots.update_config(second, second.config, clock.now(), limits=LIMITS)  # without one
    with pytest.raises(LimitReached):
        await bots.create(waiting(), limits=LIMITS)
    assert await bots.update_config(first, first.config, clock.now(), holding=picture_of(first, 0), limits=LIMITS)
    assert await holdings.stored_bytes(first.account_id) == 0
    await bots.update_config(first, first.config, clock.now(), holding=picture_of(first, GB), limits=LIMITS)
    receipt = Deletion(resource="bot", resource_id=first.id, account_id=first.account_id, requested_at=clock.now())
    await Deletions(database).remove_rows(receipt)
    await bots.create(waiting(), limits=LIMITS)


async def test_a_picture_that_comes_while_another_change_waits_is_no_deadlock(
    bots: Bots, make_bot: MakeBot, clock: FakeClock
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False)
    shown = replace(of(bot.account_id, bot.id, stored_bytes=5), resource="bot")
    booking = BookingLimits(per_account=100)
    for _ in range(20):
        changes: list[dict[str, Any]] = [{"holding": shown, "limits": LIMITS}, {"booking": booking}, {"most": 100}]
        done = await asyncio.gather(
            *(bots.update_config(bot, bot.config, bot.scheduled_for, **each) for each in changes)
        )
        assert all(done)


async def test_minutes_in_flight_end_with_their_transcription(
    recordings: Recordings, make_recording: MakeRecording
) -> None:
    first, second = make_recording(), make_recording()
    await recordings.create(first, job=None, holding=of(first.account_id, first.id, sound_s=99 * 60), limits=LIMITS)
    asked = of(second.account_id, second.id, sound_s=2 * 60)
    with pytest.raises(LimitReached, match="99 minutes") as refused:
        await recordings.create(second, job=None, holding=asked, limits=LIMITS)
    assert refused.value.budget == "transcription_minutes"
    await recordings.record_transition(first.id, Trigger.TRANSCRIBED)
    await recordings.create(second, job=None, holding=asked, limits=LIMITS)


async def test_one_recording_is_taken_however_long_it_is(recordings: Recordings, make_recording: MakeRecording) -> None:
    day = make_recording()
    await recordings.create(day, job=None, holding=of(day.account_id, day.id, sound_s=86_400), limits=LIMITS)


async def test_what_was_not_measured_is_found_and_what_is_deleted_is_forgotten(
    database: Database,
    holdings: Holdings,
    recordings: Recordings,
    bots: Bots,
    make_recording: MakeRecording,
    make_bot: MakeBot,
    tmp_path: Path,
) -> None:
    objects = open_objects(Settings(data=tmp_path))
    recording = replace(make_recording(), recording_object="recordings/x/source")
    await recordings.create(recording, job=None)
    bot = await bots.create(make_bot(status=BotStatus.PROCESSING, recording_object="bots/x/recording.webm"))
    await objects.put(f"bots/{bot.id}/recording.webm", b"x" * 70)
    await objects.put(f"bots/{bot.id}/tracks.json", b"x" * 30)
    found = await holdings.unmeasured()
    assert {holding.resource_id for holding in found} == {recording.id, bot.id}
    for holding in found:
        await measure(holding, holdings, objects)
    assert await holdings.unmeasured() == []
    assert await holdings.stored_bytes(bot.account_id) == 100
    receipt = Deletion(resource="bot", resource_id=bot.id, account_id=bot.account_id, requested_at=database.clock.now())
    await Deletions(database).remove_rows(receipt)
    assert await holdings.of(bot.id) is None
    await measure(found[0], holdings, objects)  # a job that ends after the deletion leaves nothing
    assert await holdings.of(bot.id) is None
