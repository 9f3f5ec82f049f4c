"""A window for a person: they sign in by hand and close it, and the browser's state is kept."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as DriverError

from sederunt.browser.chromium import Chromium
from sederunt.browser.driver import running_driver
from sederunt.browser.launch import HEADFUL
from sederunt.errors import SetupError
from sederunt.settings import BrowserSettings

OPEN_S = 30.0
LOOK_EVERY_S = 0.5
STATE_S = 15.0


async def sign_in_by_hand(
    settings: BrowserSettings,
    url: str,
    *,
    display: str,
    authority: Path | None = None,
    shown: Callable[[Page], Awaitable[None]] | None = None,
) -> Mapping[str, Any]:
    """Open a window on the person's display and wait until they close it; return the storage state.

    Raises SetupError when the browser does not start.

    Args:
        display: value of DISPLAY.
        authority: file with the display's cookie, if it is not the one of our own environment.
        shown: awaited once the address was opened; a test plays the person with it.
    """
    async with (
        running_driver() as driver,
        Chromium(driver, settings, HEADFUL, display=display, authority=authority) as browser,
    ):
        context, page = await _window(browser, settings)
        with contextlib.suppress(DriverError):  # the person sees whether the page loads slowly, or not at all
            await page.goto(url, wait_until="commit")
        acting_task = asyncio.ensure_future(shown(page)) if shown else None
        state = await _state_at_the_end(browser, context)
        if acting_task is not None:
            await acting_task
        return state


async def _window(browser: Chromium, settings: BrowserSettings) -> tuple[BrowserContext, Page]:
    options = {"no_viewport": True, "locale": settings.locale}
    try:
        async with asyncio.timeout(OPEN_S):
            context = await browser.new_context({**options, "ignore_https_errors": settings.ignore_certificate_errors})
            return context, await context.new_page()
    except TimeoutError:
        raise SetupError(f"The browser opened no window within {OPEN_S:g} s. Is the display in order?") from None


async def _state_at_the_end(browser: Chromium, context: BrowserContext) -> Mapping[str, Any]:
    # Returns the whole state once the last window is closed; if the browser was quit, only the cookies last seen.
    cookies: list[Any] = []
    while context.pages and not browser.gone.is_set():
        with contextlib.suppress(DriverError, TimeoutError):  # a window that is closing may never answer
            cookies = list(await asyncio.wait_for(context.cookies(), STATE_S))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(browser.gone.wait(), LOOK_EVERY_S)
    with contextlib.suppress(DriverError, TimeoutError):
        state: Mapping[str, Any] = await asyncio.wait_for(context.storage_state(), STATE_S)
        return state
    return {"cookies": cookies, "origins": []}
