"""A bot's history: writes an event, and reads why the bot left."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.model.history import STATUS_UPDATE, Event, why_it_left


async def add_event(
    connection: AsyncConnection, bot_id: UUID, event: str, data: Mapping[str, Any], now: datetime
) -> Event:
    """Write an event inside the caller's transaction."""
    values = {"bot_id": bot_id, "event": event, "data": dict(data), "created_at": now}
    event_id = await connection.scalar(insert(t.bot_events).values(values).returning(t.bot_events.c.id))
    return Event(id=int(event_id or 0), event=event, data=dict(data), created_at=now)


async def told_when_it_left(connection: AsyncConnection, bot_id: UUID) -> Mapping[str, Any]:
    """Return cause and evidence of a bot's change to `leaving`; empty if it never left a meeting."""
    events = t.bot_events.c
    statement = select(events.data).where(events.bot_id == bot_id, events.event == STATUS_UPDATE).order_by(events.id)
    return why_it_left((await connection.scalars(statement)).all())
