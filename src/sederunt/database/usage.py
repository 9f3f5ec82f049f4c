"""What accounts used: a row per ended bot and recording, written with the ending; it outlives the resource."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, bindparam, func, literal_column, select, type_coerce
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.columns import Moment
from sederunt.database.engine import Database
from sederunt.database.outbox import Resource
from sederunt.database.queries import id_parameter
from sederunt.model.bot import Bot
from sederunt.model.minutes import minutes_of, waiting_minutes_of
from sederunt.model.recording import Recording

_DAY_US = 86_400_000_000
_ALIKE = ("resource", "key_id", "model", "own_key", "video", "realtime_audio", "for_1_year")


@dataclass(frozen=True, kw_only=True, slots=True)
class Used:
    """The usage of one day by resources that are alike in everything that has a price."""

    day: int  # days since 1970
    resource: Resource
    key_id: UUID | None
    model: str
    own_key: bool
    video: bool
    realtime_audio: bool
    for_1_year: bool
    count: int
    minutes: int
    waiting_minutes: int


class Usage:
    """Reads usage."""

    def __init__(self, database: Database) -> None:
        columns = t.usage.c
        day = type_coerce(columns.ended_at, BigInteger()).op("/")(literal_column(str(_DAY_US))).label("day")
        grouping = [columns[name] for name in _ALIKE]
        sums = [
            func.count().label("count"),
            func.sum(columns.minutes).label("minutes"),
            func.sum(columns.waiting_minutes).label("waiting_minutes"),
        ]
        conditions = (
            columns.account_id == id_parameter("account"),
            columns.ended_at >= bindparam("since", type_=Moment()),
            columns.ended_at < bindparam("until", type_=Moment()),
        )
        self._between = database.query(
            select(day, *grouping, *sums).where(*conditions).group_by(day, *grouping).order_by(day, *grouping)
        )
        used_keys = t.api_keys.c.id.in_(select(columns.key_id).where(*conditions))
        self._key_names = database.query(select(t.api_keys.c.id, t.api_keys.c.name).where(used_keys))

    async def between(self, account_id: UUID, since: datetime, until: datetime) -> list[Used]:
        """Return an account's usage from `since` on and before `until`, by day, oldest first."""
        rows = await self._between.all_aside(account=account_id, since=since, until=until)
        flags = ("own_key", "video", "realtime_audio", "for_1_year")
        return [Used(**{**row, **{name: bool(row[name]) for name in flags}}) for row in rows]

    async def key_names(self, account_id: UUID, since: datetime, until: datetime) -> Mapping[UUID, str]:
        """Return the names of the keys with which an account used something in that time."""
        rows = await self._key_names.all_aside(account=account_id, since=since, until=until)
        return {row["id"]: row["name"] for row in rows}


async def note_bot(connection: AsyncConnection, bot: Bot, now: datetime) -> None:
    """Write an ending bot's usage inside the caller's transaction; a later ending replaces it."""
    config = bot.config
    await _note(
        connection,
        {
            "resource_id": bot.id,
            "account_id": bot.account_id,
            "resource": "bot",
            "key_id": bot.key_id,
            "model": config.transcription_model,
            "own_key": config.transcription_credentials is not None,
            "video": config.video,
            "realtime_audio": config.realtime_audio,
            "for_1_year": config.store_recording_for_1_year,
            "ended_at": now,
            "minutes": minutes_of(bot),
            "waiting_minutes": waiting_minutes_of(bot),
        },
    )


async def note_recording(connection: AsyncConnection, recording: Recording, now: datetime) -> None:
    """Note a recording: its minutes are those up to the last word, none if nothing was transcribed."""
    lines = t.transcript_lines.c
    statement = select(func.max(lines.end_ms)).where(lines.resource_id == recording.id)
    transcribed_ms = await connection.scalar(statement) or 0
    config = recording.config
    await _note(
        connection,
        {
            "resource_id": recording.id,
            "account_id": recording.account_id,
            "resource": "recording",
            "key_id": recording.key_id,
            "model": config.transcription_model,
            "own_key": config.transcription_credentials is not None,
            "video": False,
            "realtime_audio": False,
            "for_1_year": config.store_recording_for_1_year,
            "ended_at": now,
            "minutes": -(-transcribed_ms // 60_000),
            "waiting_minutes": 0,
        },
    )


async def _note(connection: AsyncConnection, values: Mapping[str, Any]) -> None:
    dialect_insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = dialect_insert(t.usage).values(values)
    await connection.execute(statement.on_conflict_do_update(index_elements=["resource_id"], set_=dict(values)))
