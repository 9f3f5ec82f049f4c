"""Replace the program of a running `serve` by the installed one, without ending its process (exec).

The process keeps its id, so its children stay its children, and those that are tied to its life live on. Its open
files are passed on by descriptor: the lock on the data directory, the listening socket, and the pipes of the children's
output, which buffer it meanwhile. Signals are blocked meanwhile: SIGTERM to a program without its handler yet would end
everything at once.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import SecretStr

from sederunt import log
from sederunt.bus import embedded
from sederunt.bus.embedded import EmbeddedServer
from sederunt.cli.role_process import RunningRole
from sederunt.errors import SetupError

logger = log.get(component="cli", role="serve")

CAN_GO_ON = sys.platform == "linux"  # elsewhere there is no way to wait for a process that was not started here
HEARD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2)
_PLACE = "_SEDERUNT_GOES_ON"  # environment variable; no setting, and removed before a role is started


@dataclass(frozen=True, kw_only=True)
class Inheritance:
    """What one program of a `serve` leaves to the next, with open files as descriptors."""

    lock: int
    listener: int
    database: str | None  # file of SQLite
    replaced: int  # how often roles have been replaced
    roles: Mapping[str, RunningRole]
    server: Mapping[str, str] = field(default_factory=dict)  # the message server, if it is ours

    @property
    def file(self) -> Path | None:
        """Return SQLite's file; None for another database."""
        return Path(self.database) if self.database is not None else None

    @property
    def files(self) -> list[int]:
        """Return the descriptors that have to stay open."""
        return [
            self.lock,
            self.listener,
            *(file for role in self.roles.values() for file in (role.output, role.errors)),
        ]


def inherited() -> Inheritance | None:
    """Return what the program before this one left; None if this process was started afresh."""
    text = os.environ.pop(_PLACE, None)
    if text is None:
        return None
    fields = json.loads(text)
    roles = {name: RunningRole(**role) for name, role in fields.pop("roles").items()}
    inheritance = Inheritance(roles=roles, **fields)
    for file in inheritance.files:
        os.set_inheritable(file, False)
    return inheritance


def go_on(inheritance: Inheritance) -> str:
    """Replace this program by the installed one. Returns only if that fails, with the reason.

    Signals have to be blocked (`signals_wait`) before the running roles are listed.
    """
    for file in inheritance.files:
        os.set_inheritable(file, True)
    os.environ[_PLACE] = json.dumps(asdict(inheritance))
    sys.stdout.flush()
    try:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # our own command
    except OSError as error:
        return f"`serve` itself goes on as it was: {error.strerror or error}."
    finally:
        os.environ.pop(_PLACE, None)
        for file in inheritance.files:
            os.set_inheritable(file, False)


def signals_wait(is_blocked: bool) -> None:
    """Have the signals that `serve` handles blocked, or delivered again."""
    signal.pthread_sigmask(signal.SIG_BLOCK if is_blocked else signal.SIG_UNBLOCK, HEARD)


def as_told(server: EmbeddedServer) -> dict[str, str]:
    """Return a message server as text."""
    fields = {name: str(getattr(server, name)) for name in ("executable", "config", "store", "port")}
    return fields | {"token": server.token.get_secret_value()}


def from_told(fields: Mapping[str, str]) -> EmbeddedServer:
    """Return the message server that the previous program handed over."""
    paths = {name: Path(fields[name]) for name in ("executable", "config", "store")}
    return EmbeddedServer(**paths, port=int(fields["port"]), token=SecretStr(fields["token"]))


def renewed(data: Path, server: EmbeddedServer, pid: int | None) -> tuple[EmbeddedServer, bool]:
    """Return the message server as this program would start it, and whether the running one differs.

    Args:
        pid: the running server's process.
    """
    try:
        old_config = server.config.read_text(encoding="utf-8")
        new_server = embedded.prepare(data, keep=server)
        is_same_program = pid is not None and Path(f"/proc/{pid}/exe").samefile(new_server.executable)
        return new_server, not is_same_program or old_config != new_server.config.read_text(encoding="utf-8")
    except (OSError, SetupError) as error:
        logger.warning("the message server stays as it is", action="message_server_kept", why=str(error))
        return server, False
