"""Turn blocks of samples from the worklet backend into Opus packets on the same timeline."""

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sederunt.media import opus
from sederunt.media.anchor import Anchor
from sederunt.media.sequence import Counts, Reorder, unwrap
from sederunt.model.audio import CapturedFrame

RATES = range(8_000, 192_001)  # rates in Hz of a page's audio; resampling 1 Hz to 48,000 would take all memory
QUIET = 1  # a block without a sample above this is digital silence
HUSHED = 330  # -40 dB: in a block without a sample above this, a hole is inaudible
DRIFT_MS = 40.0  # below this it is jitter
DRIFT_BLOCKS = 5  # the least late of so many blocks shows how far a clock has fallen behind
JUMP_MS = 800.0  # the live mix waits a second at most
QUIET_BLOCKS_ENCODED = 2  # lets the encoder fade; after these nothing is sent, as with DTX

_Placed = tuple[float, CapturedFrame, bytes]


class Blocks:
    """One track's PCM16 frames, each stamped by the page with the time of its first sample.

    A missing block, or silence, ends a run of packets; sound begins the next.

    When a busy machine wakes a page's audio too late, its clock stands still for some milliseconds (measured: up to
    90 ms a second beside thirty browsers) and its sound continues from there, so it comes later and later. The hole
    that corrects this is put where nobody hears it: before a run, or in a hushed block.

    Args:
        rate: of the samples, in Hz.
    """

    def __init__(self, counts: Counts, not_before_ms: float, *, rate: int) -> None:
        self._counts, self._rate = counts, rate
        self._reorder: Reorder[tuple[int, CapturedFrame]] = Reorder(counts)
        self._anchor: Anchor[CapturedFrame] = Anchor(rate / 1000, counts, not_before_ms, jump_ms=JUMP_MS)
        self._late_ms: deque[float] = deque(maxlen=DRIFT_BLOCKS)
        self._tick: int | None = None
        self._quiet = 0  # silent blocks in a row
        self._encoder: opus.PcmEncoder | None = None
        self._sent_ms = 0.0  # start of the encoder's next packet
        self._end_ms = 0.0  # end of its last block
        self._last: CapturedFrame | None = None

    @property
    def holds_any(self) -> bool:
        return self._reorder.holds_any or self._anchor.holds_any

    def take(self, frame: CapturedFrame) -> list[_Placed]:
        reference_tick = frame.timestamp if self._tick is None else self._tick
        tick = self._tick = unwrap(frame.timestamp, reference_tick, 32)
        return self._let_go(self._reorder.put(frame.sequence, frame.at_ms, (tick, frame)))

    def tick(self, now_ms: float) -> list[_Placed]:
        return self._let_go(self._reorder.ready(now_ms)) + self._encode(self._anchor.tick(now_ms))

    def drain(self) -> list[_Placed]:
        return self._let_go(self._reorder.drain()) + self._encode(self._anchor.drain()) + self._end_run()

    def _let_go(self, released_frames: Sequence[tuple[int, tuple[int, CapturedFrame]]]) -> list[_Placed]:
        if released_frames and not self._anchor.is_set:
            self._anchor.set((tick, frame.at_ms) for _, (tick, frame) in released_frames)
        packets: list[_Placed] = []
        for missing, (tick, frame) in released_frames:
            self._counts.lost += missing
            if not frame.payload:
                self._counts.empty += 1
                continue
            self._follow_clock(tick, frame)
            length_ms = self._in_ms(len(frame.payload) // 2)
            packets += self._encode(self._anchor.place(tick, length_ms, frame.at_ms, frame))
        return packets

    def _follow_clock(self, tick: int, frame: CapturedFrame) -> None:
        if self._anchor.holds_any:
            return
        late_ms = self._anchor.excess_ms(tick, frame.at_ms)
        begins_run = self._end_ms > 0 and frame.at_ms - late_ms > self._anchor.end_ms + 1
        if begins_run:
            self._late_ms.clear()
        self._late_ms.append(late_ms)
        drift_ms = min(self._late_ms)
        is_known = len(self._late_ms) == DRIFT_BLOCKS
        if abs(drift_ms) > DRIFT_MS and (begins_run or (is_known and _peak(_samples(frame)) <= HUSHED)):
            self._anchor.follow(tick, drift_ms)
            self._late_ms.clear()

    def _encode(self, places: list[tuple[float, CapturedFrame]]) -> list[_Placed]:
        packets: list[_Placed] = []
        for start_ms, frame in places:
            if abs(start_ms - self._end_ms) > 1:
                packets += self._end_run()
            samples = _samples(frame)
            self._quiet = 0 if _peak(samples) > QUIET else self._quiet + 1
            if self._quiet > QUIET_BLOCKS_ENCODED or (self._quiet and self._encoder is None):
                packets += self._end_run()
            else:
                if self._encoder is None:
                    self._encoder, self._sent_ms = opus.PcmEncoder(self._rate), start_ms
                self._last = frame
                packets += self._stamp(self._encoder.encode(samples), frame)
            self._end_ms = start_ms + self._in_ms(len(samples))
        return packets

    def _end_run(self) -> list[_Placed]:
        if self._encoder is None or self._last is None:
            return []
        encoder, self._encoder = self._encoder, None
        return self._stamp(encoder.flush(), self._last)

    def _stamp(self, payloads: list[bytes], frame: CapturedFrame) -> list[_Placed]:
        packets = []
        for payload in payloads:
            packets.append((self._sent_ms, frame, payload))
            self._sent_ms += opus.PACKET_S * 1000
        return packets

    def _in_ms(self, samples: int) -> float:
        return samples * 1000 / self._rate


def _samples(frame: CapturedFrame) -> npt.NDArray[np.int16]:
    return np.frombuffer(frame.payload[: len(frame.payload) // 2 * 2], dtype="<i2").astype(np.int16)


def _peak(samples: npt.NDArray[np.int16]) -> int:
    return max(int(samples.max(initial=0)), -int(samples.min(initial=0)))
