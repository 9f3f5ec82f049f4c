"""Lock a spool for one host process. A data directory has two, for a host and its successor.

Which host has which is decided by locks that go with the process. What lies in the spool that nobody holds is taken
over by the other host: its holder has ended, or was killed.
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
    """The spool that this process holds."""

    data: Path
    name: str

    @property
    def folder(self) -> Path:
        return self.data / self.name

    def host_name(self, name: str) -> str:
        """Return what this host is called, of those that share the name in the settings."""
        return name + self.name.removeprefix(NAMES[0])

    def take_over(self) -> int:
        """Move the pieces that lie in a spool without a holder into this one; returns how many there were.

        Raises OSError.
        """
        return sum(self._take(name) for name in NAMES if name != self.name)

    def _take(self, name: str) -> int:
        with suppress(BlockingIOError), _locked(self.data, name):
            paths = [path for kind in FOLDERS for path in (self.data / name).glob(f"*/*{kind}")]
            for path in paths:
                (self.folder / path.parent.name).mkdir(parents=True, exist_ok=True)
                path.rename(self.folder / path.parent.name / path.name)  # names tell the holder: none is there twice
            if paths:
                logger.info("pieces of another host taken over", action="spool_taken", count=len(paths), spool=name)
            return len(paths)
        return 0


@contextmanager
def own_spool(data: Path) -> Iterator[LockedSpool]:
    """Hold a spool of this data directory for as long as the block lasts, with what another's holder left.

    Raises SetupError where two hosts have one each.
    """
    with ExitStack() as stack:
        spool = LockedSpool(data=data, name=_locked_first(data, stack))
        try:
            spool.take_over()
        except OSError:
            logger.exception("spool not looked through", action="spool_failed")
        yield spool


def _locked_first(data: Path, stack: ExitStack) -> str:
    """Lock the first spool that nobody holds; returns its name. Raises SetupError where there is none."""
    for name in NAMES:
        with suppress(BlockingIOError):
            stack.enter_context(_locked(data, name))
            return name
    raise SetupError(f"Two hosts use {data.resolve()} already. Give this one a directory of its own with --data.")


@contextmanager
def _locked(data: Path, name: str) -> Iterator[None]:
    """Hold the lock of a spool. Raises BlockingIOError where another process holds it."""
    path = data / "run" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
