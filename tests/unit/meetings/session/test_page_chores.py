"""What is done once inside, and when the page's list of people is opened."""

import asyncio
from typing import Any, cast

import pytest

from sederunt.claims.rules import CONTRADICTED_MS
from sederunt.errors import PageCrashed, PageError
from sederunt.meetings.session.page_chores import DOUBT_AGAIN_S, PageChores
from sederunt.model.trouble import PageTrouble
from sederunt.platforms.notice_answers import MOST_PRESSES, NOTICE_STAYS, NoticeAnswers
from sederunt.platforms.targets import FoundControl


class Site:
    """Notes what it was asked to settle."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.asked: list[bool] = []  # whether the list of people was wanted
        self.writing = asyncio.Event()  # ends the writing of a message
        self._fault = fault

    async def send_chat(self, page: Any, text: str) -> None:
        await self.writing.wait()

    async def settle(self, page: Any, *, answers: Any = None, roster_heard: bool = False, camera: bool = False) -> None:
        self.asked.append(not roster_heard)
        if self._fault:
            raise self._fault


def chores(site: Site, *, known: bool = False, heard: bool = False) -> PageChores:
    page: Any = None  # the site does nothing with it
    return PageChores(
        site,  # type: ignore[arg-type]
        page,
        "bot",
        camera=False,
        anybody_known=lambda: known,
        network_heard=lambda: heard,
    )


async def look_at(chores: PageChores, *times_s: float) -> None:
    for inside_s in times_s:
        chores.look_for_people(inside_s=inside_s)
        if chores._looking is not None:
            await chores._looking


async def test_the_list_of_people_is_opened_only_where_the_network_told_of_nobody() -> None:
    site = Site()
    await look_at(chores(site, heard=True), *range(120))
    assert site.asked == []
    await look_at(chores(site), 0, 1, 2.9)
    assert site.asked == []
    await look_at(chores(site), 3)
    assert site.asked == [True]


async def test_it_is_looked_for_with_growing_pauses() -> None:
    site = Site()
    await look_at(chores(site), *range(100))
    assert len(site.asked) == len([3, 6, 12, 24, 44, 64, 84])


async def test_whom_tiles_show_the_list_is_looked_at_later() -> None:
    site = Site()
    await look_at(chores(site, known=True), *range(20))
    assert site.asked == []
    await look_at(chores(site, known=True), 20)
    assert site.asked == [True]


async def test_once_opened_it_is_opened_again_after_whatever_else_is_settled() -> None:
    site = Site()
    one = chores(site)
    await one.settle()
    await look_at(one, 3)
    await one.settle()
    assert site.asked == [False, True, True]


async def test_a_control_that_slips_away_ends_nothing_and_a_dead_page_does() -> None:
    await chores(Site(PageError("it was covered"))).settle()
    with pytest.raises(PageCrashed):
        await chores(Site(PageCrashed("gone"))).settle()


async def test_an_answer_that_did_not_help_is_left_alone_until_it_is_tried_anew() -> None:
    control = FoundControl(id="x.dismiss", handle="#x", label="close", value="", disabled=False)
    told: list[PageTrouble] = []
    site, page, may_press = Site(), cast("Any", None), []

    async def press(page: Any, *, answers: NoticeAnswers, **wishes: bool) -> None:
        may_press.append(answers.may_press(control))
        answers.note_press(control)

    site.settle = press  # type: ignore[method-assign, assignment]
    one = PageChores(
        site,  # type: ignore[arg-type]
        page,
        "bot",
        camera=False,
        anybody_known=lambda: True,
        network_heard=lambda: True,
        on_trouble=told.append,
    )
    for anew in (*[False] * (MOST_PRESSES + 1), True):
        await one.settle(anew=anew)
    assert may_press == [*[True] * MOST_PRESSES, False, True]
    assert [trouble.cause for trouble in told] == [NOTICE_STAYS]


async def test_nothing_takes_the_chats_place_while_a_message_is_written() -> None:
    site = Site()
    one = chores(site)
    saying = asyncio.ensure_future(one.say("Hello"))
    await asyncio.sleep(0)
    assert one.is_busy
    await look_at(one, 3, 30)
    assert site.asked == []
    site.writing.set()
    await saying
    await look_at(one, 31)
    assert site.asked == [True]
    await one.close()


async def test_where_nothing_tells_of_people_for_long_the_list_is_looked_at_again_and_again() -> None:
    site, doubts = Site(), True
    page: Any = None
    one = PageChores(
        site,  # type: ignore[arg-type]
        page,
        "bot",
        camera=False,
        anybody_known=lambda: True,
        network_heard=lambda: True,
        doubts_company=lambda: doubts,
    )
    await look_at(one, *range(60, 60 + 3 * int(DOUBT_AGAIN_S), 3))
    assert site.asked == [True] * 3
    doubts = False
    await look_at(one, *range(500, 1000, 3))
    assert len(site.asked) == 3


def test_two_looks_at_the_list_are_far_enough_apart_to_be_believed() -> None:
    assert DOUBT_AGAIN_S * 1000 > CONTRADICTED_MS
