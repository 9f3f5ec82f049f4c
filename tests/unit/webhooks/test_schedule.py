"""When a webhook is tried again."""

from datetime import UTC, datetime, timedelta

import pytest

from sederunt.database.deliveries import Attempt
from sederunt.webhooks.schedule import PAUSES_S, after

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def attempt(status: int | None) -> Attempt:
    return Attempt(at=AT, status=status, ms=5, answer="")


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_is_a_delivery(status: int) -> None:
    assert after(attempt(status), 3) == ("delivered", None)


@pytest.mark.parametrize("status", [None, 199, 301, 302, 400, 404, 429, 500, 503])
def test_any_other_answer_is_tried_again(status: int | None) -> None:
    assert after(attempt(status), 0) == ("pending", AT + timedelta(seconds=PAUSES_S[0]))


def test_pauses_grow_and_fill_a_day() -> None:
    assert list(PAUSES_S) == sorted(PAUSES_S)
    assert timedelta(hours=23) < timedelta(seconds=sum(PAUSES_S)) <= timedelta(hours=24)


def test_after_the_last_pause_it_is_given_up() -> None:
    assert after(attempt(500), len(PAUSES_S) - 1)[0] == "pending"
    assert after(attempt(500), len(PAUSES_S)) == ("given_up", None)


def test_a_receiver_that_is_gone_for_good_is_left_alone() -> None:
    assert after(attempt(410), 0) == ("given_up", None)


def test_an_address_that_may_not_be_reached_is_not_tried_again() -> None:
    assert after(attempt(None), 0, retryable=False) == ("given_up", None)


@pytest.mark.parametrize(("asked_s", "pause_s"), [(None, 5), (1.0, 5), (90.0, 90), (1e9, 86_400)])
def test_a_receiver_is_not_asked_before_it_wants_to_be(asked_s: float | None, pause_s: float) -> None:
    assert after(attempt(503), 0, retry_after_s=asked_s) == ("pending", AT + timedelta(seconds=pause_s))
