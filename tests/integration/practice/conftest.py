"""A practice server, and a real Chromium that reaches it under the real host names."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright

from harness.practice_room import CAST, REMEMBER, OpenRoom, Room
from sederunt.practice.script import Act, Script, Variant
from sederunt.practice.server import PracticeServer


@pytest.fixture
async def server() -> AsyncIterator[PracticeServer]:
    async with PracticeServer() as running:
        yield running


@pytest.fixture
async def new_page(server: PracticeServer) -> AsyncIterator[Callable[[], Awaitable[Page]]]:
    """Fresh browser contexts that reach the practice server."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell",
            args=[
                "--no-sandbox",
                "--autoplay-policy=no-user-gesture-required",
                f"--host-resolver-rules={server.host_rules}",
            ],
        )

        async def make() -> Page:
            context = await browser.new_context(ignore_https_errors=True)
            await context.add_init_script(REMEMBER)
            page = await context.new_page()
            page.set_default_timeout(15_000)
            return page

        yield make
        await browser.close()


@pytest.fixture
def open_room(server: PracticeServer, new_page: Callable[[], Awaitable[Page]]) -> OpenRoom:
    """A meeting of that service and variant with a page at its address; `acts` as (at_s, do, who, clip or text)."""

    async def open_it(service: str = "gmeet", *, acts: tuple[Act, ...] = (), cast: Any = CAST, **variant: Any) -> Room:
        made = Script(service=service, cast=cast, acts=acts, variant=Variant(**variant))  # type: ignore[arg-type]
        meeting = await server.open_meeting(made)
        page = await new_page()
        await page.goto(meeting.url, wait_until="domcontentloaded")
        return Room(meeting, page)

    return open_it
