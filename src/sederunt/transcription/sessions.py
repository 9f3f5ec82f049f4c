"""Define what the service asks of a provider that transcribes while people speak, one session per stream of sound.

A session knows nothing of meetings: it is fed sound without gaps, counts seconds from its own first sample, names its
segments by keys and its voices by labels of its own. The pipeline turns all that into the recording's terms, and opens
the next session when one ends.
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
    """What a provider allows and costs; rows of a table, not code."""

    longest_session_s: float | None = None  # the vendor ends a session after that; None where it never does
    silence_sent_s: float = 2.0  # of a longer silence only so much is sent
    idle_s: float = 60.0  # a session that heard nothing for so long is closed; the next sound opens another
    overlap_s: float = 5.0  # how long two sessions run beside each other when one takes over from the other
    mixed_overlap_s: float = 30.0  # the same where voices have to be recognised across sessions
    unanswered_s: float | None = None  # a session that tells nothing of so much speech is replaced
    resend_s: float = 30.0  # sound kept for the next session, should this one be lost


class CopyNotes(Protocol):
    """Where a session notes what its vendor keeps of it, so that it can be deleted there."""

    async def add(self, copy: str) -> None: ...

    async def replace(self, copy: str, other: str | None) -> None:
        """Note another copy in place of one, or none."""


class NoCopyNotes:
    """For sessions that belong to nothing that could be deleted, such as those of benchmarks."""

    async def add(self, copy: str) -> None:
        """Note nothing."""

    async def replace(self, copy: str, other: str | None) -> None:
        """Note nothing."""


NO_COPY_NOTES = NoCopyNotes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What a session is opened for."""

    model: ModelRow
    lang: str | None = None
    vocabulary: Sequence[str] = ()
    mixed: bool = False  # several people are in the stream: tell their voices apart if you can
    mask_profanity: bool = False
    access: Access | None = None  # the caller's credential, or the operator's
    copies: CopyNotes = NO_COPY_NOTES


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A segment as the session knows it. Seconds from the session's first sample."""

    key: str
    start: float
    end: float
    transcript: str
    confidence: float
    words: tuple[Word, ...] = ()
    label: str | None = None  # the vendor's own word for the voice
    lang: str | None = None  # the language, where it was found out rather than given

    def utterance(self) -> Utterance:
        """Return it as one voice's utterance, to be cut between its words."""
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
    """Return the draft that says of a segment's drafts that nothing of them is heard any more."""
    return Draft(Said(key=key, start=0.0, end=0.0, transcript="", confidence=0.0))


@dataclass(frozen=True, slots=True)
class Settled:
    """Final. A second one under the same key corrects the first."""

    said: Said


@dataclass(frozen=True, slots=True)
class Heard:
    """The vendor is through with the sound up to here: nothing new comes of it."""

    until: float


@dataclass(frozen=True, slots=True)
class Over:
    """The session has ended, whoever ended it; nothing comes after this."""

    cause: str = ""  # "" for the end that was asked for
    retry: bool = True  # whether another session may do better
    is_limit: bool = False  # the vendor allows no more of them at present


@dataclass(frozen=True, slots=True)
class Warned:
    message: str
    lossy: bool = True  # some speech may be missing


SessionEvent: TypeAlias = Onset | Draft | Settled | Heard | Over | Warned
Tell: TypeAlias = Callable[[SessionEvent], None]  # called on the event loop's thread


class Session(Protocol):
    """One connection, or one place in the engine. Methods are called on the event loop and never block."""

    def feed(self, samples: NDArray[np.int16]) -> None:
        """Take the next samples, mono at 16 kHz, right behind the last."""

    def finish(self) -> None:
        """End the sound: settle what is open, then tell Over."""

    def abandon(self) -> None:
        """Give up at once; nothing more is told."""


class RealtimeProvider(Protocol):
    """One source of live transcripts."""

    @property
    def name(self) -> str:
        """Return the key in `models.providers()`."""

    def terms(self, model: ModelRow) -> Terms: ...

    def fault(self, settings: Settings, model: ModelRow) -> str | None:
        """Return why this installation cannot use the model live, as a sentence with the remedy; None where it can."""

    def prepare(self, settings: Settings, lang: str | None) -> None:
        """Do what takes long: a session is about to be opened. Blocks. Raises SetupError."""

    def open(self, settings: Settings, order: Order, tell: Tell) -> Session:
        """Begin a session. Returns at once; sound fed before the connection stands is kept. Raises SetupError."""
