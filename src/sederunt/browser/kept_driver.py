"""Keeps the driver that starts browsers: replaces one that ends, and ends it when no page is wanted."""

import asyncio
import time
from contextlib import AsyncExitStack
from typing import Protocol

from sederunt import log
from sederunt.browser.driver import BrowserDriver, running_driver
from sederunt.errors import PageStuck, SetupError

AGAIN_S = 5.0  # after a driver failed to start
LOOK_EVERY_S = 1.0  # whether a page is open, once the idle time is over

logger = log.get(component="browser")


class DrivenBrowsers(Protocol):
    """The browsers of a driver."""

    def is_used(self) -> bool:
        """Return whether a bot is in any of them."""

    def lose_driver(self) -> None:
        """End them without their driver, which has ended."""

    async def rest(self) -> None:
        """End all of them; none is used."""

    def warm_up(self) -> None:
        """Start the empty ones that are kept."""


class KeptDriver:
    """Keep a driver for as long as pages are wanted, and for `idle_s` after that (0: for ever)."""

    def __init__(self, browsers: DrivenBrowsers, *, idle_s: float) -> None:
        self._browsers, self._idle_s = browsers, idle_s
        self._driver: BrowserDriver | None = None
        self._all, self._running = AsyncExitStack(), AsyncExitStack()
        self._has_driver, self._wanted = asyncio.Event(), asyncio.Event()
        self.wanted_at = time.monotonic()

    def want(self) -> None:
        """Have a driver for the idle time from now on."""
        self.wanted_at = time.monotonic()
        self._wanted.set()

    def is_resting(self) -> bool:
        """Return whether the driver has ended because no page was wanted."""
        return not self._wanted.is_set()

    def is_there(self) -> bool:
        """Return whether a browser can be started now."""
        return self._has_driver.is_set()

    @property
    def running(self) -> BrowserDriver:
        """Return the driver that was started last."""
        assert self._driver is not None
        return self._driver

    async def arrival(self, within_s: float) -> None:
        """Wait until a driver runs. Raises PageStuck."""
        try:
            async with asyncio.timeout(within_s):
                await self._has_driver.wait()
        except TimeoutError:
            raise PageStuck("The browsers' driver does not start.") from None

    async def start(self) -> None:
        """Start a driver. Raises SetupError."""
        self._running = await self._all.enter_async_context(AsyncExitStack())
        self._driver = await self._running.enter_async_context(running_driver())
        self.want()
        self._has_driver.set()

    async def close(self) -> None:
        """End the driver, and the remains of earlier ones."""
        await self._all.aclose()

    async def keep(self) -> None:
        """Start another driver whenever one ends, for its browsers end with it; let it end if nobody wants a page."""
        while True:
            has_ended = await self._end_of(self.running)
            self._has_driver.clear()
            if has_ended:
                logger.error("the browsers' driver ended", action="driver_ended", pid=self.running.pid)
                self._browsers.lose_driver()
            else:
                self._wanted.clear()
                await self._browsers.rest()
                await self._running.aclose()
                logger.info("no page was wanted: browsers and driver ended", action="browsers_rest")
                await self._wanted.wait()
            while not self._has_driver.is_set():
                try:
                    await self.start()
                except SetupError as error:
                    logger.error(str(error), action="driver_missing")
                    await asyncio.sleep(AGAIN_S)
            self._browsers.warm_up()

    async def _end_of(self, driver: BrowserDriver) -> bool:
        # Waits until a driver has ended by itself (true), or may end because nobody has wanted a page for long enough.
        while True:
            left_s = max(self.wanted_at + self._idle_s - time.monotonic(), LOOK_EVERY_S) if self._idle_s else None
            try:
                async with asyncio.timeout(left_s):
                    await driver.gone.wait()
                return True
            except TimeoutError:
                if self._browsers.is_used():
                    self.want()
                elif time.monotonic() - self.wanted_at >= self._idle_s:
                    return False
