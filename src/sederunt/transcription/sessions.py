"""The interface of a provider that transcribes live, with one session per stream of sound.

A session knows nothing of meetings: it is fed sound without gaps, counts seconds from its own first sample, and has
keys for segments and labels for voices of its own. The pipeline converts them to those of the recording, and opens the
next session when one ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from sederunt.model.transcript import Utterance, Word
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.rows import ModelRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """Limits and costs of a provider's sessions, as data."""

    longest_session_s: float | None = None  # the vendor ends a session after that; None if it never does
    silence_sent_s: float = 2.0  # the rest of a longer silence is not sent
    idle_s: float = 60.0  # a session without sound for so long is closed; the next sound opens another
    overlap_s: float = 5.0  # how long two sessions run in parallel when one takes over from the other
    mixed_overlap_s: float = 30.0  # the same if voices have to be recognised across sessions
    unanswered_s: float | None = None  # a session without an answer to so much speech is replaced
    resend_s: float = 30.0  # sound kept for the next session, in case this one is lost


class CopyNotes(Protocol):
    """Notes what a vendor keeps of a session, so that it can be deleted there."""

    async def add(self, copy: str) -> None: ...

    async def replace(self, copy: str, other: str | None) -> None:
        """Replace a noted copy by another, or by none."""


class NoCopyNotes:
    """For sessions that belong to nothing that can be deleted, such as those of benchmarks."""

    async def add(self, copy: str) -> None:
        """Note nothing."""

    async def replace(self, copy: str, other: str | None) -> None:
        """Note nothing."""


NO_COPY_NOTES = NoCopyNotes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What to transcribe in a session, and how."""

    model: ModelRow
    lang: str | None = None
    vocabulary: Sequence[str] = ()
    mixed: bool = False  # several people are in the stream: tell their voices apart if possible
    mask_profanity: bool = False
    access: Access | None = None  # the caller's credential, or the operator's
    copies: CopyNotes = NO_COPY_NOTES


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A segment in the session's terms. Seconds from the session's first sample."""

    key: str
    start: float
    end: float
    transcript: str
    confidence: float
    words: tuple[Word, ...] = ()
    label: str | None = None  # the vendor's label of the voice
    lang: str | None = None  # the language, if it was detected rather than given

    def utterance(self) -> Utterance:
        """Return the segment as an utterance of one voice, to be cut between its words."""
        return Utterance(
            start=self.start,
            end=self.end,
            speaker=0,
            confidence=self.confidence,
            transcript=self.transcript,
            words=self.words,
        )


@dataclass(frozen=True, slots=True)
class Onset:
    key: str
    at: float


@dataclass(frozen=True, slots=True)
class Draft:
    said: Said


def taken_back(key: str) -> Draft:
    """Return the draft that withdraws a segment's earlier drafts."""
    return Draft(Said(key=key, start=0.0, end=0.0, transcript="", confidence=0.0))


@dataclass(frozen=True, slots=True)
class Settled:
    """A final segment. A second one with the same key corrects the first."""

    said: Said


@dataclass(frozen=True, slots=True)
class Heard:
    """The vendor has finished with the sound up to here: no new segments come from it."""

    until: float


@dataclass(frozen=True, slots=True)
class Over:
    """The session has ended, on either side; no events follow."""

    cause: str = ""  # "" if the end was asked for
    retry: bool = True  # whether another session may succeed
    is_limit: bool = False  # the vendor allows no more sessions at present


@dataclass(frozen=True, slots=True)
class Warned:
    message: str
    lossy: bool = True  # some speech may be missing


SessionEvent: TypeAlias = Onset | Draft | Settled | Heard | Over | Warned
Tell: TypeAlias = Callable[[SessionEvent], None]  # called on the event loop's thread


class Session(Protocol):
    """One connection, or one slot of the engine. Methods are called on the event loop and never block."""

    def feed(self, samples: NDArray[np.int16]) -> None:
        """Take the next samples, mono at 16 kHz, which follow the last without a gap."""

    def finish(self) -> None:
        """End the sound: settle what is open, then send Over."""

    def abandon(self) -> None:
        """Give up at once, without further events."""


class RealtimeProvider(Protocol):
    """The live half of a provider."""

    @property
    def name(self) -> str:
        """Return the key in `models.providers()`."""

    def terms(self, model: ModelRow) -> Terms: ...

    def fault(self, settings: Settings, model: ModelRow) -> str | None:
        """Return why this installation cannot use the model live, as a sentence with the remedy; None if it can."""

    def prepare(self, settings: Settings, lang: str | None) -> None:
        """Load what takes long, before a session is opened. Blocks. Raises SetupError."""

    def open(self, settings: Settings, order: Order, tell: Tell) -> Session:
        """Begin a session. Returns at once; sound fed before it is connected is kept. Raises SetupError."""
