"""A folder of objects that a test takes away and gives back, and a clock that tells when somebody pauses."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from obstore.store import LocalStore

from harness.fake_clock import FakeClock
from sederunt.recordings.piece_keys import SOUND
from sederunt.storage.objects import Objects


class FailingObjects(Objects):
    """Refuses while `away`, gives `halves` of pieces, and takes files when it `goes_on`. `meanwhile` runs once, while
    the next is on its way.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(LocalStore(folder, automatic_cleanup=True, mkdir=True), folder=folder)
        self.away = self.halves = False
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        self.files_put = 0

    def _answer(self) -> None:
        if self.away:
            raise OSError("storage is away")

    async def put(self, key: str, data: bytes) -> None:
        self._answer()
        await super().put(key, data)

    async def put_file(self, key: str, path: Path) -> None:
        self._answer()
        await self.goes_on.wait()
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        self.files_put += 1
        await super().put_file(key, path)

    async def get(self, key: str) -> bytes:
        self._answer()
        whole = await super().get(key)
        return whole[: len(whole) // 2] if self.halves and key.endswith(SOUND) else whole

    async def size(self, key: str) -> int | None:
        self._answer()
        return await super().size(key)

    async def keys(self, prefix: str) -> list[str]:
        self._answer()
        return await super().keys(prefix)


class WatchedClock(FakeClock):
    """Tells when somebody has begun to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self._asked.set()
        await super().sleep(seconds)

    async def pause(self) -> None:
        """Return once somebody pauses who did not at the last call."""
        async with asyncio.timeout(60):
            await self._asked.wait()
        self._asked.clear()
