"""Fit a caller's picture into the frame of a bot's camera: whole, centred, and small enough to pass on."""

from fractions import Fraction

import av
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame as Picture

from sederunt.errors import UnsupportedMedia
from sederunt.media.layout import Tile, fit

WIDTH, HEIGHT = 1280, 720
MOST_PIXELS = 50_000_000  # a small file can hold a picture that fills the memory
QUALITY = 3  # of JPEG, 2 best to 31

_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "mjpeg"), (b"RIFF", "webp"))


def still(data: bytes) -> bytes:
    """Return a JPEG of WIDTH by HEIGHT. Raises UnsupportedMedia for anything but a PNG, JPEG or WebP picture."""
    codec = next((name for beginning, name in _BEGINNINGS if data.startswith(beginning)), None)
    if codec is None or (codec == "webp" and data[8:12] != b"WEBP"):
        raise UnsupportedMedia("Expected a PNG, JPEG or WebP picture.")
    try:
        return _jpeg(_framed(_decoded(data, codec)))
    except (av.FFmpegError, ValueError, IndexError) as error:
        raise UnsupportedMedia(f"The picture cannot be read: {error}.") from error


def _decoded(data: bytes, codec: str) -> Picture:
    decoder = av.CodecContext.create(codec, "r")
    assert isinstance(decoder, VideoCodecContext)
    decoder.options = {"max_pixels": str(MOST_PIXELS)}
    decoder.thread_count = 1
    return (decoder.decode(av.Packet(data)) or decoder.decode(None))[0]


def _framed(picture: Picture) -> Picture:
    place = fit(picture.width, picture.height, Tile(source="", x=0, y=0, width=WIDTH, height=HEIGHT))
    small = picture.reformat(width=place.width, height=place.height, format="rgb24").to_ndarray()
    canvas = Picture(WIDTH, HEIGHT, "rgb24").to_ndarray()
    canvas[:] = 0
    canvas[place.y : place.y + place.height, place.x : place.x + place.width] = small
    return Picture.from_ndarray(canvas, format="rgb24")


def _jpeg(picture: Picture) -> bytes:
    encoder = av.CodecContext.create("mjpeg", "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, "yuvj420p"
    encoder.time_base = Fraction(1, 1)
    encoder.qmin = encoder.qmax = QUALITY
    made = picture.reformat(format="yuvj420p")
    made.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(made), *encoder.encode(None)])
