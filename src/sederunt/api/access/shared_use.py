"""Share usage between the api processes of an installation, so that limits hold across all of them.

Once a second, each process reports the requests that each key has spent since the last report, and the sockets of each
account. Requests never wait for this: a key that uses several processes at once may overdraw its bucket by what it
spends in a second, and then waits until that is refilled.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from nats.aio.msg import Msg

from sederunt import log
from sederunt.accounting import Ledger, Rate
from sederunt.bus.connection import Bus
from sederunt.bus.tasks import end

EVERY_S = 1.0
FORGOTTEN_S = 6.0  # the sockets of a process that is silent for so long no longer count
SUBJECT = "use.api"

logger = log.get(component="api")


class SharedUse:
    """The part of one process in sharing usage.

    Args:
        requests: the requests charged to keys, by key id.
        now: monotonic seconds.
    """

    def __init__(self, requests: Rate, ledger: Ledger, now: Callable[[], float]) -> None:
        self._requests, self._ledger, self._now = requests, ledger, now
        self._me = uuid4().hex
        self._others: dict[str, tuple[float, Mapping[str, float]]] = {}  # process → (heard at, sockets by account)
        self._told_sockets = False

    def tell(self) -> bytes | None:
        """Return the next report to the other processes; None if there is nothing new."""
        requests = {str(key): count for key, count in self._requests.take_spent().items()}
        sockets = self._ledger.held("sockets")
        if not (requests or sockets or self._told_sockets):
            return None
        self._told_sockets = bool(sockets)  # so that closing the last socket is reported once
        return json.dumps({"from": self._me, "requests": requests, "sockets": sockets}).encode()

    def hear(self, payload: bytes) -> None:
        """Charge the use that another process reported. Raises ValueError, KeyError or TypeError for other messages."""
        message = json.loads(payload)
        if message["from"] == self._me:
            return
        for key, count in message["requests"].items():
            self._requests.charge(UUID(key), float(count))
        self._others[message["from"]] = (self._now(), message["sockets"])
        self.sum_up()

    def sum_up(self) -> None:
        """Add up the sockets of the other processes, except those that fell silent."""
        self._others = {
            process: other for process, other in self._others.items() if self._now() - other[0] < FORGOTTEN_S
        }
        sockets: Counter[str] = Counter()
        for _, counts in self._others.values():
            sockets.update({account: int(count) for account, count in counts.items()})
        self._ledger.hear("sockets", sockets)


@asynccontextmanager
async def sharing(bus: Bus, use: SharedUse) -> AsyncIterator[None]:
    """Exchange usage with the other api processes until the block ends."""

    async def on_message(message: Msg) -> None:
        try:
            use.hear(message.data)
        except (ValueError, KeyError, TypeError, AttributeError):
            logger.warning("use of another process not understood", action="use_odd")

    async def tell_again_and_again() -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            use.sum_up()
            if (payload := use.tell()) is not None:
                await bus.tell(SUBJECT, payload)

    subscription = await bus.subscribe(SUBJECT, on_message)
    task = asyncio.create_task(tell_again_and_again(), name="shared use")
    try:
        yield
    finally:
        await subscription.close()
        await end(task)
