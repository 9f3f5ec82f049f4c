"""Writing a line of a bot's history."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.model.history import Event


async def add_event(
    connection: AsyncConnection, bot_id: UUID, event: str, data: Mapping[str, Any], now: datetime
) -> Event:
    """Write an event inside the caller's transaction."""
    values = {"bot_id": bot_id, "event": event, "data": dict(data), "created_at": now}
    event_id = await connection.scalar(insert(t.bot_events).values(values).returning(t.bot_events.c.id))
    return Event(id=int(event_id or 0), event=event, data=dict(data), created_at=now)
