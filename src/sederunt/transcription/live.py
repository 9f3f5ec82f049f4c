"""The interface of live transcription: frames of sound in, segments of text out. Seconds of the recording.

A segment is what one source says in one go. Its id never changes: drafts with that id replace each other, its final
replaces them all, and a revision replaces the final.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from sederunt.model.transcript import Word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Frame:
    """A piece of one source's sound; a gap between two frames of a source is silence."""

    source: str
    start: float
    samples: NDArray[np.int16]  # mono, 16 kHz, any length; 100 ms is usual


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveSegment:
    segment_id: str
    source: str
    start: float
    end: float
    transcript: str
    confidence: float  # 0 to 1
    words: tuple[Word, ...] = ()
    label: int | None = None  # the voice, if the vendor tells those of a mixed source apart; stable for the bot
    lang: str | None = None  # the language, if it was detected rather than given


@dataclass(frozen=True, slots=True)
class Started:
    """Somebody began to speak. No segment may follow: a cough has no words."""

    segment_id: str
    source: str
    at: float


@dataclass(frozen=True, slots=True)
class Partial:
    """A draft of a segment, with its whole text so far; an empty one withdraws what was shown."""

    segment: LiveSegment


@dataclass(frozen=True, slots=True)
class Final:
    """A segment's final text. One per segment, none for a segment without words."""

    segment: LiveSegment


@dataclass(frozen=True, slots=True)
class Revised:
    """A correction of a final segment."""

    segment: LiveSegment


@dataclass(frozen=True, slots=True)
class Ended:
    """No more events of this source: the transcription was closed, or its provider gave up."""

    source: str
    cause: str  # "" if nothing went wrong


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something an operator should know."""

    message: str
    lossy: bool = True  # some speech may be missing


Event: TypeAlias = Started | Partial | Final | Revised | Ended | Trouble
OnEvent: TypeAlias = Callable[[Event], None]


class LiveTranscription(Protocol):
    """A bot's whole live transcription. Use it on the event loop on which it was opened; events come there, too."""

    def hear(self, frames: Sequence[Frame]) -> None:
        """Take sound. Never blocks, and never raises for unusual sound; each source's frames come in order."""

    def tick(self, now: float, *, patience_s: float = 0.0) -> None:
        """Note that every frame that begins before `now` has come: the rest is silence.

        Args:
            patience_s: how much longer to wait for a source whose sound broke off while it was loud.
        """

    async def close(self, *, patient: bool = False) -> None:
        """Make everything open final, then return; no events follow.

        What is not final within ten seconds stays as drafted. If `patient`, wait as long as an event comes at least
        every twenty seconds, but two minutes at most, so that a slow machine can catch up.
        """
