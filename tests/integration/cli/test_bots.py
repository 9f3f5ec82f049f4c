"""`sederunt bots create`, `stop`, `watch`, `show` against a service: by its data directory, and by address and key."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from harness.api_room import ApiRoom, api_room, nats_process, on_a_socket
from sederunt.cli.run_files import note_address
from sederunt.clock import SYSTEM_CLOCK
from sederunt.model.status import StopReason, Trigger
from sederunt.settings import BusSettings

LINK = "https://meet.google.com/abc-defg-hij"
EVIL = "Min\x1b[2Jutes\u202e"


@pytest.fixture(scope="module")
def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusSettings]:
    with nats_process(tmp_path_factory.mktemp("nats")) as settings:
        yield settings


class Terminal:
    """`sederunt bots` on the data directory of a running service."""

    def __init__(self, room: ApiRoom, port: int) -> None:
        self.room, self.url = room, f"http://127.0.0.1:{port}"
        self.data = room.settings.data

    async def start(self, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
        place = [] if environment else ["--data", str(self.data)]
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sederunt.cli.main", "bots", *arguments, *place),
            env={**os.environ, **environment},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """Its standard output, or its complaint where another code than 0 is expected."""
        running = await self.start(*arguments, **environment)
        output, complaint = await running.communicate()
        assert running.returncode == code, complaint.decode()
        return (complaint if code else output).decode()


@pytest.fixture
async def terminal(tmp_path: Path, bus_settings: BusSettings) -> AsyncIterator[Terminal]:
    async with api_room(tmp_path / "data", bus_settings, SYSTEM_CLOCK) as room, on_a_socket(room.app) as port:
        (room.settings.data / "run").mkdir()
        note_address(room.settings.data, f"http://127.0.0.1:{port}")
        yield Terminal(room, port)


async def test_a_bot_is_sent_stopped_and_shown_from_the_machine_of_the_service(terminal: Terminal) -> None:
    room = terminal.room
    bot_id = (await terminal.run("create", LINK, "--name", EVIL, "--model", "none")).strip()
    kept = await room.look({"id": bot_id})
    assert (kept["bot_name"], kept["service"], kept["status"]) == (EVIL, "gmeet", "booting")
    files = list((terminal.data / "run").glob("command-line-*.key"))
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600]
    await terminal.run("stop", bot_id)
    again = list((terminal.data / "run").glob("command-line-*.key"))
    assert [file.read_text() for file in again] == [file.read_text() for file in files]
    names = [key.name for key in await room.keys.of(room.account_id)]
    assert names.count("command line") == 1

    await room.bots.record_transition(UUID(bot_id), Trigger.STOPPED, reason=StopReason.MANUALLY_STOPPED)
    shown = await terminal.run("show", bot_id)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.startswith("Min\\x1b[2Jutes\\u202e  not_admitted (manually_stopped)\n")
    assert "Why: It was asked to leave." in shown
    assert "not_admitted" in await terminal.run("stop", bot_id, code=1)
    assert "\x1b" not in await terminal.run("list")


async def test_what_is_wrong_is_a_sentence_with_its_field(terminal: Terminal) -> None:
    told = await terminal.run("create", LINK, "--model", "abacus", code=1)
    assert "(fields: transcription_model)" in told
    assert "Traceback" not in told
    away = await terminal.run("stop", "x-1", code=1, SEDERUNT_URL="http://127.0.0.1:1", SEDERUNT_KEY="sk_x")
    assert "http://127.0.0.1:1" in away
    assert "cannot be reached" in away
    keyless = await terminal.run("stop", "x-1", code=1, SEDERUNT_URL="http://127.0.0.1:1")
    assert "SEDERUNT_KEY" in keyless


async def test_a_place_that_is_typed_goes_before_one_that_is_exported(terminal: Terminal) -> None:
    room = terminal.room
    customer = await room.accounts.create("customer-b")
    elsewhere = {"SEDERUNT_URL": "http://127.0.0.1:1", "SEDERUNT_KEY": room.key}
    here = ("--data", str(terminal.data), "--account", "customer-b")
    bot_id = (await terminal.run("create", LINK, "--model", "none", *here, code=0, **elsewhere)).strip()
    assert (await room.bots.get(UUID(bot_id))).account_id == customer.id
    of_settings = {**elsewhere, "SEDERUNT_DATA": str(terminal.data)}
    await terminal.run("stop", bot_id, "--account", "customer-b", code=0, **of_settings)


async def test_a_bot_is_watched_from_a_laptop_until_its_end(terminal: Terminal) -> None:
    room = terminal.room
    environment = {"SEDERUNT_URL": terminal.url, "SEDERUNT_KEY": room.key}
    watching = await terminal.start("create", LINK, "--model", "none", "--watch", **environment)
    assert watching.stdout is not None
    bot_id = (await watching.stdout.readline()).decode().strip()
    await room.bots.record_transition(UUID(bot_id), Trigger.LAUNCHED)
    await room.bots.record_transition(UUID(bot_id), Trigger.REFUSED, reason=StopReason.REQUEST_DENIED)
    output, complaint = await asyncio.wait_for(watching.communicate(), 120)
    assert watching.returncode == 1, complaint.decode()
    lines = output.decode().splitlines()
    assert "Why: Somebody refused to let it in." in lines
    assert "What helps: Ask the host, then send it again." in lines
    seen = await terminal.run("watch", bot_id, "--format", "json", code=1, **environment)
    assert "Traceback" not in seen
