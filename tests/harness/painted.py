"""Pictures of one colour, for avatars."""

from fractions import Fraction

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext

ENCODERS = {"png": ("png", "rgb24"), "jpeg": ("mjpeg", "yuvj420p"), "webp": ("libwebp", "yuv420p")}


def picture(colour: tuple[int, int, int], kind: str = "png", width: int = 320, height: int = 320) -> bytes:
    """A picture file. `kind` is png, jpeg or webp."""
    codec, shape = ENCODERS[kind]
    encoder = av.CodecContext.create(codec, "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt, encoder.time_base = width, height, shape, Fraction(1, 1)
    pixels = np.full((height, width, 3), colour, dtype=np.uint8)
    frame = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format=shape)
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])
