"""What the looks at a page come to."""

from types import SimpleNamespace
from typing import Any, cast

from harness.fake_clock import FakeClock
from sederunt.meetings.session.watcher import NOTICE_AGAIN, NOTICE_TRIES, PageLooks
from sederunt.platforms.page_state import PageState, Reading


class Chores:
    """Counts what is asked of it."""

    is_busy = False

    def __init__(self) -> None:
        self.settled = self.looked = 0

    async def settle(self) -> None:
        self.settled += 1

    def look_for_people(self, *, inside_s: float) -> None:
        self.looked += 1


async def test_a_notice_that_takes_no_answer_holds_up_nothing_and_is_seldom_tried_again() -> None:
    async def read(*_: object, **__: object) -> Reading:
        return Reading(state=PageState.DIALOG, row="x.notice")

    chores = Chores()
    looks = PageLooks(
        cast("Any", SimpleNamespace(read=read)),
        cast("Any", SimpleNamespace(documents=1, url="https://x/1")),
        decoder=cast("Any", SimpleNamespace(noted=())),
        chores=cast("Any", chores),
        recorder=cast("Any", SimpleNamespace(last_frame_ms=None)),
        clock=FakeClock(),
        bot_id="1",
    )
    for _ in range(NOTICE_TRIES):
        assert await looks.look() is None
    assert (chores.settled, chores.looked) == (NOTICE_TRIES, 0)
    for _ in range(NOTICE_AGAIN):
        assert await looks.look() is None
    assert (chores.settled, chores.looked) == (NOTICE_TRIES + 1, NOTICE_AGAIN)
