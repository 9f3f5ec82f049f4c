"""Read the sound of callers' files in a sandboxed process."""

import math
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sederunt.media import sandbox
from sederunt.media.channels import CallChannel
from sederunt.media.pcm import RATE, Block
from sederunt.media.reader_processes import ReaderLost
from sederunt.model.budgets import count_of

# CPU limit of decoding: a base and a share of the sound's length. Opus takes 0.001, AAC 0.002, Vorbis of 8 channels
# 0.01 CPU-seconds per second (measured).
DECODE_CPU_S, DECODE_CPU_SHARE = count_of("decode_cpu_s"), 0.05
LOSSES = 3  # how many readers of one file may be stopped or killed from outside
SLACK_S = 1.0  # sound is read this far beyond the stated end


def separate_channels_sandboxed(
    path: Path, *, duration_s: float, gives_way: int = 0, left: threading.Event | None = None
) -> tuple[CallChannel, ...]:
    """Return both channels if different people speak in them, else none; the file is read in a process of its own.

    Blocks. Raises Cancelled if `left` is set meanwhile.
    """
    end_s = str(duration_s + SLACK_S)
    channels = sandbox.answer("channels", path, _decoding_cpu_s(duration_s), gives_way, end_s, losses=LOSSES, left=left)
    return tuple(CallChannel(number=channel["number"], levels_db=tuple(channel["levels_db"])) for channel in channels)


def read_pcm_sandboxed(
    path: Path,
    *,
    duration_s: float,
    start_s: float = 0.0,
    block_s: float = 30.0,
    gives_way: int = 0,
    channel: CallChannel | None = None,
    left: threading.Event | None = None,
) -> Iterator[Block]:
    """Yield the blocks of `read_pcm`, decoded in a process of its own, up to the probed length.

    Timestamps come from the sender: the silence that they imply is limited by that length. Raises Cancelled if `left`
    is set meanwhile.
    """
    at_s = start_s
    for losses_left in reversed(range(LOSSES + 1)):
        try:
            for block in _decoded(path, at_s, duration_s, block_s, gives_way, channel, left):
                yield block
                at_s = block.start_s + len(block.samples) / RATE
            return
        except sandbox.ReaderStalled:
            raise
        except ReaderLost:  # no fault of the file: another reader continues here
            if not losses_left:
                raise


def _decoded(
    path: Path,
    start_s: float,
    duration_s: float,
    block_s: float,
    gives_way: int,
    channel: CallChannel | None,
    left: threading.Event | None,
) -> Iterator[Block]:
    cpu_s = _decoding_cpu_s(duration_s)
    moments = [str(start_s), str(duration_s + SLACK_S)]
    moments += [] if channel is None else map(str, (channel.number, *channel.levels_db))
    with sandbox.READERS.reader("pcm", str(path.absolute()), str(cpu_s), str(gives_way), *moments) as reader:
        at_s = start_s
        while data := reader.output.read(round(block_s * RATE) * 2):
            sandbox.refuse_left(left)
            samples = np.frombuffer(data[: len(data) & ~1], np.int16)
            yield Block(start_s=at_s, samples=np.multiply(samples, np.float32(1 / 32_768), dtype=np.float32))
            at_s += len(samples) / RATE
        sandbox.raise_fault(sandbox.end_of(reader, cpu_s, left), reader.errors.read(), cpu_s)


def _decoding_cpu_s(duration_s: float) -> int:
    return DECODE_CPU_S + math.ceil(DECODE_CPU_SHARE * duration_s)
