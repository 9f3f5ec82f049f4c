"""The chunks of a WAV file: whether its sound goes on behind the stated end, or ends before it."""

import struct
from pathlib import Path

LONG = (b"RF64", b"BW64")  # their sizes are 64 bits long and stand in a chunk of their own
SLACK_BYTES = 4_096  # sizes that are wrong by so little are common, and harmless
# Sizes from here up, and none, are what live recorders write; `ds64` has the real one of a long file.
OPEN_SIZES = (0, 0x7FFF_F000)
_MOST_CHUNKS = 1_000


def understates(path: Path) -> bool:
    """Return whether sound goes on behind the end that the file states for it.

    A recorder that crashed leaves the sizes of its last update, or of its start.
    """
    end, size = stated_end(path), path.stat().st_size
    return end is not None and size - end > SLACK_BYTES and not _chunks_follow(path, end, size)


def stated_end(path: Path) -> int | None:
    """Return where the file says that its sound ends, in bytes; None where it leaves that open."""
    with path.open("rb") as file:
        is_long = file.read(12)[:4] in LONG
        long_size = 0
        for _ in range(_MOST_CHUNKS):
            head = file.read(8)
            if len(head) < 8:
                return None
            name, length = struct.unpack("<4sI", head)
            if name == b"data":
                length = long_size if is_long and length == 0xFFFF_FFFF else length
                is_open = length == 0 if is_long else not OPEN_SIZES[0] < length < OPEN_SIZES[1]
                return None if is_open else file.tell() + length
            if name == b"ds64" and length >= 16:
                (long_size,) = struct.unpack("<8xQ", file.read(16))
                file.seek(length - 16, 1)
            else:
                file.seek(length, 1)
            file.seek(length % 2, 1)
    return None


def _chunks_follow(path: Path, at: int, size: int) -> bool:
    """Return whether nothing but chunks stands between a place and the end of the file."""
    with path.open("rb") as file:
        at += at % 2
        for _ in range(_MOST_CHUNKS):
            if size - at <= SLACK_BYTES:
                return True
            file.seek(at)
            name, length = struct.unpack("<4sI", file.read(8))
            if not all(32 <= byte < 127 for byte in name):
                return False
            at += 8 + length + length % 2
            if at > size + 1:
                return False
    return False
