"""Search over transcripts on both engines: the same question finds the same lines, of one account, until deletion."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from sederunt.database import search
from sederunt.database.bots import Bots
from sederunt.database.corrections import Corrections
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.retention import Deletions
from sederunt.database.search import Search, cursor_number
from sederunt.database.transcripts import Transcripts
from sederunt.errors import InvalidConfig, NotFound
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.correction import Correction, CorrectionKind
from sederunt.model.search_terms import Term, phrases, terms
from sederunt.model.status import BotStatus
from sederunt.model.transcript import Segment, Transcript, Utterance, Word

MakeBot = Callable[..., Bot]
LINES = (
    "We don't need a Roadmap before Friday",
    "Das Café öffnet um neun",
    "明日の会議は九時です",
    "योजना कल तक",
    "the meeting minutes",
)


def said(*lines: str) -> Transcript:
    return Transcript(
        segments=tuple(
            Segment(start=n, end=n + 1, speaker=0, confidence=1, transcript=line, speaker_name="Ada")
            for n, line in enumerate(lines)
        )
    )


@pytest.fixture
async def bot(bots: Bots, make_bot: MakeBot, database: Database) -> Bot:
    made = await bots.create(make_bot(status=BotStatus.FINISHED))
    await Transcripts(database).save(made.id, said(*LINES))
    return made


async def found(database: Database, account_id: UUID, question: str) -> list[int]:
    lines = await Search(database).find(account_id, phrases(question))
    assert all(line.text == LINES[line.segment] for line in lines)
    return sorted(line.segment for line in lines)


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("roadmap", [0]),
        ("FRIDAY roadmap", [0]),
        ("road", [0]),
        ('"road"', []),
        ('"need a roadmap"', [0]),
        ('"roadmap a need"', []),
        ("don't", [0]),
        ("cafe offnet", [1]),
        ("会議", [2]),
        ("議会", []),
        ("योजना", [3]),
        ("meet", [4]),
        ("roadmap café", []),
        ("'; DROP TABLE bots --", []),
        ("", []),
        ('" * AND OR NOT (', []),
    ],
)
async def test_both_engines_find_the_same(bot: Bot, database: Database, question: str, lines: list[int]) -> None:
    assert await found(database, bot.account_id, question) == lines


async def test_lines_come_in_pages_the_newest_first(bot: Bot, database: Database) -> None:
    await Transcripts(database).save(bot.id, said(*["again and again"] * 5))
    search = Search(database)
    first = await search.find(bot.account_id, phrases("again"), limit=3)
    rest = await search.find(bot.account_id, phrases("again"), limit=3, before=first[-1].id)
    assert [line.segment for line in [*first, *rest]] == [4, 3, 2, 1, 0]
    assert (first[0].start_ms, first[0].end_ms, first[0].speaker) == (4000, 5000, "Ada")
    assert cursor_number(str(first[-1].id)) == first[-1].id
    with pytest.raises(InvalidConfig):
        cursor_number("x")


async def test_another_account_finds_nothing(bot: Bot, database: Database) -> None:
    assert await found(database, new_id(database.clock.now()), "roadmap") == []


async def test_a_transcript_that_is_made_anew_takes_the_place_of_the_old_one(bot: Bot, database: Database) -> None:
    await Transcripts(database).save(bot.id, said("nothing of the kind"))
    assert await Search(database).find(bot.account_id, phrases("roadmap")) == []


async def test_what_is_being_deleted_is_not_found_any_more(bot: Bot, bots: Bots, database: Database) -> None:
    await bots.request_deletion(bot.id, bot.account_id)
    assert await found(database, bot.account_id, "roadmap") == []


async def test_a_word_that_was_put_right_is_found_until_that_is_taken_back(bot: Bot, database: Database) -> None:
    words = tuple(Word(word=word, start=0, end=1, confidence=1) for word in ("Hello", "Sederunt"))
    utterance = Utterance(start=0, end=1, speaker=0, confidence=1, transcript="Hello Sederunt", words=words)
    segment = Segment(start=0, end=1, speaker=0, confidence=1, transcript="Hello Sederunt", utterances=(utterance,))
    await Transcripts(database).save(bot.id, Transcript(segments=(segment,)))
    corrections = Corrections(database)
    correction = Correction(
        id=new_id(database.clock.now()),
        kind=CorrectionKind.WORD,
        segment=0,
        word=1,
        before="Sederunt",
        after="Zanzibar",
        made_by="tests",
        created_at=database.clock.now(),
    )
    await corrections.add(bot.id, correction)
    assert await corrections.of(bot.id) == (correction,)
    [line] = await Search(database).find(bot.account_id, phrases("zanzibar"))
    assert line.text == "Hello Zanzibar"
    await corrections.remove(bot.id, correction.id)
    assert await Search(database).find(bot.account_id, phrases("zanzibar")) == []
    with pytest.raises(NotFound):
        await corrections.remove(bot.id, correction.id)


async def test_no_deleted_word_is_left_in_the_index_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "sederunt.db"
    config = BotConfig(
        service=Service("gmeet"), meeting_url="https://meet.google.com/a", bot_name="N", transcription_model="vendor1"
    )
    async with Database(f"sqlite+aiosqlite:///{path}") as database:
        bots, now = Bots(database), database.clock.now()
        for word in ("keepsake", "qzsecretword"):
            bot = Bot(
                id=new_id(now),
                account_id=database.default_account_id,
                status=BotStatus.FINISHED,
                created_at=now,
                config=config,
            )
            await bots.create(bot)
            await Transcripts(database).save(bot.id, said(*[f"{word} number {n}" for n in range(50)]))
        await bots.request_deletion(bot.id, bot.account_id)
        for deletion in await Deletions(database).unfinished():
            await Deletions(database).finish(deletion)
        assert await Deletions(database).overwrite()
        assert len(await Search(database).find(bot.account_id, phrases("keepsake"))) == 20
    assert b"qzsecretword" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


async def test_others_write_while_a_long_transcript_is_taken_apart(
    bots: Bots, make_bot: MakeBot, database: Database, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seconds of work on hours of words: in the transaction, PostgreSQL ended it and SQLite's writers gave up."""
    begun, others_wrote = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def take_apart(line: str) -> Iterator[Term]:
        loop.call_soon_threadsafe(begun.set)
        assert others_wrote.wait(30), "nobody else could write"
        return terms(line)

    monkeypatch.setattr(search, "terms", take_apart)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(Transcripts(database).save(bot.id, said("A new line")))
        await begun.wait()
        await bots.create(make_bot())
        others_wrote.set()
    assert len(await Search(database).find(bot.account_id, phrases("new"))) == 1
