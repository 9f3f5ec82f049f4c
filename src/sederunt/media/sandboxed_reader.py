"""Read callers' media files in a sandboxed process: no network, little memory, a few seconds of CPU.

A media library is the largest parser here and the file is whatever somebody sent: what breaks or stalls the parser must
cost one process that knows no secret, and never the API or the worker.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sederunt import errors
from sederunt.errors import BrokenMedia, MediaError
from sederunt.media.channels import CallChannel
from sederunt.media.pcm import RATE, Block
from sederunt.media.probe import MediaFacts
from sederunt.media.reader_processes import ReaderLost, ReaderServer
from sederunt.model.budgets import count_of

# CPU of probing: a whole MP3 of 1 GB takes 3 s, an MP4 with all its packets counted 6 s (measured).
PROBE_CPU_S = count_of("probe_cpu_s")
# CPU of decoding, per second of sound; Opus takes 0.001, AAC 0.002, Vorbis of 8 channels 0.01 (measured).
DECODE_CPU_S, DECODE_CPU_SHARE = count_of("decode_cpu_s"), 0.05
LOSSES = 3  # readers of one file that may be stopped or killed by somebody
SLACK_S = 1.0  # sound so far beyond the stated end is read, not cut
STALLED_S = 600.0  # for a machine that is busy; CPU is what is limited

# Their environment holds nothing of ours: a reader knows no setting and no secret.
READER_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
READERS = ReaderServer("sederunt.media.sandboxed_reader_child", READER_ENVIRONMENT)
# Exit statuses of a process that the kernel ended: out of CPU, killed for good, out of memory while it started.
_TOO_DEAR = "The file takes more than {cpu_s} seconds of work to read: it is damaged, or made to do harm."
_FELL = "Reading the file ended its reader ({status}): it is damaged, or made to do harm."


def probe_sandboxed(path: Path, *, gives_way: int = 0) -> MediaFacts:
    """Return what `probe` finds, out of a process of its own. Blocks. Raises UnsupportedMedia and BrokenMedia.

    Args:
        gives_way: how much that process gives way to others, as nice(2) counts it.
    """
    try:
        return _probed(path, gives_way)
    except ReaderLost:  # no fault of the file
        return _probed(path, gives_way)


def _probed(path: Path, gives_way: int) -> MediaFacts:
    return MediaFacts(**_answer("probe", path, PROBE_CPU_S, gives_way))


def _answer(act: str, path: Path, cpu_s: int, gives_way: int, *more: str) -> Any:
    """Return what a reader tells as JSON when it has ended."""
    with READERS.reader(act, str(path.absolute()), str(cpu_s), str(gives_way), *more) as reader:
        try:
            status = reader.wait(STALLED_S, cpu_s=cpu_s)
        except TimeoutError:
            raise BrokenMedia(_TOO_DEAR.format(cpu_s=cpu_s)) from None
        raise_fault(status, reader.errors.read(), cpu_s)
        return json.loads(reader.output.read())


def separate_channels_sandboxed(path: Path, *, duration_s: float, gives_way: int = 0) -> tuple[CallChannel, ...]:
    """Return both channels of a file in which different people speak, else none; read in a process of its own.
    Blocks.
    """
    for losses_left in reversed(range(LOSSES + 1)):
        try:
            return _channels(path, duration_s, gives_way)
        except ReaderLost:  # no fault of the file
            if not losses_left:
                raise
    raise AssertionError("the last loss is raised")


def _channels(path: Path, duration_s: float, gives_way: int) -> tuple[CallChannel, ...]:
    told = _answer("channels", path, _decoding_cpu_s(duration_s), gives_way, str(duration_s + SLACK_S))
    return tuple(CallChannel(number=each["number"], levels_db=tuple(each["levels_db"])) for each in told)


def read_pcm_sandboxed(
    path: Path,
    *,
    duration_s: float,
    start_s: float = 0.0,
    block_s: float = 30.0,
    gives_way: int = 0,
    channel: CallChannel | None = None,
) -> Iterator[Block]:
    """Yield what `read_pcm` yields, decoded in a process of its own, up to the length that probing found.

    Timestamps are the sender's: silence that they leave between two sounds ends where the file does.
    """
    at_s = start_s
    for losses_left in reversed(range(LOSSES + 1)):
        try:
            for block in _decoded(path, at_s, duration_s, block_s, gives_way, channel):
                yield block
                at_s = block.start_s + len(block.samples) / RATE
            return
        except ReaderLost:  # no fault of the file: another goes on where it was
            if not losses_left:
                raise


def _decoded(
    path: Path, start_s: float, duration_s: float, block_s: float, gives_way: int, channel: CallChannel | None
) -> Iterator[Block]:
    cpu_s = _decoding_cpu_s(duration_s)
    moments = [str(start_s), str(duration_s + SLACK_S)]
    moments += [] if channel is None else map(str, (channel.number, *channel.levels_db))
    with READERS.reader("pcm", str(path.absolute()), str(cpu_s), str(gives_way), *moments) as reader:
        at_s = start_s
        while data := reader.output.read(round(block_s * RATE) * 2):
            samples = np.frombuffer(data[: len(data) & ~1], np.int16)
            yield Block(start_s=at_s, samples=np.multiply(samples, np.float32(1 / 32_768), dtype=np.float32))
            at_s += len(samples) / RATE
        raise_fault(reader.wait(STALLED_S, cpu_s=cpu_s), reader.errors.read(), cpu_s)


def _decoding_cpu_s(duration_s: float) -> int:
    return DECODE_CPU_S + math.ceil(DECODE_CPU_SHARE * duration_s)


def raise_fault(status: int, told: bytes, cpu_s: int) -> None:
    """Raise what the child raised, or what its end means; return where it ended well."""
    if status == 0:
        return
    lines = told.decode("utf-8", "replace").strip().splitlines()
    try:
        fault = json.loads(lines[-1])
        kind = getattr(errors, fault["error"])
        sentence = str(fault["message"])
    except (IndexError, ValueError, KeyError, TypeError, AttributeError):
        raise BrokenMedia(
            _TOO_DEAR.format(cpu_s=cpu_s) if status in (-9, -24) else _FELL.format(status=status)
        ) from None
    raise kind(sentence) if issubclass(kind, MediaError) else BrokenMedia(sentence)
