"""The store of recordings, on SQLite and on PostgreSQL."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from harness.fake_clock import FakeClock
from sederunt.database.deliveries import Deliveries
from sederunt.database.engine import Database
from sederunt.database.outbox import Outbox
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletions
from sederunt.database.transcripts import Transcripts
from sederunt.errors import NotFound
from sederunt.model.recording import Recording
from sederunt.model.status import RecordingStatus, Trigger
from sederunt.model.transcript import Segment, Transcript


async def test_a_recording_comes_back_as_it_was_stored(
    recordings: Recordings, make_recording: Callable[..., Recording], database: Database
) -> None:
    stored = make_recording(
        config={"custom_vocabulary": ("Sederunt",), "transcription_credentials": uuid4(), "lang": "en"},
        source_url="https://x.test/a.mp3",
    )
    await recordings.create(stored, job="job.fetch")
    assert await recordings.get(stored.id) == stored
    assert (await recordings.view(stored.id, stored.account_id)).recording == stored
    assert [row.subject for row in await Outbox(database).unsent()] == ["job.fetch"]
    for account in (uuid4(),):
        with pytest.raises(NotFound):
            await recordings.get(stored.id, account)


async def test_facts_and_the_next_job_are_written_together(
    recordings: Recordings, make_recording: Callable[..., Recording], database: Database
) -> None:
    stored = await recordings.create(make_recording(), job=None)
    await recordings.mark(stored.id, job="job.transcribe", recording_object="recordings/x/source")
    assert (await recordings.get(stored.id)).recording_object == "recordings/x/source"
    assert [row.subject for row in await Outbox(database).unsent()] == ["job.transcribe"]
    with pytest.raises(ValueError, match="status"):
        await recordings.mark(stored.id, status="finished")
    with pytest.raises(NotFound):
        await recordings.mark(uuid4(), detected_lang="en")


async def test_it_finishes_once_and_is_told_once(
    recordings: Recordings, make_recording: Callable[..., Recording], database: Database, clock: FakeClock
) -> None:
    stored = await recordings.create(make_recording(config={"webhook_url": "https://x.test/"}), job=None)
    await Transcripts(database).save(
        stored.id,
        Transcript(segments=(Segment(start=0, end=1, speaker=0, confidence=1, transcript="Yes."),), detected_lang="en"),
    )
    clock.advance(3)
    results = await asyncio.gather(
        recordings.record_transition(stored.id, Trigger.TRANSCRIBED, changes={"detected_lang": "en"}),
        recordings.record_transition(stored.id, Trigger.CRASHED, data={"cause": "fetch"}),
    )
    [won] = [result for result in results if result is not None]
    view = await recordings.view(stored.id, stored.account_id)
    assert view.recording == won
    assert won.finished_at == clock.now()
    assert [event.data["new_status"] for event in view.events] == [won.status]
    assert list(view.events) == await recordings.events(stored.id)
    assert view.transcript.segments[0].transcript == "Yes."
    [delivery] = await Deliveries(database).of(stored.id, stored.account_id)
    assert (delivery.resource, delivery.data["old_status"]) == ("recording", "transcribing")


async def test_lists_go_from_the_newest_to_the_oldest(
    recordings: Recordings, make_recording: Callable[..., Recording], database: Database
) -> None:
    made = [await recordings.create(make_recording(), job=None) for _ in range(5)]
    await recordings.record_transition(made[0].id, Trigger.CRASHED)
    first = await recordings.find(database.default_account_id, limit=3)
    rest = await recordings.find(database.default_account_id, limit=3, cursor=first.cursor)
    assert rest.cursor is None
    listed = [recording.id for recording in (*first.recordings, *rest.recordings)]
    assert listed == sorted((recording.id for recording in made), reverse=True)
    failed = await recordings.find(database.default_account_id, status=RecordingStatus.FAILED)
    assert [recording.id for recording in failed.recordings] == [made[0].id]
    assert len(await recordings.with_status(RecordingStatus.TRANSCRIBING)) == 4


async def test_deleting_is_complete_also_while_it_is_transcribed(
    recordings: Recordings, make_recording: Callable[..., Recording], database: Database
) -> None:
    stored = await recordings.create(make_recording(), job=None)
    await recordings.request_deletion(stored.id, stored.account_id)
    with pytest.raises(NotFound):
        await recordings.view(stored.id, stored.account_id)
    with pytest.raises(NotFound):
        await recordings.request_deletion(stored.id, stored.account_id)
    [deletion] = await Deletions(database).unfinished()
    await Deletions(database).finish(deletion)
    assert await recordings.events(stored.id) == []
    with pytest.raises(NotFound):
        await recordings.get(stored.id)


@pytest.mark.parametrize(("for_1_year", "days"), [(False, 1), (True, 365)])
async def test_the_file_expires_when_its_time_is_over(
    recordings: Recordings, make_recording: Callable[..., Recording], clock: FakeClock, for_1_year: bool, days: int
) -> None:
    asked = make_recording(config={"store_recording_for_1_year": for_1_year})
    stored = await recordings.create(replace(asked, recording_object="recordings/x/source"), job=None)
    then = clock.now() + timedelta(days=days)
    assert await recordings.expired(then) == []  # still being transcribed
    await recordings.record_transition(stored.id, Trigger.TRANSCRIBED)
    assert await recordings.expired(then - timedelta(seconds=1)) == []
    assert await recordings.expired(then) == [stored.id]
    await recordings.media_removed(stored.id)
    assert await recordings.expired(then) == []
    assert (await recordings.get(stored.id)).recording_object is None
