"""A PostgreSQL server of this test session's own: Debian's binaries, an empty cluster in a temporary folder.

Run as root, it starts under the user `postgres` (the server refuses root). It listens on one Unix socket in its own
folder, so it meets no other server. Where the binaries are missing its tests are skipped aloud, and fail in CI.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

_START_S = 60
_END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def binaries() -> Path | None:
    """The folder with initdb and postgres: the newest of Debian's."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    return found[-1] if found else None


class PostgresServer:
    """A running server; `fresh_database` gives each test an empty database."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder = folder
        self._programs = programs

    def fresh_database(self) -> str:
        """The address of a database that nobody used before."""
        name = f"t{uuid4().hex[:12]}"
        self._run("createdb", "-h", str(self._folder), "-U", "sederunt", "--template", "template0", name)
        return f"postgresql+asyncpg://sederunt@/{name}?host={self._folder}"

    def empty(self, address: str, tables: Iterable[str]) -> None:
        """Take everything out of these tables, and away from whoever is still connected."""
        self._ask(address, _END_OTHERS, f"TRUNCATE {', '.join(tables)}")

    def end_connections(self, address: str) -> None:
        """End every connection to a database."""
        self._ask(address, _END_OTHERS)

    def _ask(self, address: str, *commands: str) -> None:
        name = address.partition("@/")[2].partition("?")[0]
        asked = [part for command in commands for part in ("-c", command)]
        self._run("psql", "-h", str(self._folder), "-U", "sederunt", "-d", name, "-q", *asked)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([self._programs / program, *arguments], check=True, capture_output=True, timeout=_START_S)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server, stop it at the end. Skips (or, in CI, fails) where PostgreSQL is not installed."""
    programs = binaries()
    if programs is None:
        missing = "PostgreSQL is not installed (apt-get install postgresql): its half of the tests cannot run"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    folder = Path(tempfile.mkdtemp(prefix="sederunt-pg-", dir="/tmp"))  # short: a socket's path has 100 bytes
    user = _server_user()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    try:
        _initialise(programs, folder, user)
        process = _start(programs, folder, user)
        try:
            _await_ready(programs, folder, process)
            yield PostgresServer(folder, programs)
        finally:
            process.send_signal(signal.SIGINT)  # fast shutdown
            process.wait(timeout=_START_S)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _server_user() -> pwd.struct_passwd | None:
    """Who the server runs as: ourselves, unless we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.fail("PostgreSQL does not run as root, and there is no other user")


def _initialise(programs: Path, folder: Path, user: pwd.struct_passwd | None) -> None:
    command = [programs / "initdb", "-D", folder / "data", "-U", "sederunt", "--auth=trust", "--no-sync", "-E", "UTF8"]
    subprocess.run(command, check=True, capture_output=True, timeout=_START_S, cwd=folder, **_identity(user))  # type: ignore[call-overload]


def _start(programs: Path, folder: Path, user: pwd.struct_passwd | None) -> "subprocess.Popen[bytes]":
    options = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=60"]
    command = [programs / "postgres", "-D", folder / "data", *(part for option in options for part in ("-c", option))]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **_identity(user))  # type: ignore[call-overload, no-any-return]


def _identity(user: pwd.struct_passwd | None) -> dict[str, object]:
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _await_ready(programs: Path, folder: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_S
    asking: list[str | Path] = [programs / "pg_isready", "-q", "-h", folder, "-U", "sederunt"]
    while subprocess.run(asking, timeout=_START_S).returncode != 0:
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"PostgreSQL did not start: {(folder / 'log').read_text(errors='replace')[-1000:]}")
        time.sleep(0.05)
