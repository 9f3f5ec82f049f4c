"""A pool with a real Chromium, pages of a test's own making, and practice meetings. Started once per file."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from harness import loops
from harness.browser_room import LOADED
from harness.platforms_room import Opened, OpenPage, ShowPage, StaticSite
from sederunt.browser.page import MeetingPage
from sederunt.browser.page_request import PageRequest
from sederunt.browser.pool import BrowserPool
from sederunt.browser.signals import Signal
from sederunt.model.audio import CapturedFrame
from sederunt.practice.server import PracticeServer
from sederunt.settings import BrowserSettings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    loops.one_for_each_file(Path(__file__).parent, items)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StaticSite]:
    made = StaticSite(tmp_path_factory.mktemp("site"))
    await made.start()
    yield made
    await made.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def practice() -> AsyncIterator[PracticeServer]:
    async with PracticeServer() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site_pool(site: StaticSite) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(_settings(site.host_rules)) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def practice_pool(practice: PracticeServer) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(_settings(practice.host_rules)) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_page(site_pool: BrowserPool) -> AsyncIterator[MeetingPage]:
    page = await site_pool.open(_request(), on_frames=lambda frames: None, on_signal=lambda signal: None)
    yield page
    await page.close()


@pytest_asyncio.fixture(loop_scope="module")
async def show(site: StaticSite, shared_page: MeetingPage) -> ShowPage:
    """show(html, url="https://meet.google.com/abc-defg-hij"): a page that shows just that."""

    async def open_it(
        html: str, *, url: str = "https://meet.google.com/abc-defg-hij", status: int = 200
    ) -> MeetingPage:
        path = "/" + url.split("://", 1)[1].partition("/")[2].split("?")[0].split("#")[0]
        site.put(path, html, status)
        await shared_page.goto("about:blank")
        await shared_page.goto(url)
        await shared_page.evaluate(LOADED, deadline_s=60)
        return shared_page

    return open_it


@pytest_asyncio.fixture(loop_scope="module")
async def open_practice(practice_pool: BrowserPool) -> AsyncIterator[OpenPage]:
    """A fresh page that can reach the practice meetings; keywords are fields of PageRequest."""
    async with _pages_of(practice_pool) as open_it:
        yield open_it


@pytest_asyncio.fixture(loop_scope="module")
async def open_own(site_pool: BrowserPool) -> AsyncIterator[OpenPage]:
    """A fresh page that can reach what a test puts on `site`; keywords are fields of PageRequest."""
    async with _pages_of(site_pool) as open_it:
        yield open_it


@asynccontextmanager
async def _pages_of(pool: BrowserPool) -> AsyncIterator[OpenPage]:
    opened: list[MeetingPage] = []

    async def open_it(**request: Any) -> Opened:
        signals: list[Signal] = []
        frames: list[CapturedFrame] = []
        news = asyncio.Event()

        def hear(signal: Signal) -> None:
            signals.append(signal)
            news.set()

        def take(batch: Sequence[CapturedFrame]) -> None:
            frames.extend(batch)
            news.set()

        page = await pool.open(_request(**request), on_frames=take, on_signal=hear)
        opened.append(page)
        return Opened(page=page, signals=signals, frames=frames, news=news)

    yield open_it
    for page in opened:
        await page.close()


def _settings(host_rules: str) -> BrowserSettings:
    return BrowserSettings(host_rules=host_rules, ignore_certificate_errors=True, warm=0)


def _request(**request: Any) -> PageRequest:
    wishes: dict[str, Any] = {"mode": "shell", "watch": {}, "hosts": ("https://meet.google.com",), **request}
    return PageRequest(bot_id=uuid4(), **wishes)
