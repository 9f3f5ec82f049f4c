"""Let short requests go first while large uploads are read."""

import asyncio
import contextlib
import time
from collections.abc import Iterator

# An upload waits no longer than this for other requests before it takes its next chunk (256 KiB from a fast caller):
# requests that wait themselves, such as a chat message, must not hold it up.
LONGEST_S = 0.01
# While there are other requests, an upload pauses after each chunk: a new request needs some turns of the event loop
# before it is known here. That limits it to some 130 MB/s; alone, an upload is not slowed down.
PAUSE_S = 0.001
OTHERS_S = 1.0  # the pauses go on for so long after the last other request was answered


class Traffic:
    """The requests of one process, for use in its event loop only."""

    def __init__(self) -> None:
        self._answering = 0
        self._nobody = asyncio.Event()
        self._nobody.set()
        self._around_until = 0.0

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request for which uploads wait."""
        self._count(+1)
        try:
            yield
        finally:
            self._count(-1)
            self._around_until = time.monotonic() + OTHERS_S

    @contextlib.contextmanager
    def making_way(self) -> Iterator[None]:
        """Exclude an upload, inside of `answering`, from the requests for which uploads wait."""
        self._count(-1)
        try:
            yield
        finally:
            self._count(+1)

    async def let_pass(self) -> None:
        """Wait, for a short time only, until no request is being answered."""
        await asyncio.sleep(PAUSE_S if time.monotonic() < self._around_until else 0)
        if not self._nobody.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_S):
                    await self._nobody.wait()

    def _count(self, change: int) -> None:
        self._answering += change
        if self._answering:
            self._nobody.clear()
        else:
            self._nobody.set()
