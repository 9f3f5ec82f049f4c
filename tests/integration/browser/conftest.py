"""A pool with a real Chromium, practice meetings to sit in, and pages of a test's own making."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import uuid4

import pytest

from harness.browser_room import ACTS, CAST, NAME_FIELD, WHEN_THERE, Ear, OpenPage, Site, SitIn, Sitting, Stay
from sederunt.browser.pool import BrowserPool, PageRequest
from sederunt.practice.script import Script, Variant
from sederunt.practice.server import PracticeServer
from sederunt.settings import BrowserSettings


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    async with PracticeServer() as running:
        yield running


@pytest.fixture
async def pool(practice: PracticeServer) -> AsyncIterator[BrowserPool]:
    settings = BrowserSettings(host_rules=practice.host_rules, ignore_certificate_errors=True, warm=0)
    async with BrowserPool(settings) as running:
        yield running


@pytest.fixture
def open_page(pool: BrowserPool) -> OpenPage:
    """A page; keywords are fields of PageRequest."""

    async def open_it(**request: Any) -> Stay:
        ear = Ear()
        wishes = {"mode": "shell", "watch": {}, "hosts": ("https://meet.google.com",), "batch_ms": 100, **request}
        page = await pool.open(PageRequest(bot_id=uuid4(), **wishes), on_frames=ear.take, on_signal=ear.hear)
        return Stay(page, ear)

    return open_it


@pytest.fixture
def sit_in(practice: PracticeServer, open_page: OpenPage) -> SitIn:
    """A practice meeting with a page that has joined it. `request` are fields of PageRequest, the rest a Variant's."""

    async def join(
        *, request: Mapping[str, Any] | None = None, cast: Any = CAST, acts: Any = ACTS, **variant: Any
    ) -> Sitting:
        script = Script(cast=cast, acts=acts, variant=Variant(**variant))
        meeting = await practice.open_meeting(script)
        stay = await open_page(**(request or {}))
        await stay.page.goto(meeting.url)
        await stay.page.evaluate(WHEN_THERE, NAME_FIELD, deadline_s=60)
        assert await stay.page.type_text([NAME_FIELD], "Bot")
        assert await stay.page.click(['button:has-text("Join now")', 'button:has-text("Ask to join")'])
        await meeting.wait_for("media_connected")
        return Sitting(stay, meeting)

    return join


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    await made.start()
    yield made
    await made.stop()
