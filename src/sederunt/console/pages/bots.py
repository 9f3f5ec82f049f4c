"""Bots: the list, a new one, the timetable, and one bot while it works and afterwards."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from datetime import date
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from sederunt.api.call import MOST_LISTED
from sederunt.api.failures import answer_to, json_response
from sederunt.api.resources.bots import bots_asked_for
from sederunt.api.resources.calendar_feeds import feeds_values
from sederunt.api.resources.capacity import pricing_of
from sederunt.api.resources.tracks import track_values
from sederunt.api.resources.transcripts import correction_values
from sederunt.api.schemas.views import event_values
from sederunt.api.sockets.endpoints import since_of
from sederunt.bus.connection import BusAway, NoResponder
from sederunt.bus.tasks import end
from sederunt.console.bot_summary import summary_of
from sederunt.console.calendar_view import VIEWS, moments_of, span_of, timetable, zone_of
from sederunt.console.page import Page
from sederunt.console.sibling_transcripts import sibling_transcripts
from sederunt.console.transcript_pages import page_of
from sederunt.console.waveform import waveform
from sederunt.database.bot_view import BotView
from sederunt.database.delivery_lists import DeliveryPage
from sederunt.database.paging import ListPageRequest
from sederunt.database.recordings import RecordingView
from sederunt.errors import TooManyRequests, Unauthorized
from sederunt.model.bot import Bot
from sederunt.model.correction import Correction, corrected_names
from sederunt.model.history import CHAT_MESSAGE
from sederunt.model.minutes import seconds_of
from sederunt.model.status import ACTIVE, ENDINGS, STOPPABLE, BotStatus
from sederunt.platforms.registry import services
from sederunt.realtime.messages import DELETED, ENDED, Closing
from sederunt.transcription.models import has_sockets, models

PICTURE_S = 12.0
FEED_S = 600.0
FEED_BYTES = 100_000  # the cost of opening a feed, in bytes of an answer
MOST_SCHEDULED = 500  # on one page of the timetable
ZONE_COOKIE = "zone"  # the reader's time zone, as their browser names it


async def list_bots(page: Page) -> Response:
    """GET /bots"""
    bot_page = await page.context.bots.find(page.account_id, **bots_asked_for(page))
    return page.render("bots.html", bots=bot_page.bots, cursor=bot_page.cursor, statuses=list(BotStatus))


async def scheduled(page: Page) -> Response:
    """GET /bots/scheduled: a month, a week or a list, in the reader's zone."""
    query = page.request.query_params
    zone = zone_of(page.request.cookies.get(ZONE_COOKIE, ""))
    today = page.context.clock.now().astimezone(zone).date()
    view = next((candidate for candidate in VIEWS if candidate == query.get("view")), VIEWS[0])
    on = _day(query.get("on", ""), today)
    begins, ends = moments_of(span_of(view, on), zone)
    bots = await page.context.bots.schedule.between(page.account_id, begins, ends, most=MOST_SCHEDULED + 1)
    table = timetable(view, on, bots[:MOST_SCHEDULED], zone=zone, today=today)
    return page.render(
        "scheduled.html", table=table, views=VIEWS, on=on, today=today, zone=zone, more=len(bots) > MOST_SCHEDULED
    )


def _day(text: str, otherwise: date) -> date:
    """Return a day of the query, of a year that leaves room for its neighbours."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return otherwise
    return day if 2000 <= day.year <= 2999 else otherwise


async def calendars(page: Page) -> Response:
    """GET /calendars"""
    return page.render(
        "calendars.html", feeds=await feeds_values(page), models=[row for row in models() if row.for_bots]
    )


async def new_bot(page: Page) -> Response:
    """GET /bots/new"""
    stores, newest = page.context.stores, ListPageRequest(limit=MOST_LISTED, newest_first=True)
    credentials = await stores.credentials.page(page.account_id, newest)
    meeting_accounts = await stores.meeting_accounts.page(page.account_id, newest)
    return page.render(
        "new_bot.html",
        services=services(),
        models=[row for row in models() if row.for_bots],
        credentials=credentials.items,
        meeting_accounts=meeting_accounts.items,
    )


async def one_bot(page: Page) -> Response:
    """GET /bots/{id}"""
    view = await page.context.bots.view(page.id("bot"), page.account_id)
    bot = view.bot
    if bot.status not in ENDINGS:
        return page.render(
            "bot_live.html",
            **_common(page, view),
            live_lines=has_sockets(bot.config.transcription_model, realtime_audio=False),
        )
    corrections = await page.context.stores.corrections.of(bot.id)
    deliveries: DeliveryPage = await page.context.stores.deliveries.find(page.account_id, resource_id=bot.id, limit=200)
    return page.render(
        "bot_after.html",
        **_common(page, view),
        has_transcript=len(view.segments_json) > len("[]"),
        corrections=[correction_values(correction) for correction in corrections],
        recording_url=_recording_url(page, bot),
        evidence={kind: page.addresses.link(key, None) for kind, key in bot.evidence.items()},
        names=corrected_names((person.name for person in view.participants), corrections),
        deliveries=deliveries.deliveries,
        pricing=pricing_of(bot, page.context.settings.pricing),
        models=[row for row in models() if row.for_recordings],
        tracks=await track_values(page, view),
        sound=await sibling_transcripts(page, bot.id),
    )


async def player_data(page: Page) -> Response:
    """GET /bots/{id}/player.json: what the player shows, page by page; who spoke when with the first one."""
    is_first = "after" not in page.request.query_params
    view = await page.context.bots.view(page.id("bot"), page.account_id, with_speaker_events=is_first)
    corrections = await page.context.stores.corrections.of(view.bot.id)
    return player_response(page, view, corrections, lanes_of(view, corrections) if is_first else [])


def player_response(
    page: Page, view: BotView | RecordingView, corrections: Sequence[Correction], lanes: Sequence[Mapping[str, Any]]
) -> Response:
    """Answer with a page of a transcript, and its lanes."""
    part = page_of(view.segments_json, page.request.query_params.get("after"), corrections)
    values = {
        "transcript": [_short(segment) for segment in part.segments],
        "next": part.next,
        "lanes": lanes,
        "corrected": sorted({c.segment for c in corrections if c.segment is not None}),
    }
    text = json.dumps(values, separators=(",", ":"))
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})


async def peaks(page: Page) -> Response:
    """GET /bots/{id}/peaks.json: 202 while a worker makes them."""
    bot = await page.context.bots.get(page.id("bot"), page.account_id)
    return await waveform(page, "bot", bot.id, has_recording=bot.recording_object is not None)


async def picture(page: Page) -> Response:
    """GET /bots/{id}/picture.png: the bot's page as it is now; 204 while it has none."""
    bot = await page.context.bots.get(page.id("bot"), page.account_id)
    try:
        answer = await page.context.bus.command(bot.id, {"do": "picture"}, within_s=PICTURE_S)
    except NoResponder:
        answer = {}
    if not answer.get("ok"):
        return Response(status_code=204)
    return Response(base64.b64decode(answer["png"]), media_type="image/png", headers={"Cache-Control": "no-store"})


async def feed(page: Page) -> Response:
    """GET /bots/{id}/feed: the bot's live messages, as server-sent events; behind the last that was heard."""
    bot = await page.context.bots.get(page.id("bot"), page.account_id)
    since = since_of(page.request.headers.get("last-event-id"))
    await page.context.bulk.begin(page.account_id, FEED_BYTES)
    return _Feed(page, bot, since)


async def start_practice(page: Page) -> Response:
    """POST /practice: a meeting is opened and a bot sent into it."""
    from sederunt.console.practice import send_practice_bot

    bot = await send_practice_bot(page, page.request.app.state.practice_sites)
    return json_response({"id": str(bot.id), "address": f"/bots/{bot.id}"})


def _short(segment: Mapping[str, Any]) -> dict[str, Any]:
    """Return a segment with short keys: some thousands of them go to the browser at once."""
    return {
        "s": round(segment["start"], 2),
        "e": round(segment["end"], 2),
        "w": segment["speaker_name"],
        "g": [guess["name"] for guess in segment["potential_speaker_names"] or ()][:1],
        "n": segment["speaker"],
        "t": segment["transcript"],
        "ws": [
            [word["word"], round(word["start"], 2), round(word["end"], 2)]
            for utterance in segment["utterances"]
            for word in utterance["words"]
        ],
    }


def lanes_of(view: BotView, corrections: Sequence[Correction]) -> list[dict[str, Any]]:
    """Return who spoke when, as spans in seconds of the recording, under corrected names."""
    started_at = view.bot.recording_started_at
    if started_at is None:
        return []
    zero_ms = started_at.timestamp() * 1000
    end_s = seconds_of(view.bot)
    lanes = []
    names = corrected_names((person.name for person in view.participants), corrections)
    for person, name in zip(view.participants, names, strict=True):
        spans: list[list[float]] = []
        start: float | None = None
        for event in person.events:
            at = max((event.timestamp - zero_ms) / 1000, 0)
            if event.type == "started-speaking":
                start = at if start is None else start
            elif start is not None:
                spans.append([round(start, 2), round(at, 2)])
                start = None
        if start is not None and end_s is not None and end_s > start:
            spans.append([round(start, 2), round(end_s, 2)])
        if spans:
            lanes.append({"name": name, "spans": spans})
    return lanes


def _common(page: Page, view: BotView) -> dict[str, Any]:
    bot = view.bot
    return {
        "bot": bot,
        "view": view,
        "story": summary_of(view),
        "stoppable": bot.status in STOPPABLE,
        "deletable": bot.status not in ACTIVE,
        "chat": [event for event in view.events if event.event == CHAT_MESSAGE],
        "events": [event_values(event) for event in view.events],
        "minutes": seconds_of(bot),
    }


def _recording_url(page: Page, bot: Bot) -> str | None:
    if bot.recording_object is None:
        return None
    return page.addresses.link(bot.recording_object, bot.recording_available_until)


class _Feed(StreamingResponse):
    """A bot's live messages. It is one of the account's sockets, and ends with its reader's session.

    It also ends after `FEED_S`; the browser reconnects, and must still be signed in. Only an `over` event, when the bot
    has ended or was deleted, stops it from reconnecting.
    """

    def __init__(self, page: Page, bot: Bot, since: int | None) -> None:
        self._page, self._bot, self._since = page, bot, since
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__((), headers=headers, media_type="text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = self._page
        try:
            async with page.context.socket_holders.hold(page.account_id, page.caller.holder, acts=False) as session_end:
                self.body_iterator = self._events(session_end)
                await super().__call__(scope, receive, send)
        except (TooManyRequests, Unauthorized) as error:  # nothing has been sent yet
            await answer_to(error)(scope, receive, send)

    async def _events(self, session_end: asyncio.Event) -> AsyncIterator[bytes]:
        context = self._page.context
        with contextlib.suppress(BusAway, TimeoutError):
            async with (
                asyncio.timeout(FEED_S) as limit,
                _passing_with(session_end, limit),
                context.hub.channel(await context.bots.as_told(self._bot)) as channel,
                aclosing(channel.events(self._since, greets=False)) as events,
            ):
                async for message in events:
                    if isinstance(message, Closing):
                        if message in (ENDED, DELETED):
                            yield f"event: over\ndata: {json.dumps(message.reason)}\n\n".encode()
                        return
                    number = json.loads(message).get("seq")  # messages that are not stored have none
                    yield (f"data: {message}\n\n" if number is None else f"id: {number}\ndata: {message}\n\n").encode()


@contextlib.asynccontextmanager
async def _passing_with(session_end: asyncio.Event, limit: asyncio.Timeout) -> AsyncIterator[None]:
    """Let a time limit expire at once when a session is over, while the block runs."""

    async def pass_then() -> None:
        await session_end.wait()
        limit.reschedule(asyncio.get_running_loop().time())

    waiting_task = asyncio.create_task(pass_then())
    try:
        yield
    finally:
        await end(waiting_task)
