"""What the connections of a page prove, and what silence does not."""

from collections.abc import Mapping
from typing import Any

import pytest

from sederunt.meetings.session.media_link import MediaLink


def peers(up: int, down: int = 0, closed: int = 0, track: int = 0) -> dict[str, Any]:
    return {"event": "peers", "track": track, "up": up, "down": down, "closed": closed}


def flow(quiet: int, reported: int = 0) -> dict[str, Any]:
    return {"event": "flow", "track": 0, "quiet": quiet, "reported": reported}


def sockets(open_ones: int) -> dict[str, Any]:
    return {"event": "sockets", "track": 0, "open": open_ones}


def judged(
    *told: Mapping[str, Any], seconds: int = 30, step_s: float = 1.0, replaces_mute: bool = True, **shown: bool
) -> list[tuple[float, str, str]]:
    """What is found within so many seconds after all this was told: when, cause, recovery."""
    link = MediaLink(replaces_mute=replaces_mute)
    for data in told:
        link.take(data)
    facts = {"is_fed": False, "shown_speaking": False, "has_company": True, **shown}
    return [
        (at * step_s, trouble.cause, trouble.recovery)
        for at in range(int(seconds / step_s) + 1)
        for trouble in link.judge(100.0 + at * step_s, **facts)
    ]


def test_a_site_may_close_its_connections_where_nobody_else_is_left() -> None:
    assert judged(peers(1), peers(0, closed=1), has_company=False) == []


LOST = [(1.0, "connection_lost", "by_site"), (15.0, "connection_lost", "fresh_page")]


@pytest.mark.parametrize(
    "told",
    [
        [peers(1), peers(0, down=1)],
        [peers(2), peers(0, down=2)],
        [peers(1), peers(0, closed=1)],
    ],
)
def test_connections_that_are_lost_are_told_at_once_and_given_up_later(told: list[Mapping[str, Any]]) -> None:
    assert judged(*told) == LOST


@pytest.mark.parametrize(
    "told",
    [
        [],  # a page without connections, or one that was never let in
        [peers(1)],
        [peers(1, down=1)],  # an old one beside its successor
        [peers(1), peers(0)],  # closed, and it had brought no sound: a shared screen's
        [peers(1), peers(0, down=1), peers(1)],
        [peers(0, down=1), peers(1, track=100)],  # another frame of the page has the meeting
        [peers(1), flow(8)],  # nobody speaks, and the site sends nothing then
        [peers(1), flow(2, reported=50)],
        [peers(1), flow(8), sockets(1)],
        [{"event": "stream", "track": 0, "media": "audio"}],
        [{"event": "peers", "down": 1}, {"event": "peers", "track": 0, "up": "x", "down": -1}],
    ],
)
def test_silence_and_what_is_connected_are_no_fault(told: list[Mapping[str, Any]]) -> None:
    assert judged(*told, seconds=600) == []


def test_sound_that_comes_proves_more_than_what_is_said_of_connections() -> None:
    assert judged(peers(1), peers(0, down=1), flow(8, reported=9), is_fed=True) == []


def test_a_machine_that_stood_still_proves_nothing() -> None:
    assert judged(peers(1), peers(0, down=1), seconds=60, step_s=20.0) == [(20.0, *LOST[0][1:])]


def test_a_site_that_says_it_connects_anew_gets_the_time_for_it() -> None:
    assert judged(peers(1), peers(0, down=1), seconds=59, site_reconnects=True) == LOST[:1]
    assert judged(peers(1), peers(0, down=1), seconds=90, site_reconnects=True)[1] == (60.0, *LOST[1][1:])


def test_reports_that_used_to_come_in_silence_and_stop_are_told_and_replace_nothing() -> None:
    assert judged(peers(1), flow(3, reported=3), seconds=600) == [(0.0, "packets_stopped", "none")]


@pytest.mark.parametrize(("replaces_mute", "found"), [(True, [(8.0, "packets_stopped", "fresh_page")]), (False, [])])
def test_somebody_shown_speaking_without_a_packet_is_worth_one_fresh_page(
    replaces_mute: bool, found: list[tuple[float, str, str]]
) -> None:
    assert judged(peers(1), flow(5), replaces_mute=replaces_mute, shown_speaking=True) == found


def test_a_page_without_its_sockets_is_told_once() -> None:
    assert judged(peers(1), sockets(1), sockets(0), seconds=600) == [(5.0, "sockets_closed", "by_site")]


def test_each_outage_is_told_and_a_new_document_begins_anew() -> None:
    link, causes = MediaLink(replaces_mute=True), []
    for at in range(40):
        if at in (0, 10, 20):
            link.take(peers(1))
        elif at in (5, 15):
            link.take(peers(0, down=1))
        elif at == 25:
            link.take(peers(0, down=1))
            link.forget()
        causes += [trouble.cause for trouble in link.judge(at, is_fed=False, shown_speaking=False, has_company=True)]
    assert causes == ["connection_lost", "connection_lost"]
