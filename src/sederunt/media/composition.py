"""After the meeting: combine the stored pictures and the mixed sound into one WebM to watch.

The frames of a single source are copied, if WebM supports their codec. Otherwise all are decoded, laid out and encoded
anew, in a thread of low priority.
"""

import os
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
import numpy.typing as npt
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame as Picture
from av.video.stream import VideoStream

from sederunt.media import matroska
from sederunt.media.layout import Canvas, Spoke, Stage, Tile, arrange, fit
from sederunt.media.spool import FittedPiece, Spool
from sederunt.media.video import (
    VIDEO_CODECS,
    VideoFrame,
    add_video_track,
    describe,
    read_video_piece,
    to_video_mux,
)
from sederunt.model.audio import Codec

SEEN_S = 5.0  # a source silent for this long has switched its camera off
STILL_S = 1.0  # interval at which an unchanged picture is written
BIT_RATE = 900_000
KEYFRAME_S = 5
NICENESS = 15
WEBM_CODECS = frozenset({Codec.VP8, Codec.VP9, Codec.AV1})

Planes = npt.NDArray[np.uint8]  # I420: luma rows, then both colours, as one image of 3/2 the height


@dataclass(frozen=True, kw_only=True, slots=True)
class CompositionFacts:
    duration_s: float
    sources: tuple[str, ...]
    frames_read: int
    frames_written: int
    composed: bool  # False if the only source was copied without decoding
    damaged_pieces: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VideoLayout:
    """What the pictures themselves do not contain."""

    duration_s: float
    spoken: Sequence[Spoke] = ()
    screens: Collection[str] = ()  # sources that are shared screens
    canvas: Canvas = field(default_factory=Canvas)


def compose(
    pieces: Iterable[bytes | FittedPiece[VideoFrame]],
    *,
    audio: Path,
    target: Path,
    layout: VideoLayout,
    progress: Callable[[float], None] | None = None,
) -> CompositionFacts:
    """Write `target` (WebM) from video pieces in any order and the mixed recording `audio`, whose packets are copied.

    Without any picture the target holds only the sound.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="compose", initializer=_step_back) as executor:
        return executor.submit(_compose, pieces, audio, target, layout, progress).result()


def _step_back() -> None:
    """Lower this thread's priority, and with it that of the encoder's threads. It cannot be raised again."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _compose(
    pieces: Iterable[bytes | FittedPiece[VideoFrame]],
    audio: Path,
    target: Path,
    layout: VideoLayout,
    progress: Callable[[float], None] | None,
) -> CompositionFacts:
    with tempfile.TemporaryFile(dir=target.parent) as scratch:
        spool = Spool(scratch, lambda data, salvage: read_video_piece(data, salvage=salvage))
        spool.fill(pieces)
        first_frames: dict[tuple[str, Codec], VideoFrame] = {}
        for frame in spool.items():
            if frame.keyframe:
                first_frames.setdefault((frame.source, frame.codec), frame)
        is_only_source = len(first_frames) == 1 and next(iter(first_frames))[1] in WEBM_CODECS
        with _File(target, audio) as file:
            if is_only_source:
                writer: _TakenOver | _Composed = _TakenOver(file, next(iter(first_frames.values())))
            else:
                writer = _Composed(file, layout, has_pictures=bool(first_frames))
            frames_read = 0
            for frame in spool.items():
                if frame.start < layout.duration_s:
                    frames_read += 1
                    writer.take(frame)
                    if progress and frames_read % 500 == 0:
                        progress(frame.start / layout.duration_s)
            writer.finish(layout.duration_s)
    if progress:
        progress(1.0)
    return CompositionFacts(
        duration_s=layout.duration_s,
        sources=tuple(sorted({source for source, _ in first_frames})),
        frames_read=frames_read,
        frames_written=writer.written,
        composed=not is_only_source and bool(first_frames),
        damaged_pieces=spool.damaged,
    )


class _File:
    """The WebM being written: sound is added as the pictures advance, so that the two are interleaved."""

    def __init__(self, target: Path, audio: Path) -> None:
        self.container: OutputContainer = av.open(str(target), "w", format="webm")
        matroska.mark_as_recording(self.container)
        self._source: InputContainer = av.open(str(audio), "r", format="matroska")
        self._sound: AudioStream = self.container.add_stream_from_template(self._source.streams.audio[0], opaque=True)
        self._packets = self._source.demux(self._source.streams.audio[0])
        self._waiting: av.Packet[AudioStream] | None = None

    def advance(self, to_s: float) -> None:
        """Add the sound before this second."""
        while (packet := self._waiting or next(self._packets, None)) is not None:
            self._waiting = None
            if packet.pts is None:
                continue
            if packet.pts * packet.time_base >= to_s:
                self._waiting = packet
                return
            packet.stream = self._sound
            self.container.mux_one(packet)

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.advance(float("inf"))
        finally:
            self.container.close()
            self._source.close()


class _TakenOver:
    """Copies the only source's frames."""

    def __init__(self, file: _File, first_frame: VideoFrame) -> None:
        self._file = file
        self._stream = add_video_track(file.container, first_frame.source, describe(first_frame))
        self.written = 0

    def take(self, frame: VideoFrame) -> None:
        self._file.advance(frame.start)
        self._file.container.mux_one(to_video_mux(frame, self._stream))
        self.written += 1

    def finish(self, duration_s: float) -> None:
        """Finish the file: nothing follows the last frame."""


class _Composed:
    """All sources on one canvas."""

    def __init__(self, file: _File, layout: VideoLayout, *, has_pictures: bool) -> None:
        self._file, self._canvas = file, layout.canvas
        self._stream = _encoder(file.container, layout.canvas) if has_pictures else None
        self._gallery = Gallery()
        self._stage = Stage(layout.spoken, layout.screens)
        self._number = self.written = 0
        self._shown: object = None
        self._shown_s = 0.0

    def take(self, frame: VideoFrame) -> None:
        self._render_until(frame.start)
        self._gallery.show(frame)

    def finish(self, duration_s: float) -> None:
        self._render_until(duration_s)
        if self._stream is not None:
            for packet in self._stream.encode(None):
                self._file.container.mux_one(packet)

    def _render_until(self, end_s: float) -> None:
        while self._stream is not None and (at_s := self._number / self._canvas.fps) < end_s:
            self._render(at_s)
            self._number += 1

    def _render(self, at_s: float) -> None:
        visible = self._gallery.visible(at_s)
        main = self._stage.main(at_s, visible)
        tiles = [] if main is None else arrange(main, [source for source in visible if source != main], self._canvas)
        tile_versions = [(tile, self._gallery.version(tile.source)) for tile in tiles]
        if tile_versions == self._shown and at_s - self._shown_s < STILL_S:
            return
        self._shown, self._shown_s = tile_versions, at_s
        self._file.advance(at_s)
        assert self._stream is not None
        picture = Picture.from_ndarray(self._gallery.paint(tiles, self._canvas), format="yuv420p")
        picture.pts, picture.time_base = self._number, Fraction(1, self._canvas.fps)
        for packet in self._stream.encode(picture):
            self._file.container.mux_one(packet)
        self.written += 1


class Gallery:
    """The latest picture of each source."""

    def __init__(self) -> None:
        self._decoders: dict[tuple[str, Codec], VideoCodecContext] = {}
        self._pictures: dict[str, Picture] = {}
        self._versions: dict[str, int] = {}
        self._seen: dict[str, float] = {}
        self._scaled: dict[str, tuple[Tile, int, Planes]] = {}

    def show(self, frame: VideoFrame) -> None:
        """Decode a frame; a damaged one changes nothing."""
        decoder = self._decoders.get((frame.source, frame.codec))
        if decoder is None:
            context = av.CodecContext.create(VIDEO_CODECS[frame.codec], "r")
            assert isinstance(context, VideoCodecContext)
            context.thread_count = 1
            context.flags |= av.codec.context.Flags.low_delay
            decoder = self._decoders[frame.source, frame.codec] = context
        try:
            pictures = decoder.decode(av.Packet(frame.payload))
        except av.FFmpegError:
            return
        for picture in pictures:
            self._pictures[frame.source] = picture
            self._versions[frame.source] = self._versions.get(frame.source, 0) + 1
            self._seen[frame.source] = frame.start

    def visible(self, at_s: float) -> list[str]:
        """Return sources with a recent picture, in the order of their first one."""
        return [source for source in self._versions if at_s - self._seen[source] < SEEN_S]

    def version(self, source: str) -> int:
        """Return a number that grows with each picture of the source."""
        return self._versions.get(source, 0)

    def paint(self, tiles: Iterable[Tile], canvas: Canvas) -> Planes:
        """Return the pictures in their tiles on black."""
        height, width = canvas.height, canvas.width
        planes = np.full((height * 3 // 2, width), 128, dtype=np.uint8)
        planes[:height] = 16
        colours = planes[height:].reshape(2, height // 2, width // 2)
        for tile in tiles:
            place, picture = self._fitted(tile)
            luma_rows, half = place.height, place.width // 2
            planes[place.y : place.y + luma_rows, place.x : place.x + place.width] = picture[:luma_rows]
            inner = picture[luma_rows:].reshape(2, luma_rows // 2, half)
            colours[:, place.y // 2 : (place.y + luma_rows) // 2, place.x // 2 : place.x // 2 + half] = inner
        return planes

    def _fitted(self, tile: Tile) -> tuple[Tile, Planes]:
        picture = self._pictures[tile.source]
        place = fit(picture.width, picture.height, tile)
        cached = self._scaled.get(tile.source)
        if cached is not None and cached[0] == place and cached[1] == self._versions[tile.source]:
            return place, cached[2]
        scaled = picture.reformat(width=place.width, height=place.height, format="yuv420p").to_ndarray()
        planes = cast("Planes", scaled)
        self._scaled[tile.source] = (place, self._versions[tile.source], planes)
        return place, planes


def _encoder(container: OutputContainer, canvas: Canvas) -> VideoStream:
    options = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "error-resilient": "0"}
    stream = container.add_stream("libvpx", rate=canvas.fps, options=options)
    stream.width, stream.height, stream.pix_fmt = canvas.width, canvas.height, "yuv420p"
    stream.bit_rate = BIT_RATE
    stream.codec_context.gop_size = KEYFRAME_S * canvas.fps
    stream.codec_context.time_base = Fraction(1, canvas.fps)
    return stream
