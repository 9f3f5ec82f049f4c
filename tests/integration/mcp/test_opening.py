"""`/mcp` where its library cannot be loaded, or its tasks fail: that is told, and the next request tries again."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from harness.socket_room import Stage
from sederunt.mcp.endpoint import McpEndpoint, is_installed

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
MADE = McpEndpoint._made


async def status_of_ping(stage: Stage) -> int:
    headers = {"Accept": "application/json, text/event-stream"}
    answer = await asyncio.wait_for(stage.room.client.post("http://api.test/mcp", json=PING, headers=headers), 30)
    return answer.status_code


async def test_a_library_that_cannot_be_loaded_is_a_fault_and_is_tried_again(stage: Stage) -> None:
    with patch.object(McpEndpoint, "_made", side_effect=ModuleNotFoundError("No module named 'mcp.server.mcpserver'")):
        assert set(await asyncio.gather(status_of_ping(stage), status_of_ping(stage))) == {500}
    assert await status_of_ping(stage) == 200


async def test_who_hangs_up_during_the_opening_takes_it_from_nobody(stage: Stage) -> None:
    loop, begun, goes_on = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def slowly(endpoint: McpEndpoint) -> Any:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(goes_on.wait(), loop).result(30)
        return MADE(endpoint)

    with patch.object(McpEndpoint, "_made", slowly):
        first = asyncio.create_task(status_of_ping(stage))
        await begun.wait()
        begun.clear()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        second = asyncio.create_task(status_of_ping(stage))
        goes_on.set()
        assert await second == 200
        assert not begun.is_set()  # the first one's library served the second


async def test_tasks_that_end_by_a_fault_are_begun_anew(stage: Stage) -> None:
    fails = asyncio.Event()

    def fragile(endpoint: McpEndpoint) -> Any:
        sessions = MADE(endpoint)
        run = sessions.run

        @asynccontextmanager
        async def running() -> AsyncIterator[None]:
            async with run(), asyncio.TaskGroup() as tasks:
                tasks.create_task(failing())
                yield

        sessions.run = running  # type: ignore[method-assign]
        return sessions

    async def failing() -> None:
        await fails.wait()
        raise RuntimeError("a task of the protocol's")

    with patch.object(McpEndpoint, "_made", fragile):
        assert await status_of_ping(stage) == 200
    fails.set()
    for _ in range(100):
        await asyncio.sleep(0)
    assert await status_of_ping(stage) == 200


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ((), False),
        (("mcp.py",), False),
        (("mcp/__init__.py", "mcp/server/__init__.py"), False),  # a release before the server that is needed
        (("mcp.py", "server/__init__.py", "mcpserver.py"), False),  # of somebody else
        (("mcp/__init__.py", "mcp/server/__init__.py", "mcp/server/mcpserver/__init__.py"), True),
    ],
)
def test_only_a_library_with_the_server_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], expected: bool
) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("raise AssertionError('it was loaded')\n")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with patch.dict("sys.modules"):
        for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
            del sys.modules[name]
        assert is_installed() is expected


def test_ours_is_one() -> None:
    assert is_installed() is (find_spec("mcp.server.mcpserver") is not None)
