"""Define what the service asks of a transcription provider, and where providers introduce themselves.

Light to import: nothing here loads a model, a client or numpy. A provider is an object behind the entry point group
"sederunt.transcribers"; its name is the `provider` of the rows in `models`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, Self

from sederunt.errors import SederuntError, SetupError
from sederunt.model.transcript import Utterance, Word
from sederunt.settings import Settings
from sederunt.transcription.models import PROVIDERS, ModelRow
from sederunt.transcription.sessions import RealtimeProvider

GROUP = "sederunt.transcribers"


class Cancelled(SederuntError):
    """The caller asked the transcription to stop; the parts reported until then are complete."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedPart:
    """A stretch of sound that need not be transcribed again. Seconds from the start of the source."""

    start: float
    end: float
    utterances: tuple[Utterance, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the caller to store."""
        return {"start": self.start, "end": self.end, "utterances": [_utterance_json(u) for u in self.utterances]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The part that `to_json` wrote."""
        utterances = tuple(_read_utterance(utterance) for utterance in data["utterances"])
        return cls(start=float(data["start"]), end=float(data["end"]), utterances=utterances)


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
    several_voices: bool = False  # more than one person may speak in it, and nothing else tells them apart
    key: str | None = field(default=None, repr=False)  # the caller's or the operator's credential
    resume: Sequence[FinishedPart] = ()  # what an earlier try reported
    on_part: Callable[[FinishedPart], None] | None = None  # called from the thread that works
    on_progress: Callable[[float], None] | None = None  # seconds of sound done
    cancelled: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What came of a task."""

    utterances: tuple[Utterance, ...]
    detected_lang: str | None
    diarized: bool = False  # the utterances' `speaker` tells voices apart
    masked: bool = False  # profanity was masked by the provider
    copies: tuple[str, ...] = ()  # ids of what the vendor keeps until it is deleted


class Provider(Protocol):
    """One source of transcripts."""

    @property
    def name(self) -> str:
        """The key in `models.PROVIDERS`."""

    @property
    def realtime(self) -> RealtimeProvider | None:
        """Its live half; None where it has none."""

    def fault(self, settings: Settings, model: ModelRow) -> str | None:
        """Why this installation cannot use the model, as a sentence with the remedy; None where it can.

        Called while a request is validated: it may look at files, never at the network.
        """

    def language(self, settings: Settings, task: Task) -> str | None:
        """The primary tag of what is spoken in a file, where that is sure; None where it is not, or would cost much.

        Blocks. `lang` of the task does not count. Raises as `transcribe` does.
        """

    def transcribe(self, settings: Settings, task: Task) -> Result:
        """Transcribe a file; blocks, so call it in a thread.

        Raises Cancelled, ProviderError (retryable or not), MediaError, SetupError.
        """


@cache
def provider(name: str) -> Provider:
    """The installed provider of this name. Raises SetupError where there is none."""
    for entry in entry_points(group=GROUP, name=name):
        found: Provider = entry.load()
        return found
    title = PROVIDERS[name].title if name in PROVIDERS else name
    raise SetupError(f"{title} is not part of this installation: no entry point '{name}' in the group '{GROUP}'.")


def realtime_provider(name: str) -> RealtimeProvider:
    """The live half of the installed provider of this name. Raises SetupError where there is none."""
    live = provider(name).realtime
    if live is None:
        raise SetupError(f"{PROVIDERS[name].title} does not transcribe live in this installation.")
    return live


def is_installed(name: str) -> bool:
    """Whether a provider of this name introduces itself. Looked up once a process: it costs milliseconds."""
    return name in _installed(GROUP)


@cache
def _installed(group: str) -> frozenset[str]:
    return frozenset(entry_points(group=group).names)


def _utterance_json(utterance: Utterance) -> dict[str, Any]:
    return {
        "start": utterance.start,
        "end": utterance.end,
        "speaker": utterance.speaker,
        "confidence": utterance.confidence,
        "transcript": utterance.transcript,
        "words": [[word.word, word.start, word.end, word.confidence, word.speaker] for word in utterance.words],
    }


def _read_utterance(data: Mapping[str, Any]) -> Utterance:
    words = tuple(
        Word(word=word, start=start, end=end, confidence=confidence, speaker=speaker)
        for word, start, end, confidence, speaker in data["words"]
    )
    return Utterance(**{**data, "words": words})
