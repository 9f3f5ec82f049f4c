"""How the simulated vendors hear: the model in the box writes down what a client sent, of a file or of a live stream.

The model is loaded once a process, and no sound is read twice: a matrix of faults sends one clip hundreds of times.
"""

import hashlib
import io
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

from harness.vendors.voices import Voices, tell_apart
from sederunt.settings import LiveSettings, Settings, WhisperSettings
from sederunt.transcription.models import ModelRow, find
from sederunt.transcription.sessions import Draft, Onset, Order, Over, Said, Session, SessionEvent, Settled
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.live.session import open_session
from sederunt.transcription.whisper.loading import load_whisper

RATE = 16_000
MODEL = "tiny.en"
DRAFT_S = 2.0  # between two drafts of a live stream: enough to see some, and cheap

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class SpokenWord:
    """One word. Seconds from the start of the sound."""

    text: str  # as written, with its punctuation
    start: float
    end: float
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """What one voice says in one go."""

    words: tuple[SpokenWord, ...]
    channel: int = 0
    speaker: int = 0  # in order of appearance; told apart by their voices, or by channel
    key: str = ""  # of a live stream: drafts and the final of one phrase share it

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def start(self) -> float:
        return self.words[0].start if self.words else 0.0

    @property
    def end(self) -> float:
        return self.words[-1].end if self.words else 0.0

    @property
    def confidence(self) -> float:
        return round(sum(word.confidence for word in self.words) / len(self.words), 4) if self.words else 0.0


Listen = Callable[[Samples], list[Phrase]]  # one channel at 16 kHz


class NoSound(Exception):
    """What was sent is no recording."""


def decode(data: bytes) -> list[Samples]:
    """A recording's channels at 16 kHz. Raises NoSound where it cannot be decoded."""
    try:
        with av.open(io.BytesIO(data), "r") as container:
            if not container.streams.audio:
                raise NoSound("there is no sound in it")
            return _channels(container)
    except (av.FFmpegError, ValueError) as error:
        raise NoSound(str(error)) from error


def raw_channels(data: bytes, channels: int = 1) -> list[Samples]:
    """The channels of 16-bit samples."""
    samples = np.frombuffer(data[: len(data) // (2 * channels) * 2 * channels], "<i2").astype(np.float32) / np.float32(
        32768
    )
    return list(samples.reshape(-1, channels).T)


def transcribed(channels: list[Samples], *, by_channel: bool, diarize: bool, listen: Listen) -> list[Phrase]:
    """The phrases of a recording by time. Channels that are not asked for one by one are mixed."""
    if not by_channel:
        mixed = channels[0] if len(channels) == 1 else np.asarray(np.stack(channels).mean(axis=0), np.float32)
        phrases = listen(mixed)
        return _by_voice(phrases, mixed) if diarize else phrases
    heard = [replace(phrase, channel=number) for number, channel in enumerate(channels) for phrase in listen(channel)]
    return _by_channel(sorted(heard, key=lambda phrase: phrase.start))


def listen(samples: Samples) -> list[Phrase]:
    """What the model in the box hears. Blocks."""
    digest = hashlib.sha256(samples.tobytes()).hexdigest()
    with _reading:
        if digest not in _read:
            _read[digest] = _listen(samples)
        return _read[digest]


class LiveRecognition:
    """One live stream. Use it on one event loop; `tell` is called there with each phrase, draft or final."""

    def __init__(self, tell: Callable[[Phrase | float, bool], None], *, diarize: bool = False) -> None:
        self._tell = tell  # (phrase, final), or (second at which somebody began to speak, False)
        self._voices = Voices() if diarize else None
        self._sound = bytearray()
        self._number = 0
        self._open: dict[int, Session] = {}
        self._session = self._begin()
        self._waiting: list[Callable[[], None]] = []  # who is told when everything is final
        self._cause = ""  # why the engine ended the last session

    @property
    def seconds(self) -> float:
        """How much was heard."""
        return len(self._sound) / 2 / RATE

    def feed(self, data: bytes) -> None:
        """The next samples: mono, 16 bit, 16 kHz."""
        self._sound += data
        self._session.feed(np.frombuffer(data, "<i2"))

    def flush(self) -> None:
        """Make final what was heard so far."""
        self._session.finish()
        self._session = self._begin()

    def finish(self, over: Callable[[], None]) -> None:
        """Make everything final, then call `over`. A stream that is taken up anew is ended anew, and each is told."""
        self._waiting.append(over)
        if not self._open:
            raise RuntimeError(f"the engine gave the stream up: {self._cause}")
        self._session.finish()

    def abandon(self) -> None:
        for session in self._open.values():
            session.abandon()

    def _begin(self) -> Session:
        self._number += 1
        number, offset_s = self._number, self.seconds
        order = Order(model=_live_model(), lang="en")
        session = open_session(_settings(), order, lambda event: self._hear(number, offset_s, event))
        self._open[number] = session
        return session

    def _hear(self, number: int, offset_s: float, event: SessionEvent) -> None:
        if isinstance(event, Onset):
            self._tell(event.at + offset_s, False)
        elif isinstance(event, Draft | Settled):
            self._tell(self._phrase(f"{number}.{event.said.key}", offset_s, event.said), isinstance(event, Settled))
        elif isinstance(event, Over):
            del self._open[number]
            self._cause = event.cause
            while self._waiting and not self._open:
                self._waiting.pop()()

    def _phrase(self, key: str, offset_s: float, said: Said) -> Phrase:
        words = tuple(
            SpokenWord(
                text=word.word,
                start=round(word.start + offset_s, 3),
                end=round(word.end + offset_s, 3),
                confidence=round(word.confidence, 4),
            )
            for word in said.words
        )
        phrase = Phrase(words=words, key=key)
        if self._voices is None or not words:
            return phrase
        first, last = round(phrase.start * RATE), round(phrase.end * RATE)
        samples = np.frombuffer(self._sound, "<i2", count=len(self._sound) // 2)[first:last]
        return replace(phrase, speaker=self._voices.number(samples.astype(np.float32) / np.float32(32768)))


def load() -> None:
    """Have the model at hand. Blocks."""
    _whisper()


def _channels(container: av.container.InputContainer) -> list[Samples]:
    stream = container.streams.audio[0]
    resampler = av.AudioResampler(format="fltp", layout=stream.layout.name, rate=RATE)
    parts = [made.to_ndarray() for frame in container.decode(stream) for made in resampler.resample(frame)]
    parts += [made.to_ndarray() for made in resampler.resample(None)]
    if not parts:
        raise NoSound("there is no sound in it")
    return list(np.concatenate(parts, axis=1).astype(np.float32))


def _by_voice(phrases: list[Phrase], samples: Samples) -> list[Phrase]:
    stretches = [samples[round(phrase.start * RATE) : round(phrase.end * RATE)] for phrase in phrases]
    return [replace(phrase, speaker=speaker) for phrase, speaker in zip(phrases, tell_apart(stretches), strict=True)]


def _by_channel(phrases: list[Phrase]) -> list[Phrase]:
    speakers: dict[int, int] = {}
    return [replace(phrase, speaker=speakers.setdefault(phrase.channel, len(speakers))) for phrase in phrases]


_reading = threading.Lock()
_read: dict[str, list[Phrase]] = {}


@dataclass(frozen=True)
class _Block:
    start_s: float
    samples: Samples


def _listen(samples: Samples) -> list[Phrase]:
    def source(start_s: float) -> Iterator[_Block]:
        for first in range(round(start_s * RATE), len(samples), 30 * RATE):
            yield _Block(first / RATE, samples[first : first + 30 * RATE])

    heard = _whisper().transcribe(source, lang="en").utterances
    return [
        Phrase(
            words=tuple(
                SpokenWord(
                    text=word.word,
                    start=round(word.start, 3),
                    end=round(word.end, 3),
                    confidence=round(word.confidence, 4),
                )
                for word in utterance.words
            )
        )
        for utterance in heard
        if utterance.words
    ]


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="simulated-vendors-")


@cache
def _settings() -> Settings:
    return Settings(
        data=Path(_folder().name),
        whisper=WhisperSettings(model=MODEL),
        live=LiveSettings(model=MODEL, threads=1, step_s=DRAFT_S),
    )


@cache
def _whisper() -> Whisper:
    return load_whisper(_settings().whisper, _settings().data, MODEL)


@cache
def _live_model() -> ModelRow:
    row = find("vendor1-realtime")
    assert row is not None
    return row
