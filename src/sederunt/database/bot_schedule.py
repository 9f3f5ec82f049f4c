"""An account's bots that wait for their time."""

import asyncio
from datetime import datetime
from uuid import UUID

from sqlalchemy import Integer, bindparam, select

from sederunt.database import tables as t
from sederunt.database.bot_rows import bot_of
from sederunt.database.columns import Moment
from sederunt.database.engine import Database
from sederunt.database.paging import BEGINNING, rows_behind
from sederunt.database.queries import id_parameter
from sederunt.model.bot import Bot

_PAGE = 500  # bots read at once


class BotSchedule:
    """Lists scheduled bots, soonest first; one that is about to be deleted is not among them."""

    def __init__(self, database: Database) -> None:
        waiting = (
            select(t.bots)
            .where(t.bots.c.account_id == id_parameter("account"), t.IS_SCHEDULED, t.IS_VISIBLE)
            .order_by(t.bots.c.scheduled_for, t.bots.c.id)
        )
        self._page = database.query(waiting.where(rows_behind(t.bots.c.scheduled_for, t.bots.c.id)).limit(_PAGE))
        self._between = database.query(
            waiting.where(
                t.bots.c.scheduled_for >= bindparam("begins", type_=Moment()),
                t.bots.c.scheduled_for < bindparam("ends", type_=Moment()),
            ).limit(bindparam("most", type_=Integer()))
        )

    async def all(self, account_id: UUID) -> list[Bot]:
        """Return every scheduled bot of the account; others get their turn while ten thousand are read."""
        found: list[Bot] = []
        at, last = BEGINNING
        while rows := await self._page.all(account=account_id, at=at, last=last):
            found += map(bot_of, rows)
            at, last = rows[-1]["scheduled_for"], rows[-1]["id"]
            await asyncio.sleep(0)
        return found

    async def between(self, account_id: UUID, begins: datetime, ends: datetime, *, most: int) -> list[Bot]:
        """Return the account's bots that are scheduled for a span of time, at most so many."""
        rows = await self._between.all(account=account_id, begins=begins, ends=ends, most=most)
        return [bot_of(row) for row in rows]
