"""Messages written in the transaction of their change, published after its commit, and found again after a crash."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Integer, bindparam, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database.columns import document_text
from sederunt.database.engine import Database, OutboxRow
from sederunt.database.tables import outbox
from sederunt.model.history import Event, live_messages
from sederunt.tracing import carried

Resource = Literal["bot", "recording"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxMessage:
    """A message before it is written to the outbox."""

    kind: Literal["job", "feed", "deliver"]
    subject: str
    payload: Mapping[str, Any]
    message_id: str


def job(subject: str, resource: Resource, resource_id: UUID, occasion: object) -> OutboxMessage:
    """Return the message for a job. `occasion` tells this call for the job from others of the same resource."""
    return OutboxMessage(
        kind="job",
        subject=subject,
        payload={"id": str(resource_id), "resource": resource, **carried()},
        message_id=f"{subject}-{resource_id}-{occasion}",
    )


def deliver(resource: Resource, resource_id: UUID, occasion: object) -> OutboxMessage:
    """Return the message to deliver what is pending for a resource."""
    return OutboxMessage(
        kind="deliver",
        subject="job.deliver",
        payload={"id": str(resource_id), "resource": resource, **carried()},
        message_id=f"deliver-{resource_id}-{occasion}",
    )


def feed_subject(bot_id: UUID) -> str:
    """Return the subject of a bot's live events."""
    return f"feed.{bot_id}.events"


def feed(bot_id: UUID, change: Event) -> list[OutboxMessage]:
    """Return the live messages for a change of a bot's status."""
    return [
        OutboxMessage(
            kind="feed",
            subject=feed_subject(bot_id),
            payload=message,
            message_id=f"feed-{bot_id}-{change.id}-{message['type']}",
        )
        for message in live_messages(change)
    ]


async def post(connection: AsyncConnection, messages: Sequence[OutboxMessage], database: Database) -> list[OutboxRow]:
    """Write messages inside the caller's transaction. Give the result to `Database.announce` after the commit."""
    if not messages:
        return []
    now = database.clock.now()
    rows = [
        {
            "kind": message.kind,
            "subject": message.subject,
            "payload": document_text(message.payload),
            "message_id": message.message_id,
            "created_at": now,
        }
        for message in messages
    ]
    ids = await connection.scalars(insert(outbox).returning(outbox.c.id, sort_by_parameter_order=True), rows)
    return [_row({**row, "id": id_}) for row, id_ in zip(rows, ids, strict=True)]


class Outbox:
    """The unpublished messages."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._oldest = database.query(
            select(outbox)
            .where(outbox.c.created_at <= bindparam("before", type_=outbox.c.created_at.type))
            .order_by(outbox.c.id)
            .limit(bindparam("most", type_=Integer()))
        )

    async def unsent(self, *, limit: int = 500, older_than_s: float = 0) -> list[OutboxRow]:
        """Return the oldest rows first. A sweeper passes an age, so that it does not race with the writer's own
        publisher.
        """
        before = self._database.clock.now() - timedelta(seconds=older_than_s)
        return [_row(row) for row in await self._oldest.all(before=before, most=limit)]

    async def mark_sent(self, ids: Sequence[int]) -> None:
        """Delete rows that were published."""
        if ids:
            async with self._database.begin() as connection:
                await connection.execute(delete(outbox).where(outbox.c.id.in_(ids)))

    async def post(self, messages: Sequence[OutboxMessage]) -> list[OutboxRow]:
        """Write messages that belong to no other change, in their own transaction."""
        async with self._database.begin() as connection:
            rows = await post(connection, messages, self._database)
        self._database.announce(rows)
        return rows


def _row(row: Mapping[str, Any]) -> OutboxRow:
    return OutboxRow(
        id=row["id"],
        kind=row["kind"],
        subject=row["subject"],
        payload=row["payload"].encode(),
        message_id=row["message_id"],
    )


def payload_of(row: OutboxRow) -> dict[str, Any]:
    """Return the payload, parsed."""
    payload: dict[str, Any] = json.loads(row.payload)
    return payload
