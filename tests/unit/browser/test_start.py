"""A browser's start: its limit of memory stays, unless pages are seen to break within it."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.async_api import Error as DriverError
from playwright.async_api import TimeoutError as DriverTimeout

from sederunt.browser import start
from sederunt.browser.start import RESERVED_MB, BrowserStart

LIMITED, ENDLESS = 1_000 + RESERVED_MB, 0


class ScriptedBrowser:
    """A browser whose pages do what is said."""

    def __init__(self, most_mb: int, fault: BaseException | None) -> None:
        self.most_mb, self._fault = most_mb, fault

    async def new_context(self) -> Any:
        async def goto(_url: str, **_options: Any) -> None:
            if self._fault is not None:
                raise self._fault

        async def new_page() -> Any:
            return SimpleNamespace(goto=goto)

        return SimpleNamespace(new_page=new_page, close=self.close)

    async def close(self) -> None:
        pass


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Launch one browser after another, each with the fault of its pages; returns their limits."""
    monkeypatch.setattr(start, "_bears", {})
    monkeypatch.setattr(start, "find_executable", lambda *_: Path("chromium"))

    def all_of(*faults: BaseException | None) -> list[int]:
        async def each() -> list[int]:
            found = []
            for fault in faults:
                one: Any = object.__new__(BrowserStart)
                one.settings, one.mode = SimpleNamespace(page_memory_mb=1_000), "shell"

                async def launch(most_mb: int, fault: BaseException | None = fault) -> Any:
                    return ScriptedBrowser(most_mb, fault)

                one._launch_with = launch
                found.append((await one.launch()).most_mb)
            return found

        return asyncio.run(each())

    return all_of


@pytest.mark.parametrize("fault", [DriverTimeout("Timeout 30000ms exceeded."), TimeoutError()])
def test_a_slow_machine_keeps_the_limit_and_is_asked_again(launched: Any, fault: BaseException) -> None:
    assert launched(fault, DriverError("Page crashed"), None) == [LIMITED, ENDLESS, ENDLESS]


def test_a_limit_in_which_pages_stand_is_kept_for_good(launched: Any) -> None:
    assert launched(None, DriverError("Page crashed")) == [LIMITED, LIMITED]
