"""A process of a browser that is stopped, not ended: noticed by what the kernel says of it."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import psutil
import pytest

from harness.browser_room import Ear
from sederunt.browser.page import MeetingPage
from sederunt.browser.page_request import PageRequest
from sederunt.browser.pool import BrowserPool
from sederunt.browser.process_watch import ProcessWatch
from sederunt.browser.stopped_processes import LOOKS_IN_A_ROW, kind_of
from sederunt.bus.tasks import end
from sederunt.model.trouble import PageTrouble
from sederunt.settings import BrowserSettings

pytestmark = pytest.mark.chromium

WITHIN_S = 60.0  # on a busy machine; a quiet one takes three
RUNS_S = 1.0  # CPU-seconds in a minute: more than an empty page needs, less than a loop gets on the busiest machine

OnTrouble = Callable[[PageTrouble], None]


@asynccontextmanager
async def page_of(
    mode: str, on_trouble: OnTrouble = lambda trouble: None
) -> AsyncIterator[tuple[BrowserPool, MeetingPage]]:
    async with BrowserPool(BrowserSettings(warm=0, mode="shell")) as pool:
        page = await open_page(pool, mode, on_trouble)
        yield pool, page
        await page.close()


async def open_page(pool: BrowserPool, mode: str, on_trouble: OnTrouble = lambda trouble: None) -> MeetingPage:
    ear, wishes = Ear(), dict[str, Any](mode=mode, watch={}, hosts=())
    asked = PageRequest(bot_id=uuid4(), **wishes)
    return await pool.open(asked, on_frames=ear.take, on_signal=ear.hear, on_trouble=on_trouble)


def process_of(browser: int, kind: str) -> int:
    """The process of a kind that belongs to this browser."""
    main = psutil.Process(browser)
    if kind == "driver":
        return main.ppid()
    if kind == "display":
        return next(p.pid for p in psutil.Process().children(recursive=True) if p.name() == "Xvfb")
    family = [main, *main.children(recursive=True)]
    return next(p.pid for p in reversed(family) if kind in kind_of(p.pid))


def looks_of(monkeypatch: pytest.MonkeyPatch) -> "asyncio.Queue[None]":
    """Tell of each look at the processes once it is over."""
    looks: asyncio.Queue[None] = asyncio.Queue()
    look = ProcessWatch._look

    async def look_and_tell(watch: ProcessWatch) -> None:
        await look(watch)
        looks.put_nowait(None)

    monkeypatch.setattr(ProcessWatch, "_look", look_and_tell)
    return looks


@pytest.mark.parametrize(
    ("kind", "recovery", "mode"),
    [
        ("renderer", "fresh_page", "shell"),
        ("browser", "fresh_browser", "shell"),
        ("zygote", "fresh_browser", "shell"),
        ("network_service", "fresh_browser", "shell"),
        ("driver", "fresh_browser", "shell"),
        ("display", "fresh_browser", "headful"),
    ],
)
async def test_a_stopped_process_ends_the_page_that_needs_it_and_another_is_given(
    kind: str, recovery: str, mode: str
) -> None:
    async with page_of(mode) as (pool, page):
        found = process_of(pool.processes()[0], {"network_service": "NetworkService"}.get(kind, kind))
        os.kill(found, signal.SIGSTOP)
        async with asyncio.timeout(WITHIN_S):
            await page.gone.wait()
        assert (page.gone_by.cause, page.gone_by.recovery) == (f"{kind}_stopped", recovery)
        another = await open_page(pool, mode)
        assert await another.evaluate("() => 7") == 7
        await another.close()


async def test_a_driver_that_dies_takes_its_browsers_and_another_is_started() -> None:
    async with page_of("shell") as (pool, page):
        (browser,) = pool.processes()
        os.kill(process_of(browser, "driver"), signal.SIGKILL)
        async with asyncio.timeout(WITHIN_S):
            await page.gone.wait()
        assert (page.gone_by.cause, page.gone_by.recovery) == ("driver_died", "fresh_browser")
        another = await open_page(pool, "shell")
        assert await another.evaluate("() => 7") == 7
        assert pool.processes() != [browser]
        await another.close()


async def test_a_browser_that_lost_its_zygotes_is_ended_for_it_starts_no_page_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = looks_of(monkeypatch)
    async with page_of("shell") as (pool, page), asyncio.timeout(WITHIN_S):
        (browser,) = pool.processes()
        for _ in range(LOOKS_IN_A_ROW + 1):  # it has been seen alive
            await looks.get()
        for process in psutil.Process(browser).children(recursive=True):
            if kind_of(process.pid) == "zygote":
                process.kill()
        await page.gone.wait()
        while pool.processes() == [browser]:
            await looks.get()
        another = await open_page(pool, "shell")
        assert await another.evaluate("() => 7") == 7
        await another.close()


async def test_a_page_outlives_the_gpu_process_of_its_browser_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is stopped, once it is ended; in between the browser has started another."""
    heard: asyncio.Queue[PageTrouble] = asyncio.Queue()
    looks = looks_of(monkeypatch)
    async with page_of("shell", heard.put_nowait) as (pool, page), asyncio.timeout(2 * WITHIN_S):
        for sent, cause in ((signal.SIGSTOP, "gpu_process_stopped"), (signal.SIGKILL, "gpu_process_died")):
            for _ in range(looks.qsize() + 2):  # it has been seen alive
                await looks.get()
            os.kill(process_of(pool.processes()[0], "gpu-process"), sent)
            trouble = await heard.get()
            assert (trouble.cause, trouble.recovery) == (cause, "by_browser")
            assert not page.gone.is_set()
            assert await page.evaluate("() => 7") == 7
        assert heard.empty()


async def test_a_page_in_an_endless_loop_is_told_from_one_that_is_late_by_what_its_renderer_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = looks_of(monkeypatch)
    async with page_of("shell") as (_, page):
        await looked.get()
        answered_at = time.monotonic()
        asked = asyncio.create_task(page.evaluate("() => { for (;;) {} }", deadline_s=3600))
        async with asyncio.timeout(600):
            while page.renderer_cpu_s(60.0, time.monotonic() - answered_at) < RUNS_S:
                await looked.get()
        await end(asked)
