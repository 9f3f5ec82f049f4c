"""Locks a spool for one host process. A data directory has two spools, for a host and its successor.

Locks that end with the process decide which host has which spool. A host takes over the pieces of the other spool if no
process holds it, because its holder has ended or was killed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sederunt import log
from sederunt.errors import SetupError
from sederunt.recordings.piece_keys import FOLDERS

NAMES = ("spool", "spool-2")

logger = log.get(component="meetings")


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedSpool:
    """The spool held by this process."""

    data: Path
    name: str

    @property
    def folder(self) -> Path:
        return self.data / self.name

    def host_name(self, name: str) -> str:
        """Return this host's name, which is unique among hosts with the same name in the settings."""
        return name + self.name.removeprefix(NAMES[0])

    def take_over(self) -> int:
        """Move the pieces of a spool without a holder into this one; return how many there were.

        Raises OSError.
        """
        return sum(self._take(name) for name in NAMES if name != self.name)

    def _take(self, name: str) -> int:
        with suppress(BlockingIOError), _locked(self.data, name):
            paths = [path for kind in FOLDERS for path in (self.data / name).glob(f"*/*{kind}")]
            for path in paths:
                (self.folder / path.parent.name).mkdir(parents=True, exist_ok=True)
                path.rename(self.folder / path.parent.name / path.name)  # names contain the holder, so they are unique
            if paths:
                logger.info("pieces of another host taken over", action="spool_taken", count=len(paths), spool=name)
            return len(paths)
        return 0


@contextmanager
def own_spool(data: Path) -> Iterator[LockedSpool]:
    """Hold a spool of this data directory while the block runs, with the pieces that another spool's holder left.

    Raises SetupError if two hosts have one each.
    """
    with ExitStack() as stack:
        spool = LockedSpool(data=data, name=_locked_first(data, stack))
        try:
            spool.take_over()
        except OSError:
            logger.exception("spool not looked through", action="spool_failed")
        yield spool


def _locked_first(data: Path, stack: ExitStack) -> str:
    # Raises SetupError if both spools have holders.
    for name in NAMES:
        with suppress(BlockingIOError):
            stack.enter_context(_locked(data, name))
            return name
    raise SetupError(f"Two hosts use {data.resolve()} already. Give this one a directory of its own with --data.")


@contextmanager
def _locked(data: Path, name: str) -> Iterator[None]:
    # Raises BlockingIOError if another process holds the lock.
    path = data / "run" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
