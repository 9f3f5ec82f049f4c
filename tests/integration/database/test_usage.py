"""What was used is written with the ending, once per resource, and stays when the resource goes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from harness.fake_clock import FakeClock
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletions
from sederunt.database.transcripts import Transcripts
from sederunt.database.usage import Usage
from sederunt.model.bot import Bot
from sederunt.model.recording import Recording, RecordingConfig
from sederunt.model.status import BotStatus, RecordingStatus, StopReason, Trigger
from sederunt.model.transcript import Segment, Transcript

MakeBot = Callable[..., Bot]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WAY = (Trigger.ENDED, Trigger.LEFT, Trigger.CLOSED)


async def test_minutes_are_kept_by_day_key_and_model_and_outlive_the_bot(
    bots: Bots, make_bot: MakeBot, database: Database, clock: FakeClock
) -> None:
    began = clock.now()
    key = new_id(began)
    for key_id in (key, key, None):
        bot = await bots.create(make_bot(status=BotStatus.JOINING, key_id=key_id, config={"video": True}))
        await bots.record_transition(bot.id, Trigger.ADMITTED)
        clock.advance(61)
        for trigger in WAY:
            await bots.record_transition(bot.id, trigger)
    await bots.request_deletion(bot.id, bot.account_id)
    for deletion in await Deletions(database).unfinished():
        await Deletions(database).finish(deletion)
    until = clock.now() + timedelta(days=1)
    used = await Usage(database).between(database.default_account_id, began, until)
    assert {(row.key_id, row.count, row.minutes, row.video) for row in used} == {(key, 2, 4, True), (None, 1, 2, True)}
    assert {(row.resource, row.model, row.waiting_minutes) for row in used} == {("bot", "vendor1", 0)}
    assert {(EPOCH + timedelta(days=row.day)).date() for row in used} == {began.date()}
    assert await Usage(database).between(new_id(began), began, until) == []


async def test_an_ending_that_was_none_is_not_counted_twice(
    bots: Bots, make_bot: MakeBot, database: Database, clock: FakeClock
) -> None:
    began = clock.now()
    bot = await bots.create(make_bot(status=BotStatus.JOINING, config={}))
    await bots.record_transition(bot.id, Trigger.CHALLENGED)
    await bots.record_transition(bot.id, Trigger.RETRIED)
    await bots.record_transition(bot.id, Trigger.REFUSED, reason=StopReason.WAITING_ROOM_TIMEOUT)
    [used] = await Usage(database).between(bot.account_id, began, clock.now() + timedelta(seconds=1))
    assert (used.count, used.minutes) == (1, 0)


async def test_a_recording_is_counted_up_to_its_last_word(database: Database, clock: FakeClock) -> None:
    recordings = Recordings(database)
    recording = Recording(
        id=new_id(clock.now()),
        account_id=database.default_account_id,
        config=RecordingConfig(transcription_model="whisper"),
        status=RecordingStatus.TRANSCRIBING,
        created_at=clock.now(),
    )
    await recordings.create(recording, job=None)
    said = Segment(start=1, end=121, speaker=0, confidence=1, transcript="Yes.")
    await Transcripts(database).save(recording.id, Transcript(segments=(said,)))
    await recordings.record_transition(recording.id, Trigger.TRANSCRIBED)
    until = clock.now() + timedelta(seconds=1)
    [used] = await Usage(database).between(recording.account_id, clock.now(), until)
    assert (used.resource, used.model, used.minutes) == ("recording", "whisper", 3)
