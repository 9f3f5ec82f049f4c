"""A stream's place in the engine, as the pipeline sees it: gets sound and delivers events on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from functools import partial
from typing import TYPE_CHECKING

from sederunt.settings import Settings
from sederunt.transcription.diarization.networks import load_networks
from sederunt.transcription.sessions import Order, SessionEvent, Tell
from sederunt.transcription.whisper.live.engine import Engine, Place
from sederunt.transcription.whisper.live.pace import Pace
from sederunt.transcription.whisper.live.selector import LanguageSelector
from sederunt.transcription.whisper.live.voices import SharedStream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_engines: dict[tuple[int, float], Engine] = {}
_making = threading.Lock()


def open_session(settings: Settings, order: Order, tell: Tell) -> WhisperSession:
    """Open a session in this process's engine, on the running event loop."""
    voices = SharedStream(partial(load_networks, settings)) if order.mixed else None
    return WhisperSession(engine_of(settings), LanguageSelector(settings, order.lang, order.vocabulary), tell, voices)


class WhisperSession:
    def __init__(
        self, engine: Engine, selector: LanguageSelector, tell: Tell, voices: SharedStream | None = None
    ) -> None:
        self._engine, self._tell = engine, tell
        self._loop = asyncio.get_running_loop()
        self._abandoned = False
        self._place = Place(selector, self._from_thread, voices=voices)
        engine.join(self._place)

    def feed(self, samples: NDArray[np.int16]) -> None:
        self._engine.feed(self._place, samples)

    def finish(self) -> None:
        self._engine.finish(self._place)

    def abandon(self) -> None:
        self._abandoned = True
        self._engine.leave(self._place)

    def _from_thread(self, event: SessionEvent) -> None:
        # A closed loop has no listener left.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._deliver, event)

    def _deliver(self, event: SessionEvent) -> None:
        if not self._abandoned:
            self._tell(event)


def engine_of(settings: Settings) -> Engine:
    """Return this process's engine, started on first use."""
    live = settings.live
    with _making:
        key = (live.threads, live.step_s)
        if key not in _engines:
            _engines[key] = Engine(Pace(step_s=live.step_s, threads=live.threads), threads=live.threads)
        return _engines[key]
