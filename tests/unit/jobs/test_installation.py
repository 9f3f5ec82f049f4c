"""What heartbeats say of an installation."""

from typing import Any

import pytest

from sederunt.bus.heartbeat import FORGOTTEN_S, SILENT_S, Heartbeats
from sederunt.jobs.installation import STARTING_S, Seats, role_words, seats_of


class Hall:
    """Processes that tell, and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.heartbeats = Heartbeats(lambda: self.now)

    def told(self, role: str, name: str = "a", *, pid: int = 1, **facts: Any) -> None:
        self.heartbeats.hear({"role": role, "name": name, "pid": pid, **facts})

    def words(self) -> dict[str, str]:
        return role_words(self.heartbeats, age_s=self.heartbeats.listening_s)


FINE = {"browser": "ok", "storage": "ok"}
NO_BROWSER = {"browser": "missing", "storage": "ok"}


def test_a_role_is_as_well_as_the_best_of_its_processes() -> None:
    hall = Hall()
    hall.told("worker", parts=FINE)
    hall.told("host", parts=NO_BROWSER)
    assert hall.words() == {"host": "browser missing", "worker": "ok"}
    hall.told("host", "b", parts=FINE)
    assert hall.words()["host"] == "ok"


def test_a_process_that_falls_silent_is_told_and_one_that_said_goodbye_is_not_missed() -> None:
    hall = Hall()
    hall.told("worker", parts=FINE)
    hall.told("host", parts=FINE)
    hall.now = SILENT_S
    assert hall.words() == {"host": "silent", "worker": "silent"}
    hall.told("host", last=True)
    assert hall.heartbeats.silent("host") == []
    hall.now = FORGOTTEN_S + 1
    assert hall.words() == {"host": "none", "worker": "none"}


def test_a_killed_process_whose_successor_is_there_is_not_missed() -> None:
    hall = Hall()
    hall.told("host", pid=1, parts=FINE)
    hall.now = SILENT_S + 1
    hall.told("host", pid=2, parts=FINE)
    assert hall.words()["host"] == "ok"
    assert hall.heartbeats.silent("host") == []


@pytest.mark.parametrize(("age_s", "word"), [(0.0, "starting"), (STARTING_S, "none")])
def test_a_role_that_was_never_heard_may_be_starting_for_a_while(age_s: float, word: str) -> None:
    hall = Hall()
    hall.now = age_s
    assert hall.words() == {"host": word, "worker": word}


def test_seats_are_those_of_hosts_that_can_work() -> None:
    hall = Hall()
    hall.told("host", "a", parts=FINE, seats={"total": 40, "held": 3, "free": 20}, cores=2)
    hall.told("host", "b", parts=NO_BROWSER, seats={"total": 40, "held": 1, "free": 30}, cores=8)
    assert seats_of(hall.heartbeats.living("host")) == Seats(total=40, held=4, free=20, cores=2)
