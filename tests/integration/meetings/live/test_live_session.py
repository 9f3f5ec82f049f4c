"""A bot with realtime sockets, from captured frames to what its listeners hear; with real database and message server.

The transcription is scripted here: what the model in the box makes of speech, its own tests tell.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from nats.aio.msg import Msg

from harness.captured import ZERO_MS, sound
from harness.fake_clock import FakeClock
from harness.nats import Connections, running_server
from harness.sound import find
from sederunt.bus import feeds
from sederunt.bus.connection import Bus
from sederunt.bus.feeds import EventPublisher
from sederunt.bus.streams import audio_subject, drafts_subject
from sederunt.bus.tasks import end
from sederunt.claims.claim import Source, Subject, here, owns
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.live_lines import LiveLineStore
from sederunt.errors import SetupError
from sederunt.meetings.journal import Journal
from sederunt.meetings.live.live_session import LiveSession, open_live_session
from sederunt.meetings.record.recorder import stay_name
from sederunt.meetings.session.roster import Roster
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus
from sederunt.model.transcript import LiveLine
from sederunt.practice import clips
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.live import Event, Final, Frame, LiveSegment, OnEvent, Partial, Trouble
from sederunt.transcripts.live_transcript import doubt

CLIP = "cities_times"


class Script:
    """Says what the test tells it to, and remembers what it heard."""

    def __init__(self, prefix: str, on_event: OnEvent) -> None:
        self._prefix, self._on_event = prefix, on_event
        self.heard: list[Frame] = []
        self.now = 0.0
        self.last_words: list[Event] = []
        self.waited_for = False
        self.closing, self.closed = asyncio.Event(), asyncio.Event()
        self.closed.set()

    def hear(self, frames: Sequence[Frame]) -> None:
        self.heard += frames

    def tick(self, now: float, *, patience_s: float = 0.0) -> None:
        self.now = now

    async def close(self, *, patient: bool = False) -> None:
        self.waited_for = patient
        self.closing.set()
        await self.closed.wait()
        for event in self.last_words:
            self._on_event(event)

    def say(self, kind: type[Final] | type[Partial], number: int, text: str, *, start: float = 1.0) -> None:
        self._on_event(kind(self.segment(number, text, start)))

    def fail(self, message: str, *, lossy: bool = True) -> None:
        self._on_event(Trouble(message, lossy))

    def segment(self, number: int, text: str, start: float = 1.0) -> LiveSegment:
        return LiveSegment(
            segment_id=f"{self._prefix}-{number}",
            source="7",
            start=start,
            end=start + 1,
            transcript=text,
            confidence=0.9,
        )


@dataclass
class Room:
    """One bot that is recording, and all that its live side needs."""

    bot: Bot
    bots: Bots
    lines: LiveLineStore
    feed: EventPublisher
    bus: Bus
    clock: FakeClock
    settings: Settings
    database: Database
    scripts: list[Script]

    async def open(self, make_recorder: Callable[..., Any], roster: Roster | None = None) -> LiveSession:
        """The live side of the bot's newest holder, started."""
        journal = await Journal.claim(self.bot.id, "host", bots=self.bots, live_lines=self.lines, feed=self.feed)
        self.bot, self.journal = journal.bot, journal
        live = await self.open_for(journal, roster)
        assert live is not None
        self.recorder = make_recorder(stay_name(self.bot.epoch, 1), on_packets=live.take)
        live.start(self.recorder)
        return live

    async def open_for(self, journal: Journal, roster: Roster | None = None) -> LiveSession | None:
        return await open_live_session(
            journal,
            self.settings,
            self.feed,
            self.clock,
            stay=stay_name(journal.bot.epoch, 1),
            started_ms=ZERO_MS,
            roster=roster or company(),
        )

    async def events(self, count: int, *of: str) -> list[dict[str, Any]]:
        """The data of the first so many events of some kinds (lines and their revisions), once they are there."""
        found = []
        async with asyncio.timeout(60):
            async for event in feeds.events(self.bus, self.bot.id, since=0):
                found += [event.event["data"]] if event.event["type"] in (of or ("ts", "ts-revised")) else []
                if len(found) == count:
                    return found
        raise AssertionError("the feed ended")

    async def texts(self) -> list[str]:
        return [line.segment.transcript for line in await self.lines.of(self.bot.id)]


def company() -> Roster:
    roster = Roster()
    roster.take([here(Source.PROTOCOL, [Subject(key="ada", name="Ada")], ZERO_MS)])
    return roster


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime.fromtimestamp(ZERO_MS / 1000, UTC))


@pytest.fixture
async def bus(tmp_path: Path) -> AsyncIterator[Bus]:
    async with running_server(tmp_path) as server:
        connections = Connections(server)
        yield await connections()
        await connections.close()


@pytest.fixture
async def room(
    tmp_path: Path, clock: FakeClock, bus: Bus, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Room]:
    scripts: list[Script] = []

    def open_live(settings: Settings, model: object, *, on_event: OnEvent, prefix: str, **_: object) -> Script:
        scripts.append(Script(prefix, on_event))
        return scripts[-1]

    monkeypatch.setattr("sederunt.meetings.live.live_session.open_live", open_live)
    async with Database(f"sqlite+aiosqlite:///{tmp_path}/sederunt.db", clock=clock) as database:
        bots, events = Bots(database), EventPublisher(bus)
        publishing = asyncio.create_task(events.run())
        bot = Bot(
            id=new_id(clock.now()),
            account_id=database.default_account_id,
            config=BotConfig(
                service=Service("gmeet"),
                meeting_url="https://x",
                bot_name="Minutes",
                transcription_model="vendor1-realtime",
            ),
            status=BotStatus.RECORDING,
            created_at=clock.now(),
            recording_started_at=clock.now(),
        )
        await bots.create(bot, job=False)
        lines, settings = LiveLineStore(database), Settings(data=tmp_path)
        yield Room(bot, bots, lines, events, bus, clock, settings, database, scripts)
        await end(publishing)


MakeRecorder = Callable[..., Any]


async def test_mixed_sound_goes_out_by_the_clock_and_is_what_was_said(room: Room, make_recorder: MakeRecorder) -> None:
    live = await room.open(make_recorder)
    recorder = room.recorder  # the test plays the page
    listener = await _listen(room)
    for tenth in range(60):
        if tenth < 40:
            recorder.frames_arrived(sound(tenth / 10, (tenth + 1) / 10))
        room.clock.advance(0.1)
        await asyncio.sleep(0)
    await live.close()
    blocks = await _heard(listener, 60)
    assert {len(block) for block in blocks} == {3200}
    mix = np.frombuffer(b"".join(blocks), dtype="<i2").astype(np.float64)
    assert len(mix) == 6 * 16_000
    said = clips.load(CLIP).samples[: 4 * 48_000].astype(np.float64).reshape(-1, 3).mean(axis=1)
    for second in range(4):
        at = second * 16_000
        place = find(said[at : at + 16_000], mix)
        assert place.likeness > 0.8  # as far as the codec lets it
        assert 0 <= place.at_s - second < 0.01, "where it was said, but for the 6.5 ms that the sender's encoder takes"
    assert not mix[round(4.2 * 16_000) :].any(), "silence goes out too"
    heard = room.scripts[0].heard
    assert sum(len(frame.samples) for frame in heard) == pytest.approx(4 * 16_000, abs=400)
    assert {frame.source for frame in heard} == {"7"}
    assert room.scripts[0].now > 5.5


async def test_silence_is_not_told_before_sound_that_comes_late(room: Room, make_recorder: MakeRecorder) -> None:
    live = await room.open(make_recorder)
    recorder = room.recorder
    for tenth in range(30):
        room.clock.advance(0.1)
        if tenth >= 6:
            recorder.frames_arrived(sound((tenth - 6) / 10, (tenth - 5) / 10))
    reached = max(frame.start + len(frame.samples) / 16_000 for frame in room.scripts[0].heard)
    await live.beat(recorder)
    assert room.scripts[0].now <= reached
    await live.close()


async def _listen(room: Room, to: Callable[[UUID], str] = audio_subject) -> asyncio.Queue[bytes]:
    """What comes from now on."""
    blocks: asyncio.Queue[bytes] = asyncio.Queue()

    async def on_message(message: Msg) -> None:
        await blocks.put(message.data)

    await room.bus.subscribe(to(room.bot.id), on_message)
    await room.bus.flush()
    return blocks


async def _heard(listener: asyncio.Queue[bytes], count: int) -> list[bytes]:
    async with asyncio.timeout(60):
        return [await listener.get() for _ in range(count)]


class Watching(LiveLineStore):
    """Looks what the feed has whenever lines are written."""

    def __init__(self, room: Room) -> None:
        super().__init__(room.database)
        self._room = room
        self.feed_before: list[int] = []

    async def save(self, bot_id: UUID, lines: Sequence[LiveLine], *, epoch: int) -> None:
        await self._room.feed.flush()
        self.feed_before.append(await feeds.last_sequence(self._room.bus, bot_id))
        await super().save(bot_id, lines, epoch=epoch)


async def test_a_line_is_in_the_database_before_anybody_is_told(room: Room, make_recorder: MakeRecorder) -> None:
    lines = Watching(room)
    room.lines = lines
    live = await room.open(make_recorder)
    room.scripts[0].say(Final, 1, "Good morning.")
    (told,) = await room.events(1)
    assert (told["transcript"], told["segment_id"], told["speaker"]) == ("Good morning.", "000001.01-1", 0)
    assert lines.feed_before == [0]
    assert await room.texts() == ["Good morning."]
    await live.close()


async def test_a_line_gets_its_name_when_the_site_tells_whose_source_it_is(
    room: Room, make_recorder: MakeRecorder
) -> None:
    roster = company()
    live = await room.open(make_recorder, roster)
    room.clock.advance(3)
    room.scripts[0].say(Final, 1, "Good morning.")
    (unnamed,) = await room.events(1)
    roster.take([owns("7", "ada", ZERO_MS + 2000)])
    (named,) = await room.events(1, "ts-revised")
    assert unnamed["speaker_name"] is None
    assert named == {**{k: v for k, v in unnamed.items() if k != "potential_speaker_names"}, "speaker_name": "Ada"}
    (line,) = await room.lines.of(room.bot.id)
    assert (line.revision, line.segment.speaker_name) == (1, "Ada")
    await live.close()


async def test_the_next_holder_goes_on_and_tells_what_the_last_one_only_wrote(
    room: Room, make_recorder: MakeRecorder
) -> None:
    await room.open(make_recorder)  # and is killed: nobody closes it
    room.scripts[0].say(Final, 1, "Good morning.", start=1)
    (first,) = await room.events(1)
    (line,) = await room.lines.of(room.bot.id)
    untold = replace(line, segment_id="000001.01-2", segment=replace(line.segment, start=3.0, end=4.0))
    await room.lines.save(room.bot.id, [untold], epoch=room.bot.epoch)
    live = await room.open(make_recorder)
    room.scripts[1].say(Final, 1, "Here I am again.", start=30)
    told = await room.events(3)
    assert [each["segment_id"] for each in told] == ["000001.01-1", "000001.01-2", "000002.01-1"]
    assert {each["speaker"] for each in told} == {first["speaker"]}
    await live.close()
    assert await feeds.last_sequence(room.bus, room.bot.id) == 3, "nothing was told twice"


async def test_a_holder_that_was_given_up_writes_and_tells_nothing(room: Room, make_recorder: MakeRecorder) -> None:
    old = await room.open(make_recorder)
    await room.bots.claim(room.bot.id, "other")
    room.scripts[0].say(Final, 1, "Who am I?")
    await old.close()
    assert await room.texts() == []
    await room.feed.flush()
    assert await feeds.last_sequence(room.bus, room.bot.id) == 0


async def test_what_is_said_last_and_its_language_are_written_when_the_stay_is_closed(
    room: Room, make_recorder: MakeRecorder
) -> None:
    live = await room.open(make_recorder)
    script = room.scripts[0]
    script.last_words = [Final(replace(script.segment(1, "Good bye."), lang="en"))]
    live.end(patient=True)
    await live.close()
    assert script.waited_for
    assert await room.texts() == ["Good bye."]
    assert (await room.bots.get(room.bot.id)).detected_lang == "en"
    assert [each["transcript"] for each in await room.events(1)] == ["Good bye."]


async def test_a_host_that_shall_end_is_not_held_up_by_the_last_words(room: Room, make_recorder: MakeRecorder) -> None:
    live = await room.open(make_recorder)
    room.scripts[0].closed.clear()
    live.end(patient=True)
    closing = asyncio.create_task(live.close())
    await room.scripts[0].closing.wait()
    closing.cancel()
    await asyncio.wait({closing})
    assert closing.cancelled()
    await asyncio.sleep(0)  # for the tasks that it cancelled
    assert not [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("live ")]


async def test_drafts_are_told_and_not_kept(room: Room, make_recorder: MakeRecorder) -> None:
    live = await room.open(make_recorder)
    drafts = await _listen(room, drafts_subject)
    room.scripts[0].say(Partial, 1, "Good mor")
    assert b'"Good mor"' in await asyncio.wait_for(drafts.get(), 60)
    room.scripts[0].say(Partial, 1, "Good morning")
    room.scripts[0].say(Final, 1, "Good morning.")
    await room.events(1)
    assert drafts.empty(), "a draft that its final has overtaken is nobody's"
    assert await room.texts() == ["Good morning."]
    await live.close()


async def test_trouble_is_told_and_makes_the_transcript_doubtful(room: Room, make_recorder: MakeRecorder) -> None:
    live = await room.open(make_recorder)
    room.scripts[0].fail("The model fell behind.")
    assert await room.events(1, "error") == [{"message": "The model fell behind."}]
    room.scripts[0].say(Final, 1, "It goes on.")
    await room.events(1)
    await live.close()
    events = await room.bots.events(room.bot.id)
    lines = await room.lines.of(room.bot.id)
    assert "fell behind" in str(doubt(lines, events=events, gaps=(), tracks=()))


async def test_trouble_that_costs_no_words_is_told_and_the_transcript_stays(
    room: Room, make_recorder: MakeRecorder
) -> None:
    live = await room.open(make_recorder)
    room.scripts[0].fail("Finals come late.", lossy=False)
    assert await room.events(1, "error") == [{"message": "Finals come late."}]
    await live.close()
    await room.journal.write_troubles()
    (event,) = await room.bots.events(room.bot.id)
    told = {"cause": "live_speech_late", "seen": "Finals come late.", "recovery": "none"}
    assert (event.event, event.data) == ("page_trouble", told)


async def test_an_engine_that_cannot_begin_costs_the_transcript_and_nothing_else(
    room: Room, make_recorder: MakeRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Script:
        raise SetupError("there is no model here")

    monkeypatch.setattr("sederunt.meetings.live.live_session.open_live", refuse)
    live = await room.open(make_recorder)
    (told,) = await room.events(1, "error")
    assert "there is no model here" in told["message"]
    room.clock.advance(1)
    await live.close()
    assert [event.event for event in await room.bots.events(room.bot.id)] == ["live_trouble"]


async def test_a_bot_without_sockets_has_no_live_side_and_one_for_sound_alone_no_transcript(
    room: Room, make_recorder: MakeRecorder
) -> None:
    def asks(**fields: Any) -> Journal:
        bot = replace(room.bot, config=replace(room.bot.config, **fields))
        return Journal(bot, bots=room.bots, live_lines=room.lines, feed=room.feed)

    assert await room.open_for(asks(transcription_model="whisper")) is None
    live = await room.open_for(asks(transcription_model="whisper", realtime_audio=True))
    assert live is not None
    live.start(make_recorder(on_packets=live.take))
    listener = await _listen(room)
    room.clock.advance(1)
    await live.close()
    assert len(await _heard(listener, 10)) == 10
    assert room.scripts == []
