"""Ask the message server for jobs: one request at a time, while there is room."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

from nats.aio.msg import Msg

from sederunt import log
from sederunt.bus import streams
from sederunt.bus.connection import Bus, Subscription

logger = log.get(component="bus")

# How long the server keeps our request for a job open: this, or half of the ack wait if that is less. The open request
# of a machine without power swallows a job, and must expire before that machine's own jobs are given out again.
PULL_S = 30.0
SETTLE_S = 1.5  # after a connect, before jobs are taken; a client tries to reconnect four times a second
ROOM_S = 0.5  # how often a full holder looks for room
REFUSED_PAUSE_S = 0.25  # after a request that the server refused


class JobPull:
    """Keeps one request open for jobs of a kind, until it is answered or void.

    Args:
        on_job: called with each job that the server gives out.
        has_room: whether another job can be taken now.
    """

    def __init__(
        self, bus: Bus, kind: str, *, on_job: Callable[[Msg], Awaitable[None]], has_room: Callable[[], bool]
    ) -> None:
        self._bus, self._kind = bus, kind
        self._given, self._has_room = on_job, has_room
        self._changed = asyncio.Event()  # an answer came, a job ended, the bus is back, or it is over
        self._is_open = False
        self._settled_at = 0.0
        self._subscription: Subscription | None = None
        self.is_over = False

    async def run(self) -> None:
        """Ask until it is over."""
        inbox = self._bus.new_inbox()
        self._subscription = await self._bus.subscribe(inbox, self._answered)
        self.back()
        while not self.is_over:
            if (pause_s := self._settled_at - time.monotonic()) > 0:
                await self._wait(pause_s)
            elif self._has_room():
                await self._ask(inbox)
            else:
                await self._wait(ROOM_S)

    def end(self) -> None:
        """Ask no more."""
        self.is_over = True
        self._void()

    async def close(self) -> None:
        """Close the subscription: the server gives no job to a request without a listener."""
        if self._subscription is not None:
            await self._subscription.close()

    def back(self) -> None:
        """Note that the bus is connected again: the request is lost, and holders come back first."""
        self._settled_at = time.monotonic() + SETTLE_S
        self._void()

    def wake(self) -> None:
        """Look whether there is room; an open request stays open."""
        self._changed.set()

    async def _ask(self, inbox: str) -> None:
        """Ask for one job; wait until the server has answered, or the request is void."""
        self._is_open = True
        pull_s = min(PULL_S, self._bus.settings.ack_wait_s / 2)
        question = json.dumps({"batch": 1, "expires": int(pull_s * 1e9)}).encode()
        await self._bus.tell(streams.next_subject(streams.QUEUES[self._kind]), question, reply=inbox)
        # A lost request (the server died meanwhile) is repeated when the bus is back, or at the latest now:
        deadline = time.monotonic() + (pull_s + 2 if self._bus.connected else 1)
        while self._is_open and time.monotonic() < deadline:
            await self._wait(deadline - time.monotonic())

    async def _answered(self, msg: Msg) -> None:
        if msg.reply.startswith("$JS.ACK."):
            await self._given(msg)
        elif msg.headers and msg.headers.get("Status") not in ("404", "408", "100"):
            logger.debug("no job given", action="pull_refused", kind=self._kind, status=msg.headers.get("Status"))
            await asyncio.sleep(REFUSED_PAUSE_S)
        self._void()

    def _void(self) -> None:
        self._is_open = False
        self._changed.set()

    async def _wait(self, seconds: float) -> None:
        self._changed.clear()
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._changed.wait()
        except TimeoutError:
            pass
