"""The sandboxed processes that read callers' media: no network, little memory, a few seconds of CPU.

A media library is the largest parser here and the file may be anything: a file that breaks or stalls the parser may
cost one process that knows no secret, never the API or the worker. The API does not even load the library.
"""

import json
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from sederunt import errors
from sederunt.errors import BrokenMedia, Cancelled, MediaError
from sederunt.media.reader_processes import ReaderLost, ReaderProcess, ReaderServer

# The kernel limits only CPU time. A reader that has neither ended nor used it up after STALLED_S plus so many times its
# CPU limit gets no core, on a machine that is too busy.
STALLED_S, STALLED_TIMES_CPU = 600.0, 20
LOOK_S = 0.5  # how often to check for cancellation

# The readers' environment: no setting and no secret of ours.
READER_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
READERS = ReaderServer("sederunt.media.sandboxed_reader_child", READER_ENVIRONMENT)
# Exit statuses of a process that the kernel ended: out of CPU, killed for good, out of memory while it started.
_TOO_DEAR = "The file takes more than {cpu_s} seconds of work to read: it is damaged, or made to do harm."
_FELL = "Reading the file ended its reader ({status}): it is damaged, or made to do harm."
_STALLED = "The process that reads the file came to no end within {after_s:,.0f} s: the machine is too busy."


class ReaderStalled(ReaderLost):
    """A reader got no core for very long; a new one would get none either until the work is taken up again."""


def answer(
    act: str, path: Path, cpu_s: int, gives_way: int, *more: str, losses: int, left: threading.Event | None = None
) -> Any:
    """Return a reader's JSON answer when it has ended. Blocks. Raises UnsupportedMedia, BrokenMedia, ReaderLost.

    Args:
        losses: how many readers may be killed, which is no fault of the file; the next loss is raised.
        left: once set, the reader is ended and Cancelled is raised.
    """
    for losses_left in reversed(range(losses + 1)):
        try:
            with READERS.reader(act, str(path.absolute()), str(cpu_s), str(gives_way), *more) as reader:
                raise_fault(end_of(reader, cpu_s, left), reader.errors.read(), cpu_s)
                return json.loads(reader.output.read())
        except ReaderStalled:
            raise
        except ReaderLost:
            if not losses_left:
                raise
    raise AssertionError("the last loss is raised")


def end_of(reader: ReaderProcess, cpu_s: int, left: threading.Event | None) -> int:
    """Return the exit status of a reader. Blocks. Raises ReaderLost, and Cancelled if `left` is set."""
    after_s = STALLED_S + STALLED_TIMES_CPU * cpu_s
    deadline = monotonic() + after_s
    while (remaining_s := deadline - monotonic()) > 0:
        refuse_left(left)
        with suppress(TimeoutError):
            return reader.wait(min(remaining_s, LOOK_S), cpu_s=cpu_s)
    raise ReaderStalled(_STALLED.format(after_s=after_s))


def refuse_left(left: threading.Event | None) -> None:
    """Raise Cancelled if the caller has left."""
    if left is not None and left.is_set():
        raise Cancelled("Nobody waits any more for what is read.")


def raise_fault(status: int, error_output: bytes, cpu_s: int) -> None:
    """Raise the child's error, or what its exit status means; return after a normal end."""
    if status == 0:
        return
    lines = error_output.decode("utf-8", "replace").strip().splitlines()
    try:
        fault = json.loads(lines[-1])
        kind = getattr(errors, fault["error"])
        sentence = str(fault["message"])
    except (IndexError, ValueError, KeyError, TypeError, AttributeError):
        raise BrokenMedia(
            _TOO_DEAR.format(cpu_s=cpu_s) if status in (-9, -24) else _FELL.format(status=status)
        ) from None
    raise kind(sentence) if issubclass(kind, MediaError) else BrokenMedia(sentence)
