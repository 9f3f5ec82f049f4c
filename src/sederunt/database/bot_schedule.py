"""An account's scheduled bots."""

from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

from sqlalchemy import Integer, bindparam, select

from sederunt.database import tables as t
from sederunt.database.bot_rows import bot_of, overview_of
from sederunt.database.columns import Moment
from sederunt.database.engine import Database
from sederunt.database.paging import BEGINNING, rows_behind
from sederunt.database.parts import Parts, weight
from sederunt.database.queries import id_parameter
from sederunt.model.bot import Bot

_PAGE = 100  # keys read at once


class BotSchedule:
    """Lists scheduled bots, soonest first, without those about to be deleted."""

    def __init__(self, database: Database) -> None:
        conditions = (t.bots.c.account_id == id_parameter("account"), t.IS_SCHEDULED, t.IS_VISIBLE)
        order = (t.bots.c.scheduled_for, t.bots.c.id)
        keys = select(t.bots.c.id, t.bots.c.scheduled_for, weight(database, t.bots)).where(*conditions).order_by(*order)
        self._keys = database.query(keys.where(rows_behind(*order)).limit(_PAGE))
        self._parts = Parts(database, t.bots, t.IS_SCHEDULED, t.IS_VISIBLE)
        self._between = database.query(
            keys.where(
                t.bots.c.scheduled_for >= bindparam("begins", type_=Moment()),
                t.bots.c.scheduled_for < bindparam("ends", type_=Moment()),
            ).limit(bindparam("most", type_=Integer()))
        )

    async def parts(self, account_id: UUID) -> AsyncIterator[list[Bot]]:
        """Yield every scheduled bot of the account, part by part: there may be ten thousand."""
        at, last = BEGINNING
        while keys := await self._keys.all_aside(account=account_id, at=at, last=last):
            async for rows in self._parts.read(keys):
                yield [bot_of(row) for row in rows]
            at, last = keys[-1]["scheduled_for"], keys[-1]["id"]

    async def between(self, account_id: UUID, begins: datetime, ends: datetime, *, most: int) -> list[Bot]:
        """Return overviews of the account's bots that are scheduled for a span of time, at most `most`."""
        keys = await self._between.all_aside(account=account_id, begins=begins, ends=ends, most=most)
        return [overview_of(row) async for rows in self._parts.read(keys) for row in rows]
