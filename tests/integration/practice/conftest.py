"""A practice server, and a real Chromium that reaches it under the real host names.

Both are started once per file; every test has its own meeting and its own browser context.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from harness import loops
from harness.practice_room import CAST, REMEMBER, OpenRoom, Room
from sederunt.practice.script import Script, ScriptedAct, Variant
from sederunt.practice.server import PracticeServer

PATIENCE_MS = 60_000  # on a busy machine

expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    loops.one_for_each_file(Path(__file__).parent, items)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[PracticeServer]:
    async with PracticeServer() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(server: PracticeServer) -> AsyncIterator[Browser]:
    async with async_playwright() as driver:
        started = await driver.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell",
            args=[
                "--no-sandbox",
                "--autoplay-policy=no-user-gesture-required",
                f"--host-resolver-rules={server.host_rules}",
            ],
        )
        yield started
        await started.close()


@pytest_asyncio.fixture(loop_scope="module")
async def open_room(server: PracticeServer, browser: Browser) -> AsyncIterator[OpenRoom]:
    """A meeting of that service and variant with a page at its address."""
    rooms: list[Room] = []

    async def open_it(
        service: str = "gmeet", *, acts: tuple[ScriptedAct, ...] = (), cast: Any = CAST, **variant: Any
    ) -> Room:
        made = Script(service=service, cast=cast, acts=acts, variant=Variant(**variant))  # type: ignore[arg-type]
        meeting = await server.open_meeting(made)
        context = await browser.new_context(ignore_https_errors=True)
        await context.add_init_script(REMEMBER)
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        rooms.append(Room(meeting, page))
        await page.goto(meeting.url, wait_until="domcontentloaded")
        return rooms[-1]

    yield open_it
    for room in rooms:
        await server.close_meeting(room.meeting.code)
        if not room.is_frozen:
            await room.page.context.close()
