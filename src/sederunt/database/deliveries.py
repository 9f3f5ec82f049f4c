"""Webhooks to be delivered, in order per resource, with every attempt that was made."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.columns import storable
from sederunt.database.ids import new_id
from sederunt.database.outbox import Resource
from sederunt.model.history import Event


async def enqueue(
    connection: AsyncConnection,
    *,
    resource: Resource,
    resource_id: UUID,
    account_id: UUID,
    url: str,
    event: Event,
    custom_metadata: Mapping[str, Any],
) -> None:
    """Write inside the caller's transaction that an event is to be delivered."""
    await connection.execute(
        insert(t.deliveries).values(
            id=new_id(event.created_at),
            account_id=account_id,
            resource=resource,
            resource_id=resource_id,
            url=storable(url),
            type=event.event,
            data=event.data,
            custom_metadata=dict(custom_metadata),
            created_at=event.created_at,
            state="pending",
            next_attempt_at=event.created_at,
        )
    )
