"""The listeners of one process: one subscription per bot and kind of feed, however many listen.

Nothing is queued for a listener of events: each has a position in the list that all of a bot's listeners share, and
takes the next event once the one before is sent. A listener that falls too far behind is closed, and so is one whose
socket accepts nothing for a while (`api/sockets/endpoints`). A listener of audio has its own short queue.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import accumulate
from typing import Any
from uuid import UUID

from sederunt import log
from sederunt.bus import feeds
from sederunt.bus.connection import Bus, BusAway
from sederunt.bus.tasks import end
from sederunt.clock import Clock
from sederunt.model.bot import Bot
from sederunt.model.status import ENDINGS, BotStatus
from sederunt.realtime import messages
from sederunt.realtime.audio import AudioFeed
from sederunt.realtime.drafts import Drafts
from sederunt.realtime.event_log import Kept
from sederunt.realtime.messages import Closing

TICK_S = 1.0
PING_S = 60.0
LINGER_S = 3.0  # how long sockets stay open after the last change of status
RETRY_LINGER_S = 30.0  # a challenged bot may try again soon
LOOK_S = 60.0  # how often the row is checked for whether the bot still exists
CATCH_UP_S = 15.0
BREATH = 200  # events read before other tasks get a turn
WARM_S = 40.0  # how long events stay after the last listener left: clients that poll come again
MOST_WARM_BYTES = 16_000_000  # of their texts, which take some six times as much memory
MOST_BEHIND = 2000  # events; a listener that was up to date and falls further behind is too slow

logger = log.get(component="realtime")

# Returns the bot's row, but with the status that its listeners know (`Bots.as_told`); None if the bot is missing or
# about to be deleted.
Look = Callable[[UUID], Awaitable[Bot | None]]


class Hub:
    """The channels of all bots with listeners. `run` must be running."""

    def __init__(self, bus: Bus, clock: Clock, look: Look) -> None:
        self._bus, self._clock, self._look = bus, clock, look
        self._channels: dict[UUID, Channel] = {}

    async def run(self) -> None:
        """Run the periodic checks, forever."""
        while True:
            await self._clock.sleep(TICK_S)
            for bot_id, channel in list(self._channels.items()):
                await channel.tick()
                if not channel.is_warm:
                    await self._close(bot_id, channel)

    async def close(self) -> None:
        """Close all channels."""
        for bot_id, channel in list(self._channels.items()):
            await self._close(bot_id, channel)

    @asynccontextmanager
    async def channel(self, bot: Bot) -> AsyncIterator["Channel"]:
        """Provide a bot's feeds for one listener. Raises BusAway if they cannot be read now.

        The status of `bot` must be the one that its listeners know (`Bots.as_told`).
        """
        channel = self._channels.get(bot.id)
        if channel is not None and not channel.is_warm:
            await self._close(bot.id, channel)
            channel = self._channels.get(bot.id)  # somebody else may have opened it meanwhile
        if channel is None:
            channel = self._channels[bot.id] = Channel(bot, self._bus, self._clock, self._look)
        channel.listeners += 1
        try:
            await channel.catch_up()
            yield channel
        finally:
            channel.leave()
            if not channel.is_warm:
                await self._close(bot.id, channel)
            await self._close_beyond(MOST_WARM_BYTES)

    async def _close_beyond(self, most_bytes: int) -> None:
        """Close the channels without listeners, longest idle first, until the rest hold at most this much."""
        idle_channels = sorted(
            ((bot_id, candidate) for bot_id, candidate in self._channels.items() if not candidate.listeners),
            key=lambda entry: entry[1].left_at,
            reverse=True,
        )
        cumulative_sizes = list(accumulate(channel.size for _, channel in idle_channels))
        for (bot_id, channel), size in zip(idle_channels, cumulative_sizes, strict=True):
            if size > most_bytes:
                await self._close(bot_id, channel)

    async def _close(self, bot_id: UUID, channel: "Channel") -> None:
        if self._channels.get(bot_id) is channel:
            del self._channels[bot_id]
        await channel.close()


class Channel:
    """One bot's feeds in this process, read from the beginning."""

    def __init__(self, bot: Bot, bus: Bus, clock: Clock, look: Look) -> None:
        self.listeners, self.left_at = 0, 0.0
        self._bot, self._bus, self._clock, self._look = bot, bus, clock, look
        self._kept = Kept()
        self._drafts = Drafts()
        self._audio = AudioFeed(bus, bot.id, lambda: self._closing)
        self._changed = asyncio.Event()  # set once, then replaced: wakes those who wait for it
        self._ended_at: float | None = None
        self._look_at = clock.monotonic() + LOOK_S
        self._closing: Closing | None = None
        self._note_status(bot.status)
        if _is_long_over(bot, clock):
            self._closing = messages.ENDED
        self._reading = asyncio.create_task(self._keep_reading())

    def leave(self) -> None:
        """Note that a listener left."""
        self.listeners -= 1
        self.left_at = self._clock.monotonic()

    @property
    def size(self) -> int:
        """Return the number of characters of stored events."""
        return self._kept.size

    @property
    def is_warm(self) -> bool:
        """Return whether a listener is here or may come back, which none does after the end."""
        return self.listeners > 0 or (self._closing is None and self._clock.monotonic() < self.left_at + WARM_S)

    async def catch_up(self) -> None:
        """Wait until all events stored so far have been read. Raises BusAway."""
        newest = await feeds.last_sequence(self._bus, self._bot.id)
        try:
            async with asyncio.timeout(CATCH_UP_S):
                while self._kept.sequence < newest:
                    await self._changed.wait()
        except TimeoutError:
            raise BusAway(f"The events of bot {self._bot.id} could not be read in time.") from None

    async def close(self) -> None:
        """Close the channel once its listeners are gone."""
        await end(self._reading)
        await self._audio.close()

    async def events(self, since: int | None, *, greets: bool = True) -> AsyncGenerator[str | Closing, None]:
        """Yield the texts for one listener, then how to close it.

        With `since`, `connected` gives the state at that number, and all later events follow. For an unknown number
        (too old, or of another time) it gives the present state.

        Args:
            greets: send `connected` even to a listener that names a known event, and so has the state up to it.
        """
        event_log = self._kept
        position = event_log.end if since is None or since > event_log.sequence else event_log.after(since)
        if greets or since is None or not event_log.is_number(since):
            yield event_log.connected(position, self._bot.status.value)
        is_up_to_date, last_draft, ping_at = False, self._drafts.newest, self._clock.monotonic() + PING_S
        while True:
            change = self._changed
            if position < event_log.start or (is_up_to_date and event_log.end - position > MOST_BEHIND):
                yield messages.TOO_SLOW
                return
            if position < event_log.end:
                position += 1
                yield event_log.text(position - 1)
            elif draft := self._drafts.after(last_draft):
                last_draft, text = draft
                yield text
            elif self._clock.monotonic() >= ping_at:
                ping_at = self._clock.monotonic() + PING_S
                yield messages.PING
            elif self._closing is not None:
                yield self._closing
                return
            else:
                is_up_to_date = True
                await change.wait()

    def audio(self) -> AsyncGenerator[bytes | Closing, None]:
        """Yield blocks of sound from now on without a gap, then how to close the listener."""
        return self._audio.blocks()

    async def tick(self) -> None:
        """Do what is due: pings, the end, a check of the row."""
        now = self._clock.monotonic()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            await self._look_at_row()
        if self._ended_at is not None and now >= self._ended_at:
            self._closing = messages.ENDED
        self._wake()

    # What the feeds bring

    async def _keep_reading(self) -> None:
        try:
            await self._read()
        except Exception:  # listeners must not wait forever
            logger.exception("feed lost", action="feed_lost", bot_id=str(self._bot.id))
            self._closing = messages.OUR_FAULT
            self._wake()

    async def _read(self) -> None:
        drafts = await feeds.hear_drafts(self._bus, self._bot.id, self._take_draft)
        try:
            async with contextlib.aclosing(feeds.events(self._bus, self._bot.id, since=0)) as events:
                number = 0
                async for event in events:
                    self._take(event)
                    number += 1
                    if number % BREATH == 0:
                        await asyncio.sleep(0)
        finally:
            await drafts.close()

    def _take(self, event: feeds.FeedEvent) -> None:
        try:
            self._kept.append(event)
            self._note(event.event)
        except Exception:  # one odd event must not end the feed
            logger.exception("event not understood", action="event_skipped", bot_id=str(self._bot.id))
        self._wake()

    def _note(self, message: Mapping[str, Any]) -> None:
        match message.get("type"):
            case "ts" | "ts-revised":
                self._drafts.drop(message["data"].get("segment_id"))
            case "stop":
                self._drafts.clear()
            case "status-update":
                self._note_status(BotStatus(message["data"]["new_status"]))

    def _note_status(self, status: BotStatus) -> None:
        if status not in ENDINGS:
            self._ended_at = None
        elif self._ended_at is None:
            linger_s = RETRY_LINGER_S if status is BotStatus.BOT_DETECTED else LINGER_S
            self._ended_at = self._clock.monotonic() + linger_s

    def _take_draft(self, message: Mapping[str, Any]) -> None:
        segment = message["data"]["segment_id"]
        if not self._kept.snapshot.has_final(segment):
            self._drafts.put(segment, messages.draft(message))
            self._wake()

    async def _look_at_row(self) -> None:
        try:
            bot = await self._look(self._bot.id)
        except Exception:  # the database is away: again in a minute
            logger.exception("row not read", action="row_unread", bot_id=str(self._bot.id))
            return
        if bot is None:
            self._closing = messages.DELETED
        elif bot.status in ENDINGS:  # even if the message server lost that event
            self._note_status(bot.status)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        if self._closing is not None:
            self._audio.wake()


def _is_long_over(bot: Bot, clock: Clock) -> bool:
    """Return whether the bot ended more than LINGER_S ago. A challenged bot may try again."""
    if bot.finished_at is None or bot.status not in ENDINGS - {BotStatus.BOT_DETECTED}:
        return False
    return (clock.now() - bot.finished_at).total_seconds() >= LINGER_S
