"""Matroska's outer structure (EBML, RFC 8794), as far as needed to tell a complete file from a damaged one."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from av.container import Container, OutputContainer

from sederunt.errors import BrokenMedia

EBML, SEGMENT, CLUSTER, TRACKS, CRC_32 = 0x1A45DFA3, 0x18538067, 0x1F43B675, 0x1654AE6B, 0xBF
CONTENT_ENCRYPTION = 0x5035
_WAY_TO_ENCRYPTION = (0xAE, 0x6D80, 0x6240, CONTENT_ENCRYPTION)  # track, its encodings, one of them, its encryption
_OURS = ("timeline", "recording")


@dataclass(frozen=True, kw_only=True, slots=True)
class Element:
    id: int
    start: int  # of its content
    end: int | None  # None if the size is left open, as by live recorders


def mark_as_recording(container: OutputContainer) -> None:
    """Mark the file's times as counted from the start of the recording, not from the first packet."""
    container.metadata[_OURS[0]] = _OURS[1]


def is_recording(container: Container) -> bool:
    """Return whether `mark_as_recording` was applied to this file."""
    tags = {key.lower(): value for key, value in container.metadata.items()}
    return tags.get(_OURS[0]) == _OURS[1]


def check_whole(data: bytes) -> None:
    """Raise BrokenMedia unless `data` is one complete Matroska file whose checksums fit."""
    segment = first_segment(data)
    if segment is None:
        raise BrokenMedia(f"Expected a Matroska file, found {len(data)} bytes of something else.")
    if segment.end is None or segment.end > len(data):
        raise BrokenMedia(f"The file ends early: {len(data)} of {segment.end or 'an unknown number of'} bytes.")
    for element in elements(data, segment.start, segment.end):
        if element.end is None or element.end > segment.end:
            raise BrokenMedia(f"The file is damaged near byte {element.start}: an element is longer than the file.")
        _check_sum(data, element.start, element.end)


def first_segment(data: bytes) -> Element | None:
    """Return the element after the header, which holds all others; None if `data` is no Matroska file."""
    header = next_element(data, 0)
    if header is None or header.id != EBML or header.end is None:
        return None
    segment = next_element(data, header.end)
    return None if segment is None or segment.id != SEGMENT else segment


def is_encrypted(data: bytes, tracks: Element) -> bool:
    """Return whether any track is encrypted."""
    level = [tracks]
    for element_id in _WAY_TO_ENCRYPTION:
        level = [
            inner
            for outer in level
            if outer.end is not None
            for inner in elements(data, outer.start, min(outer.end, len(data)))
            if inner.id == element_id
        ]
    return bool(level)


def elements(data: bytes, start: int, end: int) -> Iterator[Element]:
    """Yield the elements between two positions, up to one without a size. Raises BrokenMedia where none begins."""
    at: int | None = start
    while at is not None and at < end:
        element = next_element(data, at)
        if element is None:
            raise BrokenMedia(f"The file is damaged near byte {at}: no element begins there.")
        yield element
        at = element.end


def next_element(data: bytes, at: int) -> Element | None:
    """Return the element that begins at this position, or None."""
    identifier, size_at = _number(data, at, with_marker=True)
    size, start = _number(data, size_at, with_marker=False)
    if identifier is None or size is None:
        return None
    is_open = size == (1 << 7 * (start - size_at)) - 1
    return Element(id=identifier, start=start, end=None if is_open else start + size)


def _number(data: bytes, at: int, *, with_marker: bool) -> tuple[int | None, int]:
    if at >= len(data) or not data[at]:
        return None, at
    length = 9 - data[at].bit_length()
    if at + length > len(data):
        return None, at
    value = int.from_bytes(data[at : at + length], "big")
    return (value if with_marker else value & (1 << 7 * length) - 1), at + length


def _check_sum(data: bytes, start: int, end: int) -> None:
    crc = next_element(data, start)
    if crc is None or crc.id != CRC_32 or crc.end is None:
        return
    if int.from_bytes(data[crc.start : crc.end], "little") != zlib.crc32(memoryview(data)[crc.end : end]):
        raise BrokenMedia(f"The file is damaged between bytes {start} and {end}: the checksum does not fit.")
