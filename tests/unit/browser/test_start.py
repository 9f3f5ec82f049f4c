"""A browser's start: its limit of memory stays, unless pages are seen to break within it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.async_api import Error as DriverError
from playwright.async_api import TimeoutError as DriverTimeout

from sederunt.browser import start
from sederunt.browser.start import LEAST_MB, BrowserStart

LIMITED, ENDLESS = LEAST_MB, 0


Fault = BaseException | None


class ScriptedBrowser:
    """A browser whose pages do what is said: one after another, the last of them again and again."""

    def __init__(self, most_mb: int, faults: Sequence[Fault]) -> None:
        self.most_mb, self._faults = most_mb, list(faults)

    async def new_context(self) -> Any:
        async def goto(_url: str, **_options: Any) -> None:
            fault = self._faults.pop(0) if len(self._faults) > 1 else self._faults[0]
            if fault is not None:
                raise fault

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

    def all_of(*faults: Fault | tuple[Fault, ...]) -> list[int]:
        async def each() -> list[int]:
            found = []
            for fault in faults:
                one: Any = object.__new__(BrowserStart)
                one.settings, one.mode = SimpleNamespace(page_memory_mb=1_000), "shell"

                async def launch(most_mb: int, fault: Fault | tuple[Fault, ...] = fault) -> Any:
                    return ScriptedBrowser(most_mb, fault if isinstance(fault, tuple) else (fault,))

                one._launch_with = launch
                found.append((await one.launch()).most_mb)
            return found

        return asyncio.run(each())

    return all_of


@pytest.mark.parametrize("fault", [DriverTimeout("Timeout 30000ms exceeded."), TimeoutError()])
def test_a_slow_machine_keeps_the_limit_and_is_asked_again(launched: Any, fault: BaseException) -> None:
    assert launched(fault, DriverError("Page crashed"), None) == [LIMITED, ENDLESS, ENDLESS]


def test_a_page_that_died_as_it_began_is_no_slow_machine(launched: Any) -> None:
    """The driver may wait for such a page in vain; the next one tells."""
    assert launched((DriverTimeout("Timeout 30000ms exceeded."), DriverError("Target crashed")), None) == [ENDLESS] * 2


def test_a_limit_in_which_pages_stand_is_kept_for_good(launched: Any) -> None:
    assert launched(None, DriverError("Page crashed")) == [LIMITED, LIMITED]
