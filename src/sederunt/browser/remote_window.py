"""A browser window for a person elsewhere: pictures go to them, their pointer and keys come back.

A picture is made only when somebody asks for the next one. The window opens public addresses only, like a bot's tab,
and its page has the same limits of memory, CPU and windows as a bot's page.

A person's input is meant for the page that they see: each document of the window has a number, every picture carries
it, and pointer and keys with another number than that of the present document are ignored.
"""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, assert_never

from playwright.async_api import BrowserContext, CDPSession, Frame, Page
from playwright.async_api import Error as DriverError

from sederunt.browser.chromium import Chromium
from sederunt.browser.cpu_budgets import CpuBudgets
from sederunt.browser.document_origins import Places
from sederunt.browser.driver import running_driver
from sederunt.browser.launch import usual_mode
from sederunt.browser.page_budget import MOST_WINDOWS
from sederunt.browser.process_watch import ProcessWatch
from sederunt.errors import PageStuck, SetupError
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.model.window_input import MOST_TEXT, WindowInput
from sederunt.settings import BrowserSettings

OPEN_S = 30.0
ACT_S = 10.0
STATE_S = 15.0
QUALITY = 65  # of a JPEG: text stays readable, a page takes 30 to 120 kB
SMALLEST, LARGEST = (360, 480), (1280, 900)
_BUTTONS = ("left", "middle", "right")


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowView:
    """One picture of the window."""

    number: int  # rises with each picture and each address
    page: int  # number of the document in the picture; rises with each document
    jpeg: bytes
    url: str


class RemoteWindow:
    """One window. Coordinates of the pointer are shares of its width and height."""

    def __init__(self, context: BrowserContext, page: Page, session: CDPSession, places: Places | None) -> None:
        """`places`: the addresses that may be opened; None for all."""
        self._context, self._page, self._session, self._places = context, page, session, places
        self._jpeg, self._number = b"", 0
        self._document, self._pictured = 1, 1  # the present document, and the one in the picture
        self._popups = 0
        self._due: int | None = None  # the picture whose acknowledgement the browser waits for
        self._news = asyncio.Event()
        self._size = (1280, 720)
        self._tasks: set[asyncio.Task[Any]] = set()
        self.gone = asyncio.Event()  # set when the window, or its browser, is gone

    async def prepare(self) -> None:
        """Begin to watch. Raises the driver's errors."""
        self._session.on("Page.screencastFrame", self._shown)
        self._session.on("Page.frameNavigated", self._loaded)
        self._page.on("framenavigated", self._moved)
        if self._places is not None:
            self._session.on("Fetch.requestPaused", lambda request: self._spawn(self._judge(request)))
            await self._session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})
        self._page.on("close", lambda _page: self.gone.set())
        self._page.on("crash", lambda _page: self.gone.set())
        self._context.on("page", self._popped_up)
        # The address of a new window is reported here at once; the window itself may not know it yet.
        self._session.on("Page.windowOpen", lambda event: self._spawn(self._open_here(str(event["url"]))))
        await self._session.send("Page.enable")
        self._page.on("filechooser", lambda _chooser: None)  # no file of this machine is given away
        await self._session.send("Page.startScreencast", {"format": "jpeg", "quality": QUALITY})

    async def go(self, url: str) -> None:
        """Open an address. The person sees whether it loads slowly, or not at all."""
        if self._places is not None:
            self._places.sent(url)
        with contextlib.suppress(DriverError):
            await self._page.goto(url, wait_until="commit", timeout=OPEN_S * 1000)

    async def look(self, after: int, within_s: float) -> WindowView | None:
        """Return the next picture after `after`; None if nothing changes for `within_s`."""
        if self._pictured < self._document:
            await self._take_picture(within_s)
        if self._number <= after:
            await self._go_on()
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._news.wait()
        if self._number <= after:
            return None
        return WindowView(number=self._number, page=self._pictured, jpeg=self._jpeg, url=self._page.url)

    async def act(self, inputs: Sequence[Sequence[Any]], page: int | None = None) -> None:
        """Do what a person did: a list of [name, arguments …]. Unknown inputs are ignored.

        Raises PageStuck when the page does not take them in time.

        Args:
            page: the document that the person sees (`WindowView.page`); None for that of the last picture.
        """
        page_number = self._pictured if page is None else page
        try:
            async with asyncio.timeout(ACT_S):
                for name, *arguments in inputs:
                    with contextlib.suppress(DriverError, ValueError, TypeError, IndexError):
                        if page_number == self._document or _is_for_any_page(WindowInput(name), arguments):
                            await self._do(WindowInput(name), arguments)
        except TimeoutError:
            raise PageStuck(f"The page did not take the input within {ACT_S:g} s.") from None

    async def state(self) -> Mapping[str, Any]:
        """Return cookies and local storage, which suffice to be signed in again. Raises PageStuck."""
        try:
            async with asyncio.timeout(STATE_S):
                state: Mapping[str, Any] = await self._context.storage_state()
        except (DriverError, TimeoutError):
            raise PageStuck("The browser did not tell what it remembers.") from None
        return state

    async def _do(self, name: WindowInput, arguments: Sequence[Any]) -> None:
        mouse, keyboard = self._page.mouse, self._page.keyboard
        match name:
            case WindowInput.MOVE:
                await mouse.move(*self._point(arguments))
            case WindowInput.DOWN:
                await mouse.down(button=_button(arguments), click_count=min(int(arguments[1]), 3))
            case WindowInput.UP:
                await mouse.up(button=_button(arguments))
            case WindowInput.WHEEL:
                await mouse.wheel(*(max(-2000.0, min(float(value), 2000.0)) for value in arguments[:2]))
            case WindowInput.PRESS:
                await self._press(str(arguments[0]))
            case WindowInput.RELEASE:
                await keyboard.up(str(arguments[0]))
            case WindowInput.TYPE:
                await keyboard.insert_text(str(arguments[0])[:MOST_TEXT])
            case WindowInput.SIZE:
                width, height = (int(value) for value in arguments[:2])
                self._size = _within(width, SMALLEST[0], LARGEST[0]), _within(height, SMALLEST[1], LARGEST[1])
                await self._page.set_viewport_size({"width": self._size[0], "height": self._size[1]})
            case WindowInput.BACK:
                await self._page.go_back(wait_until="commit", timeout=ACT_S * 1000)
            case WindowInput.RELOAD:
                await self._page.reload(wait_until="commit", timeout=ACT_S * 1000)
            case _:
                assert_never(name)

    async def _press(self, key: str) -> None:
        try:
            await self._page.keyboard.down(key)
        except DriverError:  # a letter that the driver's keyboard lacks
            if len(key) == 1:
                await self._page.keyboard.insert_text(key)

    def _point(self, arguments: Sequence[Any]) -> tuple[float, float]:
        x, y = (max(0.0, min(float(value), 1.0)) for value in arguments[:2])
        return x * self._size[0], y * self._size[1]

    def _shown(self, event: Mapping[str, Any]) -> None:
        self._due = event["sessionId"]
        if self._pictured == self._document:  # else the picture may show the previous document
            self._picture(event["data"])

    def _loaded(self, event: Mapping[str, Any]) -> None:
        # Counts a new document: the person gets a picture of it before any of their input is meant for it.
        if "parentId" not in event["frame"]:
            self._document += 1
            self._news.set()

    async def _take_picture(self, within_s: float) -> None:
        # Makes a picture of the present document, unless it is busy, or is replaced meanwhile.
        document = self._document
        with contextlib.suppress(DriverError, TimeoutError):
            async with asyncio.timeout(within_s):
                screenshot = await self._session.send("Page.captureScreenshot", {"format": "jpeg", "quality": QUALITY})
            if document == self._document:
                self._pictured = document
                self._picture(screenshot["data"])

    def _picture(self, data: str) -> None:
        self._jpeg = base64.b64decode(data)
        self._number += 1
        self._news.set()

    def _moved(self, frame: Frame) -> None:
        # Reports a new address on its own: the picture of its page may have come before it, and be the last.
        if frame == self._page.main_frame and self._jpeg:
            self._number += 1
            self._news.set()

    async def _go_on(self) -> None:
        # Lets the browser make its next picture.
        session_id, self._due = self._due, None
        if session_id is not None:
            with contextlib.suppress(DriverError):
                await self._session.send("Page.screencastFrameAck", {"sessionId": session_id})

    async def _judge(self, event: Mapping[str, Any]) -> None:
        assert self._places is not None
        is_refused = not await self._places.may_open(str(event["request"]["url"]))
        with contextlib.suppress(DriverError):  # the page is gone, or moved on
            method = "Fetch.failRequest" if is_refused else "Fetch.continueRequest"
            parameters = {"errorReason": "AddressUnreachable"} if is_refused else {}
            await self._session.send(method, {"requestId": event["requestId"], **parameters})

    async def _open_here(self, url: str) -> None:
        # Opens another window's address in this one, since the person sees only this one.
        with contextlib.suppress(DriverError):
            if url.startswith(("https:", "http:")):
                await self._page.goto(url, wait_until="commit", timeout=OPEN_S * 1000)

    def _popped_up(self, popup: Page) -> None:
        self._popups += 1
        self._spawn(_closed(popup))
        if self._popups > MOST_WINDOWS:
            self.gone.set()

    def hear(self, trouble: PageTrouble) -> None:
        """End when the page, or its browser, was ended."""
        if trouble.recovery in (Recovery.FRESH_PAGE, Recovery.FRESH_BROWSER):
            self.gone.set()

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@asynccontextmanager
async def remote_window(settings: BrowserSettings, *, allow_private: bool) -> AsyncIterator[RemoteWindow]:
    """Provide a window in its own browser. Raises SetupError when none starts.

    Args:
        allow_private: whether it may open addresses on this machine and its network.
    """
    options: dict[str, Any] = {
        "viewport": {"width": 1280, "height": 720},
        "locale": settings.locale,
        "ignore_https_errors": settings.ignore_certificate_errors,
        "accept_downloads": False,
    }
    async with (
        running_driver() as driver,
        Chromium(
            driver, settings, usual_mode(settings), private=True, guarded=False, loopback=allow_private
        ) as browser,
    ):
        browser.seats = 1
        budgets = CpuBudgets(size=settings.page_cpu_s, per_s=settings.page_cpu)
        watch_task = asyncio.create_task(ProcessWatch(lambda: [browser], budgets, settings.page_memory_mb).run())
        try:
            yield await _opened(browser, options, None if allow_private else Places(settings.host_rules))
        finally:
            watch_task.cancel()


async def _opened(browser: Chromium, options: Mapping[str, Any], places: Places | None) -> RemoteWindow:
    try:
        async with asyncio.timeout(OPEN_S):
            context = await browser.new_context(options)
            await context.grant_permissions([])
            page = await context.new_page()
            window = RemoteWindow(context, page, await context.new_cdp_session(page), places)
            browser.listeners.append(window.hear)
            await window.prepare()
    except (TimeoutError, DriverError):
        raise SetupError(f"The browser opened no window within {OPEN_S:g} s.") from None
    return window


async def _closed(popup: Page) -> None:
    with contextlib.suppress(DriverError):
        await popup.close()


def _is_for_any_page(name: WindowInput, arguments: Sequence[Any]) -> bool:
    # Returns whether an input is for the window itself, or releases a button or a key such as Shift, which would
    # otherwise be held for ever; the release of a letter does not count, since it would reveal typed text.
    if name is WindowInput.RELEASE:
        return len(str(arguments[0])) > 1
    return name in (WindowInput.SIZE, WindowInput.BACK, WindowInput.RELOAD, WindowInput.UP)


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(value, most))


def _button(arguments: Sequence[Any]) -> Any:
    return _BUTTONS[int(arguments[0])]
