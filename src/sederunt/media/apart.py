"""Read callers' files in a process of its own, which has no network, little memory and a few seconds of CPU.

A media library is the largest parser here and the file is whatever somebody sent: what breaks or stalls the parser must
cost one process that knows no secret, and never the API or the worker.
"""

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from sederunt import errors
from sederunt.errors import BrokenMedia, MediaError
from sederunt.media.pcm import RATE, Block
from sederunt.media.probe import MediaFacts
from sederunt.model.budgets import count_of

# CPU of probing: a whole MP3 of 1 GB takes 3 s, an MP4 with all its packets counted 6 s (measured).
PROBE_CPU_S = count_of("probe_cpu_s")
# CPU of decoding, per second of sound; Opus takes 0.001, AAC 0.002, Vorbis of 8 channels 0.01 (measured).
DECODE_CPU_S, DECODE_CPU_SHARE = count_of("decode_cpu_s"), 0.05
SLACK_S = 1.0  # sound so far beyond the stated end is read, not cut
STALLED_S = 600.0  # for a machine that is busy; CPU is what is limited

_CHILD = "sederunt.media.apart_child"
# Exit statuses of a process that the kernel ended: out of CPU, killed for good, out of memory while it started.
_TOO_DEAR = "The file takes more than {cpu_s} seconds of work to read: it is damaged, or made to do harm."
_FELL = "Reading the file ended its reader ({status}): it is damaged, or made to do harm."


def probe_apart(path: Path, *, gives_way: int = 0) -> MediaFacts:
    """Return what `probe` finds, out of a process of its own. Blocks. Raises UnsupportedMedia and BrokenMedia.

    Args:
        gives_way: how much that process gives way to others, as nice(2) counts it.
    """
    try:
        done = subprocess.run(
            _command("probe", path, PROBE_CPU_S, gives_way), env=_environment(), capture_output=True, timeout=STALLED_S
        )
    except subprocess.TimeoutExpired:
        raise BrokenMedia(_TOO_DEAR.format(cpu_s=PROBE_CPU_S)) from None
    _raise_fault(done.returncode, done.stderr, PROBE_CPU_S)
    facts: Mapping[str, str | float | bool] = json.loads(done.stdout)
    return MediaFacts(**facts)  # type: ignore[arg-type]  # written by the child out of the same record


def read_pcm_apart(
    path: Path, *, duration_s: float, start_s: float = 0.0, block_s: float = 30.0, gives_way: int = 0
) -> Iterator[Block]:
    """Yield what `read_pcm` yields, decoded in a process of its own, up to the length that probing found.

    Timestamps are the sender's: silence that they leave between two sounds ends where the file does.
    """
    cpu_s = DECODE_CPU_S + math.ceil(DECODE_CPU_SHARE * duration_s)
    command = _command("pcm", path, cpu_s, gives_way, str(start_s), str(duration_s + SLACK_S))
    child = subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    try:
        at_s = start_s
        while data := child.stdout.read(round(block_s * RATE) * 2):
            samples = np.frombuffer(data[: len(data) & ~1], np.int16)
            yield Block(start_s=at_s, samples=np.multiply(samples, np.float32(1 / 32_768), dtype=np.float32))
            at_s += len(samples) / RATE
        told = child.stderr.read()
        _raise_fault(child.wait(), told, cpu_s)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        child.stderr.close()


def _command(act: str, path: Path, cpu_s: int, gives_way: int, *more: str) -> list[str]:
    return [sys.executable, "-m", _CHILD, act, str(path.absolute()), str(cpu_s), str(gives_way), *more]


def _environment() -> dict[str, str]:
    """Return an environment with nothing of ours: the child reads no setting and knows no secret."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}


def _raise_fault(status: int, told: bytes, cpu_s: int) -> None:
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
