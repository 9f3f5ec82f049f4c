"""What can be asked about bots. Reads never wait for a writer on SQLite, and cost one statement each."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
)

from sederunt.database import tables as t
from sederunt.database.all_accounts_bots import AllAccountsBots
from sederunt.database.bot_rows import NoSeals, Seals, bot_of, metadata_digest, overview_of, unknown_bot
from sederunt.database.bot_schedule import BotSchedule
from sederunt.database.bot_view import BotOutline, BotView, BotViews
from sederunt.database.engine import Database
from sederunt.database.outbox import feed_subject
from sederunt.database.paging import KeyPage, SegmentsPage, key_page, older_than
from sederunt.database.parts import Parts, field_of, weight
from sederunt.database.queries import Row, id_parameter
from sederunt.database.roster import Rosters
from sederunt.model.bot import Bot
from sederunt.model.history import Event
from sederunt.model.participant import Participant
from sederunt.model.status import AT_WORK, BotStatus

_ID = id_parameter("id")
_ACCOUNT = id_parameter("account")
_RARE = 5_000  # bots of all accounts that have a metadata entry


@dataclass(frozen=True, kw_only=True, slots=True)
class BotPage:
    """A page of bot overviews, and the cursor of the next page; None at the end."""

    bots: tuple[Bot, ...]
    cursor: str | None


class BotReading:
    """The reading half of the store of bots.

    `schedule`: an account's scheduled bots; `all_accounts`: what the service asks about the bots of every account.
    """

    def __init__(self, database: Database, seals: Seals | None = None) -> None:
        self._database = database
        self._seals = seals or NoSeals()
        self._views = BotViews(database)
        self._rosters = Rosters(database)
        self.schedule = BotSchedule(database)
        self.all_accounts = AllAccountsBots(database)
        by_id = select(t.bots).where(t.bots.c.id == _ID)
        self._one = database.query(by_id)
        self._owned = database.query(by_id.where(t.bots.c.account_id == _ACCOUNT, t.IS_VISIBLE))
        self._events = database.query(
            select(t.bot_events).where(t.bot_events.c.bot_id == _ID).order_by(t.bot_events.c.id)
        )
        # No index: few rows are unpublished, except while the message server is away.
        self._unpublished = database.query(
            select(t.outbox.c.payload).where(t.outbox.c.subject == bindparam("subject")).order_by(t.outbox.c.id)
        )
        self._active = database.query(
            select(func.count().label("bots"))
            .select_from(t.bots)
            .where(t.bots.c.account_id == _ACCOUNT, or_(*(t.bots.c.status == status.value for status in AT_WORK)))
        )
        matching_bots = (
            select(t.bot_metadata.c.bot_id).where(t.bot_metadata.c.digest == bindparam("digest")).limit(_RARE + 1)
        )
        self._holders = database.query(select(func.count().label("bots")).select_from(matching_bots.subquery()))
        self._parts = Parts(database, t.bots, t.IS_VISIBLE)
        self._origin = database.query(select(t.bots.c.origin).where(t.bots.c.id == _ID))

    async def origin(self, bot_id: UUID) -> Mapping[str, str]:
        """Return what the creating request carried; empty if that is unknown."""
        row = await self._origin.first(id=bot_id)
        return (row and row["origin"]) or {}

    async def get(self, bot_id: UUID, account_id: UUID | None = None) -> Bot:
        """Return one bot, its secret token unsealed. With an account: only if the bot is that account's and not being
        deleted.

        Raises NotFound.
        """
        if account_id is None:
            row = await self._one.first(id=bot_id)
        else:
            row = await self._owned.first(id=bot_id, account=account_id)
        if row is None:
            raise unknown_bot()
        return self._bot(row)

    async def view(
        self,
        bot_id: UUID,
        account_id: UUID,
        *,
        with_speaker_events: bool = False,
        segments: SegmentsPage | None = None,
    ) -> BotView:
        """Return one bot with its events, participants and transcript (only the page `segments` of it, if given), read
        by one statement. Raises NotFound.
        """
        return await self._views.get(bot_id, account_id, with_speaker_events=with_speaker_events, segments=segments)

    async def outline(self, bot_id: UUID, account_id: UUID) -> BotOutline:
        """Return the bot and the size of its view, without reading the view. Raises NotFound."""
        return await self._views.outline(bot_id, account_id)

    async def participants(self, bot_id: UUID, *, with_events: bool = False) -> list[Participant]:
        """Return the bot's roster in order of appearance; speaking events only on request."""
        return await self._rosters.participants(bot_id, with_events=with_events)

    async def as_told(self, bot: Bot) -> Bot:
        """Return a bot with the status that its listeners know: the one before the first change that is not published
        yet.

        A change is committed first and published then. A listener that connects in between must still hear of it as a
        change.
        """
        for row in await self._unpublished.all(subject=feed_subject(bot.id)):
            change = json.loads(row["payload"]).get("data", {})
            if old_status := change.get("old_status"):
                return replace(bot, status=BotStatus(old_status))
        return bot

    async def sources(self, bot_id: UUID) -> dict[str, str]:
        """Return whose voice each audio source carries: source → participant key."""
        return await self._rosters.sources(bot_id)

    async def events(self, bot_id: UUID) -> list[Event]:
        """Return the bot's history, oldest first."""
        return [
            Event(id=row["id"], event=row["event"], data=row["data"], created_at=row["created_at"])
            for row in await self._events.all(id=bot_id)
        ]

    async def active_count(self, account_id: UUID) -> int:
        """Return how many bots of the account are in a meeting or on their way."""
        row = await self._active.first(account=account_id)
        return int(row["bots"]) if row else 0

    async def find(
        self,
        account_id: UUID,
        *,
        status: BotStatus | None = None,
        metadata: Mapping[str, str] | None = None,
        search: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> BotPage:
        """Return overviews of the account's bots, newest first; see `listed`."""
        page = await self.listed(
            account_id, status=status, metadata=metadata, search=search, cursor=cursor, limit=limit
        )
        bots = [overview_of(row) async for rows in self._parts.read(page.keys) for row in rows]
        return BotPage(bots=tuple(bots), cursor=page.cursor)

    async def listed(
        self,
        account_id: UUID,
        *,
        status: BotStatus | None = None,
        metadata: Mapping[str, str] | None = None,
        search: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> KeyPage:
        """Return the keys of one page of the account's bots, newest first.

        `metadata`: the bot must have every pair; `search`: text in the bot's name or the meeting's address.
        Raises InvalidConfig for a foreign cursor.
        """
        bytes_ = weight(self._database, t.bots)
        where = [t.bots.c.account_id == account_id, t.IS_VISIBLE]
        if status is not None:
            where.append(t.bots.c.status == status.value)
        if cursor is not None:
            where.append(older_than(t.bots, cursor))
        where = await self._narrowed(where, [metadata_digest(*pair) for pair in (metadata or {}).items()])
        statement = select(t.bots.c.id, t.bots.c.created_at, bytes_).where(*where)
        statement = statement.order_by(t.bots.c.created_at.desc(), t.bots.c.id.desc()).limit(limit + 1)
        if search:
            statement = statement.where(self._holds(search))
        return key_page(await self._database.query(statement).all_aside(), limit)

    async def parts(self, page: KeyPage) -> AsyncIterator[list[Bot]]:
        """Yield the bots of a page, part by part, without those that were deleted meanwhile."""
        async for rows in self._parts.read(page.keys):
            yield [bot_of(row) for row in rows]

    async def _narrowed(
        self, where: Sequence[ColumnElement[bool]], digests: Sequence[bytes]
    ) -> list[ColumnElement[bool]]:
        """Return the conditions with those for metadata entries.

        If an entry is rare, its bots are looked up and sorted, because the newest bots may all lack it. If every entry
        is frequent, the newest bots are walked, because enough of them have it.
        """
        conditions, rare_bots = list(where), None
        for digest in digests:
            if rare_bots is None and await self._is_rare(digest):
                rare_bots = select(t.bot_metadata.c.bot_id).where(t.bot_metadata.c.digest == digest)
            else:
                has_entry = (t.bot_metadata.c.digest == digest) & (t.bot_metadata.c.bot_id == t.bots.c.id)
                conditions.append(exists().where(has_entry))
        if rare_bots is None:
            return conditions
        # Inside CASE, where no index applies: SQLite would otherwise walk the newest bots.
        return [t.bots.c.id.in_(rare_bots), case((and_(*conditions), 1), else_=0) == 1]

    async def _is_rare(self, digest: bytes) -> bool:
        row = await self._holders.first(digest=digest)
        return row is None or row["bots"] <= _RARE

    def _holds(self, text: str) -> ColumnElement[bool]:
        columns = [field_of(self._database, t.bots, name) for name in ("bot_name", "meeting_url")]
        return or_(*(column.icontains(text, autoescape=True) for column in columns))

    def _bot(self, row: Row) -> Bot:
        if row["zak"] is None:
            return bot_of(row)
        return bot_of(row, self._seals.open(row["zak"], "bots", "zak", row["id"]))
