"""The journal of a stay, with a real database: what it writes, and that listeners are told of nothing before."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from harness.bot_context import NoListeners
from harness.captured import ZERO_MS
from sederunt.accounting import Ledger
from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject, here, owns, speak
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.live_lines import LiveLineStore
from sederunt.errors import Superseded
from sederunt.meetings.diagnostics import keep_claims_meanwhile
from sederunt.meetings.journal import Journal
from sederunt.meetings.session.roster import Roster
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.budgets import BUDGETS, default_of
from sederunt.model.events import ChatReceived
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.status import BotStatus, Trigger
from sederunt.storage.objects import Objects


class FailingBots(Bots):
    """Bots of a database that is away for a while."""

    away = False

    async def save_participants(
        self,
        bot_id: UUID,
        participants: Sequence[Participant],
        sources: Mapping[str, str] | None = None,
        *,
        withdrawn: Mapping[str, int] | None = None,
        epoch: int | None = None,
    ) -> None:
        if self.away:
            raise OSError("the database is away")
        await super().save_participants(bot_id, participants, sources, withdrawn=withdrawn, epoch=epoch)


class Stay:
    """One bot in its meeting, its journal, and what its listeners were told."""

    def __init__(self, database: Database, bot: Bot) -> None:
        self.bots, self.bot_id, self.lines = FailingBots(database), bot.id, LiveLineStore(database)
        self.feed, self.roster = NoListeners(), Roster()

    async def claim(self, host: str) -> Journal:
        return await Journal.claim(self.bot_id, host, bots=self.bots, live_lines=self.lines, feed=self.feed)

    async def happen(self, journal: Journal, *told: Claim | ChatReceived) -> None:
        journal.note(self.roster.take(told))
        await journal.write_roster(self.roster)

    @property
    def told(self) -> list[str]:
        return [message["type"] for message in self.feed.told]

    async def written(self) -> list[str]:
        return [person.name for person in await self.bots.participants(self.bot_id)]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(f"sqlite+aiosqlite:///{tmp_path}/sederunt.db") as database:
        yield database


@pytest.fixture
async def stay(database: Database) -> Stay:
    now = database.clock.now()
    config = BotConfig(
        service=Service("gmeet"), meeting_url="https://x", bot_name="Minutes", transcription_model="none"
    )
    bot = Bot(
        id=new_id(now),
        account_id=database.default_account_id,
        config=config,
        status=BotStatus.RECORDING,
        created_at=now,
        recording_started_at=now,
    )
    await Bots(database).create(bot, job=False)
    return Stay(database, bot)


def seen(name: str) -> Claim:
    return here(Source.PROTOCOL, [Subject(key=name.lower(), name=name)], ZERO_MS)


CHAT = ChatReceived(username="Ada", content="hello", at_ms=ZERO_MS)


async def test_what_a_database_does_not_take_is_written_and_told_later_and_once(stay: Stay) -> None:
    journal = await stay.claim("host")
    stay.bots.away = True
    await stay.happen(journal, seen("Ada"), CHAT)
    assert (stay.told, await stay.written()) == ([], [])
    stay.bots.away = False
    await stay.happen(journal, seen("Bob"))
    await stay.happen(journal)
    assert stay.told == ["participant-tracked", "chat-message", "participant-tracked"]
    assert await stay.written() == ["Ada", "Bob"]
    events = await stay.bots.events(journal.bot.id)
    assert [(event.event, event.data) for event in events] == [
        ("chat_message", {"username": "Ada", "content": "hello"})
    ]


async def test_half_a_character_holds_up_nothing(stay: Stay) -> None:
    """Somebody's chat of one line ended everybody's for the rest of the meeting."""
    journal = await stay.claim("host")
    await stay.happen(journal, seen("Ada \ud83d"), replace(CHAT, username="Ada \ud83d", content="hi \ud83d"))
    await stay.happen(journal, seen("Bob"))
    assert stay.told == ["participant-tracked", "chat-message", "participant-tracked"]
    assert await stay.written() == ["Ada ?", "Bob"]


async def test_a_chat_without_end_is_kept_up_to_its_budget_and_the_event_says_so_once(stay: Stay) -> None:
    ledger = Ledger({name: default_of(name) for name in BUDGETS} | {"chat_messages": 2})
    journal = await Journal.claim(
        stay.bot_id, "host", bots=stay.bots, live_lines=stay.lines, feed=stay.feed, ledger=ledger
    )
    chat = [ChatReceived(username="Ada", content=f"line {n}", at_ms=ZERO_MS + n) for n in range(5)]
    await stay.happen(journal, *chat)
    events = await stay.bots.events(stay.bot_id)
    assert [event.event for event in events] == ["chat_message", "chat_message", "budget_spent"]
    assert events[-1].data == {"budget": "chat_messages", "limit": 2}
    assert stay.told == ["chat-message", "chat-message"]
    await stay.happen(journal, seen("Ada"))  # everything else goes on
    assert stay.told[-1] == "participant-tracked"
    journal.end_counting()
    assert ledger.held("chat_messages") == {}


async def test_a_holder_that_lost_its_bot_writes_and_tells_nothing(stay: Stay) -> None:
    lost = await stay.claim("host")
    held = await stay.claim("another")
    writes: list[Any] = [
        stay.happen(lost, seen("Ada")),
        lost.move(Trigger.ENDED),
        lost.mark(detected_lang="en"),
        lost.add_gap(1, 2, "page_crashed"),
        lost.write_trouble("it stumbled"),
        lost.refresh(),
    ]
    for write in writes:
        with pytest.raises(Superseded):
            await write
    assert (stay.told, await stay.written(), await stay.bots.events(held.bot.id)) == ([], [], [])
    row = await held.refresh()
    assert (row.status, row.gaps, row.detected_lang) == (BotStatus.RECORDING, (), None)


async def test_the_next_page_of_a_holder_writes_its_own_roster(stay: Stay) -> None:
    journal = await stay.claim("host")
    await stay.happen(journal, seen("Ada"), owns("7", "ada", ZERO_MS))
    stay.bots.away = True
    await stay.happen(journal, CHAT)
    stay.bots.away, stay.roster = False, Roster()
    journal.begin_page()
    await stay.happen(journal, seen("Bob"))
    assert stay.told == ["participant-tracked", "participant-tracked"], "the first page's chat is lost with it"
    assert await stay.bots.sources(journal.bot.id) == {"7": "ada"}


async def test_marks_that_are_taken_back_are_taken_back_from_the_database(stay: Stay) -> None:
    """Whoever is large on the stage before the protocol tells who speaks: it was told, and written, before it was known
    to be wrong."""
    journal, ms = await stay.claim("host"), ZERO_MS
    bob, ada = (  # the stage moves, so that it is believed
        Claim(fact=Fact.STAGE, source=Source.STAGE, at_ms=at_ms, kind=Extent.SNAPSHOT, subjects=(Subject(key=key),))
        for key, at_ms in (("bob", ms - 1000), ("ada", ms))
    )
    await stay.happen(journal, seen("Ada"), seen("Bob"), bob, ada)
    journal.note(stay.roster.heard("mix", True, ms + 5000))
    await journal.write_roster(stay.roster)
    assert {one.name: len(one.events) for one in await journal.participants(with_events=True)} == {"Ada": 1, "Bob": 0}
    await stay.happen(journal, speak(Source.PROTOCOL, ["bob"], ms + 5600))
    marks = {one.name: one.events for one in await journal.participants(with_events=True)}
    assert marks == {"Ada": (), "Bob": (SpeakingEvent(type=SpeakingKind.STARTED, timestamp=ms + 5600),)}


async def test_the_journals_row_is_the_one_it_moved(stay: Stay) -> None:
    journal = await stay.claim("host")
    await journal.add_gap(1.23456, 9, "host_lost")
    await journal.move(Trigger.ENDED)
    await journal.move(Trigger.ADMITTED)  # means nothing any more
    stored = await stay.bots.get(journal.bot.id)
    assert (journal.bot.status, journal.bot.gaps) == (BotStatus.LEAVING, stored.gaps)
    assert (stored.status, stored.gaps[0].start) == (BotStatus.LEAVING, 1.235)


async def test_a_gap_whose_event_is_not_taken_is_not_marked_either(stay: Stay, database: Database) -> None:
    """Who tries again would else find the gap in the row, and nobody would ever be told of it."""
    journal = await stay.claim("host")
    refuses = "CREATE TRIGGER refuses BEFORE INSERT ON bot_events BEGIN SELECT RAISE(ABORT, 'full'); END"
    async with database.begin() as connection:
        await connection.execute(text(refuses))
    with pytest.raises(IntegrityError):
        await journal.add_gap(1, 9, "host_lost")
    assert (journal.bot.gaps, (await stay.bots.get(stay.bot_id)).gaps) == ((), ())
    async with database.begin() as connection:
        await connection.execute(text("DROP TRIGGER refuses"))
    await journal.add_gap(1, 9, "host_lost")
    assert len((await stay.bots.get(stay.bot_id)).gaps) == 1
    assert [event.event for event in await stay.bots.events(stay.bot_id)] == ["recording_gap"]


async def test_claims_are_kept_while_a_stay_lasts_beside_those_of_the_stays_before(
    stay: Stay, objects: Objects
) -> None:
    for epoch in (1, 2, 3):  # three holders, none of which gets to the end of its stay
        journal, roster, name = await stay.claim(f"host {epoch}"), Roster(), f"{epoch:06d}.00"
        roster.take([seen("Ada")])
        keeping = asyncio.create_task(keep_claims_meanwhile(journal, name, roster, objects, first_s=0))
        async with asyncio.timeout(30):
            while name not in (await stay.bots.get(journal.bot.id)).evidence.get("why", ""):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        keeping.cancel()
    evidence = (await stay.bots.get(journal.bot.id)).evidence
    stays = {f"{kind}-{stay}" for kind in ("claims", "why") for stay in ("000001.00", "000002.00")}
    assert set(evidence) == {"claims", "why", *stays}
    told = json.loads(await objects.get(evidence["why-000001.00"]))
    assert [person["name"] for person in told["participants"]] == ["Ada"]
    await journal.keep_evidence({"screenshot": "bots/x/evidence/screenshot.png"})
    assert "why-000003.00" in (await stay.bots.get(journal.bot.id)).evidence
