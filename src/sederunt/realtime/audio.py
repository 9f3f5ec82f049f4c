"""A bot's sound for its listeners: one subscription per process, a short queue per listener."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from uuid import UUID

from sederunt.bus import feeds
from sederunt.bus.connection import Bus, Subscription
from sederunt.realtime import messages
from sederunt.realtime.messages import Closing

MOST_AUDIO = 100  # blocks of a tenth of a second


class AudioFeed:
    """The sound of one bot; the first listener starts the subscription.

    Args:
        closing: returns how to close listeners, or None while they stay; called again after `wake`.
    """

    def __init__(self, bus: Bus, bot_id: UUID, closing: Callable[[], Closing | None]) -> None:
        self._bus, self._bot_id, self._closing = bus, bot_id, closing
        self._listeners: set[_Blocks] = set()
        self._feed: Subscription | None = None
        self._opening = asyncio.Lock()

    async def blocks(self) -> AsyncGenerator[bytes | Closing, None]:
        """Yield blocks from now on without a gap, then how to close the listener."""
        blocks = _Blocks()
        self._listeners.add(blocks)
        try:
            async with self._opening:
                if self._feed is None:
                    self._feed = await feeds.hear_audio(self._bus, self._bot_id, self._take)
            while True:
                while blocks.waiting:
                    yield blocks.waiting.popleft()
                if closing := messages.TOO_SLOW if blocks.overrun else self._closing():
                    yield closing
                    return
                blocks.some.clear()
                await blocks.some.wait()
        finally:
            self._listeners.discard(blocks)

    def wake(self) -> None:
        """Make every listener check whether to close."""
        for blocks in self._listeners:
            blocks.some.set()

    async def close(self) -> None:
        """End the subscription."""
        if self._feed is not None:
            await self._feed.close()

    def _take(self, pcm: bytes) -> None:
        for blocks in self._listeners:
            blocks.put(pcm)


class _Blocks:
    """The blocks not yet sent to one listener."""

    def __init__(self) -> None:
        self.waiting: deque[bytes] = deque()
        self.some = asyncio.Event()
        self.overrun = False  # a block was lost, which would leave a gap

    def put(self, pcm: bytes) -> None:
        if len(self.waiting) >= MOST_AUDIO:
            self.overrun = True
        if not self.overrun:
            self.waiting.append(pcm)
        self.some.set()
