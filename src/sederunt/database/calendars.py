"""Calendar feeds and their meetings that have bots. Addresses are sealed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Update, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from sederunt.database import tables as t
from sederunt.database.columns import Moment, storable
from sederunt.database.engine import Database
from sederunt.database.queries import id_parameter
from sederunt.errors import NotFound

_MOST_DUE = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedRow:
    """A calendar feed as it is stored."""

    id: UUID
    account_id: UUID
    name: str
    address: bytes = field(repr=False)  # sealed
    host: str
    rule: str
    keyword: str
    attendee: str
    bot: Mapping[str, Any]
    created_at: datetime
    next_check_at: datetime
    checked_at: datetime | None = None
    etag: str | None = None
    modified: str | None = None
    fault: str | None = None
    time_zone: str | None = None
    warnings: Sequence[str] | None = None
    left_out: Sequence[Mapping[str, str]] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedMeetingRow:
    """A meeting of a feed, and the bot that it has, had, or was promised."""

    account_id: UUID
    key: str
    feed_id: UUID
    bot_id: UUID
    made: bool
    title: str
    starts_at: datetime
    meeting_url: str


class CalendarFeeds:
    """The feeds of all accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        feeds = select(t.calendar_feeds)
        is_own = t.calendar_feeds.c.account_id == id_parameter("account")
        self._of = database.query(feeds.where(is_own).order_by(t.calendar_feeds.c.created_at, t.calendar_feeds.c.id))
        self._one = database.query(feeds.where(is_own, t.calendar_feeds.c.id == id_parameter("id")))
        is_due = t.calendar_feeds.c.next_check_at <= bindparam("now", type_=Moment())
        # However many feeds of one account are due, the first of every other account gets its turn.
        next_check_at = t.calendar_feeds.c.next_check_at
        turn = func.row_number().over(partition_by=t.calendar_feeds.c.account_id, order_by=next_check_at).label("turn")
        ranking = select(t.calendar_feeds.c.id, turn).where(is_due).subquery()
        feeds_in_turn = feeds.join(ranking, ranking.c.id == t.calendar_feeds.c.id).order_by(
            ranking.c.turn, next_check_at
        )
        self._due = database.query(feeds_in_turn.limit(_MOST_DUE))
        meetings = select(t.calendar_meetings).where(t.calendar_meetings.c.feed_id == id_parameter("feed"))
        self._meetings = database.query(meetings.order_by(t.calendar_meetings.c.starts_at))

    async def add(self, feed: FeedRow) -> None:
        values = {name: getattr(feed, name) for name in feed.__slots__}
        for name in ("name", "keyword", "attendee", "host"):
            values[name] = storable(values[name])
        async with self._database.begin() as connection:
            await connection.execute(insert(t.calendar_feeds).values(values))

    async def of(self, account_id: UUID) -> list[FeedRow]:
        """Return the account's feeds, oldest first."""
        return [FeedRow(**row) for row in await self._of.all(account=account_id)]

    async def get(self, feed_id: UUID, account_id: UUID) -> FeedRow:
        """Return one feed of an account. Raises NotFound."""
        row = await self._one.first(id=feed_id, account=account_id)
        if row is None:
            raise NotFound("There is no calendar feed with this id.")
        return FeedRow(**row)

    async def remove(self, feed_id: UUID, account_id: UUID, now: datetime) -> None:
        """Forget a feed and its meetings; their bots stay. The account's other feeds are read whole from `now` on,
        because they may have the same meetings. Raises NotFound.
        """
        conditions = (t.calendar_feeds.c.id == feed_id, t.calendar_feeds.c.account_id == account_id)
        async with self._database.begin() as connection:
            if not (await connection.execute(delete(t.calendar_feeds).where(*conditions))).rowcount:
                raise NotFound("There is no calendar feed with this id.")
            await connection.execute(_read_others_whole(feed_id, account_id, now))

    async def due(self, now: datetime) -> list[FeedRow]:
        """Return feeds of all accounts that are due for a check."""
        return [FeedRow(**row) for row in await self._due.all(now=now)]

    async def claim(self, feed: FeedRow, until: datetime) -> bool:
        """Take a due feed until a moment; False if another process took it."""
        return await self._change(*_unmoved(feed), next_check_at=until)

    async def mark(self, feed_id: UUID, **changes: Any) -> None:
        """Write the result of a check, or the time of the next one."""
        await self._change(t.calendar_feeds.c.id == feed_id, **changes)

    async def keep_marks(self, feed: FeedRow, etag: str | None, modified: str | None) -> None:
        """Write the server's markers for the calendar that was read. Writes nothing if the feed has to be read whole
        since it was claimed (its `next_check_at` differs then).
        """
        await self._change(*_unmoved(feed), etag=etag, modified=modified)

    async def read_others_whole(self, feed: FeedRow, now: datetime) -> None:
        """Have the account's other feeds read whole from `now` on: they may have what this one no longer has."""
        async with self._database.begin() as connection:
            await connection.execute(_read_others_whole(feed.id, feed.account_id, now))

    async def meetings(self, feed_id: UUID) -> list[FeedMeetingRow]:
        """Return the feed's meetings that have, had or were promised a bot, by time."""
        return [FeedMeetingRow(**row) for row in await self._meetings.all(feed=feed_id)]

    async def promise(self, meeting: FeedMeetingRow) -> bool:
        """Write that a meeting is to have a bot; False if any feed promised it one already."""
        dialect_insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        statement = dialect_insert(t.calendar_meetings).values(_values(meeting))
        async with self._database.begin() as connection:
            result = await connection.execute(statement.on_conflict_do_nothing(index_elements=["account_id", "key"]))
            return bool(result.rowcount)

    async def keep(self, meeting: FeedMeetingRow) -> None:
        """Write the current state of a meeting."""
        statement = update(t.calendar_meetings).where(*_same(meeting)).values(_values(meeting))
        async with self._database.begin() as connection:
            await connection.execute(statement)

    async def forget(self, meeting: FeedMeetingRow) -> None:
        """Forget a meeting that was cancelled or is long past."""
        async with self._database.begin() as connection:
            await connection.execute(delete(t.calendar_meetings).where(*_same(meeting)))

    async def _change(self, *conditions: Any, **changes: Any) -> bool:
        async with self._database.begin() as connection:
            result = await connection.execute(update(t.calendar_feeds).where(*conditions).values(**changes))
            return bool(result.rowcount)


def _unmoved(feed: FeedRow) -> tuple[Any, Any]:
    return t.calendar_feeds.c.id == feed.id, t.calendar_feeds.c.next_check_at == feed.next_check_at


def _read_others_whole(feed_id: UUID, account_id: UUID, now: datetime) -> Update:
    other_feeds = (t.calendar_feeds.c.account_id == account_id, t.calendar_feeds.c.id != feed_id)
    return update(t.calendar_feeds).where(*other_feeds).values(next_check_at=now, etag=None, modified=None)


def _values(meeting: FeedMeetingRow) -> dict[str, Any]:
    values = {name: getattr(meeting, name) for name in meeting.__slots__}
    return {**values, "title": storable(meeting.title), "meeting_url": storable(meeting.meeting_url)}


def _same(meeting: FeedMeetingRow) -> tuple[Any, Any]:
    return t.calendar_meetings.c.account_id == meeting.account_id, t.calendar_meetings.c.key == meeting.key
