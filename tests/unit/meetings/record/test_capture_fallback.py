"""When a page that brings no sound is asked to be heard by samples, and when it is asked again."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.fake_clock import FakeClock
from sederunt.clock import unix_ms
from sederunt.errors import PageStuck
from sederunt.meetings.record.capture_fallback import AGAIN_S, FORGET_S, TURNS, CaptureFallback
from sederunt.model.trouble import Recovery
from sederunt.settings import CaptureSettings


class Page:
    """One that remembers when it was asked, and does not answer while it is stuck."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock, self._began = clock, clock.monotonic()
        self.documents = 1
        self.is_stuck = False
        self.asked_s: list[float] = []
        self.packets = 0  # of sound, that its receivers got

    async def use_backend(self, backend: str) -> None:
        assert backend == "worklet"
        self.asked_s.append(self._clock.monotonic() - self._began)
        if self.is_stuck:
            raise PageStuck("no answer")

    async def capture_state(self) -> Any:
        if self.is_stuck:
            raise PageStuck("no answer")
        return {"tracks": [{"kind": "audio", "packets": self.packets}, {"kind": "video", "packets": 9}]}


@pytest.fixture
def stage() -> Any:
    clock = FakeClock()
    page, recorder = Page(clock), SimpleNamespace(last_frame_ms=None)
    settings = CaptureSettings(backend="auto", deaf_after_s=3)
    fallback = CaptureFallback(cast(Any, page), cast(Any, recorder), settings, clock, "b", replaces=True)
    told: list[tuple[float, str, Recovery]] = []

    async def speak(
        seconds: int, *, heard: bool = False, shown: bool = True, in_call: bool = True, turns: int = TURNS
    ) -> None:
        for _ in range(seconds):
            if heard:
                recorder.last_frame_ms = unix_ms(clock.now())
            if (trouble := await fallback.check(shown, in_call, lambda: turns)) is not None:
                told.append((clock.monotonic() - page._began, trouble.cause, trouble.recovery))
            clock.advance(1)

    return SimpleNamespace(page=page, fallback=fallback, speak=speak, told=told)


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


REPORTED = (5, "no_sound", Recovery.NONE)
REPLACED = (12, "no_sound", Recovery.FRESH_PAGE)


async def test_a_page_without_a_packet_of_sound_is_reported_and_then_replaced(stage: Any) -> None:
    await stage.speak(13)
    assert stage.page.asked_s == [3]
    assert stage.told == [REPORTED, REPLACED]


async def test_pauses_between_turns_end_no_count(stage: Any) -> None:
    for _ in range(3):
        await stage.speak(2)
        await stage.speak(1, shown=False)
    assert [(cause, recovery) for _, cause, recovery in stage.told] == [REPORTED[1:]]


async def test_a_page_that_received_packets_is_reported_and_stays(stage: Any) -> None:
    stage.page.packets = 50
    await stage.speak(60)
    assert stage.told == [REPORTED]


async def test_a_page_that_cannot_be_asked_is_asked_again(stage: Any) -> None:
    await stage.speak(11)
    stage.page.is_stuck = True
    await stage.speak(5)
    stage.page.is_stuck = False
    await stage.speak(1)
    assert stage.told == [REPORTED, (16, *REPLACED[1:])]


async def test_one_person_who_is_shown_speaking_for_ever_costs_no_page(stage: Any) -> None:
    await stage.speak(60, turns=1)
    assert stage.told == [REPORTED]


async def test_whom_a_site_shows_for_a_second_now_and_then_is_a_mistake(stage: Any) -> None:
    for _ in range(10):
        await stage.speak(1)
        await stage.speak(round(FORGET_S) + 1, shown=False)
    assert stage.told == []
    assert not stage.fallback.missed_speech
    assert stage.fallback.unreported() is None


async def test_a_page_that_does_not_show_the_call_says_nothing_of_who_speaks(stage: Any) -> None:
    await stage.speak(60, in_call=False)
    assert stage.told == []


async def test_sound_that_came_before_is_no_matter_of_this(stage: Any) -> None:
    await stage.speak(1, heard=True)
    await stage.speak(60)
    assert stage.told == []


async def test_a_stay_that_ends_early_is_reported_at_its_end_once(stage: Any) -> None:
    await stage.speak(4)
    assert stage.told == []
    trouble = stage.fallback.unreported()
    assert (trouble.cause, trouble.recovery) == REPORTED[1:]
    assert stage.fallback.unreported() is None
