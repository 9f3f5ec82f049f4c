"""Many rows in one column: a row is read together with its children, in one statement."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Table, Text, bindparam, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from sederunt.database.columns import moment_of
from sederunt.model.history import Event


class _Gathered(FunctionElement[str]):
    """Columns of many rows as one JSON array of arrays. SQLite and PostgreSQL name the functions differently."""

    type = Text()
    inherit_cache = True


@compiles(_Gathered, "sqlite")
def _gather_sqlite(element: _Gathered, compiler: Any, **options: Any) -> str:
    return f"json_group_array(json_array({compiler.process(element.clauses, **options)}))"


@compiles(_Gathered, "postgresql")
def _gather_postgresql(element: _Gathered, compiler: Any, **options: Any) -> str:
    return f"json_agg(json_build_array({compiler.process(element.clauses, **options)}))::text"


def gathered(name: str, child: Table, columns: Sequence[str], owner: ColumnElement[bool]) -> ColumnElement[Any]:
    """Return a column `name` with these columns of the child's rows, unordered; `owner` selects the rows."""
    return select(_Gathered(*(child.c[column] for column in columns))).where(owner).scalar_subquery().label(name)


class _Sliced(FunctionElement[str]):
    """A part of a JSON array that is text, as text: (text, number of elements to skip, maximum number of elements)."""

    type = Text()
    inherit_cache = True


@compiles(_Sliced, "sqlite")
def _slice_sqlite(element: _Sliced, compiler: Any, **options: Any) -> str:
    text, after, most = (compiler.process(clause, **options) for clause in element.clauses)
    elements = f"SELECT value FROM json_each({text}) WHERE key >= {after} ORDER BY key LIMIT {most}"  # noqa: S608  # our own names
    return f"(SELECT json_group_array(json(value)) FROM ({elements}))"  # noqa: S608


@compiles(_Sliced, "postgresql")
def _slice_postgresql(element: _Sliced, compiler: Any, **options: Any) -> str:
    text, after, most = (compiler.process(clause, **options) for clause in element.clauses)
    elements = f"json_array_elements(({text})::json) WITH ORDINALITY AS each(value, place)"
    selection = f"SELECT value, place FROM {elements} ORDER BY place OFFSET {after} LIMIT {most}"  # noqa: S608
    return f"(SELECT coalesce(json_agg(value ORDER BY place), '[]'::json)::text FROM ({selection}) AS page)"  # noqa: S608


def sliced(text: ColumnElement[str]) -> ColumnElement[Any]:
    """Return the part of a column of JSON arrays that the parameters `after` and `most` select."""
    after, most = (bindparam(name, type_=BigInteger()) for name in ("after", "most"))
    return _Sliced(text, after, most).label(str(text.key))


def counted(name: str, child: Table, owner: ColumnElement[bool]) -> ColumnElement[Any]:
    """Return a column `name` with the number of the child's rows; `owner` selects the rows."""
    return select(func.count()).select_from(child).where(owner).scalar_subquery().label(name)


def rows_of(text: str | None) -> Sequence[Any]:
    """Return the rows, each a list; none if nothing was gathered."""
    rows: Sequence[Any] = json.loads(text) if text else ()
    return rows


# What events_of reads.
EVENT_COLUMNS = ("id", "event", "data", "created_at")


def events_of(text: str | None) -> tuple[Event, ...]:
    """Return gathered events, oldest first."""
    return tuple(
        Event(id=id_, event=event, data=json.loads(data), created_at=moment_of(created_at))
        for id_, event, data, created_at in sorted(rows_of(text))
    )
