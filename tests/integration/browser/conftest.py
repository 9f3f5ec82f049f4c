"""A pool with a real Chromium, practice meetings to sit in, and pages of a test's own making.

Pool and practice server are started once per file; every test has its own pages and meetings.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from harness import loops
from harness.browser_room import ACTS, CAST, NAME_FIELD, WHEN_THERE, Ear, OpenPage, Site, SitIn, Sitting, Stay
from sederunt.browser.page_request import PageRequest
from sederunt.browser.page_times import wall_ms
from sederunt.browser.pool import BrowserPool
from sederunt.practice.meeting import Meeting
from sederunt.practice.script import Script, Variant
from sederunt.practice.server import PracticeServer
from sederunt.settings import BrowserSettings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    loops.one_for_each_file(Path(__file__).parent, items)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def practice() -> AsyncIterator[PracticeServer]:
    async with PracticeServer() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(practice: PracticeServer) -> AsyncIterator[BrowserPool]:
    settings = BrowserSettings(mode="shell", host_rules=practice.host_rules, ignore_certificate_errors=True, warm=1)
    async with BrowserPool(settings) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def open_page(pool: BrowserPool) -> AsyncIterator[OpenPage]:
    """A page; keywords are fields of PageRequest, and the stay's clock."""
    opened: list[Stay] = []

    async def open_it(*, now_ms: Callable[[], float] = wall_ms, **request: Any) -> Stay:
        ear = Ear()
        wishes = {"mode": "shell", "watch": {}, "hosts": ("https://meet.google.com",), "batch_ms": 100, **request}
        asked = PageRequest(bot_id=uuid4(), **wishes)
        page = await pool.open(asked, on_frames=ear.take, on_signal=ear.hear, now_ms=now_ms)
        opened.append(Stay(page, ear))
        return opened[-1]

    yield open_it
    await asyncio.gather(*(stay.page.close() for stay in opened))


@pytest_asyncio.fixture(loop_scope="module")
async def sit_in(practice: PracticeServer, open_page: OpenPage) -> AsyncIterator[SitIn]:
    """A practice meeting with a page that has joined it. `request` are fields of PageRequest, the rest a Variant's."""

    meetings: list[Meeting] = []

    async def join(
        *, request: Mapping[str, Any] | None = None, cast: Any = CAST, acts: Any = ACTS, **variant: Any
    ) -> Sitting:
        script = Script(cast=cast, acts=acts, variant=Variant(**variant))
        meeting = await practice.open_meeting(script)
        meetings.append(meeting)
        stay = await open_page(**(request or {}))
        await stay.page.goto(meeting.url)
        await stay.page.evaluate(WHEN_THERE, NAME_FIELD, deadline_s=60)
        assert await stay.page.type_text([NAME_FIELD], "Bot")
        assert await stay.page.click(['button:has-text("Join now")', 'button:has-text("Ask to join")'])
        await meeting.wait_for("media_connected")
        return Sitting(stay, meeting)

    yield join
    for meeting in meetings:
        await practice.close_meeting(meeting.code)


@pytest_asyncio.fixture(loop_scope="module")
async def site() -> AsyncIterator[Site]:
    made = Site()
    await made.start()
    yield made
    await made.stop()
