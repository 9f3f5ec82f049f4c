"""Define what the service asks of a transcription provider.

Light to import: nothing here loads a model, a client or numpy. `plugins` tells where providers introduce themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from sederunt.model.transcript import Doubt, Utterance, Word
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.rows import ModelRow, ProviderRow
from sederunt.transcription.scheduler import Lane, lane_alone
from sederunt.transcription.sessions import RealtimeProvider

if TYPE_CHECKING:  # brings numpy
    from sederunt.media.channels import CallChannel


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedPart:
    """A stretch of sound that need not be transcribed again. Seconds from the start of the source."""

    start: float
    end: float
    utterances: tuple[Utterance, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for the caller to store."""
        return {
            "start": self.start,
            "end": self.end,
            "utterances": [
                {
                    "start": u.start,
                    "end": u.end,
                    "speaker": u.speaker,
                    "confidence": u.confidence,
                    "transcript": u.transcript,
                    "words": [[word.word, word.start, word.end, word.confidence, word.speaker] for word in u.words],
                }
                for u in self.utterances
            ],
            "langs": [u.lang for u in self.utterances],  # beside them: a worker of the release before reads their keys
            "doubts": [asdict(doubt) for doubt in self.doubts],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the part that `to_json` wrote."""
        langs = data.get("langs", [None] * len(data["utterances"]))
        utterances = tuple(map(_read_utterance, data["utterances"], langs))
        doubts = tuple(Doubt(**doubt) for doubt in data.get("doubts", ()))
        return cls(start=float(data["start"]), end=float(data["end"]), utterances=utterances, doubts=doubts)


class Memory(Protocol):
    """What one task remembers of its way through a vendor, in storage, so that a killed worker submits nothing twice.

    Called from the thread that works; small plain values.
    """

    def read(self) -> Mapping[str, Any]:
        """Return what was written last; nothing on the first try."""

    def write(self, notes: Mapping[str, Any]) -> None:
        """Keep this. Returns when it is safe."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One file to transcribe."""

    path: Path
    model: ModelRow
    caller_file_s: float | None = None  # somebody sent it, and it is so long: it is decoded in a process of its own
    lang: str | None = None  # a language tag, "multi", "auto" or None: find it
    likely_lang: str | None = None  # where it is to be found, and the file does not surely tell
    vocabulary: Sequence[str] = ()
    mask_profanity: bool = False
    channel: CallChannel | None = None  # of the caller's file; only what is said there is wanted
    stretches: Sequence[tuple[float, float]] = ()  # only these are read (seconds); empty: all there is
    several_voices: bool = False  # more than one person may speak in it, and nothing else tells them apart
    access: Access | None = None  # the caller's credential, or the operator's
    reference: str = ""  # ours, stable over tries: by it a vendor's job is found again
    memory: Memory | None = None  # of a vendor's jobs
    resume: Sequence[FinishedPart] = ()  # what an earlier try reported
    on_part: Callable[[FinishedPart], None] | None = None  # called from a thread that works, one at a time
    on_progress: Callable[[float], None] | None = None  # seconds of sound done
    cancelled: threading.Event = field(default_factory=threading.Event)
    lane: Lane = field(default_factory=lane_alone)  # lends the cores; who does no work here needs none


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What came of a task."""

    utterances: tuple[Utterance, ...]
    detected_lang: str | None
    diarized: bool = False  # the utterances' `speaker` tells voices apart
    masked: bool = False  # profanity was masked by the provider
    doubts: tuple[Doubt, ...] = ()  # where words may be missing
    copies: tuple[str, ...] = ()  # ids of what the vendor keeps until it is deleted


@runtime_checkable
class TrackJoiner(Protocol):
    """A provider that is paid by the second, and takes the tracks of several people without their silence."""

    def transcribe_tracks(self, settings: Settings, task: Task, tracks: Sequence[Path]) -> list[Result]:
        """Transcribe tracks of one person each as one file: one result each. Blocks; raises as `transcribe` does."""


class VendorAccount(Protocol):
    """What else can be asked of a vendor with a key. Every method blocks and raises ProviderError."""

    def check(self, settings: Settings, access: Access) -> None:
        """Make the cheapest call that needs the key."""

    def erase(self, settings: Settings, access: Access, copy: str) -> None:
        """Delete one of `Result.copies` at the vendor; done as well where it is gone already."""


class Provider(Protocol):
    """One source of transcripts."""

    @property
    def row(self) -> ProviderRow:
        """Return who it is."""

    @property
    def models(self) -> tuple[ModelRow, ...]:
        """Return its models, batch and realtime."""

    @property
    def account(self) -> VendorAccount | None:
        """Return what needs a key beside transcribing; None where nothing does."""

    @property
    def realtime(self) -> RealtimeProvider | None:
        """Return its live half; None where it has none."""

    def fault(self, settings: Settings, model: ModelRow) -> str | None:
        """Return why this installation cannot use the model, as a sentence with the remedy; None where it can.

        Called while a request is validated: it may look at files, never at the network.
        """

    def language(self, settings: Settings, task: Task) -> str | None:
        """Return the primary tag of what is spoken in a file, where that is sure; None where it is not, or would cost
        much.

        Blocks. `lang` of the task does not count. Raises as `transcribe` does.
        """

    def transcribe(self, settings: Settings, task: Task) -> Result:
        """Transcribe a file; blocks, so call it in a thread.

        Raises Cancelled, ProviderError (retryable or not), MediaError, SetupError.
        """


def _read_utterance(data: Mapping[str, Any], lang: str | None) -> Utterance:
    words = tuple(
        Word(word=word, start=start, end=end, confidence=confidence, speaker=speaker)
        for word, start, end, confidence, speaker in data["words"]
    )
    return Utterance(**{**data, "words": words, "lang": lang})
