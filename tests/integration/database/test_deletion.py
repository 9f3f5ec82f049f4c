"""Deleting: refused while active, hidden at once, gone without a trace but the receipt; and media that had its time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from harness.fake_clock import FakeClock
from harness.gathered import gathered
from harness.sent_off import sent_off
from sederunt.database.bots import Bots
from sederunt.database.corrections import Corrections
from sederunt.database.deliveries import Attempt, Deliveries, DeliveryState
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.live_lines import LiveLineStore
from sederunt.database.outbox import Outbox
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletions
from sederunt.database.tables import metadata
from sederunt.database.transcripts import Transcripts
from sederunt.errors import Conflict, NotFound
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.correction import Correction, CorrectionKind
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.recording import Recording
from sederunt.model.status import ACTIVE, BotStatus, Trigger
from sederunt.model.transcript import LiveLine, Segment, Transcript

MakeBot = Callable[..., Bot]
MakeRecording = Callable[..., Recording]
_REMAINING = {"alembic_version", "accounts", "deletions", "usage"}


async def test_deleting_leaves_nothing_but_a_receipt(
    bots: Bots, make_bot: MakeBot, database: Database, clock: FakeClock
) -> None:
    bot = await _full_bot(bots, make_bot, database, clock)
    assert await _filled_tables(database) >= {
        "bots", "bot_events", "bot_metadata", "participants", "speaking_events", "sources", "transcripts",
        "live_segments", "transcript_lines", "corrections", "deliveries", "delivery_attempts", "outbox",
    }  # fmt: skip
    await bots.request_deletion(bot.id, bot.account_id)
    [deletion] = await Deletions(database).unfinished()
    assert (deletion.resource, deletion.resource_id) == ("bot", bot.id)
    clock.advance(1)
    await Deletions(database).finish(deletion)
    assert await _filled_tables(database) - {"oldest_program"} == _REMAINING - {"alembic_version"}
    assert await Deletions(database).unfinished() == []
    receipt = await Deletions(database).get(bot.id)
    assert receipt is not None
    assert receipt.finished_at == clock.now()


async def test_a_deletion_cut_short_is_found_again_and_can_be_repeated(
    bots: Bots, make_bot: MakeBot, database: Database
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.FINISHED))
    await bots.request_deletion(bot.id, bot.account_id)
    for _ in range(2):  # the objects are gone, the process died before the rows were
        [deletion] = await Deletions(database).unfinished()
    await Deletions(database).finish(deletion)
    await Deletions(database).finish(deletion)
    with pytest.raises(NotFound):
        await bots.get(bot.id)


class InterruptedBots(Bots):
    """Somebody else does something between the reading of a row and its update."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def _row(self, connection: AsyncConnection, bot_id: UUID, *, lock: bool = False) -> dict[str, Any]:
        row = await super()._row(connection, bot_id, lock=lock)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return row


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)  # SQLite lets nobody in between
async def test_a_bot_that_is_deleted_while_it_gets_out_is_not_forgotten(
    database: Database, bots: Bots, make_bot: MakeBot
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.LEAVING))
    interrupted = InterruptedBots(database, follow_ups={BotStatus.PROCESSING: "job.assemble"})
    interrupted.meanwhile = lambda: bots.request_deletion(bot.id, bot.account_id)
    await interrupted.record_transition(bot.id, Trigger.LEFT)
    assert [deletion.resource_id for deletion in await Deletions(database).unfinished()] == [bot.id]
    assert "job.assemble" not in {row.subject for row in await Outbox(database).unsent()}


async def test_a_transcript_of_what_is_deleted_or_about_to_be_is_not_written(
    recordings: Recordings, make_recording: MakeRecording, database: Database
) -> None:
    """Its job is at work meanwhile, and ends after the receipt was closed."""
    made, transcripts = make_recording(), Transcripts(database)
    await recordings.create(made, job="job.transcribe")
    said = Segment(start=1, end=2, speaker=0, confidence=0.9, transcript="Yes.")
    await recordings.request_deletion(made.id, made.account_id)
    await transcripts.save(made.id, Transcript(segments=(said,)))
    assert await transcripts.get(made.id) is None
    [deletion] = await Deletions(database).unfinished()
    await Deletions(database).finish(deletion)
    await transcripts.save(made.id, Transcript(segments=(said,)))
    assert await transcripts.get(made.id) is None
    assert not await _filled_tables(database) & {"transcripts", "transcript_lines"}


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)  # SQLite lets nobody in between
async def test_a_deletion_asked_for_while_a_transcript_is_written_finds_it(
    recordings: Recordings, make_recording: MakeRecording, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, transcripts = make_recording(), Transcripts(database)
    await recordings.create(made, job="job.transcribe")
    removing: list[asyncio.Task[None]] = []

    async def remove() -> None:
        await recordings.request_deletion(made.id, made.account_id)
        [deletion] = await Deletions(database).unfinished()
        await Deletions(database).finish(deletion)

    async def index(*_: object) -> None:
        removing.append(asyncio.create_task(remove()))
        await asyncio.wait(removing, timeout=1)  # it waits for this transaction; without that it would be done

    monkeypatch.setattr("sederunt.database.search.index", index)
    await transcripts.save(made.id, Transcript(segments=()))
    await removing[0]
    assert await transcripts.get(made.id) is None


@pytest.mark.parametrize("status", sorted(ACTIVE))
async def test_an_active_bot_cannot_be_deleted(bots: Bots, make_bot: MakeBot, status: BotStatus) -> None:
    bot = await bots.create(make_bot(status=status), job=False)
    with pytest.raises(Conflict, match=status.value):
        await bots.request_deletion(bot.id, bot.account_id)
    assert await bots.get(bot.id, bot.account_id) == bot


@pytest.mark.parametrize("status", sorted(set(BotStatus) - ACTIVE))
async def test_a_deleted_bot_is_gone_for_its_caller_at_once(bots: Bots, make_bot: MakeBot, status: BotStatus) -> None:
    bot = await bots.create(make_bot(status=status), job=False)
    await bots.request_deletion(bot.id, bot.account_id)
    for act in (bots.get, bots.view, bots.request_deletion, bots.request_stop):
        with pytest.raises(NotFound):
            await act(bot.id, bot.account_id)
    assert (await bots.find(bot.account_id)).bots == ()
    assert await gathered(bots.schedule.parts(bot.account_id)) == []


async def test_a_leaving_bot_finishes_leaving_then_goes(bots: Bots, make_bot: MakeBot, database: Database) -> None:
    bot = await bots.create(make_bot(status=BotStatus.LEAVING), job=False)
    await bots.request_deletion(bot.id, bot.account_id)
    assert await Deletions(database).unfinished() == []
    moved = await bots.record_transition(bot.id, Trigger.LEFT)
    assert moved is not None
    assert moved.status is BotStatus.PROCESSING
    assert [deletion.resource_id for deletion in await Deletions(database).unfinished()] == [bot.id]
    assert [row.subject for row in await Outbox(database).unsent() if row.kind == "job"] == []


async def test_a_cancelled_bot_is_not_sent_off(
    bots: Bots, make_bot: MakeBot, clock: FakeClock, database: Database
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=clock.now()), job=False)
    await bots.request_deletion(bot.id, bot.account_id)
    assert await sent_off(database, bots, clock.now()) == []
    assert (await bots.get(bot.id)).status is BotStatus.SCHEDULED


@pytest.mark.parametrize(("for_1_year", "days"), [(False, 7), (True, 365)])
async def test_media_expires_when_its_time_is_over(
    bots: Bots, make_bot: MakeBot, clock: FakeClock, for_1_year: bool, days: int
) -> None:
    asked = {"store_recording_for_1_year": for_1_year}
    bot = await bots.create(make_bot(status=BotStatus.PROCESSING, config=asked), job=False)
    assert await bots.all_accounts.expired(clock.now() + timedelta(days=999)) == []
    await bots.record_transition(bot.id, Trigger.CLOSED, changes={"recording_object": "bots/r.webm"})
    assert await bots.all_accounts.expired(clock.now() + timedelta(days=days, seconds=-1)) == []
    assert await bots.all_accounts.expired(clock.now() + timedelta(days=days)) == [bot.id]
    await bots.media_removed(bot.id)
    assert await bots.all_accounts.expired(clock.now() + timedelta(days=days)) == []
    assert (await bots.get(bot.id, bot.account_id)).recording_object is None


async def test_the_date_a_caller_was_told_decides(bots: Bots, make_bot: MakeBot, clock: FakeClock) -> None:
    bot = await bots.create(make_bot(status=BotStatus.PROCESSING), job=False)
    told = clock.now() + timedelta(days=3)
    await bots.record_transition(bot.id, Trigger.CLOSED, changes={"recording_available_until": told})
    assert await bots.all_accounts.expired(told) == [bot.id]


async def _full_bot(bots: Bots, make_bot: MakeBot, database: Database, clock: FakeClock) -> Bot:
    asked = {"custom_metadata": {"a": "b"}, "webhook_url": "https://x.test/"}
    bot = await bots.create(make_bot(status=BotStatus.JOINING, config=asked))
    spoke = (SpeakingEvent(type=SpeakingKind.STARTED, timestamp=1),)
    person = Participant(key="k", name="Ada", avatar=None, first_seen_at=clock.now(), events=spoke)
    await bots.save_participants(bot.id, [person], {"7": "k"})
    said = Segment(start=1, end=2, speaker=0, confidence=0.9, transcript="Yes.")
    await Transcripts(database).save(bot.id, Transcript(segments=(said,)))
    await Corrections(database).add(bot.id, _correction(clock))
    await LiveLineStore(database).save(
        bot.id, [LiveLine(segment_id="1-1", revision=0, source="7", voice="k", segment=said)], epoch=0
    )
    moved = await bots.record_transition(bot.id, Trigger.CHALLENGED)
    assert moved is not None
    delivery = await Deliveries(database).next(bot.id)
    assert delivery is not None
    attempt = Attempt(at=clock.now(), status=500, ms=3, answer="no")
    await Deliveries(database).record_attempt(
        delivery.id, attempt, state=DeliveryState.PENDING, next_attempt_at=clock.now()
    )
    return moved


def _correction(clock: FakeClock) -> Correction:
    return Correction(
        id=new_id(clock.now()),
        kind=CorrectionKind.SPEAKER,
        segment=0,
        word=None,
        before=None,
        after="Ada",
        made_by="tests",
        created_at=clock.now(),
    )


async def _filled_tables(database: Database) -> set[str]:
    filled = set()
    for table in metadata.sorted_tables:
        row = await database.query(select(func.count().label("n")).select_from(table)).first()
        if row and row["n"]:
            filled.add(table.name)
    return filled


async def test_what_is_deleted_is_overwritten_in_the_files_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "sederunt.db"
    async with Database(f"sqlite+aiosqlite:///{path}") as database:
        bots = Bots(database)
        now = database.clock.now()
        made = [
            Bot(
                id=new_id(now),
                account_id=database.default_account_id,
                status=BotStatus.FINISHED,
                created_at=now,
                config=BotConfig(
                    service=Service("gmeet"),
                    meeting_url="https://meet.google.com/abc-defg-hij",
                    bot_name=f"{name} {number}",
                    transcription_model="none",
                    custom_vocabulary=(name * 60,) * (number * 20),  # the larger ones lie on pages of their own
                ),
            )
            for number in range(8)
            for name in ("brimblewick", "tattersall")
        ]
        for bot in made:
            await bots.create(bot, job=False)
        assert await database.empty_log()
        assert b"brimblewick" in path.read_bytes()
        for bot in made:
            if bot.config.bot_name.startswith("brimblewick"):
                await bots.request_deletion(bot.id, bot.account_id)
        for deletion in await Deletions(database).unfinished():
            await Deletions(database).finish(deletion)
        assert await Deletions(database).overwrite()
        left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"tattersall" in left
    assert b"brimblewick" not in left
