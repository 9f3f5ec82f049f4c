"""A transcript: segments, their utterances, their words. All times are seconds from the start of the recording."""

from dataclasses import asdict, dataclass, replace
from typing import Any

# Why words may be missing: see `Doubt`.
WORDLESS = "sound that may be speech, read twice, without a word"
NO_WORD_AT_ALL = "loud sound, and the transcript has no word at all"
ENDS_EARLY = "the file ends early: what should follow is missing"
OF_A_WHOLE_FILE = (NO_WORD_AT_ALL, ENDS_EARLY)


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    word: str
    start: float
    end: float
    confidence: float  # 0 to 1
    speaker: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Utterance:
    start: float
    end: float
    speaker: int
    confidence: float
    transcript: str
    words: tuple[Word, ...] = ()
    lang: str | None = None  # the language of its text, as a two-letter tag; None if unknown

    def spoken_by(self, speaker: int) -> "Utterance":
        """Return a copy with another speaker, also for each word."""
        words = tuple(replace(word, speaker=speaker) for word in self.words)
        return replace(self, speaker=speaker, words=words)


@dataclass(frozen=True, kw_only=True, slots=True)
class NameGuess:
    name: str
    confidence: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """What one speaker said in one go.

    Exactly one of `speaker_name` and `potential_speaker_names` is set once the names have been determined.
    """

    start: float
    end: float
    speaker: int
    confidence: float
    transcript: str
    utterances: tuple[Utterance, ...] = ()
    speaker_name: str | None = None
    potential_speaker_names: tuple[NameGuess, ...] | None = None

    def spoken(self) -> dict[str, Any]:
        """Return the segment as listeners get it: without utterances, and with guesses only if there are any."""
        guesses = self.potential_speaker_names
        return {
            "transcript": self.transcript,
            "start": self.start,
            "end": self.end,
            "speaker": self.speaker,
            "speaker_name": self.speaker_name,
            "confidence": self.confidence,
            **({} if guesses is None else {"potential_speaker_names": [asdict(guess) for guess in guesses]}),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """A stretch in which words may be missing."""

    start: float
    end: float
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcript:
    segments: tuple[Segment, ...]
    detected_lang: str | None = None
    doubts: tuple[Doubt, ...] = ()  # sent with the event that ends the transcription, not stored with the segments


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveLine:
    """A segment of a live transcript as published to listeners."""

    segment_id: str
    revision: int  # 0, incremented each time that it is sent again
    source: str
    voice: str  # the owner of the number `segment.speaker`: a participant's key, or a key for a voice without a name
    segment: Segment
