"""Calendar feeds: addresses of calendars whose meetings become scheduled bots."""

import json
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field
from starlette.responses import Response

from sederunt import log
from sederunt.addresses import refusal
from sederunt.api.call import Call
from sederunt.api.failures import json_response, message_response
from sederunt.api.resources.lists import list_response, looking
from sederunt.api.schemas import values as v
from sederunt.api.schemas.faults import Faults, add, read
from sederunt.api.schemas.requests import Body
from sederunt.api.schemas.views import data_json, moment
from sederunt.calendars.follower import cancel
from sederunt.calendars.meeting import FeedRule
from sederunt.calendars.zones import zone_of
from sederunt.database.calendars import CalendarFeeds, FeedMeetingRow, FeedRow
from sederunt.database.ids import new_id
from sederunt.errors import InvalidConfig, LimitReached
from sederunt.model.bot import BotConfig, Service
from sederunt.platforms.registry import services
from sederunt.transcription.models import bot_models

logger = log.get(component="api")

_BOT = ("bot_name", "transcription_model", "lang", "webhook_url", "video")
_LONGEST_ADDRESS = 4_000


class CalendarFeedFields(Body):
    """A calendar to follow."""

    REQUIRED = ("name", "calendar_url")

    name: Annotated[str, *v.text(200)] = Field("", description="What the feed is called in lists.")
    calendar_url: Annotated[str, *v.text(_LONGEST_ADDRESS)] = Field(
        "", description="The calendar's secret address (iCalendar). It is sealed, and never shown again."
    )
    rule: Annotated[str, *v.word(tuple(FeedRule))] = Field("all", description="Which meetings get a bot.")
    keyword: Annotated[str, *v.text(200)] | None = Field(
        None, description="Of the rule `keyword`: what stands in title or description."
    )
    attendee: Annotated[str, *v.text(320)] | None = Field(
        None, description="Of the rule `mine`: your address, as organiser or as an attendee who has not declined."
    )
    time_zone: Annotated[str, *v.text(100)] | None = Field(
        None,
        description="The zone of times that name none, such as `Europe/Berlin`; absent: the calendar's own, else UTC.",
    )
    bot_name: Annotated[str, *v.text(1000)] = Field("Minutes", description="The bots' name in the meetings.")
    transcription_model: Annotated[str, *v.word(bot_models())] = Field("none", description="What transcribes.")
    lang: v.Language | None = Field(None, description="Spoken language, as for bots.")
    webhook_url: v.Url | None = Field(None, description="Receives every change of status of the bots.")
    video: v.Flag = Field(False, description="Record video too.")


async def add_feed(call: Call) -> Response:
    """Answer POST /calendar-feed"""
    request = read(CalendarFeedFields, await call.body())
    fields, faults = request.fields, request.faults
    bot = {name: getattr(fields, name) for name in _BOT}
    await _check(call, fields, bot, faults)
    if faults:
        raise InvalidConfig(faults)
    feeds = CalendarFeeds(call.context.database)
    most = call.context.settings.limits.calendar_feeds
    if len(await feeds.of(call.account_id)) >= most:
        raise LimitReached(f"An account has {most} calendar feeds at the most: remove one.", "calendar_feeds")
    now = call.context.clock.now()
    feed_id = new_id(now)
    address = _web_address(fields.calendar_url)
    feed = FeedRow(
        id=feed_id,
        account_id=call.account_id,
        name=fields.name,
        address=call.context.stores.sealer.seal(address, "calendar_feeds", "address", feed_id),
        host=urlsplit(address).hostname or "",
        rule=fields.rule,
        keyword=fields.keyword or "",
        attendee=fields.attendee or "",
        bot=bot,
        created_at=now,
        next_check_at=now,
        time_zone=fields.time_zone,
    )
    await feeds.add(feed)
    logger.info("calendar feed added", action="calendar_feed_added", feed_id=str(feed.id))
    return json_response(feed_values(feed, []))


async def list_feeds(call: Call) -> Response:
    """Answer GET /calendar-feed: the oldest first."""
    feeds = CalendarFeeds(call.context.database)
    async with looking(call):
        rows = await feeds.of(call.account_id)
    texts = ([json.dumps(feed_values(feed, await feeds.meetings(feed.id)))] for feed in rows)
    return await list_response(call, data_json(texts))


async def get_feed(call: Call) -> Response:
    """Answer GET /calendar-feed/{id}"""
    feeds = CalendarFeeds(call.context.database)
    feed = await feeds.get(call.id("calendar feed"), call.account_id)
    return json_response(feed_values(feed, await feeds.meetings(feed.id)))


async def check_feed(call: Call) -> Response:
    """Answer POST /calendar-feed/{id}/check: a worker looks within seconds."""
    feeds = CalendarFeeds(call.context.database)
    feed = await feeds.get(call.id("calendar feed"), call.account_id)
    await feeds.mark(feed.id, next_check_at=call.context.clock.now(), etag=None, modified=None)
    return message_response("The calendar is looked at within seconds.")


async def remove_feed(call: Call) -> Response:
    """Answer DELETE /calendar-feed/{id}: its bots that still wait are cancelled."""
    feeds = CalendarFeeds(call.context.database)
    feed = await feeds.get(call.id("calendar feed"), call.account_id)
    for meeting in await feeds.meetings(feed.id):
        await cancel(call.context.bots, meeting)
    await feeds.remove(feed.id, call.account_id, call.context.clock.now())
    logger.info("calendar feed removed", action="calendar_feed_removed", feed_id=str(feed.id))
    return message_response("The calendar is not followed any more; its bots that still waited were cancelled.")


async def feeds_values(call: Call) -> list[dict[str, Any]]:
    """Return the account's feeds as callers see them."""
    feeds = CalendarFeeds(call.context.database)
    return [feed_values(feed, await feeds.meetings(feed.id)) for feed in await feeds.of(call.account_id)]


def feed_values(feed: FeedRow, meetings: list[FeedMeetingRow]) -> dict[str, Any]:
    """Return a feed as callers see it: only the host of its address."""
    return {
        "id": str(feed.id),
        "name": feed.name,
        "host": feed.host,
        "rule": feed.rule,
        "keyword": feed.keyword or None,
        "attendee": feed.attendee or None,
        **{name: feed.bot[name] for name in _BOT},
        "created_at": moment(feed.created_at),
        "checked_at": moment(feed.checked_at),
        "fault": feed.fault,
        "time_zone": feed.time_zone,
        "warnings": list(feed.warnings or ()),
        "meetings": [
            {
                "title": meeting.title,
                "starts_at": moment(meeting.starts_at),
                "meeting_url": meeting.meeting_url,
                "bot_id": str(meeting.bot_id),
            }
            for meeting in meetings
        ],
        "left_out": [
            {**meeting, "starts_at": moment(datetime.fromisoformat(meeting["starts_at"]))}
            for meeting in feed.left_out or ()
        ],
    }


async def _check(call: Call, fields: CalendarFeedFields, bot: dict[str, Any], faults: Faults) -> None:
    if "calendar_url" not in faults:
        fault = refusal(_web_address(fields.calendar_url), allow_private=call.context.settings.allow_private_addresses)
        if fault:
            add(faults, "calendar_url", f"calendar_url cannot be used: {fault}")
    if fields.time_zone and "time_zone" not in faults and zone_of(fields.time_zone, {}) is None:
        add(faults, "time_zone", "time_zone must be the name of a time zone, such as Europe/Berlin.")
    for rule, name in ((FeedRule.KEYWORD, "keyword"), (FeedRule.MINE, "attendee")):
        if fields.rule == rule and not getattr(fields, name) and name not in faults:
            add(faults, name, f"{name} is required for the rule '{rule}'.")
    if not faults:
        config = BotConfig(service=Service(services()[0]), meeting_url="", **bot)
        await call.context.checks.bot(call.account_id, config, {"transcription_model", "lang"}, faults)


def _web_address(text: str) -> str:
    """Return the address to fetch: webcal:// means https://."""
    return f"https://{text[9:]}" if text.lower().startswith("webcal://") else text
