"""An account's webhooks as people see them: newest first, with their attempts; replays and tests."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, case, delete, insert, or_, select, update

from sederunt.database import outbox
from sederunt.database import tables as t
from sederunt.database.deliveries import Delivery, DeliveryState, delivery_of
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.queries import Row
from sederunt.errors import NotFound

TEST = "test"  # the type of a test delivery
_TESTS_KEPT = timedelta(days=7)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryPage:
    """One page of a list, and where the next one starts; None at the end."""

    deliveries: tuple[Delivery, ...]
    before: int | None


class DeliveryLists:
    """Deliveries of accounts. Each query names its account."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(
        self,
        account_id: UUID,
        *,
        state: DeliveryState | None = None,
        resource_id: UUID | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> DeliveryPage:
        """Return the account's deliveries, newest first; `before`: where the previous page ended."""
        where: list[ColumnElement[bool]] = [t.deliveries.c.account_id == account_id]
        if resource_id is not None:
            # Inside CASE, where no index applies: SQLite would otherwise read the whole account in index order.
            where = [t.deliveries.c.resource_id == resource_id, case((where[0], 1), else_=0) == 1]
        if state is not None:
            where.append(t.deliveries.c.state == state)
        if before is not None:
            where.append(t.deliveries.c.position < before)
        statement = select(t.deliveries).where(*where).order_by(t.deliveries.c.position.desc()).limit(limit + 1)
        rows = await self._database.query(statement).all()
        page, has_more = rows[:limit], len(rows) > limit
        return DeliveryPage(
            deliveries=await self._with_attempts(page), before=page[-1]["position"] if has_more else None
        )

    async def get(self, delivery_id: UUID, account_id: UUID) -> Delivery:
        """Return one delivery with its attempts. Raises NotFound."""
        statement = select(t.deliveries).where(_owned(delivery_id, account_id))
        rows = await self._database.query(statement).all()
        if not rows:
            raise NotFound("There is no delivery with this id.")
        return (await self._with_attempts(rows))[0]

    async def replay(self, delivery_id: UUID, account_id: UUID) -> None:
        """Deliver a webhook once more, now, whatever its state. Raises NotFound."""
        if not await self._replay(_owned(delivery_id, account_id)):
            raise NotFound("There is no delivery with this id.")

    async def replay_since(self, account_id: UUID, since: datetime, state: DeliveryState) -> int:
        """Deliver once more what was created since then and is in this state. Returns the number of deliveries."""
        rows = t.deliveries.c
        return await self._replay(
            and_(rows.account_id == account_id, rows.created_at >= since, rows.state == state, rows.type != TEST)
        )

    async def keep_test(self, delivery: Delivery) -> None:
        """Keep a test delivery and its result; deletes tests older than 7 days."""
        values = asdict(delivery)
        attempts = values.pop("attempts")
        is_old = and_(
            t.deliveries.c.account_id == delivery.account_id,
            t.deliveries.c.type == TEST,
            t.deliveries.c.created_at < delivery.created_at - _TESTS_KEPT,
        )
        async with self._database.begin() as connection:
            await connection.execute(delete(t.deliveries).where(is_old))
            await connection.execute(insert(t.deliveries).values(values))
            for attempt in attempts:
                await connection.execute(insert(t.delivery_attempts).values(delivery_id=delivery.id, **attempt))

    async def _replay(self, condition: ColumnElement[bool]) -> int:
        now = self._database.clock.now()
        statement = (
            update(t.deliveries)
            .where(condition)
            .values(state=DeliveryState.PENDING, next_attempt_at=now)
            .returning(t.deliveries.c.resource, t.deliveries.c.resource_id)
        )
        async with self._database.begin() as connection:
            deliveries = (await connection.execute(statement)).all()
            calls = [
                outbox.deliver(resource, resource_id, f"replay-{new_id(now)}")
                for resource, resource_id in {(row.resource, row.resource_id) for row in deliveries}
            ]
            rows = await outbox.post(connection, calls, self._database) if calls else []
        self._database.announce(rows)
        return len(deliveries)

    async def _with_attempts(self, rows: Sequence[Row]) -> tuple[Delivery, ...]:
        if not rows:
            return ()
        condition = or_(*(t.delivery_attempts.c.delivery_id == row["id"] for row in rows))
        attempts: dict[Any, list[Row]] = {}
        statement = select(t.delivery_attempts).where(condition).order_by(t.delivery_attempts.c.id)
        for attempt in await self._database.query(statement).all():
            attempts.setdefault(attempt["delivery_id"], []).append(attempt)
        return tuple(delivery_of(row, attempts.get(row["id"], ())) for row in rows)


def trial(account_id: UUID, url: str, now: datetime) -> Delivery:
    """Return a test delivery. Its resource does not exist."""
    return Delivery(
        id=new_id(now),
        account_id=account_id,
        resource="bot",
        resource_id=new_id(now),
        url=url,
        type=TEST,
        data={"message": "This webhook was sent to try its receiver."},
        custom_metadata={},
        created_at=now,
        state=DeliveryState.PENDING,
        next_attempt_at=None,
    )


def _owned(delivery_id: UUID, account_id: UUID) -> ColumnElement[bool]:
    return and_(t.deliveries.c.id == delivery_id, t.deliveries.c.account_id == account_id)
