"""Browsers shared by bots: a context per bot, a few bots per browser, one driver per process.

Sharing halves memory and saves a third of the CPU; but a browser that dies takes all its bots with it, so groups stay
small. Bots that are signed in get their own browser, and those of two accounts share one only if the operator allows
it: a page that broke out of its renderer would have access to the other account's pages.
"""

import asyncio
import base64
import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from playwright.async_api import Error as DriverError
from playwright.async_api import Page

from sederunt import log
from sederunt.browser.chromium import Chromium
from sederunt.browser.costs import SharedCost
from sederunt.browser.cpu_budgets import CpuBudgets
from sederunt.browser.fleet import OPEN_S, TRY_AGAIN_S, BrowserFleet
from sederunt.browser.isolated_world import IsolatedWorld
from sederunt.browser.launch import find_executable, usual_mode
from sederunt.browser.loopback import Loopback, PageChannel
from sederunt.browser.page import BROWSER_DIED, MeetingPage
from sederunt.browser.page_budget import MOST_WINDOWS
from sederunt.browser.page_request import PageRequest
from sederunt.browser.page_times import PageTimes, wall_ms
from sederunt.browser.process_watch import ProcessWatch
from sederunt.browser.processes import sweep_orphans
from sederunt.browser.scripts import isolated_world_scripts, page_scripts
from sederunt.browser.signals import Signal
from sederunt.errors import PageCrashed, PageError, PageStuck, SetupError
from sederunt.model.audio import CapturedFrame
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.settings import BrowserSettings
from sederunt.tracing import traced

PROVE_EVERY_S = 600.0  # a test page costs some tenths of a CPU-second, and is opened only if no bot needed one
PROVE_RESTING_S = 3600.0  # if browser, display and driver have to be started for it: some three CPU-seconds
PAGE_OVERRAN = PageTrouble(cause="page_overran", seen="The page did more than it may.", recovery=Recovery.FRESH_BROWSER)
VIEWPORT = {"width": 1280, "height": 720}

logger = log.get(component="browser")


class BrowserPool:
    """Async context manager; inside it, `open` gives pages. Leaving it closes every browser.

    Args:
        browser: the settings.
        allow_private: whether meetings may be held on this machine.
    """

    def __init__(self, browser: BrowserSettings, *, allow_private: bool = True) -> None:
        self._settings = browser
        self._loopback = Loopback()
        self._fleet = BrowserFleet(browser, self._loopback, allow_private=allow_private)
        self._open = 0
        self._costs: WeakKeyDictionary[Chromium, SharedCost] = WeakKeyDictionary()
        self._watching: list[asyncio.Task[None]] = []
        budgets = CpuBudgets(size=browser.page_cpu_s, per_s=browser.page_cpu)
        self._watch = ProcessWatch(self._fleet.running, budgets, browser.page_memory_mb)
        self._proved_at = time.monotonic()  # when a page was last opened

    async def __aenter__(self) -> "BrowserPool":
        await asyncio.to_thread(sweep_orphans)
        await self._loopback.__aenter__()
        fleet = self._fleet
        try:
            await fleet.driver.start()
        except BaseException:
            await self._end_all()
            raise
        fleet.warn_without_sandbox()
        fleet.warm_up()
        self._watching = [asyncio.create_task(task) for task in (self._watch.run(), fleet.driver.keep(), self._prove())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._watching:
            task.cancel()
        await self._end_all()

    async def _end_all(self) -> None:
        try:
            await self._fleet.close()
        finally:
            await self._loopback.__aexit__(None, None, None)

    def wake(self) -> None:
        """Start the driver and the warm browsers, in some two seconds, for the idle time from now on."""
        self._fleet.driver.want()

    def is_resting(self) -> bool:
        """Return whether driver and browsers have ended because no page was wanted."""
        return self._fleet.driver.is_resting()

    def bots(self) -> int:
        """Return the number of open pages."""
        return self._open

    def browsers(self) -> int:
        """Return the number of running browsers, empty ones included."""
        return len(self._fleet.running())

    def processes(self) -> list[int]:
        """Return the main process of each browser."""
        return [browser.pid for browser in self._fleet.running()]

    def state(self) -> str:
        """Return "ok", or why this host cannot open a page; see `BrowserFleet.state`."""
        return self._fleet.state()

    @traced("open page")
    async def open(
        self,
        request: PageRequest,
        *,
        on_frames: Callable[[Sequence[CapturedFrame]], None],
        on_signal: Callable[[Signal], None],
        on_trouble: Callable[[PageTrouble], None] = lambda trouble: None,
        now_ms: Callable[[], float] = wall_ms,
    ) -> MeetingPage:
        """Open a fresh page for a bot, with the in-page scripts in place. The callbacks must not block.

        Frames and signals have times of the clock `now_ms` (Unix milliseconds), even if the machine's has been set.

        Raises SetupError when no browser can be started, PageStuck or PageCrashed when it does not open a page.
        """
        find_executable(self._settings, request.mode)
        browser = await self._fleet.seat(request)
        page: MeetingPage | None = None

        def may_knock(origin: str) -> bool:
            return origin in request.hosts or page is None or page.has_origin(origin)

        def overran() -> None:
            browser.spoiled = True  # its scripts may do more harm
            if page is not None:
                page.end(PAGE_OVERRAN)

        line = self._loopback.open_line(
            on_frames=on_frames,
            on_signal=on_signal,
            may_knock=may_knock,
            on_overrun=overran,
            times=PageTimes(now_ms),
        )
        try:
            async with asyncio.timeout(OPEN_S):
                page = await self._open_page(browser, line, request, on_trouble)
        except TimeoutError:
            browser.spoiled = True
            raise PageStuck(f"The browser did not open a page within {OPEN_S:g} s.") from None
        except DriverError as error:
            raise PageCrashed("The browser went away while it opened a page.") from error
        finally:
            if page is None:
                await self._loopback.close_line(line)
                await self._fleet.unseat(browser)
        self._open += 1
        self._fleet.failed_at, self._proved_at = None, time.monotonic()
        return page

    async def _open_page(
        self,
        browser: Chromium,
        line: PageChannel,
        request: PageRequest,
        on_trouble: Callable[[PageTrouble], None],
    ) -> MeetingPage:
        context = await browser.new_context(_context_options(self._settings, request))
        windows = _Windows(partial(self._loopback.drop, line))
        try:
            name = secrets.token_urlsafe(12)
            # No permission for any origin, except microphone and camera for the meeting's own origins.
            await context.grant_permissions([])
            for host in request.hosts:
                await context.grant_permissions(["microphone", "camera"], origin=host)
            await context.add_init_script(page_scripts(_script_config(name, request)))
            tab = await context.new_page()
            context.on("page", windows.close)
            world = IsolatedWorld(
                context, tab, isolated_world_scripts(name, self._loopback.address(line)), browser.places
            )
            await world.prepare()
        except BaseException:
            with contextlib.suppress(DriverError):
                await asyncio.wait_for(context.close(), 5)
            raise

        async def closed(cleanly: bool) -> None:
            self._open -= 1
            browser.spoiled = browser.spoiled or not cleanly
            await self._loopback.close_line(line)
            watcher.cancel()
            browser.listeners.remove(page.hear)
            if browser.seats > 1:
                await self._costs[browser].settle(browser.pid, browser.seats)
            await self._fleet.unseat(browser)

        page = MeetingPage(tab, context, line, world, closed, on_trouble)
        # The costs so far belong to the other bots.
        shared = self._costs.setdefault(browser, SharedCost())
        since_s = await shared.settle(browser.pid, browser.seats - 1)
        page.cost = lambda: shared.of_one(browser.pid, browser.seats, since_s)
        page.renderer_cpu_s = partial(self._watch.renderer_cpu.most_s, browser.pid)
        browser.listeners.append(page.hear)
        watcher = asyncio.create_task(_follow(browser, page))
        return page

    async def _prove(self) -> None:
        # A host that keeps a browser warm opens a page now and then: a running browser alone proves nothing.
        while True:
            await asyncio.sleep(PROVE_EVERY_S if self._fleet.failed_at is None else TRY_AGAIN_S)
            good_for_s = PROVE_RESTING_S if self.is_resting() else PROVE_EVERY_S
            is_proved = self._fleet.failed_at is None and time.monotonic() - self._proved_at < good_for_s
            if is_proved or not self._settings.warm:
                continue
            wanted_at = self._fleet.driver.wanted_at
            request = PageRequest(bot_id=uuid4(), mode=usual_mode(self._settings), watch={}, hosts=())
            try:
                page = await self.open(request, on_frames=lambda frames: None, on_signal=lambda signal: None)
                try:
                    await page.evaluate("() => 0")
                finally:
                    await page.close()
            except (PageError, SetupError) as error:
                logger.error("no page can be opened", action="browser_unproved", why=str(error))
                self._fleet.failed_at = time.monotonic()
            self._fleet.driver.wanted_at = wanted_at  # nobody wanted this page


class _Windows:
    """Closes every window that a page opens: a bot has only one. A page that opens too many is dropped."""

    def __init__(self, drop: Callable[[str], None]) -> None:
        self._drop, self._count = drop, 0
        self._closing: set[asyncio.Future[None]] = set()

    def close(self, window: Page) -> None:
        self._count += 1
        if self._count > MOST_WINDOWS:
            self._drop(f"more than {MOST_WINDOWS} windows")
        task = asyncio.ensure_future(window.close())
        self._closing.add(task)
        task.add_done_callback(self._closed)

    def _closed(self, task: "asyncio.Future[None]") -> None:
        self._closing.discard(task)
        if not task.cancelled():
            task.exception()  # it may be gone already


def _context_options(settings: BrowserSettings, request: PageRequest) -> dict[str, Any]:
    options: dict[str, Any] = {
        # Set before any document exists: content policies would forbid our worker, our socket and our worklet.
        "bypass_csp": True,
        "locale": settings.locale,
        "viewport": VIEWPORT,
        "ignore_https_errors": settings.ignore_certificate_errors or request.host_rules is not None,
        "service_workers": "allow",
        "accept_downloads": False,
    }
    if request.storage_state is not None:
        options["storage_state"] = dict(request.storage_state)
    return options


def _script_config(name: str, request: PageRequest) -> dict[str, Any]:
    return {
        "name": name,
        "backend": request.backend,
        "forward": request.forward,
        "batchMs": request.batch_ms,
        "video": request.video,
        "watch": dict(request.watch),
        "avatar": base64.b64encode(request.avatar).decode() if request.avatar else "",
    }


async def _follow(browser: Chromium, page: MeetingPage) -> None:
    # Marks the page as gone once its browser is.
    await browser.gone.wait()
    page.end(BROWSER_DIED)
