"""What live transcription takes and tells: frames of sound in, segments of text out. Seconds of the recording.

A segment is what one source says in one go. It has one id for its whole life: drafts under that id replace each other,
its final replaces them all, and a revision replaces the final.
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
    label: int | None = None  # whose voice, where the vendor tells voices of a mixed source apart; stable for the bot
    lang: str | None = None  # the language, where it was found out rather than given


@dataclass(frozen=True, slots=True)
class Started:
    """Somebody began to speak. A segment may still come to nothing: a cough has no words."""

    segment_id: str
    source: str
    at: float


@dataclass(frozen=True, slots=True)
class Partial:
    """A draft of a segment: what it seems to say so far, all of it; an empty one takes back what was shown."""

    segment: LiveSegment


@dataclass(frozen=True, slots=True)
class Final:
    """A segment as it stays. One per segment, none for a segment without words."""

    segment: LiveSegment


@dataclass(frozen=True, slots=True)
class Revised:
    """A segment that was final and is better known now."""

    segment: LiveSegment


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more comes of this source: the transcription was closed, or its provider gave up on it."""

    source: str
    cause: str  # "" where nothing went wrong


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something an operator should know."""

    message: str
    lossy: bool = True  # some speech may be missing


Event: TypeAlias = Started | Partial | Final | Revised | Ended | Trouble
OnEvent: TypeAlias = Callable[[Event], None]


class LiveTranscription(Protocol):
    """A bot's whole live transcription. Use it on the event loop it was opened on; events come there too."""

    def hear(self, frames: Sequence[Frame]) -> None:
        """Take sound. Never blocks and never raises for odd sound; each source's frames come in order."""

    def tick(self, now: float, *, patience_s: float = 0.0) -> None:
        """Take every frame that begins before `now` as heard: what did not come is silence.

        Args:
            patience_s: by so much longer a source is waited for whose sound broke off while it was loud.
        """

    async def close(self, *, patient: bool = False) -> None:
        """Make everything open final, then return; no event comes after that.

        What does not become final in ten seconds stays as its drafts were. Who is `patient` waits as long as something
        comes at least every twenty seconds, two minutes at most: a machine that is behind catches up meanwhile.
        """
