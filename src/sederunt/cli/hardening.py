"""Run first in every process: keep files private to this user, and raise the limit of open files."""

import errno
import os
import resource
import stat
from pathlib import Path

from sederunt.errors import SetupError

PRIVATE_UMASK = 0o077
OPEN_FILES = 65_536  # a socket per listener and per connection; the usual soft limit of 1,024 is soon reached


def harden() -> None:
    """Keep new files private to this user, and raise the soft limit of open files as far as the hard one allows."""
    os.umask(PRIVATE_UMASK)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def keep_private(data: Path) -> str | None:
    """Make the data directory, or withdraw other users' rights to it; return what was mended, or cannot be, as a
    sentence.

    Raises SetupError if the directory cannot be used.
    """
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = data.stat()
        mode = stat.S_IMODE(status.st_mode)
        if not mode & PRIVATE_UMASK:
            return None
        try:
            data.chmod(mode & ~PRIVATE_UMASK)
        except PermissionError:
            if status.st_uid == os.geteuid():
                raise
            # A Kubernetes volume belongs to its node and is open to the pod's group. Every file in it is private to us.
            owner = f"it belongs to user {status.st_uid}, and only that one can close it"
            return f"{data.resolve()} is open to other users of this machine (mode {mode:o}): {owner}."
    except OSError as error:
        reason = os.strerror(errno.ENOTDIR) if isinstance(error, FileExistsError) else error.strerror or str(error)
        raise SetupError(f"{data.resolve()} cannot be used as data directory: {reason}.") from error
    return f"{data.resolve()} was open to other users of this machine (mode {mode:o}); it is closed to them now."
