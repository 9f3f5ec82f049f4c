"""Search over transcripts on both engines: the same question finds the same lines, of one account, until deletion."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, text, update

from harness.fake_clock import FakeClock
from sederunt.database import corrections as store
from sederunt.database import search
from sederunt.database import tables as t
from sederunt.database.bots import Bots
from sederunt.database.corrections import Corrections
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.queries import Query, Row
from sederunt.database.retention import Deletions
from sederunt.database.search import Search, cursor_number
from sederunt.database.transcripts import Transcripts
from sederunt.errors import InvalidConfig, NotFound
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.correction import Correction, CorrectionKind, corrected
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


async def test_lines_of_other_accounts_are_not_even_looked_through(
    bot: Bot, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index gave out everybody's lines, and those of others were dropped one by one, on the api's loop."""
    stranger = new_id(database.clock.now())
    assert [await hits(database, who, "meet", monkeypatch) for who in (bot.account_id, stranger)] == [1, 0]
    assert [await hits(database, who, '"meeting"', monkeypatch) for who in (bot.account_id, stranger)] == [1, 0]


async def hits(database: Database, account_id: UUID, question: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Ask, and return how many lines the index alone gives for what it is asked."""
    asked: list[str] = []
    ask = Query.all_aside

    async def noting(query: Query, **parameters: Any) -> list[Row]:
        asked.extend(value for name, value in parameters.items() if name == "question")
        return await ask(query, **parameters)

    monkeypatch.setattr(Query, "all_aside", noting)
    await Search(database).find(account_id, phrases(question))
    matching = "transcript_words MATCH :asked" if database.is_sqlite else "words @@ CAST(:asked AS tsquery)"
    async with database.begin() as connection:
        counting = text(f"SELECT count(*) FROM transcript_words WHERE {matching}")
        return int(await connection.scalar(counting, {"asked": asked[-1]}))


async def test_a_search_in_sqlite_does_not_run_on_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran_in: list[threading.Thread] = []

    class Noting(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if "MATCH" in sql:
                ran_in.append(threading.current_thread())
            return super().execute(sql, *rest)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *of, **options: connect(*of, **{"factory": Noting, **options}))
    async with Database(f"sqlite:///{tmp_path}/s.db") as database:
        for _ in range(2):
            assert await Search(database).find(database.default_account_id, phrases("road")) == []
    assert len(ran_in) == 2
    assert threading.current_thread() not in ran_in


async def test_words_that_an_older_program_wrote_are_found_and_then_set_apart(
    bot: Bot, bots: Bots, make_bot: MakeBot, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside those of this program, while an upgrade lasts."""
    await as_an_older_program_wrote_it(database)
    another = await bots.create(make_bot(status=BotStatus.FINISHED))
    await Transcripts(database).save(another.id, said("a road that was said later"))
    search = Search(database)
    for _ in range(2):
        for question, lines in (("road", [(another.id, 0), (bot.id, 0)]), ('"need a roadmap"', [(bot.id, 0)])):
            found_lines = await search.find(bot.account_id, phrases(question))
            assert [(line.resource_id, line.segment) for line in found_lines] == lines
        assert await found(database, bot.account_id, "会議") == [2]
        await search.set_apart()
    assert await hits(database, new_id(database.clock.now()), "road", monkeypatch) == 0
    async with database.begin() as connection:
        assert await connection.scalar(select(func.count()).where(~t.transcript_lines.c.is_apart)) == 0


async def as_an_older_program_wrote_it(database: Database) -> None:
    """Put plain words in the index, in place of those that are an account's."""
    async with database.begin() as connection:
        lines = (await connection.execute(select(t.transcript_lines.c.id, t.transcript_lines.c.text))).all()
        for line in lines:
            words = [term.word for term in terms(line.text)]
            plain = " ".join(words if database.is_sqlite else (f"'{word}':{n}" for n, word in enumerate(words, 1)))
            value = ":plain" if database.is_sqlite else "CAST(:plain AS tsvector)"
            changing = text(f"UPDATE transcript_words SET words = {value} WHERE rowid = :id")
            await connection.execute(changing, {"plain": plain, "id": line.id})
        await connection.execute(update(t.transcript_lines).values(is_apart=False))


async def test_a_transcript_that_is_made_anew_takes_the_place_of_the_old_one(bot: Bot, database: Database) -> None:
    await Transcripts(database).save(bot.id, said("nothing of the kind"))
    assert await Search(database).find(bot.account_id, phrases("roadmap")) == []


async def test_what_is_being_deleted_is_not_found_any_more(bot: Bot, bots: Bots, database: Database) -> None:
    await bots.request_deletion(bot.id, bot.account_id)
    assert await found(database, bot.account_id, "roadmap") == []


def spoken(text: str, name: str | None = None) -> Segment:
    words = tuple(Word(word=word, start=0, end=1, confidence=1) for word in text.split())
    utterance = Utterance(start=0, end=1, speaker=0, confidence=1, transcript=text, words=words)
    return Segment(start=0, end=1, speaker=0, confidence=1, transcript=text, speaker_name=name, utterances=(utterance,))


@pytest.fixture
def put_right(database: Database) -> Callable[..., Correction]:
    """A correction of a word in the first segment, or of a participant's name."""

    def make(before: str, after: str, *, word: int | None = None) -> Correction:
        return Correction(
            id=new_id(database.clock.now()),
            kind=CorrectionKind.PARTICIPANT if word is None else CorrectionKind.WORD,
            segment=None if word is None else 0,
            word=word,
            before=before,
            after=after,
            made_by="tests",
            created_at=database.clock.now(),
        )

    return make


async def test_a_word_that_was_put_right_is_found_until_that_is_taken_back(
    bot: Bot, database: Database, put_right: Callable[..., Correction]
) -> None:
    await Transcripts(database).save(bot.id, Transcript(segments=(spoken("Hello Sederunt"),)))
    corrections = Corrections(database)
    correction = put_right("Sederunt", "Zanzibar", word=1)
    await corrections.add(bot.id, correction)
    assert await corrections.of(bot.id) == (correction,)
    [line] = await Search(database).find(bot.account_id, phrases("zanzibar"))
    assert line.text == "Hello Zanzibar"
    await corrections.remove(bot.id, correction.id)
    assert await Search(database).find(bot.account_id, phrases("zanzibar")) == []
    with pytest.raises(NotFound):
        await corrections.remove(bot.id, correction.id)


async def test_what_a_correction_is_not_about_stays_as_it_is_in_the_index(
    bot: Bot, database: Database, put_right: Callable[..., Correction]
) -> None:
    said_by = (spoken("again one", "Ada"), spoken("again two", "Bo"), spoken("again three", "Ada"))
    await Transcripts(database).save(bot.id, Transcript(segments=said_by))
    search, corrections = Search(database), Corrections(database)
    before = await search.find(bot.account_id, phrases("again"))
    renamed, emptied = put_right("Ada", "Cy"), put_right("again", " ", word=0)
    await corrections.add(bot.id, renamed)
    found = await search.find(bot.account_id, phrases("again"))
    assert [(line.id, line.speaker) for line in found] == [
        (line.id, {"Ada": "Cy", "Bo": "Bo"}[line.speaker or ""]) for line in before
    ]
    await corrections.add(bot.id, emptied)
    await corrections.add(bot.id, second := put_right("one", " ", word=1))
    assert [line.segment for line in await search.find(bot.account_id, phrases("again"))] == [2, 1]
    for made in (second, emptied, renamed):
        await corrections.remove(bot.id, made.id)
    found = await search.find(bot.account_id, phrases("again"))
    assert sorted((line.segment, line.text, line.speaker) for line in found) == [
        (n, segment.transcript, segment.speaker_name) for n, segment in enumerate(said_by)
    ]


async def test_others_write_while_corrections_are_applied_and_none_of_them_is_lost(
    bots: Bots,
    make_bot: MakeBot,
    database: Database,
    bot: Bot,
    put_right: Callable[..., Correction],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seconds of work on many corrections of hours of words: inside the transaction, all writers gave up."""
    await Transcripts(database).save(bot.id, Transcript(segments=(spoken("Hello Sederunt", "Ada"),)))
    corrections, loop = Corrections(database), asyncio.get_running_loop()
    begun, others_wrote, applied = asyncio.Event(), threading.Event(), corrected

    def slow_once(transcript: Transcript, made: Iterable[Correction]) -> Transcript:
        monkeypatch.setattr(store, "corrected", applied)
        loop.call_soon_threadsafe(begun.set)
        assert others_wrote.wait(30), "nobody else could write"
        return applied(transcript, made)

    monkeypatch.setattr(store, "corrected", slow_once)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(corrections.add(bot.id, put_right("Ada", "Bo")))
        await begun.wait()
        await bots.create(make_bot())
        await corrections.add(bot.id, put_right("Sederunt", "Zanzibar", word=1))
        others_wrote.set()
    [line] = await Search(database).find(bot.account_id, phrases("zanzibar"))
    assert (line.text, line.speaker) == ("Hello Zanzibar", "Bo")
    assert [made.after for made in await corrections.of(bot.id)] == ["Zanzibar", "Bo"]


async def test_a_transcript_that_is_made_anew_meanwhile_is_the_one_that_is_corrected(
    database: Database,
    clock: FakeClock,
    bot: Bot,
    put_right: Callable[..., Correction],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, saved, applied = asyncio.Event(), threading.Event(), corrected
    loop = asyncio.get_running_loop()

    def slow(transcript: Transcript, made: Iterable[Correction]) -> Transcript:
        loop.call_soon_threadsafe(begun.set)
        assert saved.wait(30), "nothing could be saved"
        return applied(transcript, made)

    monkeypatch.setattr(store, "corrected", slow)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(Corrections(database).add(bot.id, put_right("Ada", "Bo")))
        await begun.wait()
        clock.advance(1)
        await Transcripts(database).save(bot.id, said("made anew"))
        saved.set()
    [line] = await Search(database).find(bot.account_id, phrases("made anew"))
    assert line.speaker == "Bo"
    assert await Search(database).find(bot.account_id, phrases("roadmap")) == []


async def test_nothing_is_kept_of_a_correction_of_what_was_deleted_meanwhile(
    bots: Bots, bot: Bot, database: Database, put_right: Callable[..., Correction]
) -> None:
    await bots.request_deletion(bot.id, bot.account_id)
    with pytest.raises(NotFound):
        await Corrections(database).add(bot.id, put_right("Ada", "Bo"))
    assert await Corrections(database).of(bot.id) == ()


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
