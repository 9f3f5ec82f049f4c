"""When a child that ended is started again, and what becomes of its lines."""

import json
from importlib.util import find_spec
from itertools import accumulate, repeat

import pytest

from sederunt.cli.supervisor import FIRST_PAUSE_S, HEALTHY_AFTER_S, LONGEST_PAUSE_S, as_json, is_drawing, next_pause_s


def test_pauses_grow_while_a_child_ends_at_once_again_and_again() -> None:
    pauses = list(accumulate(repeat(1.0, 9), next_pause_s, initial=0.0))[1:]
    assert pauses == [0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_after_a_healthy_life_the_successor_comes_at_once() -> None:
    assert next_pause_s(LONGEST_PAUSE_S, HEALTHY_AFTER_S + 1) == FIRST_PAUSE_S
    assert next_pause_s(0.0, 0.0) == FIRST_PAUSE_S


@pytest.mark.parametrize(
    ("line", "level", "event"),
    [
        ("[7] 2026/11/22 22:49:26.171924 [WRN] checksums do not match", "warning", "checksums do not match"),
        ("[7] 2026/11/22 22:49:26.17 [INF]   Store Directory: x", "info", "Store Directory: x"),
        ("Traceback (most recent call last):", "info", "Traceback (most recent call last):"),
    ],
)
def test_lines_of_other_programs_are_json_too(line: str, level: str, event: str) -> None:
    told = json.loads(as_json("nats", line))
    assert (told["role"], told["level"], told["event"]) == ("nats", level, event)


@pytest.mark.parametrize(
    "line", ["", r"[16149] 2026/11/24 04:10:35.247866 [INF]  _ ___ _____", "[1] 2026/11/24 04:10:35.2 [INF]"]
)
def test_a_line_that_only_draws_is_left_out(line: str) -> None:
    assert is_drawing(line)
    assert not is_drawing(f"{line} Ready")


# After an upgrade a `serve` of the version before starts these by the names that it knew: its database step, its roles,
# their tie to it, and the readers and pictures of a worker or api that is still at work. A rename waits for a version
# in which nothing starts them by the old name.
STARTED_BY_NAME = (
    "sederunt.cli.database_setup",
    "sederunt.cli.main",
    "sederunt.cli.speech_trial",
    "sederunt.die_with_parent",
    "sederunt.media.reader_server",
    "sederunt.media.sandboxed_image_child",
    "sederunt.calendars.reader_child",
)


@pytest.mark.parametrize("name", STARTED_BY_NAME)
def test_what_a_serve_of_the_version_before_starts_by_name_is_there(name: str) -> None:
    assert find_spec(name) is not None
