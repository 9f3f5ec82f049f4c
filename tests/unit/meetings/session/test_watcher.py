"""What the looks at a page come to."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.fake_clock import FakeClock
from sederunt.meetings.outcomes import Broken, Departed
from sederunt.meetings.session.page_reader import PageReader
from sederunt.meetings.session.watcher import (
    FAULT_S,
    LEFT_S,
    LOST_S,
    NOTICE_AGAIN,
    NOTICE_TRIES,
    RECONNECT_S,
    RELOADED_S,
    PageLooks,
)
from sederunt.model.bot import PAGE_LEFT, Service
from sederunt.model.status import StopReason
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.registry import platform_of

WAITING_S = 120.0


class Chores:
    """Counts what is asked of it."""

    is_busy = False

    def __init__(self) -> None:
        self.settled = self.looked = 0

    async def settle(self) -> None:
        self.settled += 1

    def look_for_people(self, *, inside_s: float) -> None:
        self.looked += 1


def looks_at(
    page: Any, platform: Any, *, chores: Any = None, clock: FakeClock | None = None, is_first: bool = True
) -> PageLooks:
    clock = clock or FakeClock()
    reader = PageReader(
        platform,
        page,
        decoder=cast("Any", SimpleNamespace(noted=())),
        recorder=cast("Any", SimpleNamespace(last_frame_ms=None)),
        clock=clock,
        bot_id="1",
    )
    return PageLooks(
        page,
        reader=reader,
        parse_link=platform.parse_link,
        chores=chores or cast("Any", Chores()),
        clock=clock,
        waiting_s=WAITING_S,
        is_first=is_first,
    )


async def test_a_notice_that_takes_no_answer_holds_up_nothing_and_is_seldom_tried_again() -> None:
    async def read(*_: object, **__: object) -> Reading:
        return Reading(state=PageState.DIALOG, row="x.notice")

    chores = Chores()
    platform = SimpleNamespace(read=read, parse_link=None)
    looks = looks_at(SimpleNamespace(documents=1, url="https://x/1"), platform, chores=chores)
    for _ in range(NOTICE_TRIES):
        assert await looks.look() is None
    assert (chores.settled, chores.looked) == (NOTICE_TRIES, 0)
    for _ in range(NOTICE_AGAIN):
        assert await looks.look() is None
    assert (chores.settled, chores.looked) == (NOTICE_TRIES + 1, NOTICE_AGAIN)


CALLS = {
    "gmeet": "https://meet.google.com/abc-defg-hij?hl=en",
    "teams": "https://teams.microsoft.com/v2/",
    "zoom": "https://app.zoom.us/wc/81234567890/join?pwd=x",
}


@pytest.mark.parametrize(
    ("service", "at", "state", "ends"),
    [
        ("gmeet", "https://meet.google.com/", PageState.LOADING, "over"),
        ("gmeet", "https://meet.google.com/_feedback?x=1", PageState.LOADING, "over"),
        ("gmeet", "https://meet.google.com/thank-you-all", PageState.LOADING, "over"),  # looks like a nickname
        ("teams", "https://teams.microsoft.com/survey", PageState.LOADING, "over"),
        ("zoom", "https://zoom.us/", PageState.LOADING, "over"),
        ("zoom", "https://www.zoom.com/en/products", PageState.LOADING, "over"),
        ("gmeet", "about:blank", PageState.LOADING, "left"),  # a fault, the first time
        ("teams", "https://teams.microsoft.com/error", PageState.TROUBLE, "left"),
        ("gmeet", "chrome-error://chromewebdata/", PageState.TROUBLE, "left"),
        ("gmeet", "https://meet.google.com/", PageState.TROUBLE, "left"),
        ("teams", "https://teams.microsoft.com/meet/1234567890123?p=x", PageState.LOADING, "left"),
        ("zoom", "https://app.zoom.us/wc/81234567890/start", PageState.PREJOIN, "left"),
    ],
)
@pytest.mark.parametrize("documents", [1, 2])
async def test_a_site_that_leads_the_page_to_no_meeting_has_ended_the_call(
    service: str, at: str, state: PageState, ends: str, documents: int
) -> None:
    """A survey or the site's start page came into the call's place: the bot knocked anew, and waited ten minutes."""
    clock, platform = FakeClock(), platform_of(Service(service))
    page, states = SimpleNamespace(documents=1, url="https://x/"), iter([PageState.IN_CALL])

    async def read(*_: object, **__: object) -> Reading:
        return Reading(state=next(states, state), row="x.y")

    looks = looks_at(page, SimpleNamespace(read=read, parse_link=platform.parse_link), clock=clock)
    page.url = CALLS[service]  # some sites change it while the call lasts
    assert await looks.look() is None
    page.documents, page.url = documents, at
    assert await looks.look() is None
    clock.advance(LEFT_S if documents == 2 else RELOADED_S)
    outcome = await looks.look()
    if ends == "over":
        assert isinstance(outcome, Departed)
        assert outcome.departure.reason is StopReason.MEETING_ENDED
    elif documents == 2:
        assert isinstance(outcome, Broken)
        assert outcome.cause == PAGE_LEFT
    else:
        assert not isinstance(outcome, Departed)


async def test_a_call_is_over_whose_page_is_emptied_a_second_time() -> None:
    clock, states = FakeClock(), iter([PageState.IN_CALL])

    async def read(*_: object, **__: object) -> Reading:
        return Reading(state=next(states, PageState.LOADING), row="x.y")

    page = SimpleNamespace(documents=1, url=CALLS["gmeet"])
    platform = SimpleNamespace(read=read, parse_link=platform_of(Service("gmeet")).parse_link)
    looks = looks_at(page, platform, clock=clock, is_first=False)
    await looks.look()
    page.documents, page.url = 2, "about:blank"
    assert await looks.look() is None
    clock.advance(LEFT_S)
    outcome = await looks.look()
    assert isinstance(outcome, Departed)
    assert outcome.departure.reason is StopReason.MEETING_ENDED


@pytest.mark.parametrize(
    ("state", "after_s", "cause"),
    [
        (PageState.TROUBLE, FAULT_S, "connection_lost"),
        (PageState.LOADING, LOST_S, PAGE_LEFT),  # a page that was emptied: who is not let in again was out of a call
        (PageState.RECONNECTING, RECONNECT_S, "connection_lost"),
    ],
)
async def test_a_page_that_is_no_call_any_more_is_given_up_as_soon_as_what_it_says_allows(
    state: PageState, after_s: float, cause: str
) -> None:
    clock, states = FakeClock(), iter([PageState.IN_CALL])

    async def read(*_: object, **__: object) -> Reading:
        return Reading(state=next(states, state), row="x.y")

    platform = SimpleNamespace(read=read, parse_link=platform_of(Service("gmeet")).parse_link)
    looks = looks_at(SimpleNamespace(documents=1, url=CALLS["gmeet"]), platform, clock=clock)
    await looks.look()
    assert await looks.look() is None
    clock.advance(after_s - 1)
    assert await looks.look() is None
    clock.advance(1)
    outcome = await looks.look()
    assert isinstance(outcome, Broken)
    assert outcome.cause == cause


async def test_a_bot_that_is_put_back_into_the_lobby_waits_there_and_is_thrown_out_if_nobody_lets_it_in() -> None:
    clock, states = FakeClock(), iter([PageState.IN_CALL, *[PageState.LOBBY] * 2, PageState.IN_CALL])

    async def read(*_: object, **__: object) -> Reading:
        return Reading(state=next(states, PageState.LOBBY), row="x.lobby_again")

    looks = looks_at(
        SimpleNamespace(documents=1, url="https://x/1"), SimpleNamespace(read=read, parse_link=None), clock=clock
    )
    for _ in range(4):
        assert await looks.look() is None
        clock.advance(WAITING_S - 1)
    assert await looks.look() is None, "it was let in again meanwhile"
    clock.advance(WAITING_S)
    outcome = await looks.look()
    assert isinstance(outcome, Departed)
    assert (outcome.departure.reason, outcome.departure.row) == (StopReason.KICKED, "x.lobby_again")


async def test_a_meeting_whose_host_does_not_come_back_has_ended() -> None:
    async def read(*_: object, **__: object) -> Reading:
        return Reading(state=PageState.LOBBY, row="x.host_is_gone", reason=StopReason.MEETING_ENDED)

    clock = FakeClock()
    looks = looks_at(
        SimpleNamespace(documents=1, url="https://x/1"), SimpleNamespace(read=read, parse_link=None), clock=clock
    )
    assert await looks.look() is None
    clock.advance(WAITING_S)
    outcome = await looks.look()
    assert isinstance(outcome, Departed)
    assert outcome.departure.reason is StopReason.MEETING_ENDED
