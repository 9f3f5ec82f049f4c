"""Deadlines of a page: whose fault it is that no answer came."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Error as DriverError

from sederunt.browser import page as module
from sederunt.browser.page import MeetingPage
from sederunt.errors import PageCrashed, PageStuck


class Tab:
    """What the driver would be; `answer` is how it answers questions."""

    url = "https://meet.google.com/abc-defg-hij"

    def __init__(self, answer: Callable[[], Awaitable[Any]]) -> None:
        self.main_frame, self.frames = self, [self]
        self._answer = answer
        self.on_event: dict[str, Callable[[object], None]] = {}

    def on(self, event: str, call: Callable[[object], None]) -> None:
        self.on_event[event] = call

    async def evaluate(self, script: str, argument: object) -> Any:
        return await self._answer()


def page_of(tab: Tab) -> MeetingPage:
    async def closed(_closed: bool) -> None:
        """Nothing to do."""

    nothing: Any = None
    driver_page: Any = tab
    return MeetingPage(driver_page, nothing, nothing, nothing, closed)


async def test_a_question_that_is_not_answered_in_time_is_the_pages_fault() -> None:
    page = page_of(Tab(asyncio.Event().wait))
    with pytest.raises(PageStuck, match="within 0"):
        await page.evaluate("() => 1", deadline_s=0.01)


async def test_an_answer_that_lay_unread_while_we_stood_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answered_in_steps() -> int:
        time.sleep(0.2)  # noqa: ASYNC251 the whole process, as on a machine that is overrun
        for _ in range(20):  # the hops of the driver's messages
            await asyncio.sleep(0)
        return 7

    monkeypatch.setattr(module, "LATE_S", 0.1)
    assert await page_of(Tab(answered_in_steps)).evaluate("() => 7", deadline_s=0.05) == 7


@pytest.mark.parametrize("words", ["Page crashed", "Target crashed", "Something of another kind"])
async def test_an_error_of_a_page_that_is_gone_is_told_as_that(words: str) -> None:
    async def crashed() -> None:
        if "another" in words:
            tab.on_event["crash"](tab)
        raise DriverError(words)

    tab = Tab(crashed)
    with pytest.raises(PageCrashed):
        await page_of(tab).evaluate("() => 1")


# As the driver tells them.
_LATE = """Locator.click: Timeout 1200ms exceeded.
Call log:
  - waiting for locator("#send")
  - attempting click action
  - scrolling into view if needed
  - done scrolling
  - performing click action
"""
_COVERED = (
    _LATE
    + """  - <div class="overlay"></div> intercepts pointer events
  - retrying click action
  - waiting 20ms
"""
)
_RESTLESS = """Locator.click: Timeout 1200ms exceeded.
Call log:
  - waiting for locator("#send")
  - attempting click action
  - waiting for element to be visible, enabled and stable
"""


class Button:
    """A control whose first click ends in this error; `clicks` are the tries at it."""

    def __init__(self, error: str) -> None:
        self.clicks: list[str] = []
        self._error = error

    async def click(self, *, timeout: float, force: bool = False) -> None:
        self.clicks.append("by force" if force else "as a person")
        if not force:
            raise DriverError(self._error)

    async def evaluate(self, script: str, *, timeout: float) -> bool:
        return True


@pytest.mark.parametrize(
    ("error", "clicks"),
    [
        (_LATE, ["as a person"]),
        (_COVERED, ["as a person", "by force"]),
        (_COVERED + "  - performing click action", ["as a person"]),
        (_RESTLESS, ["as a person", "by force"]),
    ],
    ids=["late", "covered", "late at last", "restless"],
)
async def test_a_click_that_was_made_is_not_made_again(error: str, clicks: list[str]) -> None:
    button: Any = Button(error)
    await module._press(button, 3)
    assert button.clicks == clicks
