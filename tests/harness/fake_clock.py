"""A clock that stands still until a test moves it."""

import asyncio
from datetime import UTC, datetime, timedelta


class FakeClock:
    """Satisfies sederunt.clock.Clock. `advance` moves time and wakes the sleepers whose moment has come."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic = 1000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._monotonic + seconds, sleeper))
        await sleeper

    @property
    def sleepers(self) -> int:
        """How many wait for their moment."""
        return sum(not sleeper.done() for _, sleeper in self._sleepers)

    def set_wall(self, seconds: float) -> None:
        """Set the time of day forward, or back, as an operator or a time server does."""
        self._now += timedelta(seconds=seconds)

    def advance(self, seconds: float) -> None:
        """Let this much time pass."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        due = [sleeper for moment, sleeper in self._sleepers if moment <= self._monotonic]
        self._sleepers = [(moment, sleeper) for moment, sleeper in self._sleepers if moment > self._monotonic]
        for sleeper in due:
            if not sleeper.done():
                sleeper.set_result(None)
