"""Endings and returns while storage is away: a real database, a real spool, and a folder that can be taken away."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from harness.bot_context import NoListeners
from harness.captured import sound
from harness.failing import FailingObjects, WatchedClock
from sederunt.clock import unix_ms
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.live_lines import LiveLineStore
from sederunt.errors import Superseded
from sederunt.media.pieces import write_piece
from sederunt.media.timeline import Timeline
from sederunt.meetings.journal import Journal
from sederunt.meetings.milestones import admit, conclude, depart, give_up_lost
from sederunt.meetings.outcomes import Departed, Refused
from sederunt.meetings.record import stored_until
from sederunt.meetings.record.spool import PieceSpool
from sederunt.meetings.session.stop_rules import Departure
from sederunt.model.bot import Bot, BotConfig, Gap, Service
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.status import BotStatus, StopReason, Trigger

OVER = Departure(reason=StopReason.MEETING_ENDED)


@dataclass
class Stay:
    """A bot that records, and what a test moves."""

    bot_id: UUID
    bots: Bots
    live_lines: LiveLineStore
    clock: WatchedClock
    objects: FailingObjects
    spools: Path
    account: UUID

    async def claim(self, host: str = "host") -> Journal:
        """The journal of the bot's next holder."""
        self.journal = await Journal.claim(
            self.bot_id, host, bots=self.bots, live_lines=self.live_lines, feed=NoListeners()
        )
        return self.journal

    def spool(self) -> PieceSpool:
        return PieceSpool(self.spools, self.bot_id, self.objects)

    @property
    def folder(self) -> Path:
        return self.spools / str(self.bot_id)

    async def hear(self, start_s: int, end_s: int) -> None:
        """A piece of sound, kept as a recorder keeps it."""
        timeline = Timeline(sound(0, 0.02)[0].at_ms)
        packets = [*timeline.add(sound(start_s, end_s)), *timeline.flush()]
        name = f"000001.01-{start_s:06d}.mka"
        await self.spool().keep(name, lambda: write_piece(packets))

    async def leave(self) -> None:
        await depart(self.journal, self.clock, OVER)

    async def status(self) -> BotStatus:
        return (await self.bots.get(self.bot_id)).status

    async def told(self) -> list[str]:
        """The statuses that its history tells, in order."""
        told = [event.data.get("new_status") for event in await self.bots.events(self.bot_id)]
        return [str(status) for status in told if status]

    async def stored(self) -> int:
        return len(await self.objects.keys(f"bots/{self.bot_id}/"))


@pytest.fixture
async def stay(tmp_path: Path, objects: FailingObjects) -> AsyncIterator[Stay]:
    clock = WatchedClock()
    async with Database(f"sqlite+aiosqlite:///{tmp_path}/sederunt.db", clock=clock) as database:
        bots = Bots(database)
        bot = Bot(
            id=new_id(clock.now()),
            account_id=database.default_account_id,
            config=BotConfig(
                service=Service("gmeet"), meeting_url="https://x", bot_name="Minutes", transcription_model="none"
            ),
            status=BotStatus.RECORDING,
            created_at=clock.now(),
            recording_started_at=clock.now(),
        )
        await bots.create(bot, job=False)
        account = database.default_account_id
        stay = Stay(bot.id, bots, LiveLineStore(database), clock, objects, tmp_path / "spool", account)
        await stay.claim()
        yield stay


async def leave_for_good(stay: Stay) -> None:
    await conclude(stay.journal, stay.spool(), stay.clock, Departed(departure=OVER))


async def give_up(stay: Stay) -> None:
    await give_up_lost(stay.journal, stay.spool(), stay.clock, cause="host_lost")


Ending = Callable[[Stay], Coroutine[Any, Any, None]]


@pytest.mark.parametrize("ending", [leave_for_good, give_up])
async def test_an_ending_waits_until_storage_has_every_piece(stay: Stay, ending: Ending) -> None:
    stay.objects.away = True
    with capture_logs() as logs:
        await stay.hear(0, 4)
        await stay.leave()
        concluding = asyncio.create_task(ending(stay))
        for _ in range(10):  # more than there are different pauses
            await stay.clock.pause()
            assert await stay.status() is BotStatus.LEAVING
            stay.clock.advance(30)
    assert [line["log_level"] for line in logs if line["action"] == "piece_kept"] == ["error"] * 2, "once by each spool"
    stay.objects.away = False  # before the last of these pauses is over
    await concluding
    assert await stay.status() is BotStatus.PROCESSING
    assert await stay.stored() == 1
    assert not stay.folder.exists()


async def begin_to_wait(stay: Stay) -> "asyncio.Task[None]":
    """A bot is leaving with a piece that storage does not take."""
    stay.objects.away = True
    await stay.hear(0, 4)
    await stay.leave()
    concluding = asyncio.create_task(leave_for_good(stay))
    await stay.clock.pause()
    return concluding


async def test_an_ending_that_was_handed_back_while_it_waited_goes_on_with_the_same_pieces(stay: Stay) -> None:
    concluding = await begin_to_wait(stay)
    concluding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await concluding
    assert await stay.status() is BotStatus.LEAVING
    stay.objects.away = False
    await stay.claim()
    await give_up(stay)
    assert await stay.status() is BotStatus.PROCESSING
    assert await stay.stored() == 1


async def test_who_waits_with_an_ending_writes_none_once_another_host_holds_the_bot(stay: Stay) -> None:
    concluding = await begin_to_wait(stay)
    await stay.bots.claim(stay.bot_id, "another")
    stay.clock.advance(30)
    with pytest.raises(Superseded):
        await concluding
    assert len(list(stay.folder.iterdir())) == 1, "for who looks after what was left"


async def test_a_bot_that_is_to_be_deleted_waits_for_no_storage(stay: Stay) -> None:
    concluding = await begin_to_wait(stay)
    await stay.bots.request_deletion(stay.bot_id, stay.account)
    stay.clock.advance(30)
    await concluding
    assert await stay.status() is BotStatus.PROCESSING, "it is out, and the receipt is written"
    assert not stay.folder.exists()
    stay.objects.away = False
    assert await stay.stored() == 0


async def test_a_bot_that_finds_its_meeting_over_marks_that_it_was_away_at_the_end(stay: Stay) -> None:
    await stay.hear(0, 4)
    await stay.claim("next")
    zero = stay.journal.bot.recording_started_at
    assert zero is not None
    stay.clock.advance((zero + timedelta(seconds=19) - stay.clock.now()).total_seconds())
    over = Refused(reason=StopReason.CALL_ALREADY_FINISHED, row="over.text")
    await conclude(stay.journal, stay.spool(), stay.clock, over)
    bot = await stay.bots.get(stay.bot_id)
    assert bot.gaps == (Gap(start=4, end=19, cause="host_lost"),)
    assert bot.recording_ended_at == zero + timedelta(seconds=4), "what nobody heard is not billed"
    assert await stay.told() == ["leaving", "processing"]


async def test_the_next_holder_of_a_bot_that_was_away_and_leaves_knows_since_when(stay: Stay) -> None:
    await stay.hear(0, 4)
    stay.objects.away = True
    zero = stay.journal.bot.recording_started_at
    assert zero is not None
    stay.clock.advance((zero + timedelta(seconds=19) - stay.clock.now()).total_seconds())
    over = Refused(reason=StopReason.CALL_ALREADY_FINISHED, row="over.text")
    concluding = asyncio.create_task(conclude(stay.journal, stay.spool(), stay.clock, over))
    await stay.clock.pause()
    assert await stay.status() is BotStatus.LEAVING
    concluding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await concluding
    stay.objects.away = False
    stay.clock.advance(60)
    journal = await stay.claim("next")
    away = await journal.left_while_away()
    await give_up_lost(journal, stay.spool(), stay.clock, cause="host_lost", away=away)
    bot = await stay.bots.get(stay.bot_id)
    assert bot.gaps == (Gap(start=4, end=19, cause="host_lost"),)
    assert await stay.told() == ["leaving", "processing"]
    ended = await stay.bots.record_transition(stay.bot_id, Trigger.CLOSED)
    assert ended is not None
    assert ended.stop_reason is StopReason.MEETING_ENDED


async def test_a_bot_that_leaves_from_its_seat_was_not_away(stay: Stay) -> None:
    await stay.leave()
    assert await (await stay.claim("next")).left_while_away() is None


async def test_a_gap_begins_after_the_last_piece_wherever_it_is(stay: Stay) -> None:
    await stay.hear(0, 4)
    assert await _came_back(stay, at_s=10) == Gap(start=4, end=10, cause="page_crashed")
    stay.objects.away = True
    await stay.hear(10, 13)
    assert await _came_back(stay, at_s=20) == Gap(start=13, end=20, cause="page_crashed")


@pytest.mark.parametrize(
    ("marked_s", "last_gap_s", "start_s"), [(400, 100, 280), (150, 100, 100), (None, 100, 100), (None, None, 0)]
)
async def test_while_storage_is_away_a_gap_begins_when_the_bot_is_known_to_have_been_there(
    stay: Stay, marked_s: int | None, last_gap_s: int | None, start_s: int
) -> None:
    await stay.hear(450, 454)
    if marked_s is not None:
        await stay.bots.save_participants(stay.bot_id, [_speaker(stay.journal.bot, marked_s)])
    if last_gap_s is not None:
        stay.journal.bot = replace(stay.journal.bot, gaps=(Gap(start=90, end=last_gap_s, cause="host_lost"),))
    stay.objects.away = True
    assert await _came_back(stay, at_s=500) == Gap(start=start_s, end=500, cause="page_crashed")


async def test_a_bot_that_came_back_does_not_wait_for_storage_that_keeps_silent(
    stay: Stay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_until, "ASK_STORAGE_S", 0.01)

    async def never(prefix: str) -> list[str]:
        await asyncio.Event().wait()
        return [prefix]

    monkeypatch.setattr(stay.objects, "keys", never)
    async with asyncio.timeout(60):
        assert await _came_back(stay, at_s=7) == Gap(start=0, end=7, cause="page_crashed")


async def _came_back(stay: Stay, *, at_s: float) -> Gap:
    """The gap that is marked when the bot is let in again at this second of its recording."""
    zero = stay.journal.bot.recording_started_at
    assert zero is not None
    stay.clock.advance((zero + timedelta(seconds=at_s) - stay.clock.now()).total_seconds())
    assert await admit(stay.journal, stay.spool(), stay.clock.now(), "page_crashed") == zero
    assert stay.journal.bot.gaps == (await stay.bots.get(stay.bot_id)).gaps
    return stay.journal.bot.gaps[-1]


def _speaker(bot: Bot, at_s: int) -> Participant:
    assert bot.recording_started_at is not None
    mark = SpeakingEvent(type=SpeakingKind.STARTED, timestamp=unix_ms(bot.recording_started_at) + at_s * 1000)
    return Participant(key="ada", name="Ada", avatar=None, first_seen_at=bot.recording_started_at, events=(mark,))
