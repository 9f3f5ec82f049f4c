"""One running browser that several bots share, and the end of it."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import UUID, uuid4

from playwright.async_api import Browser, BrowserContext, CDPSession
from playwright.async_api import Error as DriverError

from sederunt import log
from sederunt.browser.display import Display
from sederunt.browser.driver import BrowserDriver
from sederunt.browser.launch import HEADFUL, Mode, find_executable, launch_profile
from sederunt.browser.own_user import OtherUser, folder_for, own_user, program_for
from sederunt.browser.places import Places
from sederunt.browser.processes import LAUNCH_VARIABLE, kill, kill_launched, when_ended
from sederunt.errors import SetupError
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.settings import BrowserSettings

START_S = 30.0
CLOSE_S = 5.0
TRIES, TRY_S = 20, 0.1  # the network service starts a little after the browser (measured: 0.1 to 0.3 s)
NETWORK_SERVICE = "network.mojom.NetworkService"  # all sockets of a browser's pages are this process's
RESERVED_MB = 2_200  # what a page's process sets aside at its start and does not use (measured, Chromium 156)
NO_LIMIT = "{executable} opens no page within a limit of memory: one page may take all of this machine's."

logger = log.get(component="browser")
_bears: dict[tuple[Path, int], bool] = {}  # (program, limit in MB): whether a page was seen to open


class Chromium:
    """Async context manager around one browser process. `seats` counts the bots in it, also those on their way.

    Args:
        guarded: whether `places` is asked before it opens a document.
        endpoints: address:port on this machine that its pages may reach.
        loopback: whether its pages find anything else of this machine by name or number.
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
        self.account_id: UUID | None = None  # whose bots it has had; None before the first
        self.pid = 0
        self.gone = asyncio.Event()
        self.places = Places(settings.host_rules)
        self._guarded = guarded and display is None  # on a display of their own people go where they like
        self.spoiled = False  # a page in it could not be closed: it takes no more bots
        self.listeners: list[Callable[[PageTrouble], None]] = []  # its pages, that hear what befell it
        self._driver, self._settings = driver, settings
        self._launch = uuid4().hex
        self._endpoints, self._loopback = endpoints, loopback
        self._display_name, self._authority = display, authority
        self._display: Display | None = None
        self._browser: Browser | None = None
        self._unwatch: Callable[[], None] = lambda: None

    async def __aenter__(self) -> "Chromium":
        try:
            if self.mode == HEADFUL and self._display_name is None:
                self._display = await Display(self._user(), self._folder()).__aenter__()
                self._display_name, self._authority = self._display.name, self._display.authority
            self._browser = await self._start()
            self._browser.on("disconnected", lambda _browser: self.gone.set())
            processes = await self._make_ready()
            self.pid = processes.get("browser", 0)
            if network := processes.get(NETWORK_SERVICE):
                self._unwatch = when_ended(network, self._network_ended)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    def _user(self) -> OtherUser | None:
        """Return as whom it runs: to a person's display nobody but us is let in."""
        # On a display of somebody's own, who goes where they like.
        if self._display_name is not None and self._display is None:
            return None
        return own_user(self._settings, find_executable(self._settings, self.mode))

    def _folder(self) -> Path:
        return folder_for(self._user(), self._driver.folder)

    async def _start(self) -> Browser:
        """Start it with its limit of memory, or without one where no page opens with it."""
        executable, most_mb = find_executable(self._settings, self.mode), self._settings.page_memory_mb
        if not most_mb or _bears.get((executable, most_mb)) is False:
            return await self._launch_with(0)
        browser = await self._launch_with(most_mb + RESERVED_MB)
        if (executable, most_mb) not in _bears:
            _bears[executable, most_mb] = await _opens_a_page(browser)
            if not _bears[executable, most_mb]:
                logger.warning(NO_LIMIT.format(executable=executable), action="page_memory_unlimited")
                await browser.close()
                return await self._launch_with(0)
        return browser

    async def _launch_with(self, most_mb: int) -> Browser:
        profile = launch_profile(
            self._settings,
            self.mode,
            temporary=self._folder(),
            display=self._display_name,
            authority=self._authority,
            endpoints=self._endpoints,
            loopback=self._loopback,
            user=self._user(),
        )
        try:
            async with asyncio.timeout(START_S):
                return await self._driver.playwright.chromium.launch(
                    executable_path=program_for(profile.user, self._driver.folder, profile.executable, most_mb),
                    headless=profile.headless,
                    args=list(profile.arguments),
                    env={**profile.environment, LAUNCH_VARIABLE: self._launch},
                    chromium_sandbox=profile.sandbox,
                    ignore_default_args=["--enable-automation"],
                    # Signals are ours to handle: a drain must still be able to close pages.
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
        except (DriverError, TimeoutError) as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else f"no answer within {START_S:g} s"
            raise SetupError(f"{profile.executable} does not start: {first} Start it by hand to see why.") from error

    async def _make_ready(self) -> dict[str, int]:
        """Have it ask before it opens a document; return the process id for each kind of process.

        Raises SetupError of a browser that started and answers nothing: it would hold up others.
        """
        assert self._browser is not None
        try:
            async with asyncio.timeout(START_S):
                session = await self._browser.new_browser_cdp_session()
                found = await _listed(session)
                for _ in range(TRIES):
                    if NETWORK_SERVICE in found:
                        break
                    await asyncio.sleep(TRY_S)
                    found = await _listed(session)
                if self._guarded:
                    await self.places.guard(session)
        except TimeoutError:
            raise SetupError(f"The browser started and did not answer within {START_S:g} s.") from None
        return found

    def _network_ended(self) -> None:
        """Kill a browser whose network service died.

        It would start another, but the pages' connections do not come back, and nothing tells the pages or the driver:
        a bot would sit in silence for ever. A browser that is gone is noticed, and its bots get fresh pages.
        """
        if not self.gone.is_set():
            logger.warning("network service of a browser died", action="network_service_died", pid=self.pid)
            seen = "The network service ended, and with it every connection of the page."
            self.tell(PageTrouble(cause="network_service_died", seen=seen, recovery=Recovery.FRESH_BROWSER))
            self.kill()

    def lose_driver(self) -> None:
        """End a browser whose driver ended: nobody can ask it anything, and nobody will tell of its end."""
        if not self.gone.is_set():
            seen = "The driver of the browsers ended."
            self.tell(PageTrouble(cause="driver_died", seen=seen, recovery=Recovery.FRESH_BROWSER))
            self.kill()
            self.gone.set()

    @property
    def driver_pid(self) -> int:
        """Return the process by which it is asked."""
        return self._driver.pid

    @property
    def display_pid(self) -> int:
        """Return the process of its display; 0 where it has none of its own."""
        return self._display.pid if self._display is not None else 0

    def tell(self, trouble: PageTrouble) -> None:
        """Tell its pages what befell it."""
        for listener in tuple(self.listeners):
            listener(trouble)

    async def new_context(self, options: Mapping[str, Any]) -> BrowserContext:
        assert self._browser is not None
        return await self._browser.new_context(**options)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, and after CLOSE_S kill: this returns with the browser gone."""
        self.spoiled = True
        self._unwatch()
        browser, self._browser = self._browser, None
        if browser is not None:
            closing = asyncio.ensure_future(browser.close())
            await asyncio.wait({closing}, timeout=CLOSE_S)
            if not closing.done():
                closing.cancel()
                self.kill()
            with contextlib.suppress(DriverError, asyncio.CancelledError):
                await closing
        self.gone.set()
        if self._display is not None:
            await self._display.__aexit__(None, None, None)

    def kill(self) -> None:
        """End it at once, also one that never said which process it is."""
        if self.gone.is_set():
            return
        self.spoiled = True  # whoever comes before its end is known would come in vain
        logger.warning("browser killed", action="browser_killed", pid=self.pid)
        if self.pid:
            kill(self.pid)
        else:
            kill_launched(self._launch)


async def _opens_a_page(browser: Browser) -> bool:
    """Return whether a page stands; what a program sets aside at its start changes with its versions."""
    context = await browser.new_context()
    try:
        async with asyncio.timeout(START_S):
            await (await context.new_page()).goto("data:text/html,")
    except (DriverError, TimeoutError):
        return False
    await context.close()
    return True


async def _listed(session: CDPSession) -> dict[str, int]:
    """Return the process id for each kind of process that runs."""
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    return {str(process["type"]): int(process["id"]) for process in processes}
