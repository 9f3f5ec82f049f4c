"""What each bot and recording has in storage, and how long its sound is: the basis of account limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Select, Table, bindparam, delete, exists, func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.engine import Database
from sederunt.database.outbox import Resource
from sederunt.errors import LimitReached

GB = 1e9

_ROWS: tuple[tuple[Resource, Table], ...] = (("bot", t.bots), ("recording", t.recordings))


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """What is stored for one bot or recording."""

    resource: Resource
    resource_id: UUID
    account_id: UUID
    stored_bytes: int = 0
    sound_s: float = 0.0  # length of its sound; 0 if not known yet


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountLimits:
    """What an account may have stored and in transcription when it asks for more; 0 for no limit."""

    stored_gb: float = 0.0
    transcription_minutes: float = 0.0


UNLIMITED = AccountLimits()


class Holdings:
    """The store of holdings."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._one = database.query(select(t.holdings).where(t.holdings.c.resource_id == bindparam("id")))
        self._unmeasured = [
            (resource, database.query(_unmeasured(table).limit(bindparam("most", type_=Integer()))))
            for resource, table in _ROWS
        ]
        self._stored = database.query(_stored().where(t.holdings.c.account_id == bindparam("account")))

    async def of(self, resource_id: UUID) -> Holding | None:
        """Return the holding of a resource; None if nothing is known yet."""
        row = await self._one.first(id=resource_id)
        if row is None:
            return None
        values = dict(row)
        return Holding(sound_s=values.pop("sound_ms") / 1000, **values)

    async def stored_bytes(self, account_id: UUID) -> int:
        row = await self._stored.first(account=account_id)
        return int(row["stored"] or 0) if row else 0

    async def note(self, holding: Holding) -> None:
        """Write what a resource holds now, in place of what was written before."""
        async with self._database.begin() as connection:
            await note_holding(connection, holding)

    async def unmeasured(self, *, limit: int = 50) -> Sequence[Holding]:
        """Return resources that have files but were not measured: a process died while measuring, or an older version
        wrote them.
        """
        holdings: list[Holding] = []
        for resource, query in self._unmeasured:
            rows = await query.all(most=limit)
            holdings += [
                Holding(resource=resource, resource_id=row["id"], account_id=row["account_id"]) for row in rows
            ]
        return holdings


async def note_holding(connection: AsyncConnection, holding: Holding) -> None:
    """Write a holding inside the caller's transaction."""
    values = {"stored_bytes": holding.stored_bytes, "sound_ms": round(holding.sound_s * 1000)}
    condition = t.holdings.c.resource_id == holding.resource_id
    if (await connection.execute(update(t.holdings).where(condition).values(values))).rowcount:
        return
    ids = {"resource_id": holding.resource_id, "resource": holding.resource, "account_id": holding.account_id}
    table = dict(_ROWS)[holding.resource]
    # A resource that was deleted meanwhile gets no row.
    new_row = select(*(literal(value) for value in (*ids.values(), *values.values()))).where(
        exists().where(table.c.id == holding.resource_id)
    )
    await connection.execute(insert(t.holdings).from_select([*ids, *values], new_row))


async def forget_holding(connection: AsyncConnection, resource_id: UUID) -> None:
    """Note inside the caller's transaction that a resource has no files any more."""
    await connection.execute(delete(t.holdings).where(t.holdings.c.resource_id == resource_id))


async def refuse_overfull(
    connection: AsyncConnection, account_id: UUID, limits: AccountLimits, *, but: UUID | None = None
) -> None:
    """Raise LimitReached if the account has as much stored as it may.

    Args:
        but: a bot or recording that does not count.
    """
    if not limits.stored_gb:
        return
    is_other = t.holdings.c.resource_id != (but or UUID(int=0))
    stored_bytes = await connection.scalar(_stored().where(t.holdings.c.account_id == account_id, is_other))
    refuse_stored(int(stored_bytes or 0), limits.stored_gb)


def refuse_stored(stored_bytes: int, most_gb: float) -> None:
    """Raise LimitReached if this many bytes are at least what an account may store."""
    if most_gb and stored_bytes >= most_gb * GB:
        sentence = (
            f"This account has {stored_bytes / GB:,.1f} GB of recordings stored, of {most_gb:,g} GB: delete some, or "
            "wait until some had their time. Meetings that are being recorded, or are scheduled already, are kept."
        )
        raise LimitReached(sentence, "stored_gb")


async def refuse_flooded(connection: AsyncConnection, account_id: UUID, sound_s: float, limits: AccountLimits) -> None:
    """Raise LimitReached if the account has as many minutes of recordings in transcription as it may, and asks for
    more.

    A single recording is always accepted, whatever its length.
    """
    if not limits.transcription_minutes:
        return
    in_flight = select(func.sum(t.holdings.c.sound_ms)).where(
        t.holdings.c.resource_id == t.recordings.c.id,
        t.recordings.c.account_id == account_id,
        t.IS_TRANSCRIBING,
        t.recordings.c.delete_requested.is_(False),
    )
    minutes = float(await connection.scalar(in_flight) or 0) / 60_000
    if minutes and minutes + sound_s / 60 > limits.transcription_minutes:
        sentence = (
            f"This account has {minutes:,.0f} minutes of recordings that wait for their transcript or are at it, of "
            f"{limits.transcription_minutes:,g}: wait until some are finished."
        )
        raise LimitReached(sentence, "transcription_minutes")


def _stored() -> Select[Any]:
    return select(func.sum(t.holdings.c.stored_bytes).label("stored"))


def _unmeasured(table: Table) -> Select[Any]:
    return (
        select(table.c.id, table.c.account_id)
        .where(
            table.c.recording_object.is_not(None),
            table.c.media_removed_at.is_(None),
            ~exists().where(t.holdings.c.resource_id == table.c.id),
        )
        .order_by(table.c.created_at)
    )
