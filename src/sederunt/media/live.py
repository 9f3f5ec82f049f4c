"""Live sound: each source's packets as samples at 16 kHz, and the mix of all, block by block.

Times are the recording's: a sample lies where its packet lies. The mix follows the clock and not the arrivals, so it
continues while nobody speaks. It waits a little for late sound.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from sederunt.media import opus
from sederunt.media.mixing import Limiter, Samples, Voice
from sederunt.model.audio import Packet

RATE = 16_000
BLOCK = RATE // 10  # samples released at a time: 3,200 bytes
BEHIND_S = 0.15  # a block is released this long after its end; pages deliver packets at least every 100 ms
LATE_S = 0.4  # the same if the packets of somebody who is speaking are late, but others' are not
STALLED_S = 1.0  # the same while no packets come at all: the page or this machine may be stalled
FORGET_S = 60.0  # a source gets a new decoder after this much silence

_HOP = RATE // 200
_RATIO = opus.RATE // RATE
_TAPS = 97
_HALF = _TAPS // 2


def _low_pass() -> Samples:
    """Return a filter that passes up to 7 kHz within 0.1 dB, and attenuates by 60 dB from 9 kHz on."""
    offsets = np.arange(_TAPS) - _HALF
    taps = np.kaiser(_TAPS, 6.0) * np.sinc(offsets / _RATIO)
    kernel: Samples = (taps / taps.sum()).astype(np.float32)
    return kernel


def _many_at_once(taps: Samples, count: int) -> Samples:
    """Return the filter as a matrix that makes `count` samples at once: each column is the filter, one step later.

    This takes half the time of a convolution that drops two samples of three.
    """
    matrix = np.zeros((_RATIO * (count - 1) + _TAPS, count), dtype=np.float32)
    for column in range(count):
        matrix[_RATIO * column : _RATIO * column + _TAPS, column] = taps
    return matrix


_AT_ONCE = 32
_FILTER = _many_at_once(_low_pass(), _AT_ONCE)


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """One source's uninterrupted speech, as far as received."""

    source: str
    start: float  # seconds of the recording
    samples: npt.NDArray[np.int16]  # mono, 16 kHz


class LiveSound:
    """The sound of one stay.

    Args:
        start_s: second of the recording at which the mix begins; the block around it is the first one.
        behind_s: how long after its end a block is released; longer if pages deliver packets less often.
    """

    def __init__(self, start_s: float, behind_s: float = BEHIND_S) -> None:
        self._behind_s = behind_s
        self._ears: dict[str, _Ear] = {}
        self._base = math.floor(start_s * RATE / BLOCK) * BLOCK  # sample of the recording at which `_sum` begins
        self._sum = np.zeros(4 * RATE, dtype=np.float32)
        self._limiter = Limiter(_HOP)
        self._ahead = _HOP  # samples that the limiter looks ahead

    def take(self, packets: Iterable[Packet]) -> list[Stretch]:
        """Take packets, in order for each source; returns their sound, and keeps it for the mix."""
        by_source: dict[str, list[Packet]] = {}
        for packet in packets:
            by_source.setdefault(packet.source, []).append(packet)
        stretches = []
        for source, source_packets in by_source.items():
            ear = self._ears.setdefault(source, _Ear())
            for at, samples in ear.hear(source_packets):
                self._add(at, samples)
                stretches.append(Stretch(source, at / RATE, _as_pcm(samples)))
        return stretches

    def blocks(self, now_s: float, *, busy_s: float = 0.0) -> list[bytes]:
        """Return the blocks of the mix due at this second of the recording: little-endian PCM16, BLOCK samples each.

        Args:
            busy_s: how much longer to wait while no packets come at all.
        """
        due_blocks = []
        while (
            now_s * RATE
            >= (end_sample := self._base + BLOCK + self._ahead) + self._patience_s(end_sample, busy_s) * RATE
        ):
            due_blocks.append(self._let_go())
        silent_names = [name for name, ear in self._ears.items() if ear.reached < (now_s - FORGET_S) * RATE]
        for name in silent_names:
            del self._ears[name]
        return due_blocks

    def due_in_s(self, now_s: float) -> float:
        """Return the seconds until a block is due, to the millisecond; 0 if one is waiting for late sound."""
        remaining_s = (self._base + BLOCK + self._ahead) / RATE + self._behind_s - now_s
        return math.ceil(remaining_s * 1000) / 1000 if remaining_s > 0 else 0.0

    def end(self, at_s: float) -> list[bytes]:
        """Return the rest of the mix up to this second of the recording, without waiting; the last block is padded."""
        rest_blocks = []
        while self.position < at_s * RATE:
            rest_blocks.append(self._let_go())
        return rest_blocks

    @property
    def position(self) -> int:
        """Return the sample of the recording up to which the mix was released."""
        return self._base - _HOP + self._ahead

    def _patience_s(self, end_sample: int, busy_s: float) -> float:
        """Return how long after this sample the sum up to it is released."""
        if not any(ear.goes_on and ear.reached < end_sample for ear in self._ears.values()):
            return self._behind_s
        return LATE_S if any(ear.reached >= end_sample for ear in self._ears.values()) else STALLED_S + busy_s

    def _let_go(self) -> bytes:
        count = BLOCK + self._ahead
        for ear in self._ears.values():
            if ear.sounding and ear.reached < self._base + count:
                for at, samples in ear.fall_silent():
                    self._add(at, samples)
        output = self._limiter.limit(self._sum[:count].copy())
        self._sum[:-count] = self._sum[count:]
        self._sum[-count:] = 0
        self._base += count
        self._ahead = 0  # from now on the limiter is one hop ahead of the blocks
        return _as_pcm(output).astype("<i2", copy=False).tobytes()

    def _add(self, at: int, samples: Samples) -> None:
        """Add to the sum. Sound that comes after its block was released, or lies far in the future, is dropped."""
        offset = at - self._base
        if offset < 0:
            samples, offset = samples[-offset:], 0
        samples = samples[: max(0, len(self._sum) - offset)]
        self._sum[offset : offset + len(samples)] += samples


class _Ear:
    """One source: decoded, with short gaps concealed, resampled from 48 to 16 kHz."""

    def __init__(self) -> None:
        self._voice = Voice()
        self._run: _FilterRun | None = None
        self._last = b""

    @property
    def sounding(self) -> bool:
        return self._voice.sounding

    @property
    def goes_on(self) -> bool:
        """Return whether more sound must follow: the last packet was neither the end nor declared silence."""
        return self.sounding and not opus.is_silence(self._last)

    @property
    def reached(self) -> int:
        """Return the sample at which the returned sound ends."""
        return self._run.reached if self._run is not None else self._voice.cursor // _RATIO

    def hear(self, packets: Sequence[Packet]) -> list[tuple[int, Samples]]:
        """Return the sound of packets that follow each other, as (first sample, samples)."""
        sounds: list[tuple[int, Samples]] = []
        parts: list[Samples] = []
        for packet in packets:
            self._last = packet.payload
            for at, samples in self._voice.decode(packet):
                if self._run is None or at != self._run.end:
                    sounds += self._through(parts)
                    parts, self._run = [], _FilterRun(at)
                parts.append(samples)
                self._run.end += len(samples)
        return sounds + self._through(parts)

    def fall_silent(self) -> list[tuple[int, Samples]]:
        """End the sound with a short fade-out, if nothing follows."""
        _, tail = self._voice.fade_out()
        sounds = self._through([tail, np.zeros(_HALF, dtype=np.float32)])
        self._run = None
        return sounds

    def _through(self, parts: list[Samples]) -> list[tuple[int, Samples]]:
        if self._run is None or not parts:
            return []
        at = self._run.reached
        samples = self._run.feed(np.concatenate(parts))
        return [(at, samples)] if len(samples) else []


class _FilterRun:
    """Gapless sound passing the filter; every third sample comes out, half a filter later."""

    def __init__(self, at: int) -> None:
        self.end = at  # 48 kHz sample of the recording at which the decoded sound ends
        self.reached = round(at / _RATIO)  # the next 16 kHz sample to come out
        self._held = np.zeros(_HALF, dtype=np.float32)

    def feed(self, samples: Samples) -> Samples:
        buffer = np.concatenate((self._held, samples))
        count = (len(buffer) - _TAPS) // _RATIO + 1
        if count <= 0:
            self._held = buffer
            return buffer[:0]
        self._held = buffer[count * _RATIO :]
        self.reached += count
        return _filtered(buffer, count)


def _filtered(samples: Samples, count: int) -> Samples:
    """Return the first `count` of every third sample of the filtered sound."""
    rows = -(-count // _AT_ONCE)
    missing_count = (rows - 1) * _AT_ONCE * _RATIO + len(_FILTER) - len(samples)
    padded = np.pad(samples, (0, missing_count)) if missing_count > 0 else samples
    windows = sliding_window_view(padded, len(_FILTER))[:: _AT_ONCE * _RATIO][:rows]
    filtered: Samples = (windows @ _FILTER).reshape(-1)[:count]
    return filtered


def _as_pcm(samples: Samples) -> npt.NDArray[np.int16]:
    return np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype(np.int16)
