"""What the service itself asks about the bots of every account: for housekeeping, limits and its operator."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Integer, bindparam, select

from sederunt.database import tables as t
from sederunt.database.columns import Moment
from sederunt.database.engine import Database
from sederunt.database.parts import field_of
from sederunt.model.status import BotStatus


class AllAccountsBots:
    """Reads the bots of all accounts, including those about to be deleted."""

    def __init__(self, database: Database) -> None:
        model = field_of(database, t.bots, "transcription_model").label("model")
        self._at_work = database.query(select(model).where(t.IS_AT_WORK))
        self._expired = database.query(
            select(t.bots.c.id)
            .where(t.bots.c.media_removed_at.is_(None), t.bots.c.media_until <= bindparam("now", type_=Moment()))
            .order_by(t.bots.c.media_until)
            .limit(bindparam("most", type_=Integer()))
        )
        self._in_status = database.query(
            select(t.bots.c.id).where(t.bots.c.status == bindparam("status")).order_by(t.bots.c.created_at)
        )

    async def models_at_work(self) -> list[str]:
        """Return the transcription model of every bot that is in a meeting, or on its way."""
        return [row["model"] for row in await self._at_work.all_aside()]

    async def with_status(self, status: BotStatus) -> list[UUID]:
        """Return the id of every bot in a status, oldest first."""
        return [row["id"] for row in await self._in_status.all(status=status.value)]

    async def expired(self, now: datetime, *, limit: int = 100) -> list[UUID]:
        """Return ended bots whose media has expired; see `Bots.media_removed`."""
        return [row["id"] for row in await self._expired.all(now=now, most=limit)]
