"""Lists whose rows may be large are read in parts: what each row weighs first, then as many as make a part.

A row's config has up to a megabyte that its caller chose, and a list has thousands of rows.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from uuid import UUID

from sqlalchemy import JSON, ColumnElement, Label, Table, Text, cast, func, select, type_coerce

from sederunt.database.engine import Database
from sederunt.database.queries import Row, id_parameter

PART_ROWS, PART_BYTES = 25, 250_000  # a part is made in one go, while every other caller waits


class Parts:
    """Reads the rows of a table by their keys.

    Args:
        seen: what holds for a row that is still to be listed when its part is read.
    """

    def __init__(self, database: Database, rows: Table, *seen: ColumnElement[bool]) -> None:
        self._names = [f"id{n}" for n in range(PART_ROWS)]
        ids = [id_parameter(name) for name in self._names]
        self._part = database.query(select(rows).where(rows.c.id.in_(ids), *seen))

    async def read(self, keys: Iterable[Row]) -> AsyncIterator[list[Row]]:
        """Yield the rows of these keys in their order, part by part; those that are gone are left out."""
        for ids in divided((key["id"], key["bytes"]) for key in keys):
            asked = dict(zip(self._names, [*ids, *ids[-1:] * (PART_ROWS - len(ids))], strict=True))
            found = {row["id"]: row for row in await self._part.all_aside(**asked)}
            yield [found[id_] for id_ in ids if id_ in found]


def weight(database: Database, rows: Table) -> Label[int]:
    """Return the column of a key that says how many bytes its row's config has: it is in ASCII."""
    config = type_coerce(rows.c.config, Text())
    measured = func.length(config) if database.is_sqlite else func.octet_length(config)  # does not unpack it
    return measured.label("bytes")


def field_of(database: Database, rows: Table, name: str) -> ColumnElement[str]:
    """Return one text of a row's config, without the rest of it."""
    config = type_coerce(rows.c.config, Text())
    if database.is_sqlite:
        return func.json_extract(config, f"$.{name}", type_=Text())
    return func.json_extract_path_text(cast(config, JSON), name, type_=Text())


def divided(keys: Iterable[tuple[UUID, int]]) -> Iterator[list[UUID]]:
    """Yield ids of at most `PART_ROWS` rows and `PART_BYTES`; a row of more is a part by itself."""
    part: list[UUID] = []
    weighs = 0
    for id_, size in keys:
        if part and (len(part) == PART_ROWS or weighs + size > PART_BYTES):
            yield part
            part, weighs = [], 0
        part.append(id_)
        weighs += size
    if part:
        yield part
