"""A recording as a vendor wants it: one small file without gaps, whose times are those of the recording.

A track of ours leaves silence out and may begin in the middle of the meeting. Few decoders honour that; most would
close the gaps and make every later time wrong.
"""

from pathlib import Path

import av
import numpy as np

from sederunt.media import opus
from sederunt.media.pcm import RATE, read_pcm
from sederunt.media.pieces import add_track, to_mux
from sederunt.model.audio import Packet

BIT_RATE = 32_000  # 14 MB an hour


def write_continuous(source: Path, target: Path) -> float:
    """Write the sound of `source` to `target` as Ogg Opus, mono, silence included. Returns its length in seconds.

    Errors as `read_pcm`.
    """
    encoder = opus.OpusEncoder(RATE, BIT_RATE, complexity=5)
    number = 0
    with av.open(str(target), "w", format="ogg") as container:
        stream = add_track(container, "sound")
        container.start_encoding()

        def mux(payloads: list[bytes]) -> None:
            nonlocal number
            for payload in payloads:
                start = number * opus.PACKET_S
                packet = Packet(source="sound", start=start, duration=opus.PACKET_S, payload=payload)
                container.mux_one(to_mux(packet, stream))
                number += 1

        for block in read_pcm(source):
            mux(encoder.encode((block.samples * 32_767).astype(np.int16)))
        mux(encoder.flush())
    return number * opus.PACKET_S
