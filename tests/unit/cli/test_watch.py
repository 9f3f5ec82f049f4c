"""Which roles count as frozen."""

from pathlib import Path

from sederunt.browser.stopped_processes import ProcessState
from sederunt.bus.connection import STORES_NO_JOBS
from sederunt.bus.heartbeat import SILENT_S, Heartbeats
from sederunt.cli.watch import (
    FROZEN_S,
    LOOK_EVERY_S,
    STARVED_S,
    CoreWaits,
    FrozenRoles,
    StoppedRoles,
    waiting_for_a_disk,
)

PIDS = {"nats": 1, "api": 2, "host": 3, "worker": 4}


class Evening:
    """A service under the eyes of its supervisor, with time moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.heartbeats = Heartbeats(lambda: self.now)
        self.roles = FrozenRoles(self.heartbeats, lambda: self.now)
        self.pids: dict[str, int | None] = dict(PIDS)
        self.blocking: frozenset[int] = frozenset()
        self.starved: frozenset[int] = frozenset()
        self.parts = {"bus": "ok", "data": "ok"}
        self.beating = {"serve": 9, "api": 2, "host": 3, "worker": 4}

    def pass_time(self, seconds: float, *, asleep: bool = False) -> list[list[str]]:
        """What was found at each look that found something."""
        found: list[list[str]] = []
        until = self.now + seconds
        while self.now < until:
            self.now = until if asleep else self.now + LOOK_EVERY_S
            for role, pid in self.beating.items():
                if not asleep:
                    self.heartbeats.hear({"role": role, "name": "a", "pid": pid, "parts": self.parts})
            if roles := self.roles.found(self.pids, self.blocking, self.starved):
                found.append(roles)
                for role in roles:
                    self.roles.forget(role)
        return found


def test_nobody_who_beats_is_frozen() -> None:
    assert Evening().pass_time(600) == []


def test_a_role_that_beats_no_more_is_frozen_and_its_successor_has_time_to_start() -> None:
    evening = Evening()
    evening.pass_time(60)
    del evening.beating["host"]
    assert evening.pass_time(FROZEN_S - LOOK_EVERY_S) == []
    assert evening.pass_time(2 * LOOK_EVERY_S) == [["host"]]
    evening.pids["host"] = 33
    assert evening.pass_time(300) == []
    evening.beating["host"] = 33
    evening.pass_time(10)
    del evening.beating["host"]
    assert evening.pass_time(FROZEN_S + LOOK_EVERY_S) == [["host"]]


def test_a_message_server_that_stores_no_jobs_is_started_anew_once_there_is_room() -> None:
    evening = Evening()
    evening.parts = {"bus": STORES_NO_JOBS, "data": "full"}
    assert evening.pass_time(120) == []
    evening.parts = {"bus": STORES_NO_JOBS, "data": "ok"}
    assert evening.pass_time(LOOK_EVERY_S) == [["nats"]]
    assert evening.pass_time(FROZEN_S - LOOK_EVERY_S) == [], "it has its time to start, and to be tried"
    assert evening.pass_time(LOOK_EVERY_S) == [["nats"]]


def test_a_process_that_ended_is_not_frozen() -> None:
    evening = Evening()
    evening.pass_time(60)
    del evening.beating["host"]
    evening.pids["host"] = None
    assert evening.pass_time(100) == []


def test_where_not_even_the_supervisor_hears_itself_the_message_server_is_frozen() -> None:
    evening = Evening()
    evening.pass_time(60)
    beating, evening.beating = evening.beating, {}
    assert evening.pass_time(FROZEN_S + LOOK_EVERY_S) == [["nats"]]
    evening.beating = beating
    assert evening.pass_time(100) == []


def test_a_message_server_elsewhere_is_not_ours_to_end() -> None:
    evening = Evening()
    del evening.pids["nats"]
    evening.pass_time(60)
    evening.beating = {}
    assert evening.pass_time(200) == []


def test_after_the_machine_slept_nobody_is_taken_for_frozen() -> None:
    evening = Evening()
    evening.pass_time(60)
    assert evening.pass_time(3600, asleep=True) == []
    assert evening.pass_time(100) == []


def test_a_silent_role_that_keeps_the_database_locked_is_ended_before_writers_give_up() -> None:
    evening = Evening()
    evening.pass_time(60)
    del evening.beating["host"]
    evening.blocking = frozenset({evening.pids["host"] or 0})
    assert evening.pass_time(SILENT_S - LOOK_EVERY_S) == []
    assert evening.pass_time(2 * LOOK_EVERY_S) == [["host"]]


def test_a_role_that_writes_at_every_look_but_beats_is_left_alone() -> None:
    evening = Evening()
    evening.blocking = frozenset({3})
    assert evening.pass_time(300) == []


def test_a_silent_role_that_was_seen_to_write_only_once_has_its_time() -> None:
    evening = Evening()
    evening.pass_time(60)
    del evening.beating["host"]
    for _ in range(int(FROZEN_S / LOOK_EVERY_S / 2) - 1):
        evening.blocking = frozenset({3})
        assert evening.pass_time(LOOK_EVERY_S) == []
        evening.blocking = frozenset()
        assert evening.pass_time(LOOK_EVERY_S) == []


def test_a_role_that_gets_no_core_is_waited_for_and_one_that_wants_none_is_not() -> None:
    evening = Evening()
    evening.pass_time(60)
    del evening.beating["worker"]
    evening.starved = frozenset({4})
    assert evening.pass_time(STARVED_S / 2) == []
    evening.starved = frozenset()
    assert evening.pass_time(FROZEN_S - 2 * LOOK_EVERY_S) == []
    assert evening.pass_time(4 * LOOK_EVERY_S) == [["worker"]]


def test_a_process_is_starved_where_a_thread_of_it_waited_for_a_core_most_of_the_time(
    tmp_path: Path,
) -> None:
    now = 0.0
    waits = CoreWaits(lambda: now, tmp_path)

    def counted(pid: int, thread: int, waited_s: float) -> None:
        folder = tmp_path / f"{pid}/task/{thread}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedstat").write_text(f"5000 {waited_s * 1e9:.0f} 7\n")

    counted(1, 1, 100.0)
    counted(1, 2, 50.0)
    counted(2, 2, 100.0)
    assert waits.starved([1, 2, 3]) == frozenset(), "what they waited before the first look says nothing"
    now = 2.0
    counted(1, 2, 51.5)
    counted(2, 2, 100.5)
    assert waits.starved([1, 2, 3]) == {1}
    now = 4.0
    assert waits.starved([1, 2, 3]) == frozenset()


def test_a_stopped_role_is_waited_for_as_long_as_its_work_goes_on_without_it() -> None:
    still = {1, 2, 3, 4}

    def read(pid: int) -> ProcessState:
        return ProcessState(pid=pid, parent=0, session=0, started=0, is_stopped=pid in still)

    def looks_until(role: str) -> int:
        roles = StoppedRoles(read)
        return next(look for look in range(1, 99) if role in roles.look(PIDS))

    assert {role: looks_until(role) for role in PIDS} == {"nats": 3, "api": 3, "worker": 3, "host": 10}
    host = StoppedRoles(read)
    for _ in range(9):
        host.look(PIDS)
    still.remove(3)
    assert "host" not in host.look(PIDS)  # it went on
    still.add(3)
    assert "host" not in host.look(PIDS)
    assert host.look(dict.fromkeys(PIDS)) == []  # none of them runs


def test_who_waits_for_a_disk_is_told_from_who_sleeps(tmp_path: Path) -> None:
    for pid, thread, state in ((1, 1, "S"), (1, 2, "D"), (2, 2, "S"), (3, 3, "T")):
        folder = tmp_path / f"{pid}/task/{thread}"
        folder.mkdir(parents=True)
        (folder / "stat").write_text(f"{thread} (a D) x) {state} 1 1")
    assert waiting_for_a_disk([1, 2, 3, 4], tmp_path) == {1}
