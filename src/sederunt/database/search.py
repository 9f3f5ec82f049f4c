"""Full-text search in transcripts: FTS5 in SQLite, `tsvector` in PostgreSQL; its words come from `model.search_terms`.

Lines are ordinary rows of `transcript_lines`, one per segment. The index beside it holds their words: a virtual table
with the line's number as row id, or a table with one vector per line. Neither engine splits a text itself.

In the index each account has its own words: every word begins with a mark of the account. An index with everybody's
words would return everybody's lines and gather prefix matches from all accounts before any other condition applies: the
more the others have, the longer the search of an account with few lines. Earlier programs wrote plain words; until
`set_apart` has converted them, search looks for both.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Text,
    any_,
    bindparam,
    cast,
    column,
    delete,
    false,
    insert,
    literal_column,
    select,
    table,
    text,
    update,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.columns import storable
from sederunt.database.engine import Database
from sederunt.database.outbox import Resource
from sederunt.database.queries import Row, id_parameter
from sederunt.errors import InvalidConfig
from sederunt.model.search_terms import Phrase, terms
from sederunt.model.transcript import Segment

# A migration creates it, differently in each engine. `rowid` is the line's number.
_INDEXED = table("transcript_words", column("rowid", BigInteger), column("words"))
_QUESTION = bindparam("question", type_=Text())
_BEFORE = bindparam("before", type_=BigInteger())
_LONGEST_WORD = 500  # characters: PostgreSQL takes lexemes of up to 2 KiB
_MARK = 8  # hexadecimal digits of an id's random part; accounts with the same mark only share their words
_SET_APART_AT_ONCE = 500  # lines; the longest wait of a writer
_SET_APART_STEPS = 20  # of one call; some seconds
_RARE = 5_000  # matching lines that are found by the index and sorted
_MERGE_PAGES = 500  # of one step; the longest wait of a writer


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchableLine:
    """A segment that matches."""

    id: int
    resource: Resource
    resource_id: UUID
    segment: int
    start_ms: int
    end_ms: int
    speaker: str | None
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedLine:
    """What the index keeps of a segment."""

    segment: int
    start_ms: int
    end_ms: int
    speaker: str | None
    text: str
    words: str | None  # of `text`, in the engine's form; None if those in the index stay


@dataclass(frozen=True, kw_only=True, slots=True)
class LineChanges:
    """The changes that bring a resource's index up to date."""

    gone: Sequence[int]
    changed: Sequence[tuple[int, IndexedLine]]  # line number → its new content
    fresh: Sequence[IndexedLine]


class Search:
    """Finds lines. Every query names its account."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._newest = database.query(_lines(is_sqlite=database.is_sqlite))
        # Only for PostgreSQL: it would walk all lines from the newest on, however few match.
        self._some = database.query(_matches())
        self._rare = database.query(_lines(is_sqlite=False, is_rare=True))
        lines = t.transcript_lines.c
        plain_lines = select(lines.id, lines.account_id, lines.text).where(t.IS_PLAIN).limit(_SET_APART_AT_ONCE)
        self._plain = database.query(plain_lines)
        self._plain_of = database.query(
            select(lines.id).where(t.IS_PLAIN, lines.account_id == id_parameter("account")).limit(1)
        )

    async def find(
        self, account_id: UUID, phrases: Sequence[Phrase], *, before: int | None = None, limit: int = 20
    ) -> list[SearchableLine]:
        """Return lines that hold every phrase, newest first; `before`: the number of the last line of the previous
        page.
        """
        if not phrases:
            return []
        marks = [account_mark(account_id)]
        if await self._plain_of.first(account=account_id):
            marks.append("")
        question = (_fts5 if self._database.is_sqlite else _tsquery)(phrases, marks)
        parameters: dict[str, Any] = {"question": question, "before": before or 2**62}
        query = self._newest
        if not self._database.is_sqlite:
            numbers = [row["rowid"] for row in await self._some.all_aside(**parameters)]
            if len(numbers) <= _RARE:
                query, parameters = self._rare, {"numbers": numbers, "before": parameters["before"]}
        rows = await query.all_aside(account=account_id, most=limit, **parameters)
        return [SearchableLine(**row) for row in rows]

    async def set_apart(self) -> int:
        """Convert an older program's words into those of their accounts; in steps, so that others write in between.

        Returns the number of lines; 0 if none is left.
        """
        count = 0
        for _ in range(_SET_APART_STEPS):
            if not (rows := await self._plain.all()):
                break
            words = await asyncio.to_thread(_words_of_rows, rows, is_sqlite=self._database.is_sqlite)
            async with self._database.begin() as connection:
                count += await _set_apart(connection, rows, words)
        return count

    async def forget_deleted(self) -> None:
        """Merge SQLite's index until it holds no word of a deleted line; in steps, so that others write in between."""
        if not self._database.is_sqlite:
            return
        step = -_MERGE_PAGES  # negative: begin a merge of everything
        while True:
            async with self._database.begin() as connection:
                before = await connection.scalar(text("SELECT total_changes()"))
                await connection.execute(
                    text("INSERT INTO transcript_words (transcript_words, rank) VALUES ('merge', :step)"),
                    {"step": step},
                )
                after = await connection.scalar(text("SELECT total_changes()"))
            if after - before < 2:  # fewer than 2, according to its documentation: nothing was left to merge
                return
            step = _MERGE_PAGES


def account_mark(account_id: UUID) -> str:
    """Return the prefix of an account's words in the index."""
    return account_id.hex[-_MARK:]


def lines_of(segments: Sequence[Segment], account_id: UUID, *, is_sqlite: bool) -> Sequence[IndexedLine]:
    """Return the index entries of the segments that have words.

    Takes a second for a hundred thousand words: call it in a thread, before a transaction begins.
    """
    return line_changes((), segments, account_id, is_sqlite=is_sqlite).fresh


def kept_lines() -> Select[Any]:
    """Return the statement that reads a resource's lines, by its `id`, for `line_changes`."""
    lines = t.transcript_lines.c
    return select(lines.id, lines.segment, lines.speaker, lines.text).where(lines.resource_id == id_parameter("id"))


def line_changes(
    stored_lines: Sequence[Row], segments: Sequence[Segment], account_id: UUID, *, is_sqlite: bool
) -> LineChanges:
    """Return the changes that turn the stored lines into those of these segments; mostly few differ. Pure."""
    words_of, mark = _fts5_words if is_sqlite else _tsvector, account_mark(account_id)
    rows_by_segment = {row["segment"]: row for row in stored_lines}
    changed_lines: list[tuple[int, IndexedLine]] = []
    new_lines: list[IndexedLine] = []
    for place, segment in enumerate(segments):
        if not segment.transcript.strip():
            continue
        speaker = storable(segment.speaker_name) if segment.speaker_name else None
        spoken_text = storable(segment.transcript)
        row = rows_by_segment.pop(place, None)
        if row is not None and (row["speaker"], row["text"]) == (speaker, spoken_text):
            continue
        line = IndexedLine(
            segment=place,
            start_ms=round(segment.start * 1000),
            end_ms=round(segment.end * 1000),
            speaker=speaker,
            text=spoken_text,
            words=None if row is not None and row["text"] == spoken_text else words_of(spoken_text, mark),
        )
        if row is None:
            new_lines.append(line)
        else:
            changed_lines.append((row["id"], line))
    return LineChanges(gone=[row["id"] for row in rows_by_segment.values()], changed=changed_lines, fresh=new_lines)


async def index(
    connection: AsyncConnection, resource: Resource, resource_id: UUID, account_id: UUID, lines: Sequence[IndexedLine]
) -> None:
    """Replace the lines of a resource in the index, inside the caller's transaction."""
    await remove(connection, resource_id)
    await _add(connection, resource, resource_id, account_id, lines)


async def change(
    connection: AsyncConnection, resource: Resource, resource_id: UUID, account_id: UUID, changes: LineChanges
) -> None:
    """Change the lines of a resource, inside the caller's transaction. Unchanged lines keep their numbers."""
    if changes.gone:
        await _remove(connection, t.transcript_lines.c.id.in_(changes.gone))
    if changes.changed:
        is_line = t.transcript_lines.c.id == bindparam("line")
        await connection.execute(
            update(t.transcript_lines).where(is_line).values(speaker=bindparam("speaker"), text=bindparam("text")),
            [{"line": number, "speaker": line.speaker, "text": line.text} for number, line in changes.changed],
        )
    if new_words := [
        {"line": number, "said": line.words} for number, line in changes.changed if line.words is not None
    ]:
        await _put_words(connection, new_words)
    await _add(connection, resource, resource_id, account_id, changes.fresh)


async def _add(
    connection: AsyncConnection, resource: Resource, resource_id: UUID, account_id: UUID, lines: Sequence[IndexedLine]
) -> None:
    if not lines:
        return
    owner = {"account_id": account_id, "resource": resource, "resource_id": resource_id, "is_apart": True}
    names = ("segment", "start_ms", "end_ms", "speaker", "text")
    await connection.execute(
        insert(t.transcript_lines), [owner | {name: getattr(line, name) for name in names} for line in lines]
    )
    statement = select(t.transcript_lines.c.id, t.transcript_lines.c.segment)
    rows = (await connection.execute(statement.where(t.transcript_lines.c.resource_id == resource_id))).all()
    words = {line.segment: line.words for line in lines}
    await connection.execute(
        insert(_INDEXED).values(rowid=bindparam("line"), words=_said(connection)),
        [{"line": row.id, "said": words[row.segment]} for row in rows if row.segment in words],
    )


async def _set_apart(connection: AsyncConnection, rows: Sequence[Row], words_of_rows: Sequence[str]) -> int:
    lines = t.transcript_lines.c
    statement = select(lines.id, lines.text).where(t.IS_PLAIN, lines.id.in_([row["id"] for row in rows]))
    current_texts = {row.id: row.text for row in await connection.execute(statement.with_for_update())}
    unchanged_lines = [
        {"line": row["id"], "said": words}
        for row, words in zip(rows, words_of_rows, strict=True)
        if current_texts.get(row["id"]) == row["text"]
    ]
    if unchanged_lines:
        await _put_words(connection, unchanged_lines)
    return len(unchanged_lines)


def _words_of_rows(rows: Sequence[Row], *, is_sqlite: bool) -> list[str]:
    words_of = _fts5_words if is_sqlite else _tsvector
    return [words_of(row["text"], account_mark(row["account_id"])) for row in rows]


async def _put_words(connection: AsyncConnection, line_words: Sequence[dict[str, Any]]) -> None:
    """Replace the words of these lines with their accounts' own."""
    is_indexed_line, is_line = _INDEXED.c.rowid == bindparam("line"), t.transcript_lines.c.id == bindparam("line")
    await connection.execute(update(_INDEXED).where(is_indexed_line).values(words=_said(connection)), line_words)
    numbers = [{"line": line["line"]} for line in line_words]
    await connection.execute(update(t.transcript_lines).where(is_line).values(is_apart=True), numbers)


def _said(connection: AsyncConnection) -> ColumnElement[Any]:
    words = bindparam("said", type_=Text())
    return words if connection.dialect.name == "sqlite" else cast(words, postgresql.TSVECTOR)


async def remove(connection: AsyncConnection, resource_id: UUID) -> None:
    """Remove a resource from the index, inside the caller's transaction."""
    await _remove(connection, t.transcript_lines.c.resource_id == resource_id)


async def _remove(connection: AsyncConnection, condition: ColumnElement[bool]) -> None:
    ids = select(t.transcript_lines.c.id).where(condition)
    await connection.execute(delete(_INDEXED).where(_INDEXED.c.rowid.in_(ids)))
    await connection.execute(delete(t.transcript_lines).where(condition))


def cursor_number(cursor: str | None) -> int | None:
    """Return the number of the last line of the previous page. Raises InvalidConfig for a foreign cursor."""
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise InvalidConfig({"cursor": ["The cursor is not one that this list gave out."]})
    return int(cursor)


def _matches() -> Select[Any]:
    """Return the statement that asks PostgreSQL's index alone, unordered, for one more line than counts as rare."""
    return select(_INDEXED.c.rowid).where(_tsvector_matches(), _INDEXED.c.rowid < _BEFORE).limit(_RARE + 1)


def _tsvector_matches() -> ColumnElement[bool]:
    return _INDEXED.c.words.op("@@")(text("CAST(:question AS tsquery)").bindparams(_QUESTION))


def _lines(*, is_sqlite: bool, is_rare: bool = False) -> Select[Any]:
    """Return the statement of `find`. It omits what is being deleted."""
    lines = t.transcript_lines
    if is_rare:
        match: ColumnElement[bool] = lines.c.id == any_(bindparam("numbers", type_=postgresql.ARRAY(BigInteger)))
    elif is_sqlite:
        match = literal_column("transcript_words").op("MATCH")(_QUESTION)
    else:
        match = _tsvector_matches()
    columns = [column for column in lines.c if column.key not in ("account_id", "is_apart")]
    # FTS5 returns matches in order of row id, from either end; by the line's own number it would sort them all.
    number = _INDEXED.c.rowid if is_sqlite else lines.c.id
    return (
        select(*columns)
        .select_from(lines if is_rare else lines.join(_INDEXED, _INDEXED.c.rowid == lines.c.id))
        .join(t.bots, (t.bots.c.id == lines.c.resource_id) & (t.bots.c.delete_requested != false()), isouter=True)
        .join(
            t.recordings,
            (t.recordings.c.id == lines.c.resource_id) & (t.recordings.c.delete_requested != false()),
            isouter=True,
        )
        .where(
            match,
            lines.c.account_id == id_parameter("account"),
            number < _BEFORE,
            t.bots.c.id.is_(None),
            t.recordings.c.id.is_(None),
        )
        .order_by(number.desc())
        .limit(bindparam("most", type_=Integer()))
    )


def _words(line: str, mark: str) -> list[str]:
    return [mark + term.word[:_LONGEST_WORD] for term in terms(line)]


def _fts5_words(line: str, mark: str) -> str:
    return " ".join(_words(line, mark))


def _tsvector(line: str, mark: str) -> str:
    """Return lexemes with their positions; PostgreSQL stores no position above 16,383, only the word."""
    return " ".join(f"'{word}':{min(place, 16_383)}" for place, word in enumerate(_words(line, mark), 1))


def _fts5(phrases: Sequence[Phrase], marks: Sequence[str]) -> str:
    """Write a query for FTS5. Words are letters, digits and marks, so nothing needs escaping."""

    def one(phrase: Phrase, mark: str) -> str:
        return f'"{" ".join(mark + word for word in phrase.words)}"{"*" if phrase.may_go_on else ""}'

    return " AND ".join(f"({' OR '.join(one(phrase, mark) for mark in marks)})" for phrase in phrases)


def _tsquery(phrases: Sequence[Phrase], marks: Sequence[str]) -> str:
    def one(phrase: Phrase, mark: str) -> str:
        words = " <-> ".join(f"'{mark}{word}'" for word in phrase.words)
        return f"({words}{':*' if phrase.may_go_on else ''})"

    return " & ".join(f"({' | '.join(one(phrase, mark) for mark in marks)})" for phrase in phrases)
