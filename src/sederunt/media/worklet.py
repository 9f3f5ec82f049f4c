"""Blocks of samples from the worklet backend, made into Opus packets on the same timeline."""

from collections.abc import Sequence

import numpy as np

from sederunt.media import opus
from sederunt.media.anchor import Anchor
from sederunt.media.sequence import Counts, Reorder, unwrap
from sederunt.model.audio import CapturedFrame

PCM_PER_MS = opus.PCM_RATE / 1000
QUIET = 1  # a block with no sample beyond this holds digital silence
QUIET_BLOCKS_ENCODED = 2  # so that the encoder can fade; after these nothing is sent, as with DTX

_Placed = tuple[float, CapturedFrame, bytes]


class Blocks:
    """One track's PCM16 frames, each stamped by the page with the time of its first sample.

    A missing block, or a run of silence, ends a run of packets; sound begins the next.
    """

    def __init__(self, counts: Counts, not_before_ms: float) -> None:
        self._counts = counts
        self._reorder: Reorder[tuple[int, CapturedFrame]] = Reorder(counts)
        self._anchor: Anchor[CapturedFrame] = Anchor(PCM_PER_MS, counts, not_before_ms)
        self._tick: int | None = None
        self._quiet = 0  # silent blocks in a row
        self._encoder: opus.PcmEncoder | None = None
        self._sent_ms = 0.0  # where the encoder's next packet starts
        self._end_ms = 0.0  # where its last block ended
        self._last: CapturedFrame | None = None

    @property
    def holds_any(self) -> bool:
        return self._reorder.holds_any or self._anchor.holds_any

    def take(self, frame: CapturedFrame) -> list[_Placed]:
        near = frame.timestamp if self._tick is None else self._tick
        tick = self._tick = unwrap(frame.timestamp, near, 32)
        return self._let_go(self._reorder.put(frame.sequence, frame.at_ms, (tick, frame)))

    def tick(self, now_ms: float) -> list[_Placed]:
        return self._let_go(self._reorder.ready(now_ms)) + self._encode(self._anchor.tick(now_ms))

    def drain(self) -> list[_Placed]:
        return self._let_go(self._reorder.drain()) + self._encode(self._anchor.drain()) + self._end_run()

    def _let_go(self, released: Sequence[tuple[int, tuple[int, CapturedFrame]]]) -> list[_Placed]:
        if released and not self._anchor.is_set:
            self._anchor.set((tick, frame.at_ms) for _, (tick, frame) in released)
        packets: list[_Placed] = []
        for missing, (tick, frame) in released:
            self._counts.lost += missing
            if not frame.payload:
                self._counts.empty += 1
                continue
            packets += self._encode(self._anchor.place(tick, _length_ms(frame), frame.at_ms, frame))
        return packets

    def _encode(self, places: list[tuple[float, CapturedFrame]]) -> list[_Placed]:
        packets: list[_Placed] = []
        for start_ms, frame in places:
            if abs(start_ms - self._end_ms) > 1:
                packets += self._end_run()
            samples = np.frombuffer(frame.payload[: len(frame.payload) // 2 * 2], dtype="<i2").astype(np.int16)
            self._quiet = 0 if np.abs(samples).max(initial=0) > QUIET else self._quiet + 1
            if self._quiet > QUIET_BLOCKS_ENCODED or (self._quiet and self._encoder is None):
                packets += self._end_run()
            else:
                packets += self._feed(start_ms, samples, frame)
            self._end_ms = start_ms + len(samples) / PCM_PER_MS
        return packets

    def _feed(
        self, start_ms: float, samples: "np.ndarray[tuple[int], np.dtype[np.int16]]", frame: CapturedFrame
    ) -> list[_Placed]:
        if self._encoder is None:
            self._encoder, self._sent_ms = opus.PcmEncoder(), start_ms
        self._last = frame
        return self._stamp(self._encoder.encode(samples), frame)

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


def _length_ms(frame: CapturedFrame) -> float:
    return len(frame.payload) // 2 / PCM_PER_MS
