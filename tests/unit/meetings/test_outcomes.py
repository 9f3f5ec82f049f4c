"""What a page's fault is called: it ends up in the row's history, and in gaps."""

import pytest

from sederunt.errors import PageChanged, PageCrashed, PageError, PageStuck
from sederunt.meetings.outcomes import Broken, CutOff, Refused, broken, ending_of, known_until_ms, loss_of
from sederunt.model.bot import HOST_LOST, PAGE_LEFT
from sederunt.model.status import StopReason


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (PageCrashed("The page is gone."), "page_crashed"),
        (PageStuck("The page did not answer a question within 5 s."), "page_stuck"),
        (PageChanged("no chat"), "page_changed"),
        (PageError("The page could not answer a question: undefined"), "page_changed"),
        (PageError("The page could not open …: Page.goto: net::ERR_INTERNET_DISCONNECTED at …"), "connection_lost"),
        (PageError("The page could not open …: Page.goto: net::ERR_NAME_NOT_RESOLVED at …"), "connection_lost"),
    ],
)
def test_a_fault_has_its_cause(error: PageError, cause: str) -> None:
    assert broken(error).cause == cause


def test_of_a_page_that_broke_nobody_is_known_to_have_spoken_after_its_last_sound() -> None:
    """Zoom: who spoke as the page loaded itself anew was said to speak until it was given up, and named a voice so."""
    left = Broken(cause="page_left", seen="Another document stands in the page.")
    assert known_until_ms(left, last_frame_ms=5_000.4, now_ms=16_000) == 5_000
    assert known_until_ms(left, last_frame_ms=None, now_ms=16_000) == 16_000
    assert known_until_ms(CutOff(), last_frame_ms=5_000, now_ms=16_000) == 16_000


@pytest.mark.parametrize(
    ("away_cause", "refusal", "told"),
    [
        (PAGE_LEFT, StopReason.WAITING_ROOM_TIMEOUT, (PAGE_LEFT, StopReason.MEETING_ENDED)),
        (HOST_LOST, StopReason.WAITING_ROOM_TIMEOUT, (HOST_LOST, None)),
        ("connection_lost", StopReason.WAITING_ROOM_TIMEOUT, ("connection_lost", None)),
        ("connection_lost", StopReason.REQUEST_DENIED, ("connection_lost", StopReason.KICKED)),
        (PAGE_LEFT, StopReason.INVALID_MEETING_URL, (PAGE_LEFT, StopReason.MEETING_ENDED)),
    ],
)
def test_a_bot_that_is_not_let_in_again_tells_why_it_was_away(
    away_cause: str, refusal: StopReason, told: tuple[str, StopReason | None]
) -> None:
    """Where the site itself put another page into the call's place, nobody is there any more."""
    assert loss_of(Refused(reason=refusal, row="x.y"), away_cause) == told


def test_a_refusal_without_a_reason_says_of_nobody_that_they_kicked_the_bot() -> None:
    refusal = Refused(reason=StopReason.REQUEST_DENIED, row="gmeet.blocked", unexplained=True)
    assert loss_of(refusal, "connection_lost") == ("connection_lost", None)


FULL = Refused(reason=StopReason.REQUEST_DENIED, row="zoom.full", cause="meeting_full")


def test_a_refusal_that_says_why_is_told_with_its_cause() -> None:
    assert ending_of(FULL).data == {"evidence": "zoom.full", "cause": "meeting_full"}
    assert ending_of(Refused(reason=StopReason.REQUEST_DENIED, row="x.denied")).data == {"evidence": "x.denied"}


def test_nobody_kicked_a_bot_whose_meeting_is_full_as_it_comes_back() -> None:
    assert loss_of(FULL, "connection_lost") == ("connection_lost", None)
