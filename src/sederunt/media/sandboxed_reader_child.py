"""The process behind `sandbox`: drops its rights, then reads one file."""

import contextlib
import ctypes
import dataclasses
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sederunt.media.landlock import see_only

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEMORY_BYTES = 3 << 30  # of address space; the libraries alone map 0.7 GB, frames of 8K video 0.5 GB
_NEW_NETWORK, _NEW_USER = 0x4000_0000, 0x1000_0000
_DIE_WITH_PARENT, _NO_NEW_PRIVILEGES = 1, 38  # prctl(2)


def preload() -> None:
    """Load the readers' modules, in the process that they are forked from."""
    import sederunt.media.channels
    import sederunt.media.pcm
    import sederunt.media.probe  # noqa: F401
    from sederunt import log

    log.configure()


def main(answer: BinaryIO, act: str, path: str, cpu_s: str, gives_way: str, *moments: str) -> None:
    """Run one act: `probe` writes facts as JSON; `pcm` writes 16-bit samples at 16 kHz between two moments, of a single
    channel if three more arguments describe it; `channels` writes the two channels with different people as JSON.

    An error of the file is written as JSON in the last line of standard error, and the exit status is 1.
    """
    os.nice(int(gives_way))
    give_up_rights(int(cpu_s), Path(path))
    from sederunt.errors import MediaError

    try:
        if act == "probe":
            _probe(answer, Path(path))
        elif act == "channels":
            _judge_channels(answer, Path(path), float(moments[0]))
        else:
            _decode(answer, Path(path), *map(float, moments))
    except MediaError as error:
        tell(type(error).__name__, str(error))
    except MemoryError:
        tell("BrokenMedia", "The file takes more memory to read than it may: it is damaged, or made to do harm.")


def give_up_rights(cpu_s: int, *readable: Path, memory_bytes: int = MEMORY_BYTES) -> None:
    """Limit CPU and memory, forbid writing, leave the network, see only these files, and end with the parent."""
    limits = {
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
    }
    for limit, value in limits.items():
        _, hard_limit = resource.getrlimit(limit)
        value = value if hard_limit == resource.RLIM_INFINITY else min(value, hard_limit)
        resource.setrlimit(limit, (value, value))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    # Some kernels and containers allow neither; then the list of protocols in `containers` prevents network access.
    libc.unshare(_NEW_NETWORK if os.geteuid() == 0 else _NEW_USER | _NEW_NETWORK)
    see_only(*readable)


def _probe(answer: BinaryIO, path: Path) -> None:
    from sederunt.media.probe import probe

    answer.write(json.dumps(dataclasses.asdict(probe(path))).encode())


def _decode(answer: BinaryIO, path: Path, start_s: float, end_s: float, *channel: float) -> None:
    import numpy as np

    with contextlib.suppress(BrokenPipeError):  # the caller has enough
        for samples in _sound(path, start_s, end_s, channel):
            answer.write(np.rint(samples * 32_768).clip(-32_768, 32_767).astype("<i2").tobytes())
        answer.flush()


def _sound(path: Path, start_s: float, end_s: float, channel: Sequence[float]) -> "Iterator[NDArray[np.float32]]":
    from sederunt.media.channels import CallChannel, one_channel
    from sederunt.media.pcm import read_pcm

    blocks = read_pcm(path, start_s=start_s, end_s=end_s, block_s=5.0, channels=2 if channel else 1)
    stretches = (block.samples for block in blocks)
    if not channel:
        return stretches
    number, *levels_db = channel
    return one_channel(stretches, CallChannel(number=int(number), levels_db=(levels_db[0], levels_db[1])))


def _judge_channels(answer: BinaryIO, path: Path, end_s: float) -> None:
    from sederunt.media.channels import separate_channels
    from sederunt.media.pcm import read_pcm

    blocks = (block.samples for block in read_pcm(path, end_s=end_s, block_s=5.0, channels=2))
    channels = separate_channels(blocks)
    answer.write(json.dumps([dataclasses.asdict(channel) for channel in channels or ()]).encode())


def tell(error: str, message: str) -> None:
    """End this process after reporting the file's error to the parent."""
    sys.stderr.write("\n" + json.dumps({"error": error, "message": message}))
    sys.stderr.flush()
    os._exit(1)
