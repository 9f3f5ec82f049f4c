"""Which roles count as frozen."""

from sederunt.bus.pulse import SILENT_S, Pulses
from sederunt.cli.watch import FROZEN_S, LOOK_EVERY_S, FrozenRoles

PIDS = {"nats": 1, "api": 2, "host": 3, "worker": 4}


class Evening:
    """A service under the eyes of its supervisor, with time moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pulses = Pulses(lambda: self.now)
        self.roles = FrozenRoles(self.pulses, lambda: self.now)
        self.pids: dict[str, int | None] = dict(PIDS)
        self.blocking: frozenset[int] = frozenset()
        self.beating = {"serve": 9, "api": 2, "host": 3, "worker": 4}

    def pass_time(self, seconds: float, *, asleep: bool = False) -> list[list[str]]:
        """What was found at each look that found something."""
        found: list[list[str]] = []
        until = self.now + seconds
        while self.now < until:
            self.now = until if asleep else self.now + LOOK_EVERY_S
            for role, pid in self.beating.items():
                if not asleep:
                    self.pulses.hear({"role": role, "name": "a", "pid": pid})
            if roles := self.roles.found(self.pids, self.blocking):
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
