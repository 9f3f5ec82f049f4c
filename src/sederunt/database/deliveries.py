"""Webhooks to deliver, in order per resource, with every attempt."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, bindparam, exists, func, insert, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.columns import Moment, storable
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.outbox import OutboxMessage, Resource, deliver
from sederunt.database.queries import Row, id_parameter
from sederunt.model.history import Event

_ANSWER_KEPT = 250  # characters


class DeliveryState(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One attempt to reach a receiver."""

    at: datetime
    status: int | None  # None if no answer came
    ms: int
    answer: str  # the first 250 characters of the answer, or the error


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """One webhook: its content, its receiver, and the state of its delivery."""

    id: UUID  # the webhook-id header, the same in every attempt
    account_id: UUID
    resource: Resource
    resource_id: UUID
    url: str
    type: str
    data: Mapping[str, Any]
    custom_metadata: Mapping[str, str]
    created_at: datetime
    state: DeliveryState
    next_attempt_at: datetime | None
    attempts: tuple[Attempt, ...] = ()


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
            data=dict(event.data),
            custom_metadata=dict(custom_metadata),
            created_at=event.created_at,
            state=DeliveryState.PENDING,
            next_attempt_at=event.created_at,
        )
    )


async def enqueue_asked(connection: AsyncConnection, bot: Mapping[str, Any], event: Event) -> list[OutboxMessage]:
    """Write that an event of a bot is to be delivered, if the bot's caller subscribed to such events. Returns the
    message to post for it.

    Args:
        bot: its row.
    """
    config = bot["config"]
    if not config.get("webhook_url") or event.event not in (config.get("webhook_events") or ()):
        return []
    await enqueue(
        connection,
        resource="bot",
        resource_id=bot["id"],
        account_id=bot["account_id"],
        url=config["webhook_url"],
        event=event,
        custom_metadata=config["custom_metadata"],
    )
    return [deliver("bot", bot["id"], event.id)]


class Deliveries:
    """The store of deliveries."""

    def __init__(self, database: Database) -> None:
        self._database = database
        of_resource = t.deliveries.c.resource_id == id_parameter("id")
        in_order = select(t.deliveries).where(of_resource).order_by(t.deliveries.c.position)
        self._next = database.query(in_order.where(t.IS_PENDING).limit(1))
        self._of = database.query(in_order.where(t.deliveries.c.account_id == id_parameter("account")))
        self._attempts = database.query(
            select(t.delivery_attempts)
            .join(t.deliveries, t.deliveries.c.id == t.delivery_attempts.c.delivery_id)
            .where(of_resource)
            .order_by(t.delivery_attempts.c.id)
        )
        self._due = database.query(_due())
        oldest = func.min(t.deliveries.c.created_at, type_=t.deliveries.c.created_at.type).label("oldest")
        self._pending = database.query(select(func.count().label("deliveries"), oldest).where(t.IS_PENDING))

    async def next(self, resource_id: UUID) -> Delivery | None:
        """Return the oldest pending delivery. Later ones wait for it, even until its `next_attempt_at`."""
        row = await self._next.first(id=resource_id)
        if row is None:
            return None
        attempts = await self._attempts.all(id=resource_id)
        return delivery_of(row, (attempt for attempt in attempts if attempt["delivery_id"] == row["id"]))

    async def of(self, resource_id: UUID, account_id: UUID) -> list[Delivery]:
        """Return all deliveries of a resource with their attempts, oldest first."""
        attempts: dict[UUID, list[Row]] = {}
        for attempt in await self._attempts.all(id=resource_id):
            attempts.setdefault(attempt["delivery_id"], []).append(attempt)
        rows = await self._of.all(id=resource_id, account=account_id)
        return [delivery_of(row, attempts.get(row["id"], ())) for row in rows]

    async def record_attempt(
        self, delivery_id: UUID, attempt: Attempt, *, state: DeliveryState, next_attempt_at: datetime | None = None
    ) -> None:
        """Write an attempt and what follows from it. Does nothing if the delivery was deleted meanwhile.

        Nothing follows from a failure that ends late, after another worker delivered or gave up the delivery.
        """
        condition = t.deliveries.c.id == delivery_id
        async with self._database.begin() as connection:
            current_state = await connection.scalar(select(t.deliveries.c.state).where(condition).with_for_update())
            if current_state is None:
                return
            if current_state == DeliveryState.PENDING or state is DeliveryState.DELIVERED:
                statement = update(t.deliveries).where(condition)
                await connection.execute(statement.values(state=state, next_attempt_at=next_attempt_at))
            await connection.execute(
                insert(t.delivery_attempts).values(
                    delivery_id=delivery_id,
                    at=attempt.at,
                    status=attempt.status,
                    ms=attempt.ms,
                    answer=storable(attempt.answer[:_ANSWER_KEPT]),
                )
            )

    async def postpone(self, delivery_id: UUID, until: datetime) -> None:
        """Move a pending delivery to this time; no attempt was made."""
        statement = update(t.deliveries).where(t.deliveries.c.id == delivery_id, t.IS_PENDING)
        async with self._database.begin() as connection:
            await connection.execute(statement.values(next_attempt_at=until))

    async def hasten(self, url: str, account_id: UUID) -> None:
        """Make every pending delivery to an address due now: its receiver is back."""
        await self._hasten(t.deliveries.c.url == url, t.deliveries.c.account_id == account_id)

    async def hasten_all(self) -> int:
        """Make every pending delivery due now: the clock was set back, and the stored times are those of the clock
        before. Returns how many were not due yet.
        """
        return await self._hasten()

    async def _hasten(self, *conditions: ColumnElement[bool]) -> int:
        now = self._database.clock.now()
        statement = update(t.deliveries).where(*conditions, t.IS_PENDING, t.deliveries.c.next_attempt_at > now)
        async with self._database.begin() as connection:
            row_count: int = (await connection.execute(statement.values(next_attempt_at=now))).rowcount
        return row_count

    async def pending(self) -> tuple[int, datetime | None]:
        """Return how many deliveries are pending, and when the oldest of them was created."""
        row = await self._pending.first()
        return (int(row["deliveries"]), row["oldest"]) if row is not None else (0, None)

    async def due(self, now: datetime, *, limit: int = 100) -> list[tuple[Resource, UUID]]:
        """Return (resource, its id) whose oldest pending delivery may be attempted (again)."""
        return [(row["resource"], row["resource_id"]) for row in await self._due.all(now=now, most=limit)]


def _due() -> Any:
    earlier = t.deliveries.alias("earlier")
    is_waiting = exists().where(
        earlier.c.resource_id == t.deliveries.c.resource_id,
        earlier.c.position < t.deliveries.c.position,
        earlier.c.state == literal_column("'pending'"),
    )
    return (
        select(t.deliveries.c.resource, t.deliveries.c.resource_id)
        .where(
            t.IS_PENDING,
            t.deliveries.c.next_attempt_at <= bindparam("now", type_=Moment()),
            ~is_waiting,
        )
        .order_by(t.deliveries.c.next_attempt_at)
        .limit(bindparam("most", type_=Integer()))
    )


def delivery_of(row: Row, attempts: Iterable[Row]) -> Delivery:
    """Return a delivery from its row and those of its attempts."""
    return Delivery(
        **{name: value for name, value in row.items() if name != "position"},
        attempts=tuple(Attempt(at=a["at"], status=a["status"], ms=a["ms"], answer=a["answer"]) for a in attempts),
    )
