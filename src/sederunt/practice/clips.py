"""Speech clips as Opus packets, encoded once per process and shared by every meeting and every bot."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import av
import av.container
import numpy as np
import numpy.typing as npt
from pydantic import Field, TypeAdapter, ValidationError

from sederunt.errors import InvalidConfig, NotFound

RATE = 48_000  # RTP clock of Opus
FRAME = 960  # samples of one packet: 20 ms
BIT_RATE = 32_000

SHIPPED = Path(__file__).parent / "speech"
LIST = "transcripts.json"
# Later folders go before earlier ones.
_offered = [SHIPPED]

Samples = npt.NDArray[np.int16]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedClip:
    """One row of a folder's list. Whatever else stands in it is for people."""

    id: str
    file: str
    text: str | None
    start_s: Seconds = 0.0
    end_s: Seconds | None = None


_LISTED = TypeAdapter(list[ListedClip])


@dataclass(frozen=True, kw_only=True, slots=True)
class ClipText:
    """What is said in a clip, and where it is: a part of a WAV file. `text` is empty where it is not known."""

    id: str
    path: Path
    text: str
    start_s: float = 0.0
    end_s: float | None = None


@dataclass(frozen=True, slots=True)
class OpusFrame:
    """One packet of 20 ms."""

    payload: bytes
    level: int  # loudness in dB below full scale, 0 to 127, as in the ssrc-audio-level extension
    digest: str  # SHA-256 of the payload, so that a recording can be compared bit by bit


@dataclass(frozen=True, slots=True)
class Clip:
    """A clip ready to send."""

    id: str
    frames: tuple[OpusFrame, ...]
    samples: Samples  # 48 kHz mono, FRAME samples per frame; for meetings whose audio is mixed by the server

    @property
    def duration_s(self) -> float:
        return len(self.frames) * FRAME / RATE

    @property
    def pause_level(self) -> int:
        """Return the level, in dB below full scale, from which frames are pauses: 25 dB softer than the loud tenth of
        the clip.
        """
        return sorted(frame.level for frame in self.frames)[len(self.frames) // 10] + 25


def offer(folder: Path) -> None:
    """Let the scripts of this process use another folder's clips, before ours of the same id. InvalidConfig."""
    texts = _texts(folder)
    if missing := sorted(row.path.name for row in texts.values() if not row.path.is_file()):
        raise _refused(f"{folder / LIST} names {', '.join(missing)}, which is not there.")
    lengths_s = {path: _length_s(path) for path in {row.path for row in texts.values()}}
    for row in texts.values():
        end_s = lengths_s[row.path] if row.end_s is None else min(row.end_s, lengths_s[row.path])
        if row.start_s >= end_s:
            raise _refused(f"Nothing of {row.path} is left for {row.id}: it would be {row.start_s:g} s to {end_s:g} s.")
    _offered.append(folder)
    _forget()


def withdraw(folder: Path) -> None:
    """Take an offered folder back; nothing where it was not offered."""
    if folder in _offered:
        _offered.remove(folder)
        _forget()


def _forget() -> None:
    catalogue.cache_clear()
    load.cache_clear()


@cache
def catalogue() -> Mapping[str, ClipText]:
    """Return all clips by id."""
    return {name: row for folder in _offered for name, row in _texts(folder).items()}


def _texts(folder: Path) -> dict[str, ClipText]:
    try:
        rows = _LISTED.validate_json((folder / LIST).read_bytes(), strict=True)
    except (OSError, ValidationError) as error:
        expected = "a list of objects with id, file and text"
        raise _refused(f"{folder / LIST} should be {expected}: {_first_fault(error)}.") from None
    return {
        row.id: ClipText(id=row.id, path=folder / row.file, text=row.text or "", start_s=row.start_s, end_s=row.end_s)
        for row in rows
    }


def _first_fault(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    fault = error.errors()[0]
    where = ".".join(map(str, fault["loc"]))
    return f"{where}: {fault['msg']}" if where else fault["msg"]


def _length_s(path: Path) -> float:
    """Return how long a file lasts, by what it says of itself. InvalidConfig where its sound cannot be read."""
    with _opened(path) as source:
        sound = source.streams.audio[0]
        if next(source.decode(sound), None) is None or sound.duration is None or sound.time_base is None:
            raise _refused(f"There is no sound in {path}.")
        return float(sound.duration * sound.time_base)


@contextmanager
def _opened(path: Path) -> Iterator[av.container.InputContainer]:
    try:
        with av.open(str(path.absolute()), format="wav") as source:
            if not source.streams.audio:
                raise _refused(f"There is no sound in {path}.")
            yield source
    except av.FFmpegError as error:
        raise _refused(f"{path} is no WAV file that can be read: {error.strerror}.") from None


def _refused(sentence: str) -> InvalidConfig:
    return InvalidConfig({"speech": [sentence]})


@cache
def load(clip_id: str) -> Clip:
    """Load a clip, encoded. Costs about 15 ms of CPU per second of speech the first time. NotFound names all there
    are.
    """
    row = catalogue().get(clip_id)
    if row is None:
        raise NotFound(f"There is no clip {clip_id}; there are: {', '.join(catalogue())}.")
    with _opened(row.path) as source:
        sound = source.streams.audio[0]
        rate = sound.rate
        data = _mono([*source.decode(sound)], rate)
    data = data[round(row.start_s * rate) : None if row.end_s is None else round(row.end_s * rate)]
    if not data.size:
        raise _refused(f"There is no sound in {row.path} from {row.start_s:g} s.")
    frame = av.AudioFrame.from_ndarray(data.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = rate
    samples = _mono([frame], RATE)
    samples = np.pad(samples, (0, -len(samples) % FRAME))
    return Clip(clip_id, tuple(ClipEncoder().encode(samples)), samples)


def _mono(frames: Sequence[av.AudioFrame], rate: int) -> Samples:
    """Return sound of any format as 16 bits of one channel at that rate."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=rate)
    blocks = [part.to_ndarray().reshape(-1) for frame in [*frames, None] for part in resampler.resample(frame)]
    return np.concatenate(blocks).astype(np.int16) if blocks else np.zeros(0, np.int16)


@cache
def silence() -> OpusFrame:
    """Return one packet of digital silence."""
    return ClipEncoder().encode(np.zeros(FRAME * 10, np.int16))[-1]


class ClipEncoder:
    """A stream of Opus packets with the settings that meetings use. Stateful: one per continuous sound."""

    def __init__(self) -> None:
        self._codec = av.CodecContext.create("libopus", "w")
        self._codec.sample_rate = RATE
        self._codec.layout = "mono"
        self._codec.format = "s16"
        self._codec.bit_rate = BIT_RATE
        self._codec.options = {"application": "voip", "frame_duration": "20", "compression_level": "5"}

    def encode(self, samples: Samples) -> list[OpusFrame]:
        """Return packets of a whole number of frames (48 kHz mono); one packet per FRAME samples."""
        return [self._encode_one(block) for block in samples.reshape(-1, FRAME)]

    def _encode_one(self, block: Samples) -> OpusFrame:
        frame = av.AudioFrame.from_ndarray(block.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATE
        payload = b"".join(bytes(packet) for packet in self._codec.encode(frame))
        return OpusFrame(payload, loudness(block), hashlib.sha256(payload).hexdigest())


def loudness(block: Samples) -> int:
    """Return the RMS level in dB below full scale, 0 (loudest) to 127 (silence)."""
    power = float(np.mean((block.astype(np.float64) / 32768) ** 2))
    return 127 if power < 1e-12 else min(127, max(0, round(-10 * np.log10(power))))
