"""What a pooler between service and PostgreSQL does to it: PgBouncer in each of its modes."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from sqlalchemy import select
from sqlalchemy.engine import make_url

from harness.ports import free_ports
from harness.postgres import PostgresServer
from sederunt.database.engine import Database
from sederunt.database.tables import accounts
from sederunt.errors import SetupError

_START_S = 30.0
_SETTINGS = """
[databases]
{name} = host={folder} dbname={name} user=sederunt
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = {mode}
default_pool_size = 20
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
unix_socket_dir =
"""

Pooled = Callable[[str], str]


@pytest.fixture
def pooled(postgres: PostgresServer, tmp_path: Path) -> Iterator[Pooled]:
    """Start PgBouncer in a mode before an empty database; returns the address that leads through it."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed (apt-get install pgbouncer)")
    running: list[subprocess.Popen[bytes]] = []

    def start(mode: str) -> str:
        direct = make_url(postgres.fresh_database())
        (port,) = free_ports(1)
        settings = tmp_path / "pgbouncer.ini"
        settings.write_text(_SETTINGS.format(name=direct.database, folder=direct.query["host"], port=port, mode=mode))
        folder = Path(str(direct.query["host"]))
        # It refuses to run as root, and runs then as who owns the server's folder.
        owner = folder.stat()
        is_root = os.geteuid() == 0
        user = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if is_root else {}
        copy = Path(shutil.copy(settings, folder / f"pgbouncer-{port}.ini"))
        copy.chmod(0o644)
        running.append(subprocess.Popen([program, copy], stderr=subprocess.DEVNULL, **user))  # type: ignore[call-overload]
        _await_port(port)
        return f"postgresql://sederunt@127.0.0.1:{port}/{direct.database}"

    yield start
    for process in running:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=_START_S)


def _await_port(port: int) -> None:
    deadline = monotonic() + _START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert monotonic() < deadline, "PgBouncer did not start"
            sleep(0.05)


async def test_a_pooler_that_lends_connections_for_a_transaction_is_named_at_start(pooled: Pooled) -> None:
    with pytest.raises(SetupError, match="pool_mode=session"):
        await Database(pooled("transaction")).open()


async def test_a_pooler_that_leaves_a_session_its_connection_is_fine(pooled: Pooled) -> None:
    async with Database(pooled("session")) as database:
        assert await database.query(select(accounts.c.id)).all()
