"""Feeds of a bot's listeners: events, which are stored and numbered, and drafts and audio, which are not.

The server stores each event of `feed.<bot>.events` and repeats it on `live.<bot>.events` with its number and the
number of the event before it. A listener subscribes to the second subject, which costs the server nothing per listener,
and reads missed events (from before it came, or while it was away) from the store by number. So it misses nothing,
hears nothing twice, and survives a restart of the server, which keeps no state for it.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from sederunt import log
from sederunt.bus import streams
from sederunt.bus.connection import Bus, BusAway, Subscription
from sederunt.bus.tasks import notice_cancellation

logger = log.get(component="bus")

BATCH = 500  # events asked for at once when catching up
ANSWER_S = 5.0
END_OF_BATCH, NOTHING_THERE = "204", "404"
RETRY_S = 0.5
MAX_WAITING = 10_000  # events of a process that NATS has not stored yet; a four-hour meeting has fewer


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedEvent:
    sequence: int  # rises within a bot's feed, with gaps; resume with `since=sequence`
    event: Mapping[str, Any]  # as published


class EventPublisher:
    """Sends events in the order they were put, one after another, until NATS has them. `put` never waits."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: deque[tuple[str, bytes, str]] = deque()
        self._some = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()

    def put(self, bot_id: UUID | str, event: Mapping[str, Any], message_id: str | None = None) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self._waiting.popleft()
            logger.warning("event dropped, NATS is away for too long", action="event_dropped", bot_id=str(bot_id))
        self._waiting.append((streams.events_subject(bot_id), _payload(event), message_id or str(uuid4())))
        self._empty.clear()
        self._some.set()

    async def run(self) -> None:
        while True:
            await self._some.wait()
            while self._waiting:
                subject, payload, message_id = self._waiting[0]
                try:
                    await self._bus.publish(subject, payload, message_id)
                except BusAway:
                    continue
                if self._waiting and self._waiting[0][2] == message_id:
                    self._waiting.popleft()
            self._some.clear()
            self._empty.set()
            notice_cancellation()

    async def draft(self, bot_id: UUID | str, message: Mapping[str, Any]) -> None:
        """Send a `ts-draft` message, in the form that sockets send, to everybody who listens right now."""
        await self._bus.tell(streams.drafts_subject(bot_id), _payload(message))

    async def audio(self, bot_id: UUID | str, pcm: bytes) -> None:
        """Send mono PCM16 at 16 kHz to everybody who listens right now."""
        await self._bus.tell(streams.audio_subject(bot_id), pcm)

    async def flush(self, within_s: float = 5.0) -> None:
        """Wait until everything is sent, but no longer than `within_s`."""
        try:
            async with asyncio.timeout(within_s):
                await self._empty.wait()
        except TimeoutError:
            logger.warning("events unsent", action="events_unsent", count=len(self._waiting))


def _payload(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")  # a lone surrogate must not end a feed


async def hear_drafts(bus: Bus, bot_id: UUID | str, take: Callable[[Mapping[str, Any]], None]) -> Subscription:
    """Call `take` with each draft from now on. A draft may come after the final segment that replaces it."""

    async def on_message(msg: Msg) -> None:
        take(json.loads(msg.data))

    return await bus.subscribe(streams.drafts_subject(bot_id), on_message)


async def hear_audio(bus: Bus, bot_id: UUID | str, take: Callable[[bytes], None]) -> Subscription:
    """Call `take` with each block of audio from now on."""

    async def on_message(msg: Msg) -> None:
        take(msg.data)

    return await bus.subscribe(streams.audio_subject(bot_id), on_message)


async def events(bus: Bus, bot_id: UUID | str, *, since: int | None = None) -> AsyncGenerator[FeedEvent, None]:
    """Yield a bot's events: those after `since` (0: all stored; None: only new ones), then new ones as they come."""
    listener = _Listener(bus, str(bot_id))
    await listener.open(since)
    try:
        while True:
            yield await listener.next()
    finally:
        await listener.close()


async def last_sequence(bus: Bus, bot_id: UUID | str) -> int:
    """Return the number of a bot's newest event, 0 if it has none. Raises BusAway."""
    try:
        message = await bus.js.get_msg(streams.FEEDS, subject=streams.events_subject(bot_id), direct=True)
    except NotFoundError:
        return 0
    except (NatsError, OSError) as error:
        raise BusAway(f"NATS did not answer: {error}") from None
    return int(message.seq or 0)


class _Listener:
    def __init__(self, bus: Bus, bot_id: str) -> None:
        self._bus = bus
        self._bot_id = bot_id
        self._seen = 0  # the newest number handed out
        self._ready: deque[FeedEvent] = deque()
        self._some = asyncio.Event()
        self._behind = False  # something may be in the store that we have not seen
        self._subscription: Subscription | None = None
        self._end_back: Callable[[], None] | None = None

    async def open(self, since: int | None) -> None:
        # Subscribe first, then read: an event in between comes at least once, and its number shows duplicates.
        self._subscription = await self._bus.subscribe(streams.live_subject(self._bot_id), self._heard)
        self._end_back = self._bus.when_back(self._lost_touch)
        if since is None:
            self._seen = max(self._seen, await last_sequence(self._bus, self._bot_id))
        else:
            self._seen = since
            self._behind = True

    async def close(self) -> None:
        if self._end_back is not None:
            self._end_back()
        if self._subscription is not None:
            await self._subscription.close()

    async def next(self) -> FeedEvent:
        while True:
            if self._behind:
                await self._catch_up()
            while self._ready:
                event = self._ready.popleft()
                if event.sequence > self._seen:
                    self._seen = event.sequence
                    return event
            self._some.clear()
            if not self._behind:
                await self._some.wait()

    def _lost_touch(self) -> None:
        self._behind = True
        self._some.set()

    @property
    def _newest(self) -> int:
        return self._ready[-1].sequence if self._ready else self._seen

    async def _heard(self, msg: Msg) -> None:
        headers = msg.headers or {}
        sequence = int(headers.get("Nats-Sequence", 0))
        previous_sequence = int(headers.get("Nats-Last-Sequence", 0))
        if previous_sequence > self._newest:
            self._behind = True  # an event was missed; the store has it, and this one too
        else:
            self._ready.append(FeedEvent(sequence=sequence, event=json.loads(msg.data)))
        self._some.set()

    async def _catch_up(self) -> None:
        self._behind = False
        self._ready.clear()
        try:
            while batch := await _stored_after(self._bus, self._bot_id, self._newest):
                self._ready.extend(batch)
        except BusAway:
            self._behind = True  # again when it is back
            await asyncio.sleep(RETRY_S)


async def _stored_after(bus: Bus, bot_id: str, position: int) -> list[FeedEvent]:
    """Return the oldest events after this number, at most `BATCH`; possibly none. Raises BusAway.

    One request asks for many messages, which servers support from 2.11 on; an older one answers with a single message.
    """
    stored_events: list[FeedEvent] = []
    end_status: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def on_message(msg: Msg) -> None:
        headers = msg.headers or {}
        if "Nats-Sequence" in headers:
            stored_events.append(FeedEvent(sequence=int(headers["Nats-Sequence"]), event=json.loads(msg.data)))
        if not end_status.done() and ("Status" in headers or "Nats-Num-Pending" not in headers):
            end_status.set_result(headers.get("Status", END_OF_BATCH))

    inbox = bus.new_inbox()
    request = {"seq": position + 1, "next_by_subj": streams.events_subject(bot_id), "batch": BATCH}
    subscription = await bus.subscribe(inbox, on_message)
    try:
        async with asyncio.timeout(ANSWER_S):
            await bus.tell(streams.direct_get_subject(streams.FEEDS), json.dumps(request).encode(), inbox)
            status = await end_status
    except TimeoutError:
        status = "none"
    finally:
        await subscription.close()
    if status not in (END_OF_BATCH, NOTHING_THERE):
        raise BusAway(f"NATS did not answer with stored events (status {status}).")
    return stored_events
