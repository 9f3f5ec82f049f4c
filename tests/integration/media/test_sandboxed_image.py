"""Callers' pictures are drawn by a process that can be spared."""

import contextlib
import resource
import struct
import zlib

import pytest

from harness.painted import picture
from sederunt.errors import MediaError, UnsupportedMedia
from sederunt.media.sandboxed_image import sandboxed_image

PNG = picture((200, 30, 40), "png", 64, 64)
HEAD = 33  # the signature, and the chunk that must come first


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


async def test_a_picture_that_unpacks_to_gigabytes_costs_its_reader_alone() -> None:
    """What is packed are texts beside the picture, which itself is small and good."""
    text = b"\0\0" + zlib.compress(bytes(20_000_000), 9)
    texts = [chunk(b"zTXt", str(number).encode() + text) for number in range(100)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with contextlib.suppress(MediaError):  # what was read until then may be enough for it
        await sandboxed_image(PNG[:HEAD] + b"".join(texts) + PNG[HEAD:])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
    assert (await sandboxed_image(PNG)).startswith(b"\xff\xd8\xff")
    with pytest.raises(UnsupportedMedia, match="Expected a PNG, JPEG or WebP picture"):
        await sandboxed_image(b"GIF89a")
