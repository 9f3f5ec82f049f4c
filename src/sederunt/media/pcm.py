"""Read any recording as samples for the recogniser: 16 kHz, mono, correctly timed, in bounded blocks."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.audio.frame import AudioFrame
from av.container import InputContainer
from av.stream import Discard

from sederunt import log
from sederunt.errors import BrokenMedia, UnsupportedMedia
from sederunt.media import matroska
from sederunt.media.containers import heard_in, kind_of, open_media
from sederunt.media.joined import is_joined

RATE = 16_000
FULL_SCALE = 32_767 / 32_768
GAP_S = 0.05  # timestamps this far ahead of the sound mean missing sound; less is rounding
RUN_UP_S = 1.0  # decoded before the target of a seek, to let the decoder settle
# A mix subtracts its second signal once the sum has less than CANCELLED of the difference's power, and adds it again
# once the sum has more. Powers are averaged over MIX_MEMORY_S.
CANCELLED, MIX_MEMORY_S = 0.25, 0.1
LEAST_DECODED = 0.05  # decoded frames per refused packet; of noise, such as encrypted sound, one in hundreds decodes

Samples = npt.NDArray[np.float32]

logger = log.get(component="media")


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A stretch of sound; blocks are contiguous."""

    start_s: float  # from the start of the recording for our own files, else of the file
    samples: Samples  # 16 kHz, -1 to 1; mono unless channels were requested


def read_pcm(
    path: Path, *, start_s: float = 0.0, end_s: float | None = None, block_s: float = 30.0, channels: int = 1
) -> Iterator[Block]:
    """Yield the sound of a file between two moments, in blocks of `block_s` (the last one may be shorter).

    With `channels` = 2, samples have a column for each.

    The tracks chosen by `tracks.heard` are added up. Gaps and damaged packets become silence; damage is logged. Raises
    BrokenMedia if nothing can be decoded, UnsupportedMedia if there is no sound.
    """
    cutter = partial(
        _Cutter, round(start_s * RATE), None if end_s is None else round(end_s * RATE), round(block_s * RATE), channels
    )
    kind = kind_of(path)
    seeks = kind.exact_seek and start_s > 2 * RUN_UP_S and not is_joined(path, kind)
    with ExitStack() as stack:
        container = stack.enter_context(open_media(path, kind))
        tracks = [stream.index for stream in heard_in(container)]
        if not tracks:
            raise UnsupportedMedia("The file holds no sound.")
        # Each track opens the file itself, so that none is buffered until another one comes.
        containers = [container, *(stack.enter_context(open_media(path, kind)) for _ in tracks[1:])]
        sources = [
            _track(track_container, index, cutter(), start_s, seeks=seeks)
            for track_container, index in zip(containers, tracks, strict=True)
        ]
        yield from sources[0] if len(sources) == 1 else _sum(sources)


def origin_s(container: InputContainer) -> float:
    """Return the time at which a file's clock starts."""
    return 0.0 if matroska.is_recording(container) else (container.start_time or 0) / av.time_base


def _sum(sources: Sequence[Iterator[Block]]) -> Iterator[Block]:
    """Add up blocks that begin at the same times. Raises BrokenMedia if no source can be read."""
    remaining, faults = list(enumerate(sources)), list[BrokenMedia]()
    mixers = [PolarityMixer() for _ in sources]
    while remaining:
        blocks: list[tuple[PolarityMixer, Block]] = []
        for number, source in tuple(remaining):
            try:
                blocks.append((mixers[number], next(source)))
                continue
            except StopIteration:
                pass
            except BrokenMedia as fault:
                faults.append(fault)
            remaining.remove((number, source))
        if blocks:
            yield _added(blocks)
    if len(faults) == len(sources):
        raise faults[0]


def _added(blocks: Sequence[tuple["PolarityMixer", Block]]) -> Block:
    """Return the sum of blocks that begin together, as long as the longest, clipped at full scale."""
    longest = max((block for _, block in blocks), key=lambda block: len(block.samples))
    total = np.zeros_like(longest.samples)
    for mixer, block in blocks:
        end = len(block.samples)
        total[:end] = mixer.sum(total[:end], block.samples)
    return Block(start_s=longest.start_s, samples=np.clip(total, -1.0, FULL_SCALE))


class PolarityMixer:
    """Adds two signals so that they do not cancel, even if one is the other with inverted polarity."""

    def __init__(self) -> None:
        self._power = self._product = 0.0
        self._sign = np.float32(1)

    def sum(self, first: Samples, second: Samples) -> Samples:
        """Return the next samples of the mix."""
        step = round(MIX_MEMORY_S * RATE)
        mix = np.empty_like(first)
        for at in range(0, len(first), step):
            part = slice(at, at + step)
            self._look(first[part], second[part])
            mix[part] = first[part] + self._sign * second[part]
        return mix

    def _look(self, first: Samples, second: Samples) -> None:
        flat_first, flat_second = first.reshape(-1), second.reshape(-1)
        remaining = np.exp(-len(first) / (MIX_MEMORY_S * RATE))
        self._power = remaining * self._power + float(flat_first @ flat_first + flat_second @ flat_second)
        self._product = remaining * self._product + 2 * float(flat_first @ flat_second)
        if self._power + self._product < CANCELLED * (self._power - self._product):
            self._sign = np.float32(-1)
        elif self._product > 0:
            self._sign = np.float32(1)


def _track(container: InputContainer, index: int, cutter: "_Cutter", start_s: float, *, seeks: bool) -> Iterator[Block]:
    begins_s = origin_s(container)
    if seeks:
        try:
            container.seek(int((begins_s + start_s - RUN_UP_S) * av.time_base))
        except av.FFmpegError:  # a file without an index is read from its beginning
            container.seek(0)
    packets = _packets(container, index, begins_s + start_s if seeks else None)
    for at_s, samples in _runs(_frames(packets, sought=start_s > 0), begins_s, cutter.channels):
        yield from cutter.put(round(at_s * RATE), samples)
        if cutter.is_full:
            break
    yield from cutter.rest()


def _packets(container: InputContainer, index: int, sought_s: float | None) -> Iterator[Any]:
    """Yield the packets of a track, after an optional seek in the file.

    The seek follows one track; if another one's packets begin later than sought, it is read from the file's beginning.
    """
    for stream in container.streams:
        if stream.index != index:
            stream.discard = Discard.all
    packets = container.demux(container.streams[index])
    packet = _next(packets)
    if sought_s is not None and len(container.streams.audio) > 1 and not _is_before(packet, sought_s):
        container.seek(0)
        packets = container.demux(container.streams[index])
        packet = _next(packets)
    while packet is not None:
        yield packet
        packet = _next(packets)


def _is_before(packet: Any, at_s: float) -> bool:
    return packet is not None and packet.pts is not None and bool(packet.pts * packet.time_base <= at_s)


def _frames(packets: Iterator[Any], *, sought: bool) -> Iterator[AudioFrame]:
    frame_count, damaged_count = 0, 0
    for packet in packets:
        try:
            frames = packet.decode()
        except av.FFmpegError:
            damaged_count += 1
            continue
        frame_count += len(frames)
        for frame in frames:
            assert isinstance(frame, AudioFrame)
            yield frame
    if damaged_count:
        logger.warning(
            "packets could not be decoded", action="packets_skipped", damaged=damaged_count, decoded=frame_count
        )
    if frame_count < damaged_count * LEAST_DECODED and not sought:
        raise BrokenMedia("The sound of the file cannot be decoded: it is damaged, or encrypted.")


def _next(packets: Iterator[Any]) -> Any:  # the media library's own generic packet type cannot be named at run time
    """Return the next packet; None at the end, even of a file that is cut short."""
    try:
        return next(packets, None)
    except av.FFmpegError as error:
        logger.warning("file ended early", action="file_ended_early", reason=error.strerror)
        return None


def _runs(frames: Iterator[AudioFrame], begins_s: float, channels: int) -> Iterator[tuple[float, Samples]]:
    """Yield (start in seconds, resampled stretch). A gap in the timestamps begins a new run."""
    run: _ResampledRun | None = None
    stretch_count, refusal = 0, ""
    for frame in frames:
        at_s = None if frame.time is None else frame.time - begins_s
        if run is None or not run.takes(frame, at_s):
            if run is not None:
                yield from run.end()
            run = _ResampledRun(frame, at_s if at_s is not None else run.input_end_s if run else 0.0, channels)
        try:
            stretches = list(run.add(frame))
        except av.FFmpegError as error:  # damage decoded to an impossible format
            run, refusal = None, str(error.strerror)
            continue
        stretch_count += len(stretches)
        yield from stretches
    if run is not None:
        yield from run.end()
    if refusal and not stretch_count:
        raise BrokenMedia(f"The sound of the file makes no sense: it is damaged, or encrypted ({refusal}).")


class _ResampledRun:
    """Contiguous frames, through one resampler."""

    def __init__(self, first_frame: AudioFrame, start_s: float, channels: int) -> None:
        self._start_s, self._rate, self._form = start_s, first_frame.sample_rate, _form(first_frame)
        self._taken = self._given = 0
        self._channels = channels
        # The resampler would add channels even if they cancel.
        self._mixer = PolarityMixer() if channels == 1 and first_frame.layout.nb_channels > 1 else None
        # 16 bit, since only then does the resampler keep a sum of channels within full scale.
        layout = "mono" if channels == 1 and self._mixer is None else "stereo"
        self._resampler = av.AudioResampler(format="s16", layout=layout, rate=RATE)

    @property
    def input_end_s(self) -> float:
        return self._start_s + self._taken / self._rate

    def takes(self, frame: AudioFrame, at_s: float | None) -> bool:
        return _form(frame) == self._form and (at_s is None or at_s - self.input_end_s <= GAP_S)

    def add(self, frame: AudioFrame) -> Iterator[tuple[float, Samples]]:
        self._taken += frame.samples
        frame.pts = None  # times are tracked here; the resampler must not fill gaps
        yield from self._given_by(frame)

    def end(self) -> Iterator[tuple[float, Samples]]:
        yield from self._given_by(None)

    def _given_by(self, frame: AudioFrame | None) -> Iterator[tuple[float, Samples]]:
        for resampled in self._resampler.resample(frame):
            interleaved = resampled.to_ndarray()[0]  # two channels interleaved
            samples = np.multiply(interleaved, np.float32(1 / 32_768), dtype=np.float32)
            if self._mixer is not None:
                mean = self._mixer.sum(samples[::2], samples[1::2]) / 2
                samples = np.rint(mean * 32_768) / np.float32(32_768)  # 16 bit, as everywhere
            elif self._channels > 1:
                samples = samples.reshape(-1, self._channels)
            yield self._start_s + self._given / RATE, samples
            self._given += len(samples)


def _form(frame: AudioFrame) -> tuple[int, str, str]:
    return frame.sample_rate, frame.layout.name, frame.format.name


class _Cutter:
    """Puts samples at their place and cuts the requested range into blocks."""

    def __init__(self, start: int, end: int | None, block: int, channels: int) -> None:
        self._at, self._end, self._block = start, end, block  # in samples; `_at` is the start of the next block
        self.channels = channels
        self._columns = () if channels == 1 else (channels,)
        self._parts: list[Samples] = []
        self._length = 0

    @property
    def is_full(self) -> bool:
        return self._end is not None and self._at + self._length >= self._end

    def put(self, at: int, samples: Samples) -> Iterator[Block]:
        """Add samples that begin here, or where the last ones ended if that is later; yields finished blocks."""
        end = self._at + self._length
        if at < end and at + len(samples) <= end and self._length == 0:
            return  # before the requested range
        if self._length == 0 and at < end:
            samples = samples[end - at :]
        while at > (end := self._at + self._length) and not self.is_full:
            yield from self._append(np.zeros((min(at - end, self._block), *self._columns), dtype=np.float32))
        yield from self._append(samples)

    def rest(self) -> Iterator[Block]:
        if self._length:
            yield self._cut(self._length)

    def _append(self, samples: Samples) -> Iterator[Block]:
        if self._end is not None:
            samples = samples[: max(0, self._end - self._at - self._length)]
        self._parts.append(samples)
        self._length += len(samples)
        while self._length >= self._block:
            yield self._cut(self._block)

    def _cut(self, length: int) -> Block:
        samples = np.concatenate(self._parts)
        block = Block(start_s=self._at / RATE, samples=samples[:length])
        self._parts = [samples[length:]]
        self._length -= length
        self._at += length
        return block
