"""Mix many voices: decode each to its place, conceal short gaps, and keep the sum from clipping."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from sederunt.media import opus
from sederunt.model.audio import Packet

Samples = npt.NDArray[np.float32]

CONCEALED = opus.RATE // 10  # samples: the decoder fills a gap up to this; a longer one is silence
SNAP = 72  # samples (1.5 ms): packets this close are contiguous; files keep only milliseconds
FADE = opus.RATE // 400
HELD = opus.RATE * 3 // 20  # samples held back, so that a long gap is recognised before its beginning is released
BLOCK = opus.RATE  # samples released at a time
BUFFER = 2 * BLOCK + HELD + 4 * opus.MOST_SAMPLES

CEILING = 0.89  # -1 dB below full scale
HOP = opus.RATE // 200  # the limiter's gain has one value per 5 ms, linear in between
RELEASE = 0.01  # most rise of the gain per hop: back to full within half a second


class Voice:
    """One source: decodes its packets one by one and joins them."""

    def __init__(self) -> None:
        self._decoder = opus.OpusDecoder()
        self._last = b""
        self.cursor = 0  # sample of the recording at which its sound ends
        self.sounding = False  # whether the sound at the cursor still needs a fade-out

    def decode(self, packet: Packet) -> Iterator[tuple[int, Samples]]:
        """Yield the sound of a packet and of a short gap before it, as (first sample, samples)."""
        at = round(packet.start * opus.RATE)
        gap = at - self.cursor
        if abs(gap) <= SNAP:
            at, gap = self.cursor, 0
        if self.sounding and gap > CONCEALED:
            yield self.fade_out()
        elif self.sounding and gap > 0:
            yield from self._conceal(gap)
        samples = _as_float(self._decoder.decode(packet.payload))
        if gap < 0:
            at, samples = self.cursor, samples[-gap:]
        if not self.sounding:
            count = min(FADE, len(samples))
            samples[:count] *= np.linspace(0, 1, count, dtype=np.float32)
        yield at, samples
        self.cursor = at + len(samples)
        self._last = packet.payload
        self.sounding = True

    def fade_out(self) -> tuple[int, Samples]:
        """Return a short fade-out after the last packet."""
        self.sounding = False
        samples = _as_float(self._decoder.decode(opus.concealment(self._last)))
        samples *= np.linspace(1, 0, len(samples), dtype=np.float32)
        return self.cursor, samples

    def _conceal(self, missing: int) -> Iterator[tuple[int, Samples]]:
        while missing > 0:
            samples = _as_float(self._decoder.decode(opus.concealment(self._last)))[:missing]
            if not len(samples):
                return
            yield self.cursor, samples
            self.cursor += len(samples)
            missing -= len(samples)


class Mixer:
    """Sums sound, given in order of its start, and releases the sum in blocks.

    Args:
        write: takes the finished sum, one stretch after another from sample 0.
        end: the sample at which the recording ends; None means with the last sound.
    """

    def __init__(self, write: Callable[[Samples], None], end: int | None) -> None:
        self._write, self._end = write, end
        self._sum = np.zeros(BUFFER, dtype=np.float32)
        self._base = 0  # sample of the recording at which the buffer begins
        self._reached = 0
        self._limiter = Limiter()

    @property
    def position(self) -> int:
        """Return the number of samples released so far."""
        return self._base

    def advance(self, to: int, voices: Iterator[Voice]) -> None:
        """Give out the sum before sample `to`. All its sound must have been added; voices fade out here."""
        to = to if self._end is None else min(to, self._end)
        if to - self._base < BLOCK + HELD:
            return
        sounding_voices = [voice for voice in voices if voice.sounding]
        while to - self._base >= BLOCK + HELD:
            self._let_go(BLOCK, sounding_voices)

    def add(self, at: int, samples: Samples) -> None:
        """Add sound from a sample of the recording on. Sound before the buffer or after the end is dropped."""
        offset = at - self._base
        if offset < 0:
            samples, offset = samples[-offset:], 0
        if self._end is not None:
            samples = samples[: max(0, self._end - self._base - offset)]
        self._sum[offset : offset + len(samples)] += samples
        self._reached = max(self._reached, self._base + offset + len(samples))

    def finish(self, voices: Iterator[Voice]) -> int:
        """Give out everything up to the end, and return the end in samples."""
        end = self._reached if self._end is None else self._end
        for voice in voices:
            if voice.sounding:
                self.add(*voice.fade_out())
        while self._base < end:
            self._let_go(min(BLOCK, end - self._base), [])
        self._write(self._limiter.flush())
        return end

    def _let_go(self, count: int, sounding_voices: list[Voice]) -> None:
        for voice in sounding_voices:
            if voice.sounding and voice.cursor < self._base + count:
                self.add(*voice.fade_out())
        self._write(self._limiter.limit(self._sum[:count].copy()))
        self._sum[:-count] = self._sum[count:]
        self._sum[-count:] = 0
        self._base += count


class Limiter:
    """Keeps a signal under the ceiling by lowering its gain around peaks instead of clipping them.

    It looks one hop ahead, so its output is one hop late until `flush`.

    Args:
        hop: samples for which the gain has one value.
    """

    def __init__(self, hop: int = HOP) -> None:
        self._hop = hop
        self._held = np.zeros(0, dtype=np.float32)
        self._gain = 1.0  # at the start of the held samples

    def limit(self, samples: Samples) -> Samples:
        """Return the next stretch, as far as its gain is final."""
        samples = np.concatenate((self._held, samples))
        hops = max(0, len(samples) // self._hop - 1)
        ready_samples, self._held = samples[: hops * self._hop], samples[hops * self._hop :]
        return self._turn_down(ready_samples, self._held[: self._hop])

    def flush(self) -> Samples:
        """Return the last hops."""
        padded_samples = np.concatenate((self._held, np.zeros(-len(self._held) % self._hop, dtype=np.float32)))
        held_length, self._held = len(self._held), np.zeros(0, dtype=np.float32)
        return self._turn_down(padded_samples, padded_samples[:0])[:held_length]

    def _turn_down(self, samples: Samples, ahead: Samples) -> Samples:
        extended = np.concatenate((samples, ahead))
        peaks = np.abs(extended).reshape(-1, self._hop).max(axis=1) if len(samples) else np.zeros(0)
        if self._gain == 1.0 and peaks.max(initial=0.0) <= CEILING:
            return samples
        highest_gains = np.minimum(1.0, CEILING / np.maximum(peaks, 1e-9))
        gains = self._gains(highest_gains, len(samples) // self._hop)
        curve = np.interp(np.arange(len(samples)), np.arange(len(gains)) * self._hop, gains).astype(np.float32)
        output: Samples = np.clip(samples * curve, -CEILING, CEILING)
        return output

    def _gains(self, highest_gains: npt.NDArray[np.float64], hops: int) -> list[float]:
        """Return the gain at each border between hops: low enough for both sides, rising slowly."""
        gains = [min(self._gain, float(highest_gains[0]))] if hops else [self._gain]
        for hop in range(hops):
            next_gain = float(highest_gains[hop + 1]) if hop + 1 < len(highest_gains) else 1.0
            gains.append(min(float(highest_gains[hop]), next_gain, gains[-1] + RELEASE, 1.0))
        self._gain = gains[-1]
        return gains


def _as_float(samples: npt.NDArray[np.int16]) -> Samples:
    return np.multiply(samples, np.float32(1 / 32_768), dtype=np.float32)
