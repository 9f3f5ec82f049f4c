"""A service manager is told of a process that is ready and lives."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.service import until
from integration.cli.test_serve import start


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(60)
        yield listening


def test_serve_says_that_it_is_ready_and_lives_and_its_roles_know_of_no_manager(
    manager: socket.socket, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    watched: dict[str, Any] = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"}
    with start(tmp_path / "data", **watched):
        while (word := manager.recv(64)) != b"READY=1":
            assert word == b"WATCHDOG=1"
        assert manager.recv(64) == b"WATCHDOG=1"
        run = tmp_path / "data" / "run"
        nats = psutil.Process(int(until((run / "nats.pid").read_text, "nats-server")))
        assert watched.keys().isdisjoint(nats.environ())
