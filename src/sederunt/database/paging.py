"""Lists in pages: callers' lists from the newest to the oldest, with opaque cursors; ours from the oldest on."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, or_, tuple_

from sederunt import foreign_json
from sederunt.database.columns import Moment, microseconds, moment_of
from sederunt.database.engine import Database
from sederunt.database.queries import Row, id_parameter
from sederunt.errors import InvalidConfig

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class ListPageRequest:
    """Which page of a list is requested: the one after a cursor, else the first."""

    limit: int
    cursor: str | None = None
    newest_first: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list, and where the next one starts; None at the end."""

    items: Sequence[T]
    cursor: str | None


async def read_page(
    database: Database, statement: Select[Any], table: Table, page: ListPageRequest, make: Callable[[Row], T]
) -> ListPage[T]:
    """Read one page of a statement's rows, in order of creation.

    Raises InvalidConfig for a foreign cursor.
    """
    order = [table.c.created_at, table.c.id]
    if page.cursor is not None:
        statement = statement.where((older_than if page.newest_first else newer_than)(table, page.cursor))
    statement = statement.order_by(*(column.desc() if page.newest_first else column for column in order))
    rows = await database.query(statement.limit(page.limit + 1)).all_aside()
    key_rows = key_page(rows, page.limit)
    return ListPage(items=[make(row) for row in key_rows.keys], cursor=key_rows.cursor)


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentsPage:
    """A part of a transcript: how many segments precede it, and its maximum length."""

    after: int
    most: int


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyPage:
    """The keys of one page of a list, and where the next one starts; None at the end."""

    keys: Sequence[Row]
    cursor: str | None


def key_page(keys: Sequence[Row], limit: int) -> KeyPage:
    """Return a page of at most `limit` keys; one more key means that there is another page."""
    page = keys[:limit]
    return KeyPage(keys=page, cursor=cursor_of(page[-1]["created_at"], page[-1]["id"]) if len(keys) > limit else None)


def cursor_of(created_at: datetime, resource_id: UUID) -> str:
    """Return the cursor after this row."""
    place = json.dumps([microseconds(created_at), resource_id.hex])
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def older_than(table: Table, cursor: str) -> ColumnElement[bool]:
    """Return the condition for rows after the cursor. Raises InvalidConfig for a foreign cursor."""
    created_at, resource_id = _place(cursor)
    return and_(
        table.c.created_at <= created_at,  # a condition of its own, so that the index is entered at the right place
        or_(table.c.created_at < created_at, table.c.id < resource_id),
    )


def newer_than(table: Table, cursor: str) -> ColumnElement[bool]:
    """Return the condition for rows after the cursor in a list that begins with the oldest. Raises InvalidConfig."""
    created_at, resource_id = _place(cursor)
    return and_(
        table.c.created_at >= created_at,
        or_(table.c.created_at > created_at, table.c.id > resource_id),
    )


BEGINNING = (moment_of(0), UUID(int=0))


def rows_behind(moment: ColumnElement[datetime], resource_id: ColumnElement[UUID]) -> ColumnElement[bool]:
    """Return the condition for rows after the parameters `at` and `last`, in order of time; `BEGINNING` for all."""
    return tuple_(moment, resource_id) > tuple_(bindparam("at", type_=Moment()), id_parameter("last"))


def _place(cursor: str) -> tuple[datetime, UUID]:
    try:
        created_at, resource_id = foreign_json.read(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return moment_of(created_at), UUID(hex=resource_id)
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise InvalidConfig({"cursor": ["The cursor is not one that this list gave out."]}) from None
