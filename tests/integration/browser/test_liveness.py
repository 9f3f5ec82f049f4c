"""What a page tells of its connections: of one that loses its other side, and of one that only falls silent."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.browser_room import CALL, Ear, OpenPage, Site, SitIn

pytestmark = pytest.mark.chromium

AT_BLANK = """() => new Promise((done) => {
  const look = () => (location.href === "about:blank" ? done() : setTimeout(look, 20));
  look();
})"""


def told(ear: Ear, event: str) -> list[Mapping[str, Any]]:
    return [data for data in ear.of("capture") if data["event"] == event]


def last(ear: Ear, event: str, *names: str) -> tuple[Any, ...]:
    return next((tuple(data[name] for name in names) for data in reversed(told(ear, event))), ())


async def test_a_connection_that_loses_its_other_side_is_told_and_so_is_one_that_is_closed(
    open_page: OpenPage, site: Site
) -> None:
    stay = await open_page()
    await stay.page.goto(site.page(CALL))
    await stay.page.evaluate("async () => { await call(); }", deadline_s=60)
    await stay.ear.until(lambda ear: last(ear, "peers", "up", "down") == (2, 0) and ear.audio())
    await stay.ear.until(lambda ear: told(ear, "flow") == [] and len(ear.audio()) > 100)
    await stay.page.evaluate("() => there.close()")
    await stay.ear.until(lambda ear: last(ear, "peers", "up", "down", "closed") == (0, 1, 0))
    await stay.page.evaluate("() => here.close()")
    await stay.ear.until(lambda ear: last(ear, "peers", "up", "down", "closed") == (0, 0, 1))


async def test_a_meeting_that_falls_silent_is_connected_and_says_that_nothing_comes(sit_in: SitIn) -> None:
    sitting = await sit_in()
    await sitting.ear.until(lambda ear: last(ear, "peers", "up", "down", "closed") == (1, 0, 0))
    await sitting.ear.until(lambda ear: last(ear, "flow", "quiet", "reported") == (3, 0))
    assert last(sitting.ear, "peers", "up", "down", "closed") == (1, 0, 0)
    assert last(sitting.ear, "sockets", "open") == (1,)
    assert (await sitting.page.capture_state())["faults"] == []


async def test_another_document_in_the_page_is_counted_and_another_place_in_it_is_not(
    open_page: OpenPage, site: Site
) -> None:
    stay = await open_page()
    await stay.page.goto(site.page())
    before = stay.page.documents
    await stay.page.evaluate("() => { history.pushState(null, '', '/elsewhere'); location.hash = 'here'; }")
    assert await stay.page.evaluate("() => location.hash") == "#here"
    assert stay.page.documents == before
    await stay.page.evaluate("() => { setTimeout(() => { location.href = 'about:blank'; }); }")
    await stay.page.evaluate(AT_BLANK, deadline_s=30)
    assert stay.page.documents == before + 1
