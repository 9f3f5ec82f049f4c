"""One running browser that several bots share, and the end of it."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import UUID

from playwright.async_api import Browser, BrowserContext, CDPSession
from playwright.async_api import Error as DriverError

from sederunt import log
from sederunt.browser.document_origins import Places
from sederunt.browser.driver import BrowserDriver
from sederunt.browser.launch import Mode
from sederunt.browser.processes import is_ending, kill, kill_launched, when_ended
from sederunt.browser.start import START_S, BrowserStart
from sederunt.errors import SetupError
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.settings import BrowserSettings

CLOSE_S = 5.0
TRIES, TRY_S = 20, 0.1  # the network service starts a little after the browser (measured: 0.1 to 0.3 s)
NETWORK_SERVICE = "network.mojom.NetworkService"  # this process owns all sockets of a browser's pages

logger = log.get(component="browser")


class Chromium:
    """Async context manager around one browser process. `seats` counts the bots in it, including those on their way.

    Args:
        guarded: whether `places` is asked before it opens a document.
        endpoints: address:port on this machine that its pages may reach.
        loopback: whether its pages can reach anything else on this machine by name or number.
        display: of a headful browser; None makes one of its own.
        authority: file with that display's cookie.
    """

    def __init__(
        self,
        driver: BrowserDriver,
        settings: BrowserSettings,
        mode: Mode,
        *,
        private: bool = False,
        guarded: bool = True,
        endpoints: tuple[str, ...] = (),
        loopback: bool = True,
        display: str | None = None,
        authority: Path | None = None,
    ) -> None:
        self.mode, self.private = mode, private
        self.seats = 0
        self.account_id: UUID | None = None  # account of its bots; None before the first
        self.pid = 0
        self.gone = asyncio.Event()
        self.places = Places(settings.host_rules)
        self._guarded = guarded and display is None  # on their own display people may open anything
        self._start = BrowserStart(
            driver=driver,
            settings=settings,
            mode=mode,
            endpoints=endpoints,
            loopback=loopback,
            display_name=display,
            authority=authority,
        )
        self.spoiled = False  # a page in it could not be closed: it takes no more bots
        self.listeners: list[Callable[[PageTrouble], None]] = []  # its pages, which hear of its troubles
        self._browser: Browser | None = None
        self._unwatch: Callable[[], None] = lambda: None

    async def __aenter__(self) -> "Chromium":
        try:
            await self._start.open_display()
            self._browser = await self._start.launch()
            self._browser.on("disconnected", lambda _browser: self.gone.set())
            processes = await self._make_ready()
            self.pid = processes.get("browser", 0)
            if network := processes.get(NETWORK_SERVICE):
                self._unwatch = when_ended(network, self._network_ended)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def _make_ready(self) -> dict[str, int]:
        # Has the browser ask before it opens a document; returns the process id for each kind of process. Raises
        # SetupError if the browser started but does not answer: it would hold up others.
        assert self._browser is not None
        try:
            async with asyncio.timeout(START_S):
                session = await self._browser.new_browser_cdp_session()
                processes = await _listed(session)
                for _ in range(TRIES):
                    if NETWORK_SERVICE in processes:
                        break
                    await asyncio.sleep(TRY_S)
                    processes = await _listed(session)
                if self._guarded:
                    await self.places.guard(session)
        except TimeoutError:
            raise SetupError(f"The browser started and did not answer within {START_S:g} s.") from None
        return processes

    def _network_ended(self) -> None:
        # Kills a browser whose network service died. The browser would start another, but the pages' connections do not
        # come back, and neither the pages nor the driver notice: a bot would sit in silence for ever. The end of a
        # browser is noticed, and its bots get fresh pages.
        #
        # A network service also ends with its browser, before the driver reports that. Then the browser or its driver
        # died, and their own watchers report it.
        if not (self.gone.is_set() or is_ending(self.pid) or is_ending(self.driver_pid)):
            logger.warning("network service of a browser died", action="network_service_died", pid=self.pid)
            description = "The network service ended, and with it every connection of the page."
            self.tell(PageTrouble(cause="network_service_died", seen=description, recovery=Recovery.FRESH_BROWSER))
            self.kill()

    def lose_driver(self) -> None:
        """End a browser whose driver ended: nothing can be asked of it, and its end would not be reported."""
        if not self.gone.is_set():
            description = "The driver of the browsers ended."
            self.tell(PageTrouble(cause="driver_died", seen=description, recovery=Recovery.FRESH_BROWSER))
            self.kill()
            self.gone.set()

    @property
    def driver_pid(self) -> int:
        """Return the process of its driver."""
        return self._start.driver.pid

    @property
    def display_pid(self) -> int:
        """Return the process of its display; 0 if it has none of its own."""
        return self._start.display.pid if self._start.display is not None else 0

    def tell(self, trouble: PageTrouble) -> None:
        """Pass a trouble of the browser on to its pages."""
        for listener in tuple(self.listeners):
            listener(trouble)

    async def new_context(self, options: Mapping[str, Any]) -> BrowserContext:
        assert self._browser is not None
        return await self._browser.new_context(**options)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closes the browser, and kills it after CLOSE_S: on return the browser is gone.
        self.spoiled = True
        self._unwatch()
        browser, self._browser = self._browser, None
        if browser is not None:
            close_task = asyncio.ensure_future(browser.close())
            await asyncio.wait({close_task}, timeout=CLOSE_S)
            if not close_task.done():
                close_task.cancel()
                self.kill()
            with contextlib.suppress(DriverError, asyncio.CancelledError):
                await close_task
        self.gone.set()
        await self._start.close_display()

    def kill(self) -> None:
        """End it at once, even if its process id never became known."""
        if self.gone.is_set():
            return
        self.spoiled = True  # a bot seated before its end is known would be lost
        logger.warning("browser killed", action="browser_killed", pid=self.pid)
        if self.pid:
            kill(self.pid)
        else:
            kill_launched(self._start.mark)


async def _listed(session: CDPSession) -> dict[str, int]:
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    return {str(process["type"]): int(process["id"]) for process in processes}
