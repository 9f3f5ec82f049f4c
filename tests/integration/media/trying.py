"""Readers that end when they are told to, from a process that is tried as its environment says."""

import os
import resource
import selectors
import socket
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO


def preload() -> None:
    """Make the trial ready, in the process that readers are forked from."""
    _TRIALS[os.environ["TRIAL"]]()


def main(answer: BinaryIO, path: str) -> None:
    """Wait until something can be read at the path, or nothing more ever; tell what this was forked from."""
    with Path(path).open("rb", buffering=0) as awaited:
        awaited.read(1)
    answer.write(str(os.getppid()).encode())


def _end_and_hang_up_at_once() -> None:
    """Have the end of the first reader told together with its asker's hanging up, as a busy process sees both."""
    selectors.DefaultSelector = _Late  # type: ignore[misc, assignment]


class _Late(selectors.EpollSelector):
    _was_late = False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        while True:
            ready = super().select(timeout)
            told = [key for key, _ in ready if key.fd != int(sys.argv[1])]  # that is where requests come from
            if self._was_late or not told:
                return ready
            if len(told) > 1:
                self._was_late = True
                return sorted(ready, key=lambda each: not isinstance(each[0].fileobj, int))


def _load_slowly() -> None:
    time.sleep(4.0)


def _fail_to_fork() -> None:
    """Have the third fork fail, as it does where a limit of processes is reached."""
    fork, calls = os.fork, count(1)

    def fork_or_fail() -> int:
        if next(calls) == 3:
            raise BlockingIOError
        return fork()

    os.fork = fork_or_fail


def _run_out_of_descriptors() -> None:
    """Have room for one descriptor of the three that come with the third request."""
    receive, calls = socket.recv_fds, count(1)

    def receive_some(*arguments: Any) -> Any:
        if next(calls) != 3:
            return receive(*arguments)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, limits[1]))
        try:
            return receive(*arguments)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    socket.recv_fds = receive_some  # type: ignore[assignment]


_TRIALS = {
    "at once": _end_and_hang_up_at_once,
    "slow": _load_slowly,
    "no fork": _fail_to_fork,
    "no descriptors": _run_out_of_descriptors,
}
