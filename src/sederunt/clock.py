"""Time as an argument: the real clock, and the protocol that test clocks follow."""

import asyncio
import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the current time in UTC."""

    def monotonic(self) -> float:
        """Return seconds that only go forward."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SteadyClock:
    """A clock that reads another clock's time of day once and then adds the elapsed monotonic seconds.

    Use it to measure from one moment to another: setting the machine's clock meanwhile changes nothing.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._anchor, self._anchored_at = clock.now(), clock.monotonic()

    def now(self) -> datetime:
        return self._anchor + timedelta(seconds=self._clock.monotonic() - self._anchored_at)

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


SYSTEM_CLOCK = SystemClock()


def unix_ms(moment: datetime) -> int:
    """Return Unix milliseconds of an aware datetime."""
    return round(moment.timestamp() * 1000)


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or a date (RFC 9110, 10.2.3); None if it is
    unusable."""
    if not header:
        return None
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", header, re.ASCII):
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - now).total_seconds())
    except (TypeError, ValueError, IndexError):  # no date, or one without a zone
        return None
