"""Time within a stay: whoever sets the machine's clock changes no length."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.fake_clock import FakeClock
from sederunt.clock import SteadyClock, retry_after_s
from sederunt.jobs import attend


@pytest.mark.parametrize("jump_s", [600, -600, 86_400])
def test_a_steady_clock_counts_seconds_from_one_look_at_the_time_of_day(jump_s: float) -> None:
    wall = FakeClock()
    began = wall.now()
    steady = SteadyClock(wall)
    wall.advance(20)
    wall.set_wall(jump_s)
    wall.advance(19)
    assert steady.now() - began == timedelta(seconds=39)
    assert steady.monotonic() == wall.monotonic()


@pytest.mark.parametrize("jump_s", [600, -600])
def test_a_bots_meeting_is_as_long_as_it_lasted_when_the_clock_is_set(
    jump_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attend, "MeetingAccounts", lambda *_stores: object())
    wall = FakeClock()
    fields = ("settings", "objects", "pool", "spools", "events", "database", "sealer", "readers", "vendor_access")
    context = SimpleNamespace(clock=wall, **{name: object() for name in fields})
    bot = attend._bot_context(cast(Any, context), cast(Any, object()))
    started_at = bot.clock.now()
    assert started_at == wall.now()
    wall.set_wall(jump_s)
    wall.advance(39)
    assert bot.clock.now() - started_at == timedelta(seconds=39)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("1.5", 1.5),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("Sat, 21 Nov 2026 11:00:00 -0000", None),
        ("soon", None),
        ("inf", None),
        ("-3", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_a_number_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header, datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)) == seconds
