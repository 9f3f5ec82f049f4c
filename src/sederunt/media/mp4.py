"""The outer structure of MP4 and QuickTime files: boxes one after another."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sederunt.errors import BrokenMedia


def end_of_whole_boxes(path: Path) -> int:
    """Return the end of the last complete box."""
    size, end = path.stat().st_size, 0
    with path.open("rb") as file:
        for _, _, box_end in boxes(file, size):
            end = box_end if box_end <= size else end
    return end


def boxes(file: IO[bytes], size: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the top-level boxes as (name, start of the content, end)."""
    at = 0
    while at + 8 <= size:
        file.seek(at)
        length, name = struct.unpack(">I4s", file.read(8))
        start = at + 8
        if length == 1:
            (length,) = struct.unpack(">Q", file.read(8).rjust(8, b"\0"))
            start = at + 16
        elif length == 0:
            length = size - at
        if length < start - at:
            raise BrokenMedia(f"The file is damaged near byte {at}.")
        yield name, start, at + length
        at += length
