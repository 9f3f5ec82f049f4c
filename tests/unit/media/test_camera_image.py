"""Pictures that callers give for a bot's camera."""

import io
import struct
import zlib

import av
import pytest

from harness.painted import picture
from sederunt.errors import UnsupportedMedia
from sederunt.media.camera_image import HEIGHT, WIDTH, still

RED = (200, 30, 40)


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
@pytest.mark.parametrize(("width", "height"), [(320, 320), (64, 480), (1920, 400)])
def test_any_shape_becomes_one_wide_frame_with_the_picture_whole_in_the_middle(
    kind: str, width: int, height: int
) -> None:
    made = still(picture(RED, kind, width, height))
    with av.open(io.BytesIO(made), "r", format="jpeg_pipe") as container:
        shown = next(container.decode(video=0)).to_ndarray(format="rgb24")
    assert shown.shape == (HEIGHT, WIDTH, 3)
    assert shown[HEIGHT // 2, WIDTH // 2].tolist() == pytest.approx(RED, abs=40)
    edges = [shown[2, 2], shown[-2, -2]]
    assert all(edge.tolist() == pytest.approx((0, 0, 0), abs=12) for edge in edges)


@pytest.mark.parametrize(
    "data", [b"", b"GIF89a", b"RIFF0000WAVE", b"\x89PNG\r\n\x1a\n" + b"x" * 99, picture(RED)[:60], b"\xff\xd8\xff\xd9"]
)
def test_what_is_no_picture_is_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(UnsupportedMedia, match=r"picture"):
        still(data)


def test_a_small_file_that_would_fill_the_memory_is_refused() -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    with pytest.raises(UnsupportedMedia):
        still(bomb)
