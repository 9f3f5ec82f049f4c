"""Put captured frames at their place in the recording: in order, without repeats, and count losses.

Nothing is decoded, as RTP has all information: the sequence tells loss from silence, the timestamp gives the place to
the sample, the contributing sources tell who speaks. A lost frame is restored from a later RED envelope if possible. A
step of the timestamp without a gap in the sequence is the sender's silence (DTX), not loss.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter

from sederunt.errors import BrokenMedia
from sederunt.media import opus
from sederunt.media.anchor import Anchor
from sederunt.media.duplicate_tracks import DuplicateTracks
from sederunt.media.sequence import Counts, Reorder, unwrap
from sederunt.media.worklet import RATES, Blocks
from sederunt.model.audio import CapturedFrame, Codec, Packet

SPAN_GAP_S = 0.1  # stretches of one source with shorter gaps are joined
OPUS_PER_MS = opus.RATE / 1000
MOST_STREAMS = 64  # most SSRCs remembered; those abandoned long ago are forgotten

_Placed = tuple[float, CapturedFrame, bytes]  # Unix milliseconds, the captured frame, one Opus packet


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch in which one source contributed to a mixed track."""

    source: str  # the CSRC in decimal
    track: str  # "track-<n>", whose packets hold the mixed sound
    start: float  # seconds from the start of the recording
    end: float
    level: float | None  # the mix's highest level meanwhile, 0 to 1; None if no frame had one


class Timeline:
    """Turns arriving frames into the packets of one recording.

    Args:
        recording_started_ms: Unix milliseconds of the recording's zero, on the clock of the frames' `at_ms`.
    """

    def __init__(self, recording_started_ms: float) -> None:
        self._started_ms = recording_started_ms
        self._counts = Counts()
        self._streams: dict[tuple[int, int, bool], _OpusStream | Blocks] = {}
        self._track_end_ms: dict[int, float] = {}
        self._twins: DuplicateTracks[_Placed] = DuplicateTracks()
        self._mixed: set[int] = set()  # tracks that had several sources at once
        self._sources: dict[str, int] = {}
        self._other = 0
        self._now_ms = 0.0
        self._open: dict[tuple[int, int], Span] = {}
        self._closed: list[Span] = []

    def add(self, frames: Iterable[CapturedFrame], *, now_ms: float | None = None) -> list[Packet]:
        """Take a batch in order of arrival; returns the packets placed now, by start.

        Without loss only the first 200 ms of each sender are held back. `now_ms` (Unix milliseconds) releases held
        frames when nothing more arrives.
        """
        packets: list[Packet] = []
        for frame in frames:
            stream = self._stream_of(frame)
            if stream is None:
                self._other += 1
                continue
            if frame.at_ms > self._now_ms:
                self._now_ms = frame.at_ms
            self._place(stream.take(frame), packets)
        if now_ms is not None and now_ms > self._now_ms:
            self._now_ms = now_ms
        for stream in self._streams.values():
            if stream.holds_any:
                self._place(stream.tick(self._now_ms), packets)
        if self._twins.holds_any:
            self._keep(self._twins.due(self._now_ms), packets)
        packets.sort(key=attrgetter("start"))
        return packets

    def flush(self) -> list[Packet]:
        """Return all held packets, at the end of the recording."""
        packets: list[Packet] = []
        for stream in self._streams.values():
            self._place(stream.drain(), packets)
        self._keep(self._twins.due(math.inf), packets)
        packets.sort(key=attrgetter("start"))
        return packets

    def facts(self) -> Mapping[str, object]:
        """Return the counts of `Counts`, frames of `other` codecs, and packets per source under `sources`."""
        self._counts.twins = self._twins.left_out
        return {**asdict(self._counts), "other": self._other, "sources": dict(self._sources)}

    def spans(self, since_s: float = 0.0) -> Sequence[Span]:
        """Return who contributed to mixed tracks and when, by start, without those that ended before a moment."""
        spans = (span for span in (*self._closed, *self._open.values()) if span.end >= since_s)
        return sorted(spans, key=attrgetter("start", "source"))

    def _stream_of(self, frame: CapturedFrame) -> "_OpusStream | Blocks | None":
        is_pcm = frame.codec is Codec.PCM16
        key = (frame.track, frame.ssrc, is_pcm)
        stream = self._streams.get(key)
        if stream is not None:
            return stream
        if not (frame.ssrc in RATES if is_pcm else frame.codec in (Codec.OPUS, Codec.RED)):
            return None
        self._forget_the_oldest()
        not_before_ms = self._track_end_ms.get(frame.track, 0.0)
        stream = self._streams[key] = (
            Blocks(self._counts, not_before_ms, rate=frame.ssrc) if is_pcm else _OpusStream(self._counts, not_before_ms)
        )
        return stream

    def _forget_the_oldest(self) -> None:
        if len(self._streams) >= MOST_STREAMS:
            idle = [key for key, stream in self._streams.items() if not stream.holds_any]
            for key in idle[: len(idle) // 2]:
                del self._streams[key]

    def _place(self, placements: Sequence[_Placed], packets: list[Packet]) -> None:
        """Add these to `packets`, except those before the recording and repeats."""
        for item in placements:
            start_ms, frame, payload = item
            if start_ms < self._started_ms - 0.5:
                self._counts.early += 1
                continue
            kept_items = self._twins.sift(frame.track, payload, item, at_ms=start_ms, now_ms=self._now_ms)
            self._keep(kept_items, packets)

    def _keep(self, placements: Sequence[_Placed], packets: list[Packet]) -> None:
        for start_ms, frame, payload in placements:
            duration = opus.packet_samples(payload) / opus.RATE
            start = (start_ms - self._started_ms) / 1000
            source, voices = self._source_of(frame)
            self._counts.packets += 1
            self._sources[source] = self._sources.get(source, 0) + 1
            end_ms = start_ms + duration * 1000
            if end_ms > self._track_end_ms.get(frame.track, 0.0):
                self._track_end_ms[frame.track] = end_ms
            if voices:
                self._note_spans(frame, source, start, start + duration)
            packets.append(
                Packet(
                    source=source,
                    start=max(0.0, start),
                    duration=duration,
                    payload=payload,
                    level=frame.level,
                    voices=voices,
                )
            )

    def _source_of(self, frame: CapturedFrame) -> tuple[str, tuple[str, ...]]:
        """Return (source, contributors if it is mixed).

        Once a track has had several sources together, it stays whole: cut at every change of voice, shared moments
        would become incomprehensible fragments.
        """
        if len(frame.csrcs) > 1:
            self._mixed.add(frame.track)
        if frame.track in self._mixed:
            return f"track-{frame.track}", tuple(str(csrc) for csrc in frame.csrcs)
        return (str(frame.csrcs[0]) if frame.csrcs else f"track-{frame.track}"), ()

    def _note_spans(self, frame: CapturedFrame, track: str, start: float, end: float) -> None:
        for csrc in frame.csrcs:
            span = self._open.get((frame.track, csrc))
            if span is not None and span.start - SPAN_GAP_S <= start <= span.end + SPAN_GAP_S:
                level = span.level if frame.level is None else max(span.level or 0.0, frame.level)
                stretch = min(start, span.start), max(end, span.end)
            else:
                level, stretch = frame.level, (start, end)
                if span is not None:
                    self._closed.append(span)
            self._open[frame.track, csrc] = Span(
                source=str(csrc), track=track, start=stretch[0], end=stretch[1], level=level
            )


class _OpusStream:
    """One SSRC of Opus or RED frames."""

    def __init__(self, counts: Counts, not_before_ms: float) -> None:
        self._counts = counts
        self._reorder: Reorder[tuple[int, bytes, CapturedFrame]] = Reorder(counts)
        self._anchor: Anchor[tuple[CapturedFrame, bytes]] = Anchor(OPUS_PER_MS, counts, not_before_ms)
        self._tick: int | None = None  # the last timestamp, unwrapped
        self._end = -(1 << 62)  # tick at which the last released packet ends
        self._spare: dict[int, bytes] = {}  # packets from RED envelopes, by tick

    @property
    def holds_any(self) -> bool:
        return self._reorder.holds_any or self._anchor.holds_any

    def take(self, frame: CapturedFrame) -> list[_Placed]:
        reference_tick = frame.timestamp if self._tick is None else self._tick
        tick = self._tick = unwrap(frame.timestamp, reference_tick, 32)
        payload = self._open_envelope(tick, frame.payload) if frame.codec is Codec.RED else frame.payload
        return self._let_go(self._reorder.put(frame.sequence, frame.at_ms, (tick, payload, frame)))

    def tick(self, now_ms: float) -> list[_Placed]:
        placements = self._let_go(self._reorder.ready(now_ms))
        placements.extend((start_ms, frame, payload) for start_ms, (frame, payload) in self._anchor.tick(now_ms))
        return placements

    def drain(self) -> list[_Placed]:
        placements = self._let_go(self._reorder.drain())
        placements.extend((start_ms, frame, payload) for start_ms, (frame, payload) in self._anchor.drain())
        return placements

    def _open_envelope(self, tick: int, envelope: bytes) -> bytes:
        """Return a RED frame's primary packet; keep its other packets while their places may still be empty."""
        if not envelope:
            return b""
        try:
            *older, primary = opus.unpack_red(envelope)
        except BrokenMedia:
            self._counts.damaged += 1
            return b""
        for block in older:
            if block.payload and tick - block.offset >= self._end:
                self._spare.setdefault(tick - block.offset, block.payload)
        return primary.payload

    def _let_go(self, released_frames: Sequence[tuple[int, tuple[int, bytes, CapturedFrame]]]) -> list[_Placed]:
        if released_frames and not self._anchor.is_set:
            self._anchor.set((tick, frame.at_ms) for _, (tick, _, frame) in released_frames)
        placements: list[_Placed] = []
        for missing, (tick, payload, frame) in released_frames:
            if missing:
                placements.extend(self._fill_gap(missing, tick, frame))
            samples = self._samples_of(payload, frame)
            if not samples:
                continue
            if tick == self._end - samples:  # the same packet under a new sequence number
                self._counts.duplicates += 1
                continue
            placements.extend(self._send(tick, samples, frame.at_ms, frame, payload))
        return placements

    def _samples_of(self, payload: bytes, frame: CapturedFrame) -> int:
        if not frame.payload:
            self._counts.empty += 1
            return 0
        samples = opus.packet_samples(payload)
        if not samples and payload:
            self._counts.damaged += 1
        return samples

    def _send(
        self, tick: int, samples: int, at_ms: float | None, frame: CapturedFrame, payload: bytes
    ) -> list[_Placed]:
        self._end = tick + samples
        if self._spare:
            self._spare = {at: spare for at, spare in self._spare.items() if at >= self._end}
        places = self._anchor.place(tick, samples / OPUS_PER_MS, at_ms, (frame, payload))
        return [(start_ms, placed_frame, packet) for start_ms, (placed_frame, packet) in places]

    def _fill_gap(self, missing: int, gap_end: int, frame: CapturedFrame) -> list[_Placed]:
        """Fill the gap before `frame` from RED's repeats; count the rest as lost."""
        placements: list[_Placed] = []
        filled_count = 0
        for tick, payload in sorted(self._spare.items()):
            samples = opus.packet_samples(payload)
            if filled_count < missing and samples and self._end <= tick and tick + samples <= gap_end:
                placements.extend(self._send(tick, samples, None, frame, payload))
                filled_count += 1
        self._counts.recovered += filled_count
        self._counts.lost += missing - filled_count
        return placements
