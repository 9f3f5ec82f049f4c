"""Pictures that callers give for a bot's camera."""

import io
import struct
import zlib
from fractions import Fraction

import av
import numpy as np
import numpy.typing as npt
import pytest
from av.video.codeccontext import VideoCodecContext

from harness.painted import picture
from sederunt.errors import UnsupportedMedia
from sederunt.media.camera_image import HEIGHT, WIDTH, still

RED = (200, 30, 40)


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
@pytest.mark.parametrize(("width", "height"), [(320, 320), (64, 480), (1920, 400)])
def test_any_shape_becomes_one_wide_frame_with_the_picture_whole_in_the_middle(
    kind: str, width: int, height: int
) -> None:
    shown = _shown(still(picture(RED, kind, width, height)))
    assert shown.shape == (HEIGHT, WIDTH, 3)
    assert shown[HEIGHT // 2, WIDTH // 2].tolist() == pytest.approx(RED, abs=40)
    edges = [shown[2, 2], shown[-2, -2]]
    assert all(edge.tolist() == pytest.approx((0, 0, 0), abs=12) for edge in edges)


# Orientation → where the white corner of the stored picture, its upper left one, is seen: (lower half, right half).
CORNERS = {1: (0, 0), 2: (0, 1), 3: (1, 1), 4: (1, 0), 5: (0, 0), 6: (0, 1), 7: (1, 1), 8: (1, 0)}


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", [*CORNERS, 0, 9])
def test_a_photograph_is_turned_as_its_camera_says(orientation: int, order: str) -> None:
    pixels = np.zeros((320, 640, 3), np.uint8)
    pixels[:160, :320] = 255
    photograph = _with_orientation(_encoded(pixels, "rgb24", "mjpeg", "yuvj420p"), orientation, order)
    shown = _shown(still(photograph)).mean(axis=2)
    width, height = (360, 720) if 5 <= orientation <= 8 else (1280, 640)
    top, left = (HEIGHT - height) // 2, (WIDTH - width) // 2
    seen = [
        (lower, right)
        for lower in (0, 1)
        for right in (0, 1)
        if shown[top + height * (1 + 2 * lower) // 4, left + width * (1 + 2 * right) // 4] > 128
    ]
    assert seen == [CORNERS.get(orientation, (0, 0))]


@pytest.mark.parametrize("tiff", [b"", b"MM\0*", b"II*\0\xff\xff\xff\xff", b"MM\0*\0\0\0\x08\xff\xff"])
def test_exif_that_makes_no_sense_is_passed_over(tiff: bytes) -> None:
    photograph = _with_exif(picture(RED, "jpeg", 640, 360), tiff)
    assert _shown(still(photograph))[HEIGHT // 2, WIDTH // 2].tolist() == pytest.approx(RED, abs=40)


@pytest.mark.parametrize(("alpha", "green"), [(0, 0), (128, 128), (255, 255)])
def test_what_is_transparent_lies_on_black(alpha: int, green: int) -> None:
    pixels = np.zeros((360, 640, 4), np.uint8)
    pixels[..., 1], pixels[..., 3] = 255, alpha
    shown = _shown(still(_encoded(pixels, "rgba", "png", "rgba")))
    assert shown[HEIGHT // 2, WIDTH // 2].tolist() == pytest.approx((0, green, 0), abs=12)


def _shown(jpeg: bytes) -> npt.NDArray[np.uint8]:
    with av.open(io.BytesIO(jpeg), "r", format="jpeg_pipe") as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24").astype(np.uint8)


def _encoded(pixels: npt.NDArray[np.uint8], form: str, codec: str, coded_form: str) -> bytes:
    encoder = av.CodecContext.create(codec, "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.height, encoder.width = pixels.shape[:2]
    encoder.pix_fmt, encoder.time_base = coded_form, Fraction(1, 1)
    frame = av.VideoFrame.from_ndarray(pixels, format=form).reformat(format=coded_form)
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


def _with_orientation(jpeg: bytes, orientation: int, order: str) -> bytes:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return _with_exif(jpeg, mark + struct.pack(f"{order}IHHHIHH", 8, 1, 0x0112, 3, 1, orientation, 0))


def _with_exif(jpeg: bytes, tiff: bytes) -> bytes:
    content = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content + jpeg[2:]


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
