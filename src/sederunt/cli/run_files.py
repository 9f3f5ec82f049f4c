"""Files that a running service leaves in its data directory for this user's other commands."""

import fcntl
import os
import signal
from pathlib import Path

from sederunt.errors import SetupError

REPLACED = signal.SIGUSR2  # to `serve`: replace the roles; to a role: your successor is here


def address_file(data: Path) -> Path:
    """Return the file with the address on which the service on this data directory listens."""
    return data / "run" / "address"


def note_address(data: Path, address: str) -> None:
    """Write where the service on this data directory listens."""
    address_file(data).write_text(address + "\n", encoding="utf-8")


def noted_address(data: Path) -> str | None:
    """Return where the service on this data directory listens; None if none runs."""
    try:
        return address_file(data).read_text(encoding="utf-8").strip()
    except OSError:
        return None


def lock_file(data: Path) -> Path:
    """Return the file that `serve` keeps locked for as long as it lives; it holds its process id."""
    return data / "run" / "serve.lock"


def serving_pid(data: Path) -> int | None:
    """Return the process id of the `serve` that runs on this data directory; None if none does.

    The number in the file alone proves nothing: after a `serve` was killed, any other process may have it.
    """
    try:
        with lock_file(data).open(encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(file.read())
    except (OSError, ValueError):  # never served here, or starting just now
        pass
    return None


def nothing_runs(data: Path, else_say: str) -> SetupError:
    """Return the error for a command that needs the service on this data directory, if none runs.

    Args:
        else_say: what to do if the service is elsewhere.
    """
    return SetupError(
        f"No service runs on {data.resolve()}: start one with `sederunt serve`, name its directory with --data, "
        f"or {else_say}."
    )


def alive_file(data: Path, role: str) -> Path:
    """Return the file whose age is the time since this role's process last showed life."""
    return data / "run" / f"{role}.alive"


def forget_address(data: Path) -> None:
    """Remove the address: the service does not listen there any more."""
    address_file(data).unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Write a secret that only this user can read."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text + "\n")
