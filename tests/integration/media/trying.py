"""Readers that end when they are told to, from a process that is tried as its environment says."""

import os
import selectors
import sys
import time
from pathlib import Path
from typing import BinaryIO


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
    fork, left = os.fork, [2]

    def fork_or_fail() -> int:
        left[0] -= 1
        if left[0] == -1:
            raise BlockingIOError
        return fork()

    os.fork = fork_or_fail


_TRIALS = {"at once": _end_and_hang_up_at_once, "slow": _load_slowly, "no fork": _fail_to_fork}
