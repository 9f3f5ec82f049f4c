"""A bot's live transcription: a stream per source, ids and voice numbers of the bot, one orderly end."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sederunt.settings import Settings
from sederunt.transcription.live import Event, Frame, OnEvent, Trouble
from sederunt.transcription.sessions import Order, RealtimeProvider, Session, SessionEvent
from sederunt.transcription.stream import Stream

# How long sessions may take to settle what is open when the bot leaves.
CLOSE_S = 10.0
# If there is no hurry: how long settling may take without an event, and in all.
QUIET_S, LONGEST_S = 20.0, 120.0
# Once a vendor allows no more sessions, those of people silent for so long are closed to make room.
CROWDED_IDLE_S = 3.0


class Pipeline:
    """Transcribes one bot live, source by source; implements `live.LiveTranscription`."""

    def __init__(
        self,
        settings: Settings,
        provider: RealtimeProvider,
        order: Order,
        *,
        on_event: OnEvent,
        prefix: str,
        is_mixed: Callable[[str], bool] = lambda _source: False,
        close_s: float = CLOSE_S,
    ) -> None:
        self._open, self._order = partial(provider.open, settings), order
        self._on_event, self._is_mixed, self._close_s = on_event, is_mixed, close_s
        self.terms = provider.terms(order.model)
        self._streams: dict[str, Stream] = {}
        self._ids, self._labels = (f"{prefix}-{number}" for number in itertools.count(1)), itertools.count(0)
        self._troubles: set[str] = set()
        self.idle_s = self.terms.idle_s
        self._closed, self._all_over = False, asyncio.Event()
        self._patience: Patience | None = None

    def hear(self, frames: Sequence[Frame]) -> None:
        if self._closed:
            return
        for frame in frames:
            stream = self._streams.get(frame.source)
            if stream is None:
                stream = self._streams[frame.source] = Stream(self, frame.source, mixed=self._is_mixed(frame.source))
            stream.hear(frame.start, frame.samples)

    def tick(self, now: float, *, patience_s: float = 0.0) -> None:
        if not self._closed:
            for stream in self._streams.values():
                if not stream.may_go_on(now - patience_s):
                    stream.silence_until(now)

    async def close(self, *, patient: bool = False) -> None:
        if self._closed:
            return
        self._closed = True
        for stream in self._streams.values():
            stream.finish()
        self.one_is_over()
        try:
            async with asyncio.timeout(self._close_s) as limit:
                self._patience = Patience(limit) if patient else None
                await self._all_over.wait()
        except TimeoutError:
            self.trouble("Live transcription did not end in time: its last drafts are kept as they were.")
        finally:
            self._patience = None
        for stream in self._streams.values():
            stream.drop()

    # --- called by streams --------------------------------------------------------------------------------------------

    def open(self, *, mixed: bool, tell: Callable[[SessionEvent], None]) -> Session:
        return self._open(replace(self._order, mixed=mixed), tell)

    def tell(self, events: Sequence[Event]) -> None:
        if self._patience is not None and events:
            self._patience.renew()
        for event in events:
            self._on_event(event)

    def trouble(self, message: str, *, lossy: bool = True) -> None:
        """Report a problem once."""
        if message not in self._troubles:
            self._troubles.add(message)
            self.tell([Trouble(message, lossy)])

    def limit_reached(self, cause: str) -> None:
        """Report once that the vendor allows no more sessions, and end those of silent people soon."""
        if self.idle_s > CROWDED_IDLE_S:
            self.idle_s = CROWDED_IDLE_S
            self.trouble(
                f"More people speak than the vendor allows live sessions; some lines come late. {cause}", lossy=False
            )

    def new_id(self) -> str:
        return next(self._ids)

    def new_label(self) -> int:
        return next(self._labels)

    def one_is_over(self) -> None:
        """Note that a session has ended; if it was the last and the bot is closing, let closing go on."""
        if self._closed and not any(stream.is_settling for stream in self._streams.values()):
            self._all_over.set()


class Patience:
    """A timeout that is extended by each event, up to the longest wait."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit, self._clock = limit, asyncio.get_running_loop().time
        self._last = self._clock() + LONGEST_S
        self.renew()

    def renew(self) -> None:
        if not self._limit.expired():
            self._limit.reschedule(min(self._last, self._clock() + QUIET_S))
