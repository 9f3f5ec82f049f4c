"""Pre-encoded VP8 pictures for meetings that show video: one moving pattern, encoded once per process."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import av
import numpy as np

from sederunt.practice.sfu import Peer

WIDTH, HEIGHT = 640, 360
RATE = 15  # pictures a second
LENGTH = 45  # pictures until the pattern begins again: one key frame every 3 seconds
_PACKET = 1180  # bytes of VP8 in one packet
_TICKS_PER_PICTURE = 50 / RATE


class Picture(NamedTuple):
    payloads: tuple[bytes, ...]  # one per RTP packet, VP8 descriptor included
    is_key: bool


class Video:
    """The video of one meeting: the same pictures in every track, each track with its own place in them."""

    def __init__(self, tracks: int) -> None:
        self._places = [number * LENGTH // max(tracks, 1) for number in range(tracks)]
        self._sent = 0
        self._pictures = pictures()

    def tick(self, tick: int, peers: Sequence[Peer]) -> None:
        """Send what is due in these 20 ms."""
        if tick < self._sent * _TICKS_PER_PICTURE:
            return
        self._sent += 1
        for slot, place in enumerate(self._places):
            for peer in peers:
                peer.send_video(slot, self._pictures[place].payloads, round(tick * 1800))
            self._places[slot] = (place + 1) % LENGTH

    def key_frame(self, slot: int) -> None:
        """Go to the key frame: all bots of the meeting get it, as from a camera that was asked for one."""
        if slot < len(self._places):
            self._places[slot] = 0


@cache
def pictures() -> tuple[Picture, ...]:
    """Return the encoded pattern. Costs about 0.3 s of CPU once."""
    codec = av.CodecContext.create("libvpx", "w")
    codec.width, codec.height, codec.pix_fmt = WIDTH, HEIGHT, "yuv420p"
    codec.bit_rate, codec.gop_size = 400_000, LENGTH
    codec.options = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "auto-alt-ref": "0"}
    packets: list[tuple[bytes, bool]] = []
    for number in range(LENGTH):
        noise = np.random.default_rng(1).integers(40, 160, (HEIGHT // 8, WIDTH // 8), dtype=np.uint8)
        picture = np.roll(noise.repeat(8, axis=0).repeat(8, axis=1), number * 4, axis=1)
        left = number * WIDTH // LENGTH
        picture[:, left : left + 40] = 255
        frame = av.VideoFrame.from_ndarray(picture, format="gray").reformat(format="yuv420p")
        frame.pts = number
        packets += [(bytes(packet), packet.is_keyframe) for packet in codec.encode(frame)]
    return tuple(Picture(_payloads(packet[0]), packet[1]) for packet in packets)


def _payloads(data: bytes) -> tuple[bytes, ...]:
    """RTP payloads with the shortest descriptor: one byte that marks the first packet of a picture."""
    cuts = range(0, len(data), _PACKET)
    return tuple(bytes([0x10 if at == 0 else 0x00]) + data[at : at + _PACKET] for at in cuts)
