"""Encoded pictures of participants and shared screens: their place in the recording, and their pieces.

Nothing is decoded during the meeting. A source begins with its first key frame. A receiver delivers complete frames in
order, so only the clock has to be followed.
"""

import io
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from operator import attrgetter
from typing import cast

import av
from av.container import OutputContainer
from av.video.stream import VideoStream

from sederunt import log
from sederunt.errors import BrokenMedia
from sederunt.media import av1, matroska
from sederunt.media.anchor import Anchor
from sederunt.media.sequence import Counts, Reorder, unwrap
from sederunt.model.audio import CapturedFrame, Codec

PER_MS = 90.0  # RTP's clock of all video
TIME_BASE = Fraction(1, 1000)
# Codec → its decoder. The decoder "av1" needs a graphics card.
VIDEO_CODECS: Mapping[Codec, str] = {Codec.VP8: "vp8", Codec.VP9: "vp9", Codec.H264: "h264", Codec.AV1: "libdav1d"}
ALL_VIDEO = frozenset((*VIDEO_CODECS, Codec.OTHER_VIDEO))
logger = log.get(component="media")

_CODECS_BY_NAME = {name: codec for codec, name in VIDEO_CODECS.items()}
_FOUR_LETTERS = {Codec.VP8: b"VP80", Codec.VP9: b"VP90", Codec.AV1: b"AV01"}


@dataclass(frozen=True, kw_only=True, slots=True)
class VideoFrame:
    """One encoded picture at its place in the recording."""

    source: str  # CSRC in decimal where there is exactly one, else "track-<n>"
    start: float  # seconds from the start of the recording
    codec: Codec
    keyframe: bool
    payload: bytes  # H.264 with start codes


class VideoTimeline:
    """Turns arriving frames into the pictures of one recording. Frames of unsupported codecs are counted."""

    def __init__(self, recording_started_ms: float) -> None:
        self._started_ms = recording_started_ms
        self._counts = Counts()
        self._streams: dict[tuple[int, int], _VideoStream] = {}
        self._begun: set[tuple[str, Codec]] = set()
        self._sources: dict[str, int] = {}
        self._other = 0

    def add(self, frames: Iterable[CapturedFrame]) -> list[VideoFrame]:
        """Take a batch; returns the pictures placed now, by start."""
        placements: list[tuple[float, CapturedFrame]] = []
        for frame in frames:
            if frame.codec not in VIDEO_CODECS:
                self._other += 1
            elif frame.payload:
                key = (frame.track, frame.ssrc)
                stream = self._streams.get(key)
                if stream is None:
                    stream = self._streams[key] = _VideoStream(self._counts)
                placements.extend(stream.take(frame))
        return self._pictures(placements)

    def flush(self) -> list[VideoFrame]:
        """Return all held pictures, at the end of the recording."""
        return self._pictures([placed_frame for stream in self._streams.values() for placed_frame in stream.drain()])

    def facts(self) -> Mapping[str, object]:
        """Return counts: placed pictures, clock jumps, frames of `other` codecs, and pictures per source."""
        counts = asdict(self._counts)
        shown_counts = {name: counts[name] for name in ("packets", "anchored_again", "early")}
        return {**shown_counts, "other": self._other, "sources": self._sources}

    def _pictures(self, placements: Sequence[tuple[float, CapturedFrame]]) -> list[VideoFrame]:
        pictures: list[VideoFrame] = []
        for start_ms, frame in placements:
            source = str(frame.csrcs[0]) if len(frame.csrcs) == 1 else f"track-{frame.track}"
            track_key = (source, frame.codec)
            if start_ms < self._started_ms:
                self._counts.early += 1
                self._begun.discard(track_key)  # later frames depend on it: wait for the next key frame
                continue
            if frame.keyframe:
                self._begun.add(track_key)
            if track_key not in self._begun:
                continue
            self._counts.packets += 1
            self._sources[source] = self._sources.get(source, 0) + 1
            start = (start_ms - self._started_ms) / 1000
            pictures.append(
                VideoFrame(
                    source=source, start=start, codec=frame.codec, keyframe=frame.keyframe, payload=frame.payload
                )
            )
        pictures.sort(key=attrgetter("start"))
        return pictures


class _VideoStream:
    """One SSRC. The first 200 ms are held, to anchor by the least delayed frame: key frames are slow."""

    def __init__(self, counts: Counts) -> None:
        self._order: Reorder[tuple[int, CapturedFrame]] = Reorder(Counts())
        self._anchor: Anchor[CapturedFrame] = Anchor(PER_MS, counts)
        self._tick: int | None = None
        self._number = 0

    def take(self, frame: CapturedFrame) -> list[tuple[float, CapturedFrame]]:
        reference_tick = frame.timestamp if self._tick is None else self._tick
        tick = self._tick = unwrap(frame.timestamp, reference_tick, 32)
        self._number += 1  # pages give video frames no reliable sequence
        return self._place(self._order.put(self._number & 0xFFFF, frame.at_ms, (tick, frame)))

    def drain(self) -> list[tuple[float, CapturedFrame]]:
        return self._place(self._order.drain()) + self._anchor.drain()

    def _place(
        self, released_frames: Sequence[tuple[int, tuple[int, CapturedFrame]]]
    ) -> list[tuple[float, CapturedFrame]]:
        if released_frames and not self._anchor.is_set:
            self._anchor.set((tick, frame.at_ms) for _, (tick, frame) in released_frames)
        return [
            placed_frame
            for _, (tick, frame) in released_frames
            for placed_frame in self._anchor.place(tick, 0.0, frame.at_ms, frame)
        ]


class VideoPieces:
    """Writes pieces of one recording. Keeps each source's last key frame for the headers of pieces."""

    def __init__(self) -> None:
        self._templates: dict[tuple[str, Codec], VideoStream] = {}

    def write(self, frames: Sequence[VideoFrame]) -> bytes:
        """Write a Matroska file of these frames, one track per source and codec.

        A source whose first key frame is damaged is left out. Raises ValueError for no frames, BrokenMedia if none is
        left.
        """
        if not frames:
            raise ValueError("A piece needs at least one frame.")
        frames = [frame for frame in frames if frame.codec is not Codec.AV1 or av1.is_whole(frame.payload)]
        self._learn({(frame.source, frame.codec): frame for frame in frames if frame.keyframe})
        frames = [frame for frame in frames if (frame.source, frame.codec) in self._templates]
        if not frames:
            raise BrokenMedia("None of the frames can be decoded: no source began with a sound key frame.")
        file = io.BytesIO()
        with av.open(file, "w", format="matroska") as container:
            matroska.mark_as_recording(container)
            names = sorted({(frame.source, frame.codec) for frame in frames})
            streams = {name: add_video_track(container, name[0], self._templates[name]) for name in names}
            container.start_encoding()
            for frame in sorted(frames, key=attrgetter("start")):
                container.mux_one(to_video_mux(frame, streams[frame.source, frame.codec]))
        return file.getvalue()

    def _learn(self, keyframes: Mapping[tuple[str, Codec], VideoFrame]) -> None:
        for name, frame in keyframes.items():
            try:
                self._templates[name] = describe(frame)
            except BrokenMedia as error:
                logger.warning("key frame was damaged", action="keyframe_refused", source=name[0], reason=str(error))


def read_video_piece(data: bytes, *, salvage: bool = False) -> list[VideoFrame]:
    """Return the frames of a piece, by start. BrokenMedia and `salvage` as in `read_piece`."""
    if not salvage:
        matroska.check_whole(data)
    frames: list[VideoFrame] = []
    try:
        frames.extend(_frames(data))
    except (av.FFmpegError, ValueError) as error:
        if not salvage:
            raise BrokenMedia(f"A video piece of {len(data)} bytes cannot be read: {error}.") from error
    frames.sort(key=attrgetter("start"))
    return frames


def add_video_track(container: OutputContainer, source: str, template: VideoStream) -> VideoStream:
    """Add a video track like `template`, to be filled by `to_video_mux`."""
    stream = container.add_stream_from_template(template, opaque=True)
    stream.metadata["title"] = source
    return stream


def to_video_mux(frame: VideoFrame, stream: VideoStream) -> "av.Packet[VideoStream]":
    """Return the frame in the muxer's form."""
    mux_packet = cast("av.Packet[VideoStream]", av.Packet(frame.payload))
    mux_packet.stream = stream
    mux_packet.time_base = TIME_BASE
    mux_packet.pts = mux_packet.dts = round(frame.start * 1000)
    mux_packet.is_keyframe = frame.keyframe
    return mux_packet


def _frames(data: bytes) -> Iterator[VideoFrame]:
    with av.open(io.BytesIO(data), "r", format="matroska") as container:
        for packet in container.demux():
            if packet.pts is None or not packet.size:
                continue
            name = packet.stream.codec_context.name if isinstance(packet.stream, VideoStream) else ""
            codec = _CODECS_BY_NAME.get(name)
            if codec is None:
                raise BrokenMedia(f"Expected a video piece, found a track of {name or packet.stream.type}.")
            payload = bytes(packet)
            yield VideoFrame(
                source=packet.stream.metadata.get("title", f"track-{packet.stream.index}"),
                start=float(packet.pts * packet.time_base),
                codec=codec,
                keyframe=packet.is_keyframe,
                payload=with_start_codes(payload) if codec is Codec.H264 else payload,
            )


def with_start_codes(payload: bytes) -> bytes:
    """Turn H.264 from a file's form (lengths of four bytes) back into the sent form (start codes)."""
    at, units = 0, []
    while at + 4 <= len(payload):
        (length,) = struct.unpack_from(">I", payload, at)
        units.append(b"\0\0\0\1" + payload[at + 4 : at + 4 + length])
        at += 4 + length
    return b"".join(units)


def describe(frame: VideoFrame) -> VideoStream:
    """Return a stream with this key frame's codec, size and parameter sets. Raises BrokenMedia if it has none.

    The muxer takes these only from another stream, so one is read from a file made here.
    """
    if frame.codec is Codec.H264:
        file, kind = frame.payload, "h264"
    else:
        start = struct.pack("<HH4sHHIII", 0, 32, _FOUR_LETTERS[frame.codec], *_size(frame), 30, 1, 1)
        file = b"DKIF" + start + bytes(4) + struct.pack("<IQ", len(frame.payload), 0) + frame.payload
        kind = "ivf"
    try:
        stream = av.open(io.BytesIO(file), "r", format=kind).streams.video[0]
    except (av.FFmpegError, IndexError) as error:
        raise BrokenMedia(f"A key frame of {len(frame.payload)} bytes tells no picture: {error}.") from error
    if not (stream.codec_context.width and stream.codec_context.height):
        raise BrokenMedia(f"A key frame of {len(frame.payload)} bytes tells no size.")
    return stream


def _size(frame: VideoFrame) -> tuple[int, int]:
    """Return width and height: VP8 has them in its first ten bytes; for others the demuxer finds them."""
    if frame.codec is Codec.VP8 and len(frame.payload) >= 10:
        width, height = struct.unpack_from("<HH", frame.payload, 6)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
