"""Pieces: a few seconds of a recording as a self-contained Matroska file, one Opus track per source."""

import io
import struct
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from operator import attrgetter
from typing import cast

import av
from av.audio.stream import AudioStream
from av.container import OutputContainer

from sederunt.errors import BrokenMedia
from sederunt.media import matroska, opus
from sederunt.model.audio import Packet

TIME_BASE = Fraction(1, 1000)  # Matroska's
AS_STORED = {"fflags": "+noparse+nofillin"}  # packets come out unchanged; a parser would drop unusual ones


def write_piece(packets: Sequence[Packet]) -> bytes:
    """Write a Matroska file of these packets: payloads unchanged, times of the recording to the nearest millisecond.

    Raises ValueError for an empty list.
    """
    if not packets:
        raise ValueError("A piece needs at least one packet.")
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as container:
        matroska.mark_as_recording(container)
        streams = {source: add_track(container, source) for source in sorted({packet.source for packet in packets})}
        for packet in sorted(packets, key=attrgetter("start")):
            container.mux_one(to_mux(packet, streams[packet.source]))
    return file.getvalue()


def read_piece(data: bytes, *, salvage: bool = False) -> list[Packet]:
    """Return the packets of a piece, by start. Raises BrokenMedia if it is cut short, damaged, or no piece.

    With `salvage` a damaged piece gives what is still readable, maybe nothing.
    """
    if not salvage:
        matroska.check_whole(data)
    packets: list[Packet] = []
    try:
        packets.extend(_packets(data))
    except (av.FFmpegError, ValueError, BrokenMedia) as error:
        if not salvage:
            raise BrokenMedia(f"A piece of {len(data)} bytes cannot be read: {error}.") from error
    packets.sort(key=attrgetter("start"))
    return packets


def add_track(container: OutputContainer, source: str) -> AudioStream:
    """Add an Opus track, to be filled by `to_mux`."""
    stream = container.add_stream_from_template(_template(), opaque=True)
    stream.metadata["title"] = source
    return stream


def to_mux(packet: Packet, stream: AudioStream) -> "av.Packet[AudioStream]":
    """Return the packet in the muxer's form."""
    mux_packet = cast("av.Packet[AudioStream]", av.Packet(packet.payload))
    mux_packet.stream = stream
    mux_packet.time_base = TIME_BASE
    mux_packet.pts = mux_packet.dts = round(packet.start * 1000)
    mux_packet.duration = round(packet.duration * 1000)
    mux_packet.is_keyframe = True
    return mux_packet


def _packets(data: bytes) -> Iterator[Packet]:
    with av.open(io.BytesIO(data), "r", format="matroska", options=AS_STORED) as container:
        for packet in container.demux():
            if packet.pts is not None and packet.size:
                payload = bytes(packet)
                yield Packet(
                    source=packet.stream.metadata.get("title", f"track-{packet.stream.index}"),
                    start=float(packet.pts * packet.time_base),
                    duration=opus.packet_duration_s(payload),
                    payload=payload,
                )


@cache
def _template() -> AudioStream:
    """Return an Opus stream without pre-skip, as a template for new tracks.

    The muxing interface accepts no codec header, and an encoder's stream has its own pre-skip, which would shift all
    times by 6.5 ms and round them; so the template is read from an Ogg file made here.
    """
    tags = b"OpusTags" + struct.pack("<II", 0, 0)
    pages = (opus.header(), 0, 2), (tags, 0, 0), (b"\xf8\xff\xfe", 960, 4)
    file = b"".join(_ogg_page(content, number, *page_fields) for number, (content, *page_fields) in enumerate(pages))
    container = av.open(io.BytesIO(file), format="ogg")
    return container.streams.audio[0]


def _ogg_page(content: bytes, number: int, granule: int, flags: int) -> bytes:
    page = bytearray(b"OggS" + struct.pack("<BBqIIIBB", 0, flags, granule, 1, number, 0, 1, len(content)) + content)
    checksum = 0
    for byte in page:
        checksum ^= byte << 24
        for _ in range(8):
            checksum = (checksum << 1 ^ (0x04C11DB7 if checksum >> 31 else 0)) & 0xFFFFFFFF
    struct.pack_into("<I", page, 22, checksum)
    return bytes(page)
