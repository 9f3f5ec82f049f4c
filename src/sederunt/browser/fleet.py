"""The running browsers of a pool: which bot sits in which, which empty ones are kept warm, and when one ends."""

import asyncio
import contextlib
import os
import time

from sederunt import log
from sederunt.browser.browser_user import browser_user_of
from sederunt.browser.chromium import Chromium
from sederunt.browser.kept_driver import KeptDriver
from sederunt.browser.launch import Mode, find_executable, usual_mode
from sederunt.browser.loopback import Loopback
from sederunt.browser.page_request import PageRequest
from sederunt.browser.sandbox import obstacle as sandbox_obstacle
from sederunt.errors import SetupError
from sederunt.settings import BrowserSettings

OPEN_S = 30.0  # for a page, and for the driver that it needs
TRY_AGAIN_S = 30.0  # after a browser failed to start

logger = log.get(component="browser")


class BrowserFleet:
    """Starts browsers with one driver, seats bots in them, and ends them.

    Args:
        settings: how browsers are started and shared.
        loopback: our own server, which their pages may reach.
        allow_private: whether meetings may be held on this machine.
    """

    def __init__(self, settings: BrowserSettings, loopback: Loopback, *, allow_private: bool) -> None:
        self._settings, self._loopback, self._allow_private = settings, loopback, allow_private
        self.driver = KeptDriver(self, idle_s=settings.idle_minutes * 60)
        self.failed_at: float | None = None  # when a browser failed to start; None once one has started
        self._browsers: list[Chromium] = []
        # A start costs 30 to 40 times as much as a second of a bot: more at once than cores only slow each other down.
        self._starts = asyncio.Semaphore(os.cpu_count() or 1)
        self._starting: dict[Chromium, asyncio.Task[None]] = {}
        self._closing = False

    def running(self) -> list[Chromium]:
        """Return the browsers that have not ended, empty ones and those about to start included."""
        return [browser for browser in self._browsers if not browser.gone.is_set()]

    def is_used(self) -> bool:
        """Return whether a bot is in any browser, or on its way."""
        return any(browser.seats for browser in self._browsers)

    def lose_driver(self) -> None:
        """Have every browser end, because the driver did."""
        for browser in list(self._browsers):
            browser.lose_driver()

    async def rest(self) -> None:
        """End every browser."""
        await asyncio.gather(*(self._end(browser) for browser in list(self._browsers)))

    async def close(self) -> None:
        """End every browser, then the driver; no more are kept warm."""
        self._closing = True
        try:
            await self.rest()
        finally:
            await self.driver.close()

    def state(self) -> str:
        """Return "ok", or why this host cannot open a page: "missing" if there is no browser to start, "does not start"
        if the last start, or the last page of a host without bots, failed. Another start is tried after a while.
        """
        try:
            find_executable(self._settings, usual_mode(self._settings))
        except SetupError:
            return "missing"
        if self.failed_at is None:
            return "ok"
        if time.monotonic() - self.failed_at >= TRY_AGAIN_S:
            self.failed_at = time.monotonic() if self._settings.warm else None  # without warm ones a bot will find out
            self.driver.want()
            self.warm_up()
        return "does not start"

    async def seat(self, request: PageRequest) -> Chromium:
        """Take a place in a running browser that has room (or will have, once started), else in a new one."""
        self.driver.want()
        await self.driver.arrival(OPEN_S)
        is_private = request.storage_state is not None or request.signs_in or request.host_rules is not None
        browser = None if is_private else self._with_room(request)
        if browser is None:
            browser = self._new(request.mode, private=is_private, host_rules=request.host_rules)
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
        # Returns the fullest browser with a free place, so that others can become empty and close.
        account_id = request.account_id
        is_sharing_allowed = self._settings.share_between_accounts
        candidates = [
            browser
            for browser in self._browsers
            if browser.mode == request.mode
            and not (browser.private or browser.spoiled or browser.gone.is_set())
            and (is_sharing_allowed or browser.account_id in (None, account_id))
            and browser.seats < self._settings.bots_per_browser
        ]
        return max(candidates, key=lambda browser: (browser.account_id == account_id, browser.seats), default=None)

    def _new(self, mode: Mode, *, private: bool = False, host_rules: str | None = None) -> Chromium:
        # Starts a browser and returns it at once. The start belongs to the pool: a bot that gives up does not end it.
        settings = self._settings
        if host_rules is not None:
            settings = settings.model_copy(update={"host_rules": host_rules, "ignore_certificate_errors": True})
        endpoints = (f"127.0.0.1:{self._loopback.port}",)
        browser = Chromium(
            self.driver.running, settings, mode, private=private, endpoints=endpoints, loopback=self._allow_private
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
                self.failed_at = time.monotonic()
            raise
        self.failed_at = None
        logger.info("browser started", action="browser_started", mode=browser.mode, pid=browser.pid)

    async def unseat(self, browser: Chromium) -> None:
        """Give a seat back. A browser left empty is kept warm, if one is wanted, or ended."""
        browser.seats -= 1
        if browser.seats > 0 or self._closing:
            return
        is_reusable = not (browser.private or browser.spoiled or browser.gone.is_set())
        if not is_reusable or self._empty(browser.mode) > self._settings.warm:
            await self._end(browser)

    def _empty(self, mode: Mode) -> int:
        return sum(
            browser.mode == mode and browser.seats == 0 and not browser.gone.is_set() for browser in self._browsers
        )

    async def _end(self, browser: Chromium) -> None:
        if browser in self._browsers:
            self._browsers.remove(browser)
        start = self._starting.pop(browser, None)
        if start is not None and not start.done():
            start.cancel()
        if start is not None:
            await asyncio.gather(start, return_exceptions=True)
        await browser.__aexit__(None, None, None)
        logger.info("browser ended", action="browser_ended", mode=browser.mode, pid=browser.pid)

    def warn_without_sandbox(self) -> None:
        if self._settings.sandbox != "auto":
            return
        with contextlib.suppress(SetupError):  # a missing browser is reported when it is needed
            program = find_executable(self._settings, usual_mode(self._settings))
            why = sandbox_obstacle(program, browser_user_of(self._settings, program))
            if why is not None:
                logger.warning(why, action="sandbox_off")

    def warm_up(self) -> None:
        """Start the wanted empty browsers in the background; without a driver, they start once there is one."""
        if not self.driver.is_there():
            return
        for _ in range(self._settings.warm - self._empty(usual_mode(self._settings))):
            browser = self._new(usual_mode(self._settings))
            self._starting[browser].add_done_callback(_say_why_cold)


def _say_why_cold(start: "asyncio.Task[None]") -> None:
    if not start.cancelled() and start.exception() is not None:
        logger.warning(str(start.exception()), action="browser_not_warmed")
