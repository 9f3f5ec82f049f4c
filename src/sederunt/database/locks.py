"""Which processes keep all other writers out of a SQLite database, according to the kernel.

A process that hangs in the middle of a transaction holds SQLite's write lock until it ends. It cannot be asked, but the
lock is a file lock, and the kernel lists those. The list is read without opening the database: a process that closes
any descriptor of a file loses all its locks on the file.
"""

from collections.abc import Iterable
from pathlib import Path

_LOCKS = Path("/proc/locks")  # of Linux; elsewhere no holder is known
_FIRST, _LAST = 120, 127  # the bytes of the WAL index that stand for writing, checkpoints, recovery and readers


def holders(database: Path) -> frozenset[int]:
    """Return the processes that hold a lock which keeps others from writing to the database; empty if unknown.

    Args:
        database: its file, in write-ahead-log mode, as all of ours are.
    """
    try:
        index = database.with_name(database.name + "-shm").stat().st_ino
        return exclusive(_LOCKS.read_text().splitlines(), index)
    except OSError:
        return frozenset()


def exclusive(lines: Iterable[str], inode: int) -> frozenset[int]:
    """Return the processes with an exclusive lock on the bytes of a WAL index, from the kernel's list of locks.

    Args:
        lines: of /proc/locks: number, kind, kind, READ or WRITE, process, device and inode, first and last byte.
        inode: of the WAL index. The device is not compared, because some file systems show another one than `stat`
            gives.
    """
    pids = set()
    for line in lines:
        match line.split():
            case [_, "POSIX", _, "WRITE", pid, place, first, _] if place.rpartition(":")[2] == str(inode):
                if _FIRST <= int(first) <= _LAST:
                    pids.add(int(pid))
    return frozenset(pids)
