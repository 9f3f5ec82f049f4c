"""What accounts have stored and under way is counted, and refuses them more, never what runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from sederunt.database.accounts import Accounts
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.holdings import GB, AccountLimits, Holding, Holdings
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletion, Deletions
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
