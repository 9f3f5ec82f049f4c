"""The way in on a scripted site: what is believed when, what is done in which order, and what ends a try."""

import asyncio
import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from harness.fake_clock import FakeClock
from sederunt.errors import PageCrashed, PageError, PageStuck
from sederunt.model.bot import Service
from sederunt.model.status import StopReason
from sederunt.platforms.admission import Admission, join
from sederunt.platforms.evidence import PageSnapshot
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.registry import platform_of
from sederunt.platforms.targets import Act, FoundControl, Journey, Step, Target

LINK = MeetingLink(
    service=Service("zoom"), url="https://door.example/1", meeting_id="1", fallback_url="https://other/1"
)
NAME = Step(target=Target(id="name"), act=Act.FILL_NAME)
PASSCODE = Step(target=Target(id="passcode"), act=Act.FILL_PASSCODE)
NOTICE = Step(target=Target(id="notice"), again_s=1.0)
KNOCK = Step(target=Target(id="knock"), again_s=5.0, without_name_s=6.0, most=20, unpointed=3)


@dataclass
class Page:
    """What a page would do, written down."""

    url: str = "https://door.example/1"
    acts: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    fault: Exception | None = None

    async def goto(self, url: str, *, deadline_s: float = 60) -> None:
        self.acts.append(f"goto {url}")

    async def click(self, selectors: Sequence[str], *, deadline_s: float = 5) -> str | None:
        self.acts.append(f"click {selectors[0]}")
        return selectors[0]

    async def type_text(self, selectors: Sequence[str], text: str, *, deadline_s: float = 10) -> str | None:
        self.acts.append(f"type {selectors[0]} {text}")
        if self.fault:
            fault, self.fault = self.fault, None
            raise fault
        self.values[selectors[0]] = text
        return selectors[0]

    async def evaluate_everywhere(
        self, script: str, argument: object = None, *, deadline_s: float = 5, keep: bool = False
    ) -> list[Any]:
        self.acts.append(f"insist {argument}")
        return [True]


Scene = tuple[Reading, Collection[str]] | Exception


@dataclass
class Scripted:
    """A platform whose page shows what the test says."""

    page: Page
    scene: Callable[[], Scene]
    journey: Journey
    name_limit: int = 10
    left: int = 0

    async def survey(
        self, page: Any, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        scene = self.scene()
        if isinstance(scene, Exception):
            raise scene
        self._reading, there = scene
        return PageSnapshot(), {
            name: FoundControl(id=name, handle=name, label="", value=self.page.values.get(name, ""), disabled=False)
            for name in there
        }

    def judge(self, snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        return self._reading

    def parse_link(self, text: str) -> MeetingLink:
        return platform_of(Service("zoom")).parse_link(text)

    async def leave(self, page: Any) -> None:
        self.left += 1


def reading(state: PageState, **more: Any) -> Reading:
    return Reading(state=state, row=more.pop("row", f"x.{state}"), **more)


PREJOIN = reading(PageState.PREJOIN)
LOBBY = reading(PageState.LOBBY)
IN_CALL = reading(PageState.IN_CALL, settle_s=0.2)


class Try:
    """One try to get in, with time moved by hand."""

    def __init__(self, clock: FakeClock, *steps: Step, **journey: Any) -> None:
        self.clock, self.page = clock, Page()
        self.show: Callable[[], Scene] = lambda: (reading(PageState.LOADING), ())
        self.platform = Scripted(self.page, lambda: self.show(), Journey(steps=steps, **journey))
        self.states: list[str] = []

    async def run(self, within_s: float = 400, **more: Any) -> Admission:
        wishes: dict[str, Any] = {"name": "Ada Lovelace", "waiting_room_s": 60.0, "link": LINK, **more}
        link = wishes.pop("link")
        limits = EntryLimits(
            self.clock,
            wishes.pop("waiting_room_s"),
            early_s=wishes.pop("early_s", 0.0),
            host_late=wishes.pop("host_late", False),
        )
        joining = asyncio.ensure_future(
            join(
                self.platform,  # type: ignore[arg-type]
                self.page,  # type: ignore[arg-type]
                link,
                clock=self.clock,
                limits=limits,
                on_state=lambda found: self.states.append(found.row),
                **wishes,
            )
        )
        started = self.clock.monotonic()
        while not joining.done() and self.clock.monotonic() - started < within_s:
            await asyncio.sleep(0)
            if self.clock.sleepers:
                self.clock.advance(0.25)
        if not joining.done():
            joining.cancel()
            raise TimeoutError(f"not done after {within_s} s: {self.states} {self.page.acts}")
        return joining.result()

    @property
    def passed_s(self) -> float:
        return self.clock.monotonic() - 1000.0

    def acts(self) -> list[str]:
        return [act for act in self.page.acts if not act.startswith("goto")]


async def test_the_name_is_given_cut_before_the_knock_and_once(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, KNOCK)

    def scene() -> Scene:
        return (IN_CALL, ()) if "click knock" in attempt.page.acts else (PREJOIN, ("name", "knock"))

    attempt.show = scene
    assert (await attempt.run()).reading.state is PageState.IN_CALL
    assert attempt.acts() == ["type name Ada Lovela", "click knock"]
    assert attempt.states == ["x.prejoin", "x.in_call"]


async def test_a_moment_in_the_call_is_not_believed(clock: FakeClock) -> None:
    attempt = Try(clock, KNOCK)
    scenes = iter([(PREJOIN, ()), (IN_CALL, ()), (PREJOIN, ()), (IN_CALL, ()), (IN_CALL, ()), (IN_CALL, ())])
    attempt.show = lambda: next(scenes)
    assert (await attempt.run()).reading.state is PageState.IN_CALL
    assert attempt.states == ["x.prejoin", "x.in_call", "x.prejoin", "x.in_call"]


@pytest.mark.parametrize(
    ("led_to", "ends"),
    [
        ("https://zoom.us/", StopReason.REQUEST_DENIED),
        ("about:blank", StopReason.REQUEST_DENIED),
        ("https://zoom.us/wc/81234567890/start", None),  # the meeting's own: it may be the call that loads
    ],
)
async def test_who_is_led_from_the_lobby_to_no_meeting_was_not_let_in(
    clock: FakeClock, led_to: str, ends: StopReason | None
) -> None:
    """It was waited for the caller's whole time before the site's start page."""
    attempt = Try(clock, KNOCK)
    scenes = itertools.chain(
        [(reading(PageState.LOBBY, url="https://zoom.us/wc/81234567890/join"), ())] * 3,
        itertools.repeat((reading(PageState.LOADING, url=led_to), ())),
    )
    attempt.show = lambda: next(scenes)
    found = (await attempt.run()).reading
    assert found.reason is (ends or StopReason.WAITING_ROOM_TIMEOUT)
    assert (attempt.passed_s < 15) is (ends is not None)


async def test_what_stands_for_a_moment_on_the_way_from_the_lobby_into_the_call_refuses_nothing(
    clock: FakeClock,
) -> None:
    attempt = Try(clock, KNOCK)
    scenes = itertools.chain(
        [(LOBBY, ())],
        itertools.repeat((reading(PageState.LOADING, url="https://zoom.us/"), ()), 30),
        itertools.repeat((IN_CALL, ())),
    )
    attempt.show = lambda: next(scenes)
    assert (await attempt.run()).reading.state is PageState.IN_CALL


async def test_without_a_name_field_the_knock_waits_for_it_to_come(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, KNOCK)

    def scene() -> Scene:
        if "click knock" in attempt.page.acts:
            return IN_CALL, ()
        return PREJOIN, ("name", "knock") if attempt.passed_s > 5 else ("knock",)

    attempt.show = scene
    await attempt.run()
    assert attempt.acts() == ["type name Ada Lovela", "click knock"]


async def test_a_signed_in_account_knocks_without_a_name_after_a_while(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, KNOCK)
    attempt.show = lambda: (IN_CALL, ()) if "click knock" in attempt.page.acts else (PREJOIN, ("knock",))
    await attempt.run(signed_in=True)
    assert 6 <= attempt.passed_s < 8


async def test_a_void_session_is_told_by_the_question_for_a_name(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, KNOCK)
    attempt.show = lambda: (PREJOIN, ("name", "knock"))
    assert (await attempt.run(signed_in=True)).reading.state is PageState.SIGN_IN_REJECTED


async def test_a_field_that_slips_away_is_filled_again(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, KNOCK)
    attempt.page.fault = PageError("gone")
    attempt.show = lambda: (IN_CALL, ()) if "click knock" in attempt.page.acts else (PREJOIN, ("name", "knock"))
    await attempt.run()
    assert attempt.acts() == ["type name Ada Lovela", "type name Ada Lovela", "click knock"]


async def test_after_an_answered_dialog_the_knock_is_repeated_at_once(clock: FakeClock) -> None:
    attempt = Try(clock, NOTICE, KNOCK)
    knocks: list[float] = []

    def scene() -> Scene:
        done = [act for act in attempt.acts() if act.startswith("click")]
        if done.count("click knock") > len(knocks):
            knocks.append(attempt.passed_s)
        if done == ["click knock"]:
            return reading(PageState.DIALOG), ("notice", "knock")
        return (IN_CALL, ()) if len(knocks) > 1 else (PREJOIN, ("knock",))

    attempt.show = scene
    attempt.page.values["name"] = ""
    await attempt.run()
    assert knocks[1] - knocks[0] < 3


async def test_what_was_pressed_may_go_before_anything_below_it_is_tried(clock: FakeClock) -> None:
    """A question goes a moment after it was answered: its close button, pressed meanwhile, might undo the answer."""
    attempt = Try(clock, NOTICE, Step(target=Target(id="close")))
    gone_at_s = clock.monotonic() + 0.5

    def show() -> Scene:
        return (PREJOIN, ("notice", "close")) if clock.monotonic() < gone_at_s else (IN_CALL, ())

    attempt.show = show
    await attempt.run()
    assert attempt.page.acts[1:] == ["click notice"]


async def test_one_that_stays_does_not_keep_what_is_below_it_for_good(clock: FakeClock) -> None:
    attempt = Try(clock, NOTICE, Step(target=Target(id="close")))

    def show() -> Scene:
        closed = "click close" in attempt.page.acts
        return (IN_CALL, ()) if closed else (PREJOIN, ("notice", "close"))

    attempt.show = show
    await attempt.run()
    assert attempt.page.acts[1:] == ["click notice", "insist notice", "click notice", "click close"]


async def test_a_control_under_another_is_pressed_without_the_pointer_the_second_time(clock: FakeClock) -> None:
    attempt = Try(clock, NOTICE)
    attempt.show = lambda: (
        (IN_CALL, ()) if "insist notice" in attempt.page.acts else (reading(PageState.DIALOG), ("notice",))
    )
    await attempt.run()
    assert attempt.acts() == ["click notice", "insist notice"]


async def test_the_waiting_room_has_a_limit_and_is_left(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.show = lambda: (LOBBY, ())
    found = (await attempt.run(waiting_room_s=120)).reading
    assert (found.state, found.reason) == (PageState.REFUSED, StopReason.WAITING_ROOM_TIMEOUT)
    assert 120 <= attempt.passed_s < 123
    assert attempt.platform.left == 1


async def test_a_refusal_in_the_waiting_room_is_told_with_its_row(clock: FakeClock) -> None:
    attempt = Try(clock)
    denied = reading(PageState.REFUSED, row="x.denied", reason=StopReason.REQUEST_DENIED, settle_s=0.4)
    attempt.show = lambda: (denied if attempt.passed_s > 20 else LOBBY, ())
    assert (await attempt.run()).reading.row == "x.denied"
    assert attempt.platform.left == 0


async def test_a_silent_sign_in_check_that_comes_back_is_no_refusal(clock: FakeClock) -> None:
    attempt = Try(clock)
    check = reading(PageState.SIGN_IN_NEEDED, settle_s=8.0)
    attempt.show = lambda: (check if 1 < attempt.passed_s < 7 else IN_CALL if attempt.passed_s >= 7 else PREJOIN, ())
    assert (await attempt.run()).reading.state is PageState.IN_CALL


async def test_a_page_that_stays_unknown_is_loaded_again_by_the_other_door(clock: FakeClock) -> None:
    attempt = Try(clock, loading_s=20.0, reloads=2)
    found = (await attempt.run(waiting_room_s=600)).reading
    assert (found.state, found.row) == (PageState.TROUBLE, "admission.nothing_helped")
    assert attempt.page.acts == ["goto https://door.example/1", "goto https://other/1", "goto https://other/1"]


@pytest.mark.parametrize(("waiting_room_s", "ended_s"), [(60, 120), (600, 180)])
async def test_a_page_that_never_becomes_a_meeting_is_given_up_by_the_callers_limits(
    clock: FakeClock, waiting_room_s: float, ended_s: float
) -> None:
    attempt = Try(clock, NOTICE)
    scenes = itertools.cycle([(PREJOIN, ("notice",)), (reading(PageState.DIALOG), ("notice",))])  # busy, and no end
    attempt.show = lambda: next(scenes)
    found = (await attempt.run(waiting_room_s=waiting_room_s)).reading
    assert (found.state, found.row) == (PageState.TROUBLE, "admission.deadline")
    assert ended_s <= attempt.passed_s < ended_s + 3


async def test_who_was_sent_early_gives_its_name_and_knocks_when_its_time_has_come(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, replace(KNOCK, knocks=True))

    def scene() -> Scene:
        if "click knock" in attempt.page.acts:
            assert attempt.passed_s >= 90
            return IN_CALL, ()
        assert attempt.passed_s < 95
        return PREJOIN, ("name", "knock")

    attempt.show = scene
    assert (await attempt.run(early_s=90, waiting_room_s=10)).reading.state is PageState.IN_CALL
    assert attempt.acts() == ["type name Ada Lovela", "click knock"]


async def test_the_wait_to_be_let_in_goes_on_over_fresh_pages(clock: FakeClock) -> None:
    limits = EntryLimits(clock, 60)
    limits.note_waiting()
    clock.advance(45)
    limits.note_waiting()  # on the next page
    assert not limits.has_waited
    clock.advance(15)
    assert limits.has_waited
    assert limits.left_s == math.inf


async def test_the_way_back_begins_anew_however_long_the_bot_was_inside(clock: FakeClock) -> None:
    limits = EntryLimits(clock, 60)
    limits.note_waiting()
    limits.note_inside()
    clock.advance(3600)
    assert (limits.has_waited, limits.waited_outside, limits.left_s) == (False, False, math.inf)
    limits.note_waiting()
    clock.advance(59)
    assert not limits.has_waited
    clock.advance(1)
    assert limits.has_waited


async def test_who_is_signed_in_is_not_led_to_the_door_for_guests(clock: FakeClock) -> None:
    attempt = Try(clock, loading_s=20.0, reloads=1)
    await attempt.run(signed_in=True)
    assert attempt.page.acts == ["goto https://door.example/1", "goto https://door.example/1"]


async def test_after_the_knock_an_unknown_page_may_be_a_waiting_room_and_is_not_loaded_again(clock: FakeClock) -> None:
    attempt = Try(clock, replace(KNOCK, knocks=True, without_name_s=0.0), loading_s=20.0)
    unknown = (reading(PageState.LOADING), ())
    attempt.show = lambda: (PREJOIN, ("knock",)) if "click knock" not in attempt.page.acts else unknown
    found = (await attempt.run()).reading
    assert (found.state, found.row) == (PageState.TROUBLE, "admission.nothing_helped")
    assert attempt.page.acts == ["goto https://door.example/1", "click knock"]


async def test_a_premature_refusal_is_looked_at_again_on_a_fresh_load(clock: FakeClock) -> None:
    attempt = Try(clock, load_again={"x.unknown": (10.0, 2)})
    unknown = reading(PageState.REFUSED, row="x.unknown", reason=StopReason.INVALID_MEETING_URL)
    attempt.show = lambda: (unknown, ()) if attempt.page.acts.count(f"goto {LINK.url}") < 3 else (LOBBY, ())
    with pytest.raises(TimeoutError):
        await attempt.run(within_s=50, waiting_room_s=100)
    assert attempt.states[-1] == "x.lobby"
    still = Try(FakeClock(), load_again={"x.unknown": (10.0, 2)})
    still.show = lambda: (unknown, ())
    assert (await still.run()).reading.reason is StopReason.INVALID_MEETING_URL
    assert 20 <= still.passed_s < 25


async def test_where_a_host_may_be_late_a_bot_looks_again_as_long_as_its_caller_allows(
    clock: FakeClock,
) -> None:
    unknown = reading(PageState.REFUSED, row="x.unknown", reason=StopReason.INVALID_MEETING_URL)
    attempt = Try(clock, load_again={"x.unknown": (10.0, 2)})
    attempt.show = lambda: (unknown, ()) if clock.monotonic() < 1000.0 + 400 else (IN_CALL, ())
    found = (await attempt.run(within_s=900, waiting_room_s=600.0, host_late=True)).reading
    assert found.state is PageState.IN_CALL
    assert 20 < attempt.page.acts.count(f"goto {LINK.url}") < 30
    still = Try(FakeClock(), load_again={"x.unknown": (10.0, 2)})
    still.show = lambda: (unknown, ())
    found = (await still.run(within_s=900, waiting_room_s=300.0, host_late=True)).reading
    assert found.reason is StopReason.INVALID_MEETING_URL
    assert 300 <= still.passed_s < 330


async def test_a_short_wait_for_a_late_host_comes_not_on_top_of_the_first_looks(clock: FakeClock) -> None:
    attempt = Try(clock, load_again={"x.unknown": (10.0, 5)})
    unknown = reading(PageState.REFUSED, row="x.unknown", reason=StopReason.INVALID_MEETING_URL)
    attempt.show = lambda: (unknown, ())
    await attempt.run(waiting_room_s=60.0, host_late=True)
    assert 60 <= attempt.passed_s < 80


async def test_a_meeting_that_was_there_and_is_no_more_waits_for_no_host(clock: FakeClock) -> None:
    came_back = EntryLimits(clock, 600.0, host_late=True)
    assert came_back.waits_for_host()
    came_back.note_inside()
    assert not came_back.waits_for_host()
    assert not EntryLimits(clock, 600.0, host_late=True, endless=True).waits_for_host()


UNANSWERED = reading(PageState.REFUSED, row="x.no_answer", reason=StopReason.WAITING_ROOM_TIMEOUT, settle_s=0.4)
ASKS_AGAIN: dict[str, Any] = {"ask_again": {"x.no_answer": 30.0}}


class Door(Try):
    """A door at which each knock comes to what the test says, some seconds later."""

    def __init__(self, clock: FakeClock, *answers: Reading, after_s: float) -> None:
        super().__init__(clock, KNOCK, **ASKS_AGAIN)
        self.answers, self.after_s = answers, after_s
        self.knocked_at: list[float] = []
        self.show = self._shown

    def _shown(self) -> Scene:
        loads = self.page.acts.count(f"goto {LINK.url}")
        knocks = self.page.acts.count("click knock")
        if knocks < loads:
            return PREJOIN, ("knock",)
        if knocks > len(self.knocked_at):
            self.knocked_at.append(self.passed_s)
        waited = self.passed_s - self.knocked_at[-1] >= self.after_s
        return self.answers[min(knocks, len(self.answers)) - 1] if waited else LOBBY, ()


async def test_a_knock_that_the_site_itself_ends_is_repeated_after_a_pause(clock: FakeClock) -> None:
    door = Door(clock, UNANSWERED, UNANSWERED, IN_CALL, after_s=600)
    found = (await door.run(within_s=3600, waiting_room_s=3600)).reading
    assert found.state is PageState.IN_CALL
    first, second, third = door.knocked_at
    assert min(second - first, third - second) >= 600 + 30


async def test_a_bot_asks_again_only_while_its_caller_lets_it_wait(clock: FakeClock) -> None:
    door = Door(clock, UNANSWERED, after_s=20)
    found = (await door.run(waiting_room_s=100)).reading
    assert (found.reason, found.row) == (StopReason.WAITING_ROOM_TIMEOUT, "x.no_answer")
    assert len(door.knocked_at) == 2, "a third would be due when the time is over"
    assert door.passed_s < 100


async def test_a_lobby_in_words_that_nobody_knows_is_asked_again_no_longer(clock: FakeClock) -> None:
    attempt = Try(clock, **ASKS_AGAIN)
    attempt.show = lambda: (UNANSWERED, ())
    assert (await attempt.run(waiting_room_s=100)).reading.row == "x.no_answer"
    assert attempt.page.acts == [f"goto {LINK.url}"] * 4


async def test_a_person_who_denies_the_second_knock_is_not_asked_again(clock: FakeClock) -> None:
    denied = reading(PageState.REFUSED, row="x.denied", reason=StopReason.REQUEST_DENIED, settle_s=0.4)
    door = Door(clock, UNANSWERED, denied, after_s=20)
    assert (await door.run(waiting_room_s=600)).reading.reason is StopReason.REQUEST_DENIED
    assert len(door.knocked_at) == 2


async def test_a_known_passcode_is_given_before_the_knock(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, PASSCODE, KNOCK)
    link = MeetingLink(service=Service("zoom"), url="https://x/1", meeting_id="1", passcode="864210")
    attempt.show = lambda: (
        (IN_CALL, ()) if "click knock" in attempt.page.acts else (PREJOIN, ("name", "passcode", "knock"))
    )
    await attempt.run(link=link)
    assert attempt.acts() == ["type name Ada Lovela", "type passcode 864210", "click knock"]


async def test_a_passcode_nobody_told_makes_the_link_invalid(clock: FakeClock) -> None:
    attempt = Try(clock, NAME, PASSCODE, KNOCK)
    attempt.show = lambda: (PREJOIN, ("name", "passcode", "knock"))
    found = (await attempt.run()).reading
    assert (found.state, found.reason) == (PageState.REFUSED, StopReason.INVALID_MEETING_URL)
    assert "click knock" not in attempt.page.acts


async def test_a_question_asked_again_and_again_is_a_refusal(clock: FakeClock) -> None:
    attempt = Try(clock)
    again = reading(PageState.PREJOIN, row="x.wrong", reason=StopReason.INVALID_MEETING_URL, settle_s=6.0)
    attempt.show = lambda: (again, ())
    found = (await attempt.run()).reading
    assert (found.state, found.row) == (PageState.REFUSED, "x.wrong")
    assert attempt.passed_s >= 6


async def test_reconnecting_has_an_end(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.show = lambda: (reading(PageState.RECONNECTING), ())
    assert (await attempt.run()).reading.row == "admission.reconnecting"


async def test_a_frozen_page_is_given_ten_seconds(clock: FakeClock) -> None:
    attempt = Try(clock)

    def frozen() -> Scene:
        clock.advance(5)
        return PageStuck("no answer")

    attempt.show = frozen
    with pytest.raises(PageStuck):
        await attempt.run()
    assert 10 <= attempt.passed_s < 15


async def test_a_page_that_answers_again_goes_on(clock: FakeClock) -> None:
    attempt = Try(clock)

    def scene() -> Scene:
        if attempt.passed_s < 15:
            clock.advance(5)
            return PageStuck("no answer") if attempt.passed_s < 6 else PageError("being replaced")
        return IN_CALL, ()

    attempt.show = scene
    assert (await attempt.run()).reading.state is PageState.IN_CALL


async def test_a_crash_ends_the_try_at_once(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.show = lambda: PageCrashed("gone")
    with pytest.raises(PageCrashed):
        await attempt.run()
