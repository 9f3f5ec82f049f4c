"""Browsers shared by bots: a context per bot, a few bots per browser, one driver per process.

Sharing halves memory and saves a third of the CPU; the price is that a browser takes all its bots with it when it
dies, so groups stay small. Bots that are signed in get a browser of their own, and those of two accounts share one
only where the operator allows it: a page that broke out of its renderer would find the other account's there.
"""

import asyncio
import base64
import contextlib
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Literal
from uuid import UUID, uuid4

from playwright.async_api import Error as DriverError
from playwright.async_api import Page

from sederunt import log
from sederunt.browser.browser_user import browser_user_of
from sederunt.browser.chromium import Chromium
from sederunt.browser.costs import SharedCost
from sederunt.browser.cpu_budgets import CpuBudgets
from sederunt.browser.isolated_world import IsolatedWorld
from sederunt.browser.kept_driver import KeptDriver
from sederunt.browser.launch import Mode, find_executable, usual_mode
from sederunt.browser.loopback import Loopback, PageChannel
from sederunt.browser.page import BROWSER_DIED, MeetingPage
from sederunt.browser.page_times import PageTimes, wall_ms
from sederunt.browser.process_watch import ProcessWatch
from sederunt.browser.processes import sweep_orphans
from sederunt.browser.sandbox import obstacle as sandbox_obstacle
from sederunt.browser.scripts import isolated_world_scripts, page_scripts
from sederunt.browser.signals import Signal
from sederunt.errors import PageCrashed, PageError, PageStuck, SetupError
from sederunt.model.audio import CapturedFrame
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.settings import BrowserSettings
from sederunt.tracing import traced

OPEN_S = 30.0
TRY_AGAIN_S = 30.0  # after a browser did not start
PROVE_EVERY_S = 600.0  # a page costs some tenths of a CPU-second, and is opened for this only where no bot needed one
PROVE_RESTING_S = 3600.0  # where browser, display and driver have to be started for it: some three CPU-seconds
PAGE_OVERRAN = PageTrouble(cause="page_overran", seen="The page did more than it may.", recovery=Recovery.FRESH_BROWSER)
VIEWPORT = {"width": 1280, "height": 720}

logger = log.get(component="browser")


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRequest:
    """How one bot's page is to be."""

    bot_id: UUID
    account_id: UUID | None = None  # whose browsers it may share
    mode: Literal["shell", "headless", "headful"]
    backend: Literal["encoded", "worklet"] = "encoded"
    forward: bool = False  # whether the page's own decoder gets the audio too
    batch_ms: int = 500
    video: bool = False  # whether video is received, and its encoded frames handed over
    watch: Mapping[str, Any]  # the platform's watch plan
    hosts: tuple[str, ...]  # origins that get permissions
    storage_state: Mapping[str, Any] | None = field(default=None, repr=False)  # signed in: a browser of its own
    signs_in: bool = False  # is going to sign in there: a browser of its own as well
    host_rules: str | None = None  # to reach a practice site, in a browser of its own that takes any certificate
    avatar: bytes | None = None  # what the bot's camera shows, a picture the browser can decode; no camera without


class BrowserPool:
    """Async context manager; inside it, `open` gives pages. Leaving it closes every browser.

    Args:
        browser: the settings.
        allow_private: whether meetings may be held on this machine.
    """

    def __init__(self, browser: BrowserSettings, *, allow_private: bool = True) -> None:
        self._settings, self._allow_private = browser, allow_private
        self._browsers: list[Chromium] = []
        self._loopback = Loopback()
        self._driver = KeptDriver(self, idle_s=browser.idle_minutes * 60)
        # A start costs 30 to 40 times what a bot costs in a second: more at once than cores only slows each other.
        self._starts = asyncio.Semaphore(os.cpu_count() or 1)
        self._open = 0
        self._starting: dict[Chromium, asyncio.Task[None]] = {}
        self._costs: dict[Chromium, SharedCost] = {}
        self._closing = False
        self._watching: list[asyncio.Task[None]] = []
        budgets = CpuBudgets(size=browser.page_cpu_s, per_s=browser.page_cpu)
        self._watch = ProcessWatch(lambda: self._browsers, budgets, browser.page_memory_mb)
        self._failed_at: float | None = None  # when a browser did not start, and none has started since
        self._proved_at = time.monotonic()  # when a page was opened last

    async def __aenter__(self) -> "BrowserPool":
        await asyncio.to_thread(sweep_orphans)
        await self._loopback.__aenter__()
        try:
            await self._driver.start()
        except BaseException:
            await self._end_all()
            raise
        self._warn_without_sandbox()
        self.warm_up()
        self._watching = [asyncio.create_task(task) for task in (self._watch.run(), self._driver.keep(), self._prove())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        for task in self._watching:
            task.cancel()
        await self.rest()
        await self._end_all()

    async def _end_all(self) -> None:
        try:
            await self._driver.close()
        finally:
            await self._loopback.__aexit__(None, None, None)

    def wake(self) -> None:
        """Have a driver and the empty browsers that are kept, in some two seconds, for the idle time from now on."""
        self._driver.want()

    def is_resting(self) -> bool:
        """Return whether driver and browsers have ended because no page was wanted."""
        return self._driver.is_resting()

    def bots(self) -> int:
        """Return pages open now."""
        return self._open

    def browsers(self) -> int:
        """Return browsers running now, empty ones included."""
        return sum(not browser.gone.is_set() for browser in self._browsers)

    def state(self) -> str:
        """Return "ok", or what keeps this host from opening a page: "missing" where there is no browser to start, "does
        not start" where the last start, or the last page of a host without bots, failed. Another start is tried after a
        while.
        """
        try:
            find_executable(self._settings, usual_mode(self._settings))
        except SetupError:
            return "missing"
        if self._failed_at is None:
            return "ok"
        if time.monotonic() - self._failed_at >= TRY_AGAIN_S:
            self._failed_at = time.monotonic() if self._settings.warm else None  # without one a bot will find out
            self.wake()
            self.warm_up()
        return "does not start"

    def processes(self) -> list[int]:
        """Return the main process of each browser."""
        return [browser.pid for browser in self._browsers if not browser.gone.is_set()]

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

        Frames and signals are told by the clock `now_ms` (Unix milliseconds), also where the machine's has been set.

        Raises SetupError when no browser can be started, PageStuck or PageCrashed when it does not give a page.
        """
        find_executable(self._settings, request.mode)
        browser = await self._seat(request)
        page: MeetingPage | None = None

        def may_knock(origin: str) -> bool:
            return origin in request.hosts or page is None or page.has_origin(origin)

        def overran() -> None:
            browser.spoiled = True  # what runs in it may have more in store
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
                await self._unseat(browser)
        self._open += 1
        self._failed_at, self._proved_at = None, time.monotonic()
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
            # Nothing for anybody; microphone and camera for the meeting's own origins.
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
            await self._unseat(browser)

        page = MeetingPage(tab, context, line, world, closed, on_trouble)
        # The costs until now are the other bots'.
        shared = self._costs.setdefault(browser, SharedCost())
        since_s = await shared.settle(browser.pid, browser.seats - 1)
        page.cost = lambda: shared.of_one(browser.pid, browser.seats, since_s)
        page.renderer_cpu_s = partial(self._watch.renderer_cpu.most_s, browser.pid)
        browser.listeners.append(page.hear)
        watcher = asyncio.create_task(_follow(browser, page))
        return page

    # --- browsers ------------------------------------------------------------------------------------------------

    def is_used(self) -> bool:
        """Return whether a bot sits in any browser, or is on its way."""
        return any(browser.seats for browser in self._browsers)

    def lose_driver(self) -> None:
        """Have every browser end, because the driver did."""
        for browser in list(self._browsers):
            browser.lose_driver()

    async def rest(self) -> None:
        """End every browser."""
        await asyncio.gather(*(self._end(browser) for browser in list(self._browsers)))

    async def _prove(self) -> None:
        """Have a host that keeps a browser warm open a page now and then: a browser that only runs proves nothing."""
        while True:
            await asyncio.sleep(PROVE_EVERY_S if self._failed_at is None else TRY_AGAIN_S)
            good_for_s = PROVE_RESTING_S if self.is_resting() else PROVE_EVERY_S
            is_proved = self._failed_at is None and time.monotonic() - self._proved_at < good_for_s
            if is_proved or not self._settings.warm:
                continue
            wanted_at = self._driver.wanted_at
            request = PageRequest(bot_id=uuid4(), mode=usual_mode(self._settings), watch={}, hosts=())
            try:
                page = await self.open(request, on_frames=lambda frames: None, on_signal=lambda signal: None)
                try:
                    await page.evaluate("() => 0")
                finally:
                    await page.close()
            except (PageError, SetupError) as error:
                logger.error("no page can be opened", action="browser_unproved", why=str(error))
                self._failed_at = time.monotonic()
            self._driver.wanted_at = wanted_at  # nobody wanted this page

    async def _seat(self, request: PageRequest) -> Chromium:
        """Take a place in a browser that runs: one that has room (or will have, once started), else a new one."""
        self.wake()
        await self._driver.arrival(OPEN_S)
        private = request.storage_state is not None or request.signs_in or request.host_rules is not None
        browser = None if private else self._with_room(request)
        if browser is None:
            browser = self._new(request.mode, private=private, host_rules=request.host_rules)
        browser.seats += 1
        browser.account_id = request.account_id
        try:
            start = self._starting.get(browser)
            if start is not None:
                await asyncio.shield(start)
        except BaseException:
            browser.seats -= 1
            raise
        return browser

    def _with_room(self, request: PageRequest) -> Chromium | None:
        """Return the fullest browser with a free place, so that others can become empty and close."""
        account_id = request.account_id
        allowed = self._settings.share_between_accounts
        open_ones = [
            browser
            for browser in self._browsers
            if browser.mode == request.mode
            and not (browser.private or browser.spoiled or browser.gone.is_set())
            and (allowed or browser.account_id in (None, account_id))
            and browser.seats < self._settings.bots_per_browser
        ]
        return max(open_ones, key=lambda browser: (browser.account_id == account_id, browser.seats), default=None)

    def _new(self, mode: Mode, *, private: bool = False, host_rules: str | None = None) -> Chromium:
        """Start a browser and return it at once. Its start belongs to the pool: a bot that gives up does not end it."""
        settings = self._settings
        if host_rules is not None:
            settings = settings.model_copy(update={"host_rules": host_rules, "ignore_certificate_errors": True})
        endpoints = (f"127.0.0.1:{self._loopback.port}",)
        browser = Chromium(
            self._driver.running, settings, mode, private=private, endpoints=endpoints, loopback=self._allow_private
        )
        self._browsers.append(browser)
        self._starting[browser] = asyncio.create_task(self._start(browser))
        return browser

    async def _start(self, browser: Chromium) -> None:
        try:
            async with self._starts:
                await browser.__aenter__()
        except BaseException as error:
            if browser in self._browsers:
                self._browsers.remove(browser)
            if isinstance(error, Exception):
                self._failed_at = time.monotonic()
            raise
        self._failed_at = None
        logger.info("browser started", action="browser_started", mode=browser.mode, pid=browser.pid)

    async def _unseat(self, browser: Chromium) -> None:
        """Give a seat back. A browser left empty is kept warm, if one is wanted, or ended."""
        browser.seats -= 1
        if browser.seats > 0 or self._closing:
            return
        reusable = not (browser.private or browser.spoiled or browser.gone.is_set())
        if not reusable or self._empty(browser.mode) > self._settings.warm:
            await self._end(browser)

    def _empty(self, mode: Mode) -> int:
        return sum(b.mode == mode and b.seats == 0 and not b.gone.is_set() for b in self._browsers)

    async def _end(self, browser: Chromium) -> None:
        if browser in self._browsers:
            self._browsers.remove(browser)
        self._costs.pop(browser, None)
        start = self._starting.pop(browser, None)
        if start is not None and not start.done():
            start.cancel()
        if start is not None:
            await asyncio.gather(start, return_exceptions=True)
        await browser.__aexit__(None, None, None)
        logger.info("browser ended", action="browser_ended", mode=browser.mode, pid=browser.pid)

    def _warn_without_sandbox(self) -> None:
        if self._settings.sandbox != "auto":
            return
        with contextlib.suppress(SetupError):  # a browser that is missing is told by whoever needs it
            program = find_executable(self._settings, usual_mode(self._settings))
            why = sandbox_obstacle(program, browser_user_of(self._settings, program))
            if why is not None:
                logger.warning(why, action="sandbox_off")

    def warm_up(self) -> None:
        """Start the empty browsers that are wanted, beside everything else. Without a driver it is done once there is
        one.
        """
        if not self._driver.is_there():
            return
        for _ in range(self._settings.warm - self._empty(usual_mode(self._settings))):
            browser = self._new(usual_mode(self._settings))
            self._starting[browser].add_done_callback(_say_why_cold)


class _Windows:
    """Closes every window that a page opens: a bot has one. A page that goes on and on is dropped."""

    MOST = 20

    def __init__(self, drop: Callable[[str], None]) -> None:
        self._drop, self._count = drop, 0
        self._closing: set[asyncio.Future[None]] = set()

    def close(self, window: Page) -> None:
        self._count += 1
        if self._count > self.MOST:
            self._drop(f"more than {self.MOST} windows")
        closing = asyncio.ensure_future(window.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closed)

    def _closed(self, closing: "asyncio.Future[None]") -> None:
        self._closing.discard(closing)
        if not closing.cancelled():
            closing.exception()  # it may be gone already


def _say_why_cold(start: "asyncio.Task[None]") -> None:
    if not start.cancelled() and start.exception() is not None:
        logger.warning(str(start.exception()), action="browser_not_warmed")


def _context_options(settings: BrowserSettings, request: PageRequest) -> dict[str, Any]:
    options: dict[str, Any] = {
        # Before any document is made: content policies would forbid our worker, our socket and our worklet.
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
    """Let the page be gone once its browser is."""
    await browser.gone.wait()
    page.end(BROWSER_DIED)
