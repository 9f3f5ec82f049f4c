"""Peer connections of a page that negotiates while the meeting goes on without it. No browser: the test is the page."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sederunt.practice import sites
from sederunt.practice.meeting import Meeting
from sederunt.practice.page_socket import Visit
from sederunt.practice.people import Visitor
from sederunt.practice.script import Script
from sederunt.practice.sfu import Peer


@pytest_asyncio.fixture(loop_scope="module")
async def meeting() -> AsyncIterator[Meeting]:
    made = Meeting("abc-defg-hij", Script(), sites.SITES["gmeet"])
    yield made
    await made.close()


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[Peer]:
    """Peers that were closed, in that order."""
    seen: list[Peer] = []
    close = Peer.close

    async def note(peer: Peer) -> None:
        seen.append(peer)
        await close(peer)

    monkeypatch.setattr(Peer, "close", note)
    return seen


async def test_a_page_that_was_put_out_gets_no_peer(meeting: Meeting) -> None:
    visitor, page = enter(meeting)
    meeting.kick(visitor)
    await page.do_negotiate({})
    await page.do_offer({"sdp": ""})
    assert visitor.peer is None


async def test_a_page_that_negotiates_again_gives_up_its_peer(meeting: Meeting, closed: list[Peer]) -> None:
    visitor, page = enter(meeting)
    await page.do_negotiate({})
    first = visitor.peer
    await page.do_negotiate({})
    assert visitor.peer not in (None, first)
    await meeting.deferred.close()
    assert closed == [first]
    await page.close()


async def test_a_page_that_goes_after_it_was_put_out_takes_its_peer_along(meeting: Meeting, closed: list[Peer]) -> None:
    visitor, page = enter(meeting)
    await page.do_negotiate({})
    peer = visitor.peer
    meeting.kick(visitor)
    meeting.go(visitor)
    assert visitor.peer is None
    await meeting.deferred.close()
    assert closed == [peer]
    await page.close()


@pytest.mark.parametrize("how", ["end", "kick"])
async def test_media_that_connect_too_late_begin_nothing(meeting: Meeting, how: str) -> None:
    visitor, _ = enter(meeting)
    if how == "end":
        meeting.end()
    else:
        meeting.kick(visitor)
    meeting.media_connected(visitor)
    assert not meeting.media.has_begun
    assert meeting.events.after(kind="media_connected") == []


async def test_a_meeting_that_is_over_is_not_started(meeting: Meeting) -> None:
    meeting.end()
    meeting.start()
    assert [event.kind for event in meeting.events.after()] == ["ended"]


def enter(meeting: Meeting) -> tuple[Visitor, Visit]:
    """Return a bot in the call, and what its page may ask for."""
    visitor = meeting.arrive(lambda _: None, {})
    meeting.knock(visitor, "Notetaker")
    return visitor, Visit(meeting, visitor)
