"""Fit a caller's picture into the frame of a bot's camera: whole, upright, on black, and small enough to send."""

import struct
from fractions import Fraction

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame as Picture

from sederunt.errors import UnsupportedMedia
from sederunt.media.layout import Tile, fit

WIDTH, HEIGHT = 1280, 720
MOST_PIXELS = 50_000_000  # a small file can hold a picture that fills all memory
QUALITY = 3  # of JPEG, 2 best to 31

_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "mjpeg"), (b"RIFF", "webp"))


def still(data: bytes) -> bytes:
    """Return a JPEG of WIDTH by HEIGHT. Raises UnsupportedMedia for anything but a PNG, JPEG or WebP picture."""
    codec = next((name for beginning, name in _BEGINNINGS if data.startswith(beginning)), None)
    if codec is None or (codec == "webp" and data[8:12] != b"WEBP"):
        raise UnsupportedMedia("Expected a PNG, JPEG or WebP picture.")
    try:
        return _jpeg(_framed(_decoded(data, codec), _orientation(data) if codec == "mjpeg" else 1))
    except (av.FFmpegError, ValueError, IndexError) as error:
        raise UnsupportedMedia(f"The picture cannot be read: {error}.") from error


def _decoded(data: bytes, codec: str) -> Picture:
    decoder = av.CodecContext.create(codec, "r")
    assert isinstance(decoder, VideoCodecContext)
    decoder.options = {"max_pixels": str(MOST_PIXELS)}
    decoder.thread_count = 1
    return (decoder.decode(av.Packet(data)) or decoder.decode(None))[0]


# EXIF orientation → steps through the stored rows and columns; from _ON_ITS_SIDE on, the two are then swapped.
_STEPS = {1: (1, 1), 2: (1, -1), 3: (-1, -1), 4: (-1, 1), 5: (1, 1), 6: (-1, 1), 7: (-1, -1), 8: (1, -1)}
_ON_ITS_SIDE = 5
_ORIENTATION = 0x0112  # the tag of TIFF
_EXIF, _SCAN = 0xE1, 0xDA  # segments of JPEG
_EXIF_BEGINNING = b"Exif\0\0"


def _orientation(jpeg: bytes) -> int:
    """Return the EXIF orientation of a JPEG; 1 (upright) if it has none that makes sense."""
    position = 2
    try:
        while jpeg[position] == 0xFF and jpeg[position + 1] != _SCAN:
            (length,) = struct.unpack_from(">H", jpeg, position + 2)
            content = jpeg[position + 4 : position + 2 + length]
            if jpeg[position + 1] == _EXIF and content.startswith(_EXIF_BEGINNING):
                return _orientation_of_tiff(content[len(_EXIF_BEGINNING) :])
            position += 2 + length
    except (IndexError, struct.error):  # cut short: left to the decoder
        pass
    return 1


def _orientation_of_tiff(tiff: bytes) -> int:
    order = "<" if tiff[:2] == b"II" else ">"
    (position,) = struct.unpack_from(f"{order}I", tiff, 4)
    (count,) = struct.unpack_from(f"{order}H", tiff, position)
    for entry in range(position + 2, position + 2 + 12 * count, 12):
        tag, _, _, value = struct.unpack_from(f"{order}HHIH", tiff, entry)
        if tag == _ORIENTATION:
            return value if value in _STEPS else 1
    return 1


def _framed(picture: Picture, orientation: int) -> Picture:
    is_on_its_side = orientation >= _ON_ITS_SIDE
    width, height = (picture.height, picture.width) if is_on_its_side else (picture.width, picture.height)
    place = fit(width, height, Tile(source="", x=0, y=0, width=WIDTH, height=HEIGHT))
    width, height = (place.height, place.width) if is_on_its_side else (place.width, place.height)
    pixels = picture.reformat(width=width, height=height, format="rgba").to_ndarray()
    rows, columns = _STEPS[orientation]
    upright = pixels[::rows, ::columns]
    upright = upright.swapaxes(0, 1) if is_on_its_side else upright
    # Transparent pixels become black.
    blended = upright[..., :3].astype(np.uint16) * upright[..., 3:] // 255
    canvas = Picture(WIDTH, HEIGHT, "rgb24").to_ndarray()
    canvas[:] = 0
    canvas[place.y : place.y + place.height, place.x : place.x + place.width] = blended
    return Picture.from_ndarray(canvas, format="rgb24")


def _jpeg(picture: Picture) -> bytes:
    encoder = av.CodecContext.create("mjpeg", "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, "yuvj420p"
    encoder.time_base = Fraction(1, 1)
    encoder.qmin = encoder.qmax = QUALITY
    converted = picture.reformat(format="yuvj420p")
    converted.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(converted), *encoder.encode(None)])
