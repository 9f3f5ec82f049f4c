"""How one browser is started: on which display, as which user, with a memory limit if a page opens within it."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from playwright.async_api import Browser
from playwright.async_api import Error as DriverError
from playwright.async_api import TimeoutError as DriverTimeout

from sederunt import log
from sederunt.browser.browser_user import OtherUser, browser_user_of, folder_for, program_for
from sederunt.browser.display import Display
from sederunt.browser.driver import BrowserDriver
from sederunt.browser.launch import HEADFUL, NOT_OF_DRIVER, Mode, find_executable, launch_profile
from sederunt.browser.processes import LAUNCH_VARIABLE
from sederunt.errors import SetupError
from sederunt.settings import BrowserSettings

START_S = 30.0
RESERVED_MB = 2_200  # addresses that a page's process reserves at its start and never uses (measured, Chromium 156)
# With less than 4,200 MB of addresses no page opens, with 4,400 each does (26 November 2026, Chromium 156): only
# `process_watch` enforces a smaller limit.
LEAST_MB = 4_400
NO_LIMIT = "{executable} opens no page within a limit of memory: one page may take all of this machine's."

logger = log.get(component="browser")
TOO_SLOW = "No page opened within {seconds:g} s: whether one opens within the limit of memory is tried again."
_bears: dict[tuple[Path, int], bool] = {}  # (program, limit in MB) → whether a page opens, once that is known


@dataclass(kw_only=True)
class BrowserStart:
    """Starts a browser: call `open_display`, then `launch`, and `close_display` once it has ended."""

    driver: BrowserDriver
    settings: BrowserSettings
    mode: Mode
    endpoints: tuple[str, ...]
    loopback: bool
    display_name: str | None
    authority: Path | None
    mark: str = field(default_factory=lambda: uuid4().hex)  # in the environment of its processes
    display: Display | None = None  # its own

    async def open_display(self) -> None:
        """Give a headful browser its own display, if none was named."""
        if self.mode == HEADFUL and self.display_name is None:
            self.display = await Display(self._user(), self._folder()).__aenter__()
            self.display_name, self.authority = self.display.name, self.display.authority

    async def close_display(self) -> None:
        """End the browser's own display."""
        if self.display is not None:
            await self.display.__aexit__(None, None, None)

    async def launch(self) -> Browser:
        """Start it with its memory limit, or without one if no page opens within it. Raises SetupError."""
        executable, most_mb = find_executable(self.settings, self.mode), self.settings.page_memory_mb
        if not most_mb or _bears.get((executable, most_mb)) is False:
            return await self._launch_with(0)
        browser = await self._launch_with(max(most_mb + RESERVED_MB, LEAST_MB))
        is_usable = _bears.get((executable, most_mb)) or await _opens_a_page(browser)
        if is_usable is None:  # a page killed by the limit at its start may never answer: try another one
            is_usable = await _opens_a_page(browser)
        if is_usable is None:  # an overloaded machine shows nothing about the limit
            logger.warning(TOO_SLOW.format(seconds=START_S), action="page_memory_untried")
            return browser
        _bears[executable, most_mb] = is_usable
        if not is_usable:
            logger.warning(NO_LIMIT.format(executable=executable), action="page_memory_unlimited")
            await browser.close()
            return await self._launch_with(0)
        return browser

    async def _launch_with(self, most_mb: int) -> Browser:
        profile = launch_profile(
            self.settings,
            self.mode,
            temporary=self._folder(),
            display=self.display_name,
            authority=self.authority,
            endpoints=self.endpoints,
            loopback=self.loopback,
            user=self._user(),
        )
        try:
            async with asyncio.timeout(START_S):
                return await self.driver.playwright.chromium.launch(
                    executable_path=program_for(profile.user, self.driver.folder, profile.executable, most_mb),
                    headless=profile.headless,
                    args=list(profile.arguments),
                    env={**profile.environment, LAUNCH_VARIABLE: self.mark},
                    chromium_sandbox=profile.sandbox,
                    ignore_default_args=list(NOT_OF_DRIVER),
                    # We handle signals ourselves: a drain must still be able to close pages.
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
        except (DriverError, TimeoutError) as error:
            first_line = str(error).strip().splitlines()[0] if str(error).strip() else f"no answer within {START_S:g} s"
            raise SetupError(
                f"{profile.executable} does not start: {first_line} Start it by hand to see why."
            ) from error

    def _user(self) -> OtherUser | None:
        # On a person's display the browser runs as our user: no other user is let in there.
        if self.display_name is not None and self.display is None:
            return None
        return browser_user_of(self.settings, find_executable(self.settings, self.mode))

    def _folder(self) -> Path:
        return folder_for(self._user(), self.driver.folder)


async def _opens_a_page(browser: Browser) -> bool | None:
    # Returns whether a page opens; None if time ran out. The reserved memory changes with the program's versions.
    try:
        async with asyncio.timeout(START_S):
            context = await browser.new_context()
            await (await context.new_page()).goto("data:text/html,", timeout=0)
            await context.close()
    except (DriverTimeout, TimeoutError):
        return None
    except DriverError:
        return False
    return True
