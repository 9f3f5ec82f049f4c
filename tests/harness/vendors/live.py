"""Someone who speaks into a vendor's live transcription by the service's own pipeline, in real time."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sederunt.media.pcm import read_pcm
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.live import CloudRealtime
from sederunt.transcription.cloud.vendor import Vendor
from sederunt.transcription.live import Ended, Event, Final, Frame, Partial, Revised, Trouble
from sederunt.transcription.models import find
from sederunt.transcription.pipeline import Pipeline
from sederunt.transcription.sessions import Order

RATE, STEP = 16_000, 1_600
SPEED = 2.0  # recorded seconds per second: what a vendor takes at most, `Live.pace` decides


def pcm_of(path: Path, *, times: int = 1) -> NDArray[np.int16]:
    """A recording's samples, so often."""
    samples = np.concatenate([block.samples for block in read_pcm(path)])
    return np.tile((samples * 32_767).astype(np.int16), times)


class Listener:
    """A bot with one source. `text` is what it has in the end."""

    def __init__(self, vendor: Vendor, settings: Settings, key: str, model: str, **order: Any) -> None:
        row = find(model)
        assert row is not None
        assert vendor.live is not None
        access = Access(key=key, label="the credential 0193", organisation="practice")
        self.events: list[Event] = []
        self.gone = asyncio.Event()
        self.pipeline = Pipeline(
            settings,
            CloudRealtime(vendor, vendor.live),
            Order(model=row, access=access, **order),
            on_event=self._take,
            prefix="t",
        )
        self._at = 0.0

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Ended):
            self.gone.set()

    async def say(self, samples: NDArray[np.int16]) -> None:
        """Speak, a tenth of a second at a time."""
        for start in range(0, len(samples), STEP):
            self.pipeline.hear([Frame("anna", self._at, samples[start : start + STEP])])
            self._at += STEP / RATE
            await asyncio.sleep(STEP / RATE / SPEED)

    async def end(self) -> None:
        await self.pipeline.close(patient=True)

    @property
    def text(self) -> str:
        """The segments as they are in the end, by time."""
        last = {e.segment.segment_id: e.segment for e in self.events if isinstance(e, Final | Revised)}
        return " ".join(segment.transcript for segment in sorted(last.values(), key=lambda segment: segment.start))

    @property
    def partials(self) -> int:
        return sum(isinstance(event, Partial) for event in self.events)

    @property
    def troubles(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Trouble)]
