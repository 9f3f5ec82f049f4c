"""Determine what a file holds from its content, and what is wrong with it, in a sentence for its sender."""

import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

import av
from av.audio.stream import AudioStream
from av.container import InputContainer

from sederunt.errors import BrokenMedia, UnsupportedMedia
from sederunt.media import matroska, wav
from sederunt.media.containers import ContainerKind, heard_in, kind_of, open_media
from sederunt.media.facts import MediaFacts
from sederunt.media.joined import is_joined
from sederunt.media.mp4 import boxes
from sederunt.media.pcm import GAP_S, origin_s

PACKETS_TRIED = 100  # of each sound track; one of them must decode
COUNT_FROM_ZERO = ("matroska", "ogg")  # these demuxers; others state a length from the first packet on
TAIL_S = 2.0  # a file must have content this near to its stated end
FLAC_TAIL_S = 0.5  # FLAC counts its samples
MOST_INDEX_BYTES = 64 * 1024 * 1024
MOST_PARTS = 10_000  # most top-level boxes or elements; a day's recording in fragments of 10 s has 8,640


def probe(path: Path) -> MediaFacts:
    """Return the facts of a file. It reads no more than the duration requires, and decodes a moment of the sound.

    Raises UnsupportedMedia for an unknown format or a file without sound, BrokenMedia for one that is empty, encrypted,
    damaged, or cut so short that nothing can be read.
    """
    kind = kind_of(path)
    lacks_bytes = _lacks_bytes(path, kind)
    may_understate = kind.name == "wav" and wav.understates(path)
    with open_media(path, kind) as container:
        if not container.streams.audio:
            stream_types = ", ".join(sorted({stream.type for stream in container.streams})) or "nothing"
            raise UnsupportedMedia(f"The file holds no sound, only: {stream_types}.")
        _check_decodes(container)
    has_joins = is_joined(path, kind)
    with open_media(path, kind) as container:
        tracks = heard_in(container)
        counts_packets = lacks_bytes or may_understate
        duration_s, stated_s = _duration_s(container, kind, has_joins=has_joins, counts_packets=counts_packets)
        ends_early = lacks_bytes or _ends_before(duration_s, stated_s, kind)
        if len(tracks) < len(container.streams.audio):
            excluded_tracks = [stream for stream in container.streams.audio if stream not in tracks]
            duration_s = min(duration_s, _end_without(container, excluded_tracks))
        if duration_s <= 0:
            raise BrokenMedia("The file holds no sound: its length is 0 seconds.")
        return MediaFacts(
            container=kind.name,
            duration_s=round(duration_s, 3),
            has_audio=True,
            # A cover picture is no video.
            has_video=any(
                not stream.disposition & av.stream.Disposition.attached_pic for stream in container.streams.video
            ),
            codec=tracks[0].codec_context.codec.canonical_name,
            channels=max(stream.codec_context.channels for stream in tracks),
            tracks=len(container.streams.audio),
            joined=has_joins,
            ends_early=ends_early,
            stated_s=round(stated_s, 3) if ends_early or may_understate else None,
        )


def _check_decodes(container: InputContainer) -> None:
    """Raise BrokenMedia unless part of a chosen sound track can be decoded."""
    tracks = heard_in(container)
    attempts = {stream.index: 0 for stream in tracks}
    try:
        for packet in container.demux(*tracks):
            attempts[packet.stream.index] += 1
            try:
                if attempts[packet.stream.index] <= PACKETS_TRIED and packet.decode():
                    return
            except av.FFmpegError:
                pass
            if min(attempts.values()) >= PACKETS_TRIED:
                break
    except av.FFmpegError as error:
        raise BrokenMedia(f"The sound of the file cannot be read: {error.strerror}.") from error
    if max(attempts.values()) <= 1:  # a track's end marker
        raise BrokenMedia("The file holds no sound: there is a track, and nothing in it.")
    raise BrokenMedia("The sound of the file cannot be decoded: it is damaged, or encrypted.")


def _duration_s(
    container: InputContainer, kind: ContainerKind, *, has_joins: bool, counts_packets: bool
) -> tuple[float, float]:
    """Return the duration and the stated one. The stated one is used if it is right; else all packets are counted.

    Args:
        counts_packets: whether to count packets in any case.
    """
    begins_s = origin_s(container)
    stated_s = (container.duration or 0) / av.time_base
    if kind.demuxer in COUNT_FROM_ZERO:
        stated_s -= max(0.0, begins_s)
    if stated_s <= 0 or kind.name == "mp3":  # an MP3 states nothing or guesses from its bit rate
        reached_s = _last_end_s(container)
        return reached_s, reached_s
    if counts_packets:
        return _last_end_s(container), stated_s
    if stated_s > 2 * TAIL_S and not has_joins:
        container.seek(int((begins_s + stated_s - TAIL_S) * av.time_base))
    reached_s = _last_end_s(container)
    # Nothing there: the file ends earlier, or FFmpeg's seek missed, as in WAV with ADPCM.
    if reached_s <= 0 < stated_s or _ends_before(reached_s, stated_s, kind):
        container.seek(0)
        reached_s = _last_end_s(container)
    if _ends_before(reached_s, stated_s, kind):
        return reached_s, stated_s
    # Header and packets' times both come from the sender; the longer duration is what would be read. Some writers of
    # Matroska state it from the first packet on. In WAV with ADPCM the packets' times are estimates.
    differs_by_s = GAP_S if has_joins or kind.demuxer in COUNT_FROM_ZERO else TAIL_S
    return reached_s if reached_s > stated_s + differs_by_s else stated_s, stated_s


def _ends_before(reached_s: float, stated_s: float, kind: ContainerKind) -> bool:
    tail_s = FLAC_TAIL_S if kind.name == "flac" else TAIL_S
    return stated_s > 2 * tail_s and reached_s < stated_s - tail_s


def _end_without(container: InputContainer, excluded_tracks: Collection[AudioStream]) -> float:
    """Return the end of the last packet outside these tracks."""
    container.seek(0)
    return _last_end_s(container, excluded_tracks)


def _last_end_s(container: InputContainer, excluded_tracks: Collection[AudioStream] = ()) -> float:
    """Return the end of the last packet, in seconds from the file's start."""
    begins_s = origin_s(container)
    excluded_indexes = {stream.index for stream in excluded_tracks}
    ends = {stream.index: _SoundEnd() for stream in container.streams.audio}
    end_s = 0.0
    try:
        for packet in container.demux():
            if packet.time_base is None or packet.stream.index in excluded_indexes:
                continue
            at_s = None if packet.pts is None else float(packet.pts * packet.time_base) - begins_s
            lasts_s = float((packet.duration or 0) * packet.time_base)
            if at_s is None and not lasts_s and packet.stream.index in ends:
                lasts_s = _decoded_s(packet)
            if packet.stream.index in ends:
                ends[packet.stream.index].move(at_s, lasts_s)
            elif at_s is not None:
                end_s = max(end_s, at_s + lasts_s)
    except av.FFmpegError:
        pass  # keep what was read so far
    return max(end_s, *(end.reached_s for end in ends.values()))


def _decoded_s(packet: Any) -> float:  # as in `pcm`
    """Return the length of a packet's sound by decoding it: FLAC has an untimed packet where two files were joined."""
    try:
        return float(sum(frame.samples / frame.sample_rate for frame in packet.decode()))
    except av.FFmpegError:
        return 0.0


class _SoundEnd:
    """The end of a track's sound when decoded: a packet behind its time is played after the sound before it."""

    def __init__(self) -> None:
        self.reached_s = 0.0
        self._clock_s: float | None = None  # end of the last packet, by its own time

    def move(self, at_s: float | None, lasts_s: float) -> None:
        """Count a packet that begins at `at_s`, if known."""
        if self._clock_s is None:
            self.reached_s = self._clock_s = at_s or 0.0
        at_s = self._clock_s if at_s is None else at_s
        is_adjacent = abs(at_s - self._clock_s) <= GAP_S
        previous_s, self._clock_s = self._clock_s, at_s + lasts_s
        if at_s - self.reached_s > GAP_S:
            self.reached_s = self._clock_s
        elif is_adjacent:  # times and lengths are rounded: adding the lengths would add up the errors
            self.reached_s += max(0.0, self._clock_s - previous_s)
        else:
            self.reached_s += lasts_s


def _lacks_bytes(path: Path, kind: ContainerKind) -> bool:
    """Return whether the file states a greater length. Raises BrokenMedia if it states that it is encrypted."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if kind.name == "wav":
            end = wav.stated_end(path)
            return end is not None and end - size > wav.SLACK_BYTES
        if kind.demuxer == "mov":
            return _lacks_boxes(file, size)
        return kind.demuxer == "matroska" and _lacks_elements(file.read(MOST_INDEX_BYTES), size)


def _lacks_boxes(file: IO[bytes], size: int) -> bool:
    has_index = is_cut = False
    for count, (name, start, end) in enumerate(boxes(file, size)):
        _refuse_crumbs(count)
        is_cut = end > size
        if name == b"moov" and not is_cut:
            has_index = True
            file.seek(start)
            index = file.read(min(end - start, MOST_INDEX_BYTES))
            if _is_encrypted(index):
                raise BrokenMedia("The sound of the file is encrypted.")
    if not has_index:
        raise BrokenMedia("The file has no index (moov): its recording was not finished, or it was cut short.")
    return is_cut


# The path inside the index (moov) to the table of sample kinds; and that table's names of encrypted sound.
_WAY_TO_SAMPLE_KINDS = (b"trak", b"mdia", b"minf", b"stbl", b"stsd")
_ENCRYPTED = (b"enca", b"drms")


def _is_encrypted(index: bytes) -> bool:
    """Return whether the sound of any track is encrypted."""
    ranges = [(0, len(index))]
    for box_name in _WAY_TO_SAMPLE_KINDS:
        ranges = [
            (start, end) for outer in ranges for name, start, end in _inner_boxes(index, *outer) if name == box_name
        ]
    # A version, a count, and the first entry's length stand before its name.
    return any(index[start + 12 : min(start + 16, end)] in _ENCRYPTED for start, end in ranges)


def _inner_boxes(index: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the boxes inside another as (name, start of the content, end); stops at an invalid one."""
    while at + 8 <= end:
        length, name = struct.unpack_from(">I4s", index, at)
        if length < 8:
            return
        yield name, at + 8, min(at + length, end)
        at += length


def _refuse_crumbs(count: int) -> None:
    if count >= MOST_PARTS:
        raise BrokenMedia(f"The file consists of more than {MOST_PARTS:,} parts: it is damaged, or made to do harm.")


def _lacks_elements(head: bytes, size: int) -> bool:
    segment = matroska.first_segment(head)
    if segment is None:
        raise BrokenMedia("The file is damaged: its Matroska header leads nowhere.")
    is_cut = segment.end is not None and segment.end > size
    parts = matroska.elements(head, segment.start, min(segment.end or size, len(head)))
    for count, element in enumerate(parts):
        _refuse_crumbs(count)
        if element.id == matroska.TRACKS and element.end is not None:
            if matroska.is_encrypted(head, element):
                raise BrokenMedia("The sound of the file is encrypted.")
            return is_cut
        if element.id == matroska.CLUSTER:
            return is_cut
    return is_cut
