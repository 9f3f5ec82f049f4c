"""When a page that brings no sound is asked to be heard by samples, and when it is asked again."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.fake_clock import FakeClock
from sederunt.clock import unix_ms
from sederunt.errors import PageStuck
from sederunt.meetings.record.capture_fallback import AGAIN_S, CaptureFallback
from sederunt.settings import CaptureSettings


class Page:
    """One that remembers when it was asked, and does not answer while it is stuck."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock, self._began = clock, clock.monotonic()
        self.documents = 1
        self.is_stuck = False
        self.asked_s: list[float] = []

    async def use_backend(self, backend: str) -> None:
        assert backend == "worklet"
        self.asked_s.append(self._clock.monotonic() - self._began)
        if self.is_stuck:
            raise PageStuck("no answer")


@pytest.fixture
def stage() -> Any:
    clock = FakeClock()
    page, recorder = Page(clock), SimpleNamespace(last_frame_ms=None)
    settings = CaptureSettings(backend="auto", deaf_after_s=3)
    fallback = CaptureFallback(cast(Any, page), cast(Any, recorder), settings, clock, "b")

    async def speak(seconds: int, *, heard: bool = False) -> None:
        for _ in range(seconds):
            if heard:
                recorder.last_frame_ms = unix_ms(clock.now())
            await fallback.check(True)
            clock.advance(1)

    return SimpleNamespace(page=page, fallback=fallback, speak=speak)


async def test_a_page_that_brings_no_sound_of_who_speaks_is_asked(stage: Any) -> None:
    await stage.speak(10, heard=True)
    assert stage.page.asked_s == []
    await stage.speak(5)
    assert stage.page.asked_s == [12]


async def test_a_page_that_loads_anew_is_asked_anew_when_it_was_deaf_as_long(stage: Any) -> None:
    await stage.speak(5)
    stage.page.documents += 1
    await stage.speak(5)
    assert stage.page.asked_s == [3, 8]


async def test_a_page_that_stays_deaf_is_asked_now_and_again(stage: Any) -> None:
    """A frame that the site made anew within it begins as the first one did."""
    await stage.speak(round(2 * AGAIN_S) + 4)
    assert stage.page.asked_s == [3, 3 + AGAIN_S, 3 + 2 * AGAIN_S]


async def test_a_page_that_did_not_answer_is_asked_when_it_was_deaf_as_long_again(stage: Any) -> None:
    stage.page.is_stuck = True
    await stage.speak(5)
    stage.page.is_stuck = False
    await stage.speak(5)
    assert stage.page.asked_s == [3, 6]
