"""Recordings concatenated byte by byte, as by `cat`: each has its own clock."""

from pathlib import Path
from typing import IO

from sederunt.media import matroska
from sederunt.media.containers import ContainerKind

CHUNK_BYTES = 1024 * 1024

# Demuxer that continues with the next recording → how one begins. (MP3 has no clock: its frames are counted anyway.)
_BEGINNINGS = {
    "ogg": (b"OggS\0\2",),
    "flac": (b"fLaC\0\0\0\x22", b"fLaC\x80\0\0\x22"),
    "matroska": (b"\x1a\x45\xdf\xa3",),
}


def is_joined(path: Path, kind: ContainerKind) -> bool:
    """Return whether another recording may begin inside this one; if so, its times and seeking are unreliable.

    The four bytes may occur by chance: the only consequence is that we read all packets ourselves.
    """
    beginnings = _BEGINNINGS.get(kind.demuxer, ())
    if not beginnings:
        return False
    with path.open("rb") as file:
        if kind.demuxer == "matroska" and _fills_file(file, path.stat().st_size):
            return False
        file.seek(1)
        return _holds(file, beginnings)


def _fills_file(file: IO[bytes], size: int) -> bool:
    segment = matroska.first_segment(file.read(CHUNK_BYTES))
    return segment is not None and segment.end is not None and segment.end >= size


def _holds(file: IO[bytes], patterns: tuple[bytes, ...]) -> bool:
    overlap = max(map(len, patterns)) - 1
    window = b""
    while chunk := file.read(CHUNK_BYTES):
        window += chunk
        if any(pattern in window for pattern in patterns):
            return True
        window = window[-overlap:]
    return False
