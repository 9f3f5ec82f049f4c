"""Follows calendar feeds: looks every few minutes, and makes, moves and cancels scheduled bots.

One event never gets two bots: before a bot is made, a row reserves its id for the event, and the row belongs to the
event, whichever calendars of the account contain it. A calendar that cannot be read changes nothing. A bot that
somebody cancelled by hand stays cancelled.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sederunt import log
from sederunt.accounts.sealing import Sealer
from sederunt.addresses import NOT_MODIFIED, blocks_of, guarded_client, opened
from sederunt.bus.tasks import end
from sederunt.calendars.meeting import CalendarMeeting, FeedChoice, FeedRule, KnownMeeting, plan_of
from sederunt.calendars.reader import read_calendar
from sederunt.clock import Clock
from sederunt.database.bots import Bots
from sederunt.database.calendars import CalendarFeeds, FeedMeetingRow, FeedRow
from sederunt.database.holdings import UNLIMITED, AccountLimits
from sederunt.database.ids import new_id
from sederunt.database.seats import BookingLimits
from sederunt.errors import Conflict, DestinationError, LimitReached, NotFound
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus

logger = log.get(component="calendars")

EVERY = timedelta(minutes=5)
AFTER_A_FAULT = timedelta(minutes=15)
AHEAD = timedelta(days=14)
KEPT_FOR = timedelta(days=30)  # a past meeting, so that it is not taken for a new one
LOOK_S = 5.0  # how often the list of due feeds is read
MOST_BYTES = 10_000_000
FETCH_S, WHOLE_S = 20.0, 90.0
AT_ONCE = 8  # accounts whose feeds are read in parallel, one feed of each account at a time
READ_AT_ONCE = 2  # each takes a core and a gigabyte at most
_LONGEST_MARK = 500  # of an ETag


@dataclass(frozen=True, slots=True)
class FetchedCalendar:
    """The response of a feed's address; `data` is None if the calendar has not changed."""

    data: bytes | None
    etag: str | None = None
    modified: str | None = None


class CalendarFollower:
    """Follows the feeds of all accounts; any number of processes may do so."""

    def __init__(
        self,
        feeds: CalendarFeeds,
        bots: Bots,
        sealer: Sealer,
        clock: Clock,
        *,
        allow_private: bool = False,
        booking: BookingLimits | None = None,
        most: int | None = None,
        limits: AccountLimits = UNLIMITED,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Follow the feeds.

        Args:
            is_wanted: whether `run` is to look now.
            most: bots that an account may have scheduled.
            limits: stored amounts above which an account gets no new bot.
        """
        self._feeds, self._bots, self._sealer, self._clock = feeds, bots, sealer, clock
        self._allow_private, self._booking = allow_private, booking
        self._most, self._limits, self._is_wanted = most, limits, is_wanted
        self._places, self._readers = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(READ_AT_ONCE)
        self._looking: dict[UUID, asyncio.Task[int]] = {}  # by account

    async def run(self) -> None:
        """Look at due feeds, for ever."""
        try:
            while True:
                try:
                    if self._is_wanted():
                        await self._begin()
                except Exception:
                    logger.exception("calendars not looked at", action="calendars_failed")
                await self._clock.sleep(LOOK_S)
        finally:
            await asyncio.gather(*map(end, list(self._looking.values())))

    async def look_at_due(self) -> int:
        """Look at every due feed, and wait until that is done; return how many."""
        return sum(await asyncio.gather(*await self._begin()))

    async def _begin(self) -> list[asyncio.Task[int]]:
        # Starts with the due feeds of each account that is not being read now: a slow account delays no other.
        due_feeds: dict[UUID, list[FeedRow]] = {}
        for feed in await self._feeds.due(self._clock.now()):
            if feed.account_id not in self._looking:
                due_feeds.setdefault(feed.account_id, []).append(feed)
        for account, feeds in due_feeds.items():
            task = self._looking[account] = asyncio.create_task(self._look_at(feeds))
            task.add_done_callback(partial(self._looked, account))
        return [self._looking[account] for account in due_feeds]

    def _looked(self, account: UUID, task: asyncio.Task[int]) -> None:
        del self._looking[account]
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a calendar not looked at", action="calendar_failed", exc_info=error)

    async def _look_at(self, feeds: Sequence[FeedRow]) -> int:
        # Looks at feeds of one account, one after another; returns how many.
        count = 0
        for feed in feeds:
            async with self._places:
                until = self._clock.now() + EVERY
                if await self._feeds.claim(feed, until):
                    await self._look(replace(feed, next_check_at=until))
                    count += 1
        return count

    async def _look(self, feed: FeedRow) -> None:
        now = self._clock.now()
        try:
            fetched = await self._fetch(feed, now)
            if fetched.data is not None:
                choice = FeedChoice(rule=FeedRule(feed.rule), keyword=feed.keyword, attendee=feed.attendee)
                async with self._readers:
                    reading = await read_calendar(
                        fetched.data, since=now, until=now + AHEAD, choice=choice, time_zone=feed.time_zone or ""
                    )
                is_done = await self._follow(feed, reading.meetings, now)
                await self._feeds.mark(feed.id, warnings=reading.warnings, left_out=reading.left_out)
                marks = (fetched.etag, fetched.modified) if is_done else (None, None)
                await self._feeds.keep_marks(feed, *marks)
        except (DestinationError, LimitReached) as error:
            retry_at = self._clock.now() + AFTER_A_FAULT
            await self._feeds.mark(feed.id, fault=str(error)[:300], next_check_at=retry_at)
            logger.info("calendar not read", action="calendar_not_read", feed_id=str(feed.id), why=str(error)[:300])
            return
        await self._feeds.mark(feed.id, fault=None, checked_at=now)

    async def _fetch(self, feed: FeedRow, now: datetime) -> FetchedCalendar:
        # Returns the calendar, unless it has not changed. Raises DestinationError. The first request of an hour is
        # without conditions: meetings that were too far ahead come nearer, and show only if the calendar is read.
        url = self._sealer.open(feed.address, "calendar_feeds", "address", feed.id)
        is_conditional = feed.checked_at is not None and _hour(feed, feed.checked_at) == _hour(feed, now)
        conditions = {"If-None-Match": feed.etag, "If-Modified-Since": feed.modified} if is_conditional else {}
        headers = {name: value for name, value in conditions.items() if value}
        try:
            async with (
                asyncio.timeout(WHOLE_S),
                guarded_client(allow_private=self._allow_private, timeout_s=FETCH_S) as client,
                opened(client, url, allow_private=self._allow_private, headers=headers) as response,
            ):
                if response.status_code == NOT_MODIFIED:
                    return FetchedCalendar(None)
                data = bytearray()
                async for block in blocks_of(response):
                    data += block
                    if len(data) > MOST_BYTES:
                        raise DestinationError(f"The calendar has more than {MOST_BYTES:,} bytes.", retryable=False)
                etag, modified = response.headers.get("etag"), response.headers.get("last-modified")
                return FetchedCalendar(bytes(data), _mark(etag), _mark(modified))
        except TimeoutError:
            raise DestinationError(f"The calendar did not come within {WHOLE_S:g} s.", retryable=True) from None

    async def _follow(self, feed: FeedRow, meetings: list[CalendarMeeting], now: datetime) -> bool:
        # Makes, moves and cancels bots as the calendar requires; returns whether all is done. Raises LimitReached.
        rows = {row.key: row for row in await self._feeds.meetings(feed.id)}
        plan = plan_of(
            meetings,
            [
                KnownMeeting(
                    key=row.key,
                    bot_id=row.bot_id,
                    made=row.made,
                    title=row.title,
                    starts_at=row.starts_at,
                    meeting_url=row.meeting_url,
                )
                for row in rows.values()
            ],
            now=now,
            until=now + AHEAD,
        )
        # Changes that free places come first: at a limit no bot is made, but cancellations and moves still happen.
        for cancelled in plan.cancel:
            await cancel(self._bots, rows[cancelled.key])
            await self._feeds.forget(rows[cancelled.key])
        if plan.cancel:
            await self._feeds.read_others_whole(feed, now)
        for row in rows.values():
            if row.starts_at < now - KEPT_FOR:
                await self._feeds.forget(row)
        for known_meeting, meeting in plan.change:
            rows[known_meeting.key] = await self._change(rows[known_meeting.key], meeting)
        replacements = [meeting for _, meeting in plan.change if not rows[meeting.key].made]
        for meeting in (*plan.make, *replacements):
            await self._make(feed, meeting, rows.get(meeting.key))
        if plan.make or plan.change or plan.cancel:
            counts = {"made": len(plan.make), "changed": len(plan.change), "cancelled": len(plan.cancel)}
            logger.info("calendar followed", action="calendar_followed", feed_id=str(feed.id), **counts)
        return all(rows[meeting.key].starts_at == meeting.starts_at for _, meeting in plan.change)

    async def _make(self, feed: FeedRow, meeting: CalendarMeeting, promised_row: FeedMeetingRow | None) -> None:
        now = self._clock.now()
        row = replace(
            promised_row or _row(feed, meeting, new_id(now)),
            title=meeting.title,
            starts_at=meeting.starts_at,
            meeting_url=meeting.meeting_url,
        )
        if promised_row is None and not await self._feeds.promise(row):
            return  # another calendar of the account has the event already
        try:
            await self._bots.get(row.bot_id)
        except NotFound:
            bot = Bot(
                id=row.bot_id,
                account_id=feed.account_id,
                config=config_of(feed, meeting),
                status=BotStatus.SCHEDULED,
                created_at=now,
                scheduled_for=meeting.starts_at,
                secret=secrets.token_urlsafe(24),
            )
            await self._bots.create(bot, most=self._most, booking=self._booking, limits=self._limits)
            logger.info("bot created", action="bot_created", bot_id=str(bot.id), status=bot.status.value)
        await self._feeds.keep(replace(row, made=True))

    async def _change(self, row: FeedMeetingRow, meeting: CalendarMeeting) -> FeedMeetingRow:
        # Moves the bot of a meeting; returns the changed row. After a bot that has ended, the row promises another one
        # at the new time. While a bot is at work, the row keeps its old time, so the change is noticed again when the
        # bot has ended.
        new_row = replace(row, title=meeting.title, starts_at=meeting.starts_at, meeting_url=meeting.meeting_url)
        with contextlib.suppress(NotFound):  # deleted by hand: not made again
            bot = await self._moved(row, meeting)
            if bot.status is not BotStatus.SCHEDULED and new_row.starts_at != row.starts_at:
                if not bot.is_over:
                    return row
                new_row = replace(new_row, bot_id=new_id(self._clock.now()), made=False)
        await self._feeds.keep(new_row)
        return new_row

    async def _moved(self, row: FeedMeetingRow, meeting: CalendarMeeting) -> Bot:
        # Changes the bot of a meeting if it is still scheduled; returns the bot before the change. Raises NotFound.
        while (bot := await self._bots.get(row.bot_id, row.account_id)).status is BotStatus.SCHEDULED:
            config = replace(
                bot.config,
                service=Service(meeting.service),
                meeting_url=meeting.meeting_url,
                custom_metadata={**bot.config.custom_metadata, **_metadata(meeting)},
            )
            with contextlib.suppress(Conflict):  # it was sent meanwhile
                if await self._bots.update_config(bot, config, meeting.starts_at):
                    break
        return bot


async def cancel(bots: Bots, row: FeedMeetingRow) -> None:
    """Cancel the bot of a meeting if it is still scheduled."""
    with contextlib.suppress(NotFound, Conflict):
        bot = await bots.get(row.bot_id, row.account_id)
        if bot.status is BotStatus.SCHEDULED:
            await bots.request_deletion(row.bot_id, row.account_id)


def config_of(feed: FeedRow, meeting: CalendarMeeting) -> BotConfig:
    """Return the configuration of a meeting's bot."""
    return BotConfig(
        service=Service(meeting.service),
        meeting_url=meeting.meeting_url,
        custom_metadata=_metadata(meeting),
        **feed.bot,
    )


def _hour(feed: FeedRow, moment: datetime) -> int:
    # Numbers the hours of a feed, which begin at its own minute, so that not all feeds are read whole at once.
    return (int(moment.timestamp()) + feed.id.int % 3600) // 3600


def _metadata(meeting: CalendarMeeting) -> dict[str, str]:
    return {"calendar_event": meeting.title}


def _row(feed: FeedRow, meeting: CalendarMeeting, bot_id: Any) -> FeedMeetingRow:
    return FeedMeetingRow(
        account_id=feed.account_id,
        key=meeting.key,
        feed_id=feed.id,
        bot_id=bot_id,
        made=False,
        title=meeting.title,
        starts_at=meeting.starts_at,
        meeting_url=meeting.meeting_url,
    )


def _mark(value: str | None) -> str | None:
    return value if value and len(value) <= _LONGEST_MARK else None
