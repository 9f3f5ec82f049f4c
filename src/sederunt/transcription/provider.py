"""The interface of a transcription provider.

Light to import: nothing here loads a model, a client or numpy. `plugins` finds the installed providers.
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
                    "start": utterance.start,
                    "end": utterance.end,
                    "speaker": utterance.speaker,
                    "confidence": utterance.confidence,
                    "transcript": utterance.transcript,
                    "words": [
                        [word.word, word.start, word.end, word.confidence, word.speaker] for word in utterance.words
                    ],
                }
                for utterance in self.utterances
            ],
            # Not in the utterances: a worker of the previous release rejects unknown keys there.
            "langs": [utterance.lang for utterance in self.utterances],
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
    """Stores the progress of one task at a vendor, so that nothing is submitted twice if a worker is killed.

    Called from the working thread, with small plain values.
    """

    def read(self) -> Mapping[str, Any]:
        """Return the values written last; empty on the first attempt."""

    def write(self, notes: Mapping[str, Any]) -> None:
        """Store these values. Returns when they are safe."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One file to transcribe."""

    path: Path
    model: ModelRow
    caller_file_s: float | None = None  # its length, if a caller sent it: it is then decoded in a separate process
    lang: str | None = None  # a language tag; "multi", "auto" or None: detect it
    likely_lang: str | None = None  # for detection, if the file leaves doubt
    vocabulary: Sequence[str] = ()
    mask_profanity: bool = False
    channel: CallChannel | None = None  # of the caller's file; only this channel is transcribed
    stretches: Sequence[tuple[float, float]] = ()  # only these are read (seconds); empty: the whole file
    several_voices: bool = False  # several people may speak, and nothing else tells them apart
    access: Access | None = None  # the caller's credential, or the operator's
    reference: str = ""  # ours, the same in every attempt: a vendor's job is found by it
    memory: Memory | None = None  # of a vendor's jobs
    resume: Sequence[FinishedPart] = ()  # reported by an earlier attempt
    on_part: Callable[[FinishedPart], None] | None = None  # called from a working thread, one call at a time
    on_progress: Callable[[float], None] | None = None  # takes the seconds of sound that are done
    cancelled: threading.Event = field(default_factory=threading.Event)
    lane: Lane = field(default_factory=lane_alone)  # lends cores; providers that do no work here need none


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The result of a task."""

    utterances: tuple[Utterance, ...]
    detected_lang: str | None
    diarized: bool = False  # the utterances' `speaker` tells voices apart
    masked: bool = False  # profanity was masked by the provider
    doubts: tuple[Doubt, ...] = ()  # where words may be missing
    copies: tuple[str, ...] = ()  # ids of copies that the vendor keeps until they are deleted


@runtime_checkable
class TrackJoiner(Protocol):
    """A provider paid by the second, which takes the tracks of several people without their silence."""

    def transcribe_tracks(self, settings: Settings, task: Task, tracks: Sequence[Path]) -> list[Result]:
        """Transcribe tracks of one person each as one file: one result each. Blocks; raises as `transcribe` does."""


class VendorAccount(Protocol):
    """What a key is needed for besides transcribing. Every method blocks and raises ProviderError."""

    def check(self, settings: Settings, access: Access) -> None:
        """Make the cheapest call that needs the key."""

    def erase(self, settings: Settings, access: Access, copy: str) -> None:
        """Delete one of `Result.copies` at the vendor, if it is still there."""


class Provider(Protocol):
    """One source of transcripts."""

    @property
    def row(self) -> ProviderRow:
        """Return the provider's row."""

    @property
    def models(self) -> tuple[ModelRow, ...]:
        """Return its models, batch and realtime."""

    @property
    def account(self) -> VendorAccount | None:
        """Return what needs a key besides transcribing; None if nothing does."""

    @property
    def realtime(self) -> RealtimeProvider | None:
        """Return its live half; None if it has none."""

    def fault(self, settings: Settings, model: ModelRow) -> str | None:
        """Return why this installation cannot use the model, as a sentence with the remedy; None if it can.

        Called while a request is validated: it may look at files, never at the network.
        """

    def language(self, settings: Settings, task: Task) -> str | None:
        """Return the primary tag of a file's language if it is certain; None if not, or if detection would cost much.

        Blocks. The task's `lang` is ignored. Raises as `transcribe` does.
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
