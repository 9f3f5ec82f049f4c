"""When a host takes one more bot."""

from dataclasses import replace

from sederunt.jobs.capacity import START_S, Capacity, Measure
from sederunt.settings import HostSettings

IDLE = Measure(at=0, busy_s=0, cores=4, available_mb=8000)


class Machine:
    """A machine whose use of CPU and memory the test decides."""

    def __init__(self) -> None:
        self.now = IDLE
        self.held = 0
        self.live = 0
        settings = HostSettings(name="h", max_bots=40, max_load=0.8, min_free_mb=700)
        self.room = Capacity(settings, self.bots, self.measure, live=lambda: self.live)

    def bots(self) -> int:
        return self.held

    def measure(self) -> Measure:
        return self.now

    def pass_time(self, seconds: float, *, cores_busy: float) -> None:
        self.now = replace(self.now, at=self.now.at + seconds, busy_s=self.now.busy_s + seconds * cores_busy)


def test_an_idle_host_has_room() -> None:
    machine = Machine()
    machine.held = 1
    assert machine.room.has_room()


def test_a_busy_host_takes_no_further_bot() -> None:
    machine = Machine()
    machine.held = 3
    machine.room.has_room()
    machine.pass_time(START_S + 1, cores_busy=3.5)
    assert not machine.room.has_room()
    machine.pass_time(5, cores_busy=1)
    assert machine.room.has_room()


def test_a_host_without_bots_always_takes_one() -> None:
    machine = Machine()
    machine.pass_time(10, cores_busy=4)
    machine.now = replace(machine.now, available_mb=10)
    assert machine.room.has_room()


def test_a_host_short_of_memory_takes_no_further_bot() -> None:
    machine = Machine()
    machine.held = 1
    machine.now = replace(machine.now, available_mb=600)
    assert not machine.room.has_room()


def test_bots_that_have_just_begun_count_before_their_load_shows() -> None:
    machine = Machine()
    taken = 0
    while machine.room.has_room() and taken < 100:
        taken += 1
        machine.held = taken
    assert 8 <= taken <= 20
    machine.pass_time(START_S + 1, cores_busy=1)
    assert machine.room.has_room()


def test_bots_that_are_transcribed_live_count_though_nobody_speaks_yet() -> None:
    machine = Machine()
    machine.held = machine.live = 15
    machine.room.has_room()
    machine.pass_time(START_S + 1, cores_busy=0.2)
    assert machine.room.has_room()
    machine.held = machine.live = 16
    machine.room.has_room()
    machine.pass_time(START_S + 1, cores_busy=0.2)
    assert not machine.room.has_room()
