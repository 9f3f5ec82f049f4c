"""The chunks of a WAV file: whether its sound continues after the stated end, or ends before it."""

import struct
from pathlib import Path

LONG = (b"RF64", b"BW64")  # their sizes have 64 bits and a chunk of their own
SLACK_BYTES = 4_096  # such small errors of sizes are common and harmless
# Live recorders write sizes from here up, or 0; `ds64` has the real size of a long file.
OPEN_SIZES = (0, 0x7FFF_F000)
_MOST_CHUNKS = 1_000


def understates(path: Path) -> bool:
    """Return whether sound continues after its stated end.

    A recorder that crashed leaves the sizes of its last update, or of its start.
    """
    end, size = stated_end(path), path.stat().st_size
    return end is not None and size - end > SLACK_BYTES and not _chunks_follow(path, end, size)


def stated_end(path: Path) -> int | None:
    """Return the stated end of the sound in bytes; None if the file leaves it open."""
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
    """Return whether only chunks follow between a position and the end of the file."""
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
