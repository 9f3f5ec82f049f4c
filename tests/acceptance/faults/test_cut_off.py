"""A host that reaches neither message server nor database any more, while the meeting site can still be reached."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.journeys import reach, send_bot, unhurried
from harness.line import Line, line_to
from harness.nats import NatsServer, running_server
from harness.postgres import PostgresServer
from harness.receiver import Receiver
from harness.service import COMMAND, Practice, running_role
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo

NOT_LOCAL = "127.0.0.2"  # a message server at 127.0.0.1 counts as part of its host's machine, and is waited for
ACK_WAIT_S = 6


class Roles:
    """Starts roles of one installation, each with a data directory of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self._started = ExitStack()

    def start(self, role: str, name: str, **others: str) -> dict[str, Any]:
        """Start one; returns what it says when it is ready."""
        folder = self._folder / name
        folder.mkdir()
        environment = {**self._environment, "SEDERUNT_DATA": str(folder), "SEDERUNT_HOST__NAME": name, **others}
        return self._started.enter_context(running_role([role], environment, folder / "log"))

    def key(self, name: str) -> str:
        made = subprocess.run(
            [*COMMAND, "keys", "create", "test"],
            env={**self._environment, "SEDERUNT_DATA": str(self._folder / name)},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return made.stdout.split()[-1]

    def close(self) -> None:
        self._started.close()


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[NatsServer]:
    (tmp_path / "bus").mkdir()
    async with running_server(tmp_path / "bus") as running:
        yield running


async def test_a_host_that_is_cut_off_leaves_its_meeting_before_another_host_knocks(
    practice: Practice,
    meetings: PracticeClient,
    receiver: Receiver,
    nats: NatsServer,
    postgres: PostgresServer,
    tmp_path: Path,
) -> None:
    """What its stay waits for at that moment, such as the database, would be waited for longer."""
    database = postgres.fresh_database()
    name, _, folder = database.partition("@/")[2].partition("?host=")
    settings = nats.settings()
    assert settings.token is not None
    roles = Roles(
        tmp_path,
        {
            **{name: value for name, value in os.environ.items() if not name.startswith("SEDERUNT_")},
            "SEDERUNT_API__PORT": "0",
            "SEDERUNT_BUS__URL": nats.embedded.url,
            "SEDERUNT_BUS__TOKEN": settings.token.get_secret_value(),
            "SEDERUNT_BUS__ACK_WAIT_S": str(ACK_WAIT_S),
            "SEDERUNT_DATABASE__URL": database,
            "SEDERUNT_STORAGE__URL": f"file://{tmp_path}/objects",
            "SEDERUNT_SECRET_KEYS": json.dumps(["practice-sealing-key-of-32-letters"]),
            "SEDERUNT_BROWSER__HOST_RULES": practice.host_rules,
            "SEDERUNT_BROWSER__IGNORE_CERTIFICATE_ERRORS": "true",
            "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
        },
    )
    async with (
        line_to(nats.embedded.port, address=NOT_LOCAL) as to_bus,
        line_to(Path(folder, ".s.PGSQL.5432"), address=NOT_LOCAL) as to_database,
    ):
        lines = (to_bus, to_database)
        try:
            await _play(roles, lines, name, meetings, receiver)
        finally:
            for line in lines:  # what is cut off could not end in good order
                line.passing.set()
            await asyncio.to_thread(roles.close)


async def _play(
    roles: Roles, lines: tuple[Line, Line], database: str, meetings: PracticeClient, receiver: Receiver
) -> None:
    to_bus, to_database = lines
    api = await asyncio.to_thread(roles.start, "api", "api")
    await asyncio.to_thread(roles.start, "worker", "worker")
    through = {
        "SEDERUNT_BUS__URL": f"nats://{NOT_LOCAL}:{to_bus.port}",
        "SEDERUNT_DATABASE__URL": f"postgresql+asyncpg://sederunt@{NOT_LOCAL}:{to_database.port}/{database}",
    }
    await asyncio.to_thread(lambda: roles.start("host", "first", **through))
    key = await asyncio.to_thread(roles.key, "api")
    meeting = await meetings.open_meeting(unhurried(demo(turns=120, pause_s=0.1), ends=False))
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{api['port']}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60
    ) as client:
        bot = await send_bot(client, meeting.url, receiver)
        await reach(receiver, bot, "recording", timeout_s=240)
        first = await meeting.wait_for("media_connected")
        await asyncio.to_thread(roles.start, "host", "second")
        for line in lines:
            line.passing.clear()
        second = await meeting.wait_for("arrived", after=first["number"], timeout_s=240)
        left = await meeting.wait_for("left", after=first["number"], timeout_s=240, bot=first["bot"])
        assert left["number"] < second["number"], "two bots of one booking were in the meeting"
        for line in lines:
            line.passing.set()
        await meeting.wait_for("media_connected", after=second["number"], timeout_s=240)
        await meeting.end()
        await reach(receiver, bot, "finished", timeout_s=240)
