"""What happened in a practice meeting, numbered, and waiting for it without sleeping."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedEvent:
    number: int  # from 1, per meeting
    kind: str  # "arrived", "knocked", "joined", "chat", "left", …: see docs in `meeting`
    at_ms: int  # Unix milliseconds
    data: dict[str, Any]

    def to_data(self) -> dict[str, Any]:
        return {"number": self.number, "kind": self.kind, "at_ms": self.at_ms, **self.data}


class EventLog:
    """Append-only; every append wakes the waiters."""

    def __init__(self) -> None:
        self._events: list[LoggedEvent] = []
        self._waiters: set[asyncio.Future[None]] = set()

    def add(self, kind: str, **data: Any) -> LoggedEvent:
        event = LoggedEvent(number=len(self._events) + 1, kind=kind, at_ms=round(time.time() * 1000), data=data)
        self._events.append(event)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        return event

    def after(self, number: int = 0, kind: str | None = None) -> list[LoggedEvent]:
        """Return events with a higher number, of one kind or of all."""
        return [event for event in self._events[number:] if kind in (None, event.kind)]

    async def wait_for(self, kind: str | None, *, after: int = 0, timeout_s: float = 60, **match: Any) -> LoggedEvent:
        """Return the first event of that kind after number `after` whose data hold `match`; TimeoutError says
        what was.
        """

        def fits(event: LoggedEvent) -> bool:
            return kind in (None, event.kind) and all(event.data.get(name) == value for name, value in match.items())

        try:
            async with asyncio.timeout(timeout_s):
                return await self._first(fits, after)
        except TimeoutError:
            seen = ", ".join(event.kind for event in self.after(after)) or "nothing"
            raise TimeoutError(f"Expected {kind} {match or ''} within {timeout_s:g} s; there was: {seen}.") from None

    async def _first(self, fits: Callable[[LoggedEvent], bool], after: int) -> LoggedEvent:
        while True:
            for event in self.after(after):
                if fits(event):
                    return event
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
