"""How often a service manager is told that a process lives, and who tells it."""

import pytest

from sederunt.cli.service_manager import BEATS, beat_every_s

WATCHED = {"NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "7"}


def test_a_process_beats_several_times_in_the_time_that_it_is_given() -> None:
    assert beat_every_s(WATCHED, 7) == 120 / BEATS


@pytest.mark.parametrize(
    "environment",
    [
        {},
        WATCHED | {"WATCHDOG_PID": "8"},  # a child's, which inherited it
        WATCHED | {"WATCHDOG_USEC": "0"},
        {"NOTIFY_SOCKET": "/run/systemd/notify"},
        {"WATCHDOG_USEC": "120000000"},
    ],
)
def test_whom_nobody_watches_beats_for_nobody(environment: dict[str, str]) -> None:
    assert beat_every_s(environment, 7) is None
