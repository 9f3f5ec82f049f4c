"""Reads lists whose rows may be large in parts: first the size of each row, then as many rows as fit into a part.

A row's config holds up to a megabyte of its caller's choice, and a list has thousands of rows.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from uuid import UUID

from sqlalchemy import JSON, ColumnElement, Label, Table, Text, cast, func, select, type_coerce

from sederunt.database.engine import Database
from sederunt.database.queries import Row, id_parameter

PART_ROWS, PART_BYTES = 25, 250_000  # a part is made in one go while every other caller waits


class Parts:
    """Reads the rows of a table by their keys.

    Args:
        conditions: what a row must still fulfil when its part is read.
    """

    def __init__(self, database: Database, table: Table, *conditions: ColumnElement[bool]) -> None:
        self._names = [f"id{number}" for number in range(PART_ROWS)]
        ids = [id_parameter(name) for name in self._names]
        self._part = database.query(select(table).where(table.c.id.in_(ids), *conditions))

    async def read(self, keys: Iterable[Row]) -> AsyncIterator[list[Row]]:
        """Yield the rows of these keys in their order, part by part, without those that were deleted."""
        for ids in divided((key["id"], key["bytes"]) for key in keys):
            parameters = dict(zip(self._names, [*ids, *ids[-1:] * (PART_ROWS - len(ids))], strict=True))
            rows_by_id = {row["id"]: row for row in await self._part.all_aside(**parameters)}
            yield [rows_by_id[id_] for id_ in ids if id_ in rows_by_id]


def weight(database: Database, table: Table) -> Label[int]:
    """Return the key column with the size of the row's config in bytes (the config is ASCII)."""
    config = type_coerce(table.c.config, Text())
    length = func.length(config) if database.is_sqlite else func.octet_length(config)  # does not decompress it
    return length.label("bytes")


def field_of(database: Database, table: Table, name: str) -> ColumnElement[str]:
    """Return one text field of a row's config, without the rest."""
    config = type_coerce(table.c.config, Text())
    if database.is_sqlite:
        return func.json_extract(config, f"$.{name}", type_=Text())
    return func.json_extract_path_text(cast(config, JSON), name, type_=Text())


def divided(keys: Iterable[tuple[UUID, int]]) -> Iterator[list[UUID]]:
    """Yield ids of at most `PART_ROWS` rows and `PART_BYTES`; a larger row is a part by itself."""
    part: list[UUID] = []
    part_bytes = 0
    for id_, size in keys:
        if part and (len(part) == PART_ROWS or part_bytes + size > PART_BYTES):
            yield part
            part, part_bytes = [], 0
        part.append(id_)
        part_bytes += size
    if part:
        yield part
