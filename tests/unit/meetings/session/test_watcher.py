"""What the looks at a page come to."""

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.fake_clock import FakeClock
from sederunt.claims.claim import Fact, Source, Subject, here, said
from sederunt.clock import unix_ms
from sederunt.errors import PageCrashed
from sederunt.meetings.outcomes import Broken, Departed
from sederunt.meetings.session.page_reader import PageReader
from sederunt.meetings.session.roster import Roster
from sederunt.meetings.session.told_end import ENDING_S
from sederunt.meetings.session.watcher import (
    FAULT_S,
    LEFT_S,
    LOST_S,
    NOTICE_AGAIN,
    NOTICE_TRIES,
    RECONNECT_S,
    RELOADED_S,
    PageLooks,
    Watcher,
)
from sederunt.model.bot import PAGE_LEFT, Service
from sederunt.model.status import StopReason
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.registry import platform_of

WAITING_S = 120.0


class Chores:
    """Counts what is asked of it."""

    is_busy = False

    def __init__(self) -> None:
        self.settled = self.looked = self.begun_anew = 0

    async def settle(self, *, anew: bool = False) -> None:
        self.settled += 1
        self.begun_anew += anew

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
    assert chores.begun_anew == 0
    for _ in range(NOTICE_AGAIN):
        assert await looks.look() is None
    assert (chores.settled, chores.looked) == (NOTICE_TRIES + 1, NOTICE_AGAIN)
    assert chores.begun_anew == 1


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


CRASHED = PageTrouble(cause="page_crashed", seen="its renderer has died", recovery=Recovery.FRESH_PAGE)


class Stay:
    """A stay whose page shows what a test says; `plan` acts at each tick."""

    def __init__(self, plan: Callable[["Stay"], None]) -> None:
        self.clock, self.roster, self.shown, self._plan = FakeClock(), Roster(), PageState.IN_CALL, plan
        self.recorder, self.seconds = SimpleNamespace(last_frame_ms=None), 0.0
        self.gone, self.is_stuck = asyncio.Event(), False

    async def play(self) -> tuple[Departed, float]:
        """Sit until the stay ends; returns how, and after how many seconds."""

        async def read(*_: object, **__: object) -> Reading:
            if self.is_stuck:
                raise PageCrashed("its renderer has died")
            return Reading(state=self.shown, row="x.y")

        async def nothing(*_: object) -> None:
            return None

        page = SimpleNamespace(documents=1, url=CALLS["teams"], gone=self.gone, gone_by=CRASHED)
        parse_link = platform_of(Service("teams")).parse_link
        events = {name: asyncio.Event() for name in ("stop", "cut_off", "moved")}
        watcher = Watcher(
            page=cast("Any", page),
            looks=looks_at(page, SimpleNamespace(read=read, parse_link=parse_link), clock=self.clock),
            observer=cast(
                "Any",
                SimpleNamespace(
                    roster=self.roster,
                    recorder=self.recorder,
                    tick=lambda now_ms: self.roster.pass_time(now_ms),
                    write=nothing,
                    has_news=asyncio.Event(),
                ),
            ),
            outages=cast("Any", SimpleNamespace(found=lambda *_, **__: [], tell=nothing, left_over=lambda _: ())),
            fallback=cast("Any", SimpleNamespace(check=nothing)),
            rules=(),
            commands=cast("Any", SimpleNamespace(**events, wait=self._wait)),
            journal=cast("Any", SimpleNamespace(is_stop_requested=nothing, write_troubles=nothing)),
            clock=self.clock,
            wakes_for_news=False,
        )
        outcome = await watcher.run()
        assert isinstance(outcome, Departed)
        return outcome, self.seconds

    async def _wait(self, *others: Coroutine[Any, Any, Any], within_s: float) -> None:
        for other in others:
            other.close()
        self.clock.advance(within_s)
        self.seconds += within_s
        assert self.seconds < 100, "the stay does not end"
        self._plan(self)


async def test_what_a_signal_tells_ends_the_stay_as_soon_as_the_page_shows_no_call() -> None:
    for fact, reason in ((Fact.OVER, StopReason.MEETING_ENDED), (Fact.REMOVED, StopReason.KICKED)):

        def plan(stay: Stay, fact: Fact = fact) -> None:
            if stay.seconds == 10:
                stay.roster.take([said(fact, unix_ms(stay.clock.now()))])
                stay.shown = PageState.OVER

        outcome, after_s = await Stay(plan).play()
        assert (outcome.departure.reason, outcome.departure.row) == (reason, f"signal.{fact}")
        assert after_s == 10


async def test_a_page_that_shows_the_call_holds_up_an_end_for_a_few_seconds() -> None:
    def plan(stay: Stay) -> None:
        if stay.seconds == 10:
            stay.roster.take([said(Fact.OVER, unix_ms(stay.clock.now()))])

    outcome, after_s = await Stay(plan).play()
    assert outcome.departure.row == "signal.over"
    assert 10 + ENDING_S <= after_s <= 11 + ENDING_S


@pytest.mark.parametrize("breaks", ["reconnects for ever", "is gone", "crashes"])
async def test_a_page_that_breaks_takes_no_told_end_with_it(breaks: str) -> None:
    """A fresh page would have knocked again at a meeting whose host has put the bot out."""

    def plan(stay: Stay) -> None:
        if stay.seconds == 10:
            stay.roster.take([said(Fact.REMOVED, unix_ms(stay.clock.now()))])
        if stay.seconds >= 10 and breaks == "reconnects for ever":
            stay.shown = PageState.RECONNECTING
        if stay.seconds >= 12:
            stay.is_stuck = breaks == "crashes"
            if breaks == "is gone":
                stay.gone.set()

    outcome, _ = await Stay(plan).play()
    assert (outcome.departure.reason, outcome.departure.row) == (StopReason.KICKED, "signal.removed")


@pytest.mark.parametrize("witness", ["roster", "media", "reconnecting"])
async def test_a_call_outlives_the_late_end_of_an_earlier_connection(witness: str) -> None:
    """The end of the connection that an outage had cut was told when the next one stood: the bot left the meeting."""

    def plan(stay: Stay) -> None:
        now_ms = unix_ms(stay.clock.now())
        if stay.seconds == 10:
            stay.roster.take([said(Fact.OVER, now_ms)])
        stay.shown = PageState.IN_CALL
        if witness == "reconnecting" and 10 <= stay.seconds < 40:
            stay.shown = PageState.RECONNECTING
        if witness == "media":
            stay.recorder.last_frame_ms = now_ms
        elif stay.seconds == (40 if witness == "reconnecting" else 12):
            stay.roster.take([here(Source.PROTOCOL, [Subject(key="1", name="Ada")], now_ms)])
        if stay.seconds >= 60:
            stay.roster.take([said(Fact.REMOVED, now_ms)])
            stay.shown = PageState.REMOVED

    outcome, after_s = await Stay(plan).play()
    assert outcome.departure.reason is StopReason.KICKED
    assert 60 <= after_s <= 61
