"""Whose window is next: by urgency, fairly between accounts, the shortest first, and nobody waits for ever."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

import pytest

from sederunt.errors import Cancelled
from sederunt.transcription.scheduler import (
    AWAY_S,
    OLDEST_EVERY,
    RECENT_S,
    Lane,
    Rank,
    Scheduler,
    TurnClaim,
    Urgency,
    Workload,
    chosen,
)

ADA, BEN = UUID(int=1), UUID(int=2)


def claim(**changed: Any) -> TurnClaim:
    usual: dict[str, Any] = {
        "urgency": Urgency.UPLOAD,
        "running": 0.0,
        "served_s": 0.0,
        "remaining_s": 100.0,
        "rank": Rank.NEXT,
        "source_s": 0.0,
        "number": 0,
    }
    return TurnClaim(**{**usual, **changed})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"urgency": Urgency.LIVE, "running": 2.0}, {"urgency": Urgency.BOT}),
        ({"urgency": Urgency.BOT, "remaining_s": 9e3, "running": 2.0}, {"urgency": Urgency.UPLOAD}),
        ({"running": 1.0, "remaining_s": 9e3}, {"running": 2.0}),
        ({"running": 1.0}, {"served_s": 60.0}),
        ({"served_s": 1.0, "remaining_s": 9e3}, {"served_s": 2.0}),
        ({"remaining_s": 10.0, "number": 9}, {"remaining_s": 14_400.0}),
        ({"rank": Rank.CHAIN, "number": 9}, {"rank": Rank.BEGUN}),
        ({"rank": Rank.CHAIN, "number": 9}, {"source_s": 9.0}),
        ({"rank": Rank.NEXT, "source_s": 60.0, "number": 9}, {"rank": Rank.BEGUN, "source_s": 50.0}),
        ({"rank": Rank.BEGUN, "number": 9}, {"rank": Rank.NEXT}),
        ({"number": 1}, {"number": 2}),
    ],
)
def test_the_next_turn_is_chosen_by_what_differs_first(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert chosen([claim(**second), claim(**first)]) == 1
    assert chosen([claim(**first), claim(**second)]) == 0


def test_whoever_waits_longest_is_chosen_where_age_alone_counts() -> None:
    claims = [claim(urgency=Urgency.LIVE, number=5), claim(remaining_s=9e9, number=4)]
    assert chosen(claims, oldest=True) == 1


class Desk:
    """A scheduler whose only core is taken, with jobs that ask for it; then the order in which they had it."""

    def __init__(self, **options: Any) -> None:
        self.cpu_s = self.now_s = 0.0
        self.scheduler = Scheduler(1, cpu=lambda: self.cpu_s, now=lambda: self.now_s, **options)
        self.order: list[str] = []
        self._stack = ExitStack()
        self._threads: list[threading.Thread] = []

    def job(self, account: UUID, sound_s: float, urgency: Urgency = Urgency.UPLOAD) -> Workload:
        workload = self._stack.enter_context(self.scheduler.workload(account, urgency))
        workload.sound_s = sound_s
        return workload

    def asks(
        self, name: str, workload: Workload, *, turns: int = 1, cost_s: float = 0.0, source_s: float = 0.0
    ) -> None:
        """Have a thread of its own ask for turns, and return when the first of them is asked for."""
        lane = workload.lane(sound_s=source_s, length_s=source_s)
        before = workload.waiting

        def take() -> None:
            with lane.turns(lambda: False) as mine:
                for number in range(turns):
                    if number:
                        mine.pause()
                    self.order.append(name)
                    self.cpu_s += cost_s
                    lane.reached((number + 1) * source_s / turns)

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        self._threads.append(thread)
        while workload.waiting == before:
            thread.join(0.001)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the core while the block lasts; behind it everybody has had their turns."""
        with self.job(UUID(int=9), 0.0).lane().turns(lambda: False):
            yield
        self.joined()
        self._stack.close()

    def joined(self) -> None:
        """Return when everybody has had their turns."""
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


def test_a_short_recording_goes_before_the_windows_of_long_ones() -> None:
    desk = Desk()
    with desk.taken():
        for name in ("long", "longer"):
            desk.asks(name, desk.job(ADA, 14_400.0 + len(name)), turns=3)
        desk.asks("short", desk.job(ADA, 10.0))
    assert desk.order[0] == "short"
    assert sorted(desk.order) == ["long"] * 3 + ["longer"] * 3 + ["short"]


def test_accounts_have_equal_parts_whatever_the_length_of_their_jobs() -> None:
    desk = Desk()
    with desk.taken():
        for _ in range(4):
            desk.asks("ada", desk.job(ADA, 10.0), turns=3, cost_s=1.0)
        desk.asks("ben", desk.job(BEN, 9_000.0), turns=3, cost_s=1.0)
    # The places that go to whoever waits longest are the exception that keeps everybody going.
    assert desk.order[:6].count("ben") == 3
    assert desk.order.count("ada") == 12


def test_whoever_had_the_cores_for_long_stands_behind_a_newcomer_until_that_had_as_much() -> None:
    desk = Desk()
    with desk.taken():
        for _ in range(2):  # one waits while the other is read
            desk.asks("ada", desk.job(ADA, 10.0), turns=4, cost_s=1.0)
    with desk.taken():
        desk.asks("ada", desk.job(ADA, 10.0), turns=3, cost_s=1.0)
        desk.asks("ben", desk.job(BEN, 9_000.0), turns=8, cost_s=1.0)
    assert desk.order[8:13].count("ben") >= 4  # one place goes to whoever waits longest


@pytest.mark.parametrize("threads", [1, 2])
def test_what_an_account_had_while_nobody_waited_puts_it_behind_no_newcomer(threads: int) -> None:
    """One short recording after another, alone; then a flood begins, and the next of them does not wait for it.

    Words and voices of a recording are looked for at once, and wait for each other: that is still nobody.
    """
    desk = Desk()
    for _ in range(10):
        job = desk.job(ADA, 2.0)
        with job.lane().turns(lambda: False) as alone:
            for _ in range(1, threads):
                desk.asks("voices", job, turns=5, cost_s=0.3)
            for _ in range(5):
                desk.cpu_s += 0.3
                alone.pause()
    with desk.taken():  # until the threads are through
        pass
    desk.order.clear()
    with desk.taken():
        for _ in range(4):
            desk.asks("flood", desk.job(BEN, 3_600.0), turns=3, cost_s=1.0)
        desk.asks("short", desk.job(ADA, 2.0), turns=3, cost_s=0.3)
    assert desk.order[:4].count("short") >= 2  # one place goes to whoever waits longest


def test_what_an_account_had_long_ago_counts_no_more() -> None:
    desk = Desk()
    with desk.taken():
        desk.asks("ada", desk.job(ADA, 10.0), turns=5, cost_s=1.0)
    desk.now_s += 20 * RECENT_S
    with desk.taken():
        desk.asks("ada", desk.job(ADA, 10.0), turns=4, cost_s=1.0)
        desk.asks("ben", desk.job(BEN, 10.0), turns=4, cost_s=1.0)
    assert 2 <= desk.order[5:11].count("ben") <= 4


def test_tracks_of_a_job_end_together() -> None:
    """Two of three read to their end, and the third alone behind them, would leave a core with nothing to do."""
    desk = Desk()
    with desk.taken():
        job = desk.job(ADA, 90.0)
        for name in ("one", "two", "three"):
            desk.asks(name, job, turns=3, source_s=30.0)
    assert [sorted(desk.order[n : n + 3]) for n in (0, 3, 6)] == [["one", "three", "two"]] * 3


def test_an_account_of_twice_the_weight_has_twice_the_part() -> None:
    desk = Desk(weight_of=lambda account: 2.0 if account == BEN else 1.0)
    with desk.taken():
        desk.asks("ada", desk.job(ADA, 10.0), turns=12, cost_s=1.0)
        desk.asks("ben", desk.job(BEN, 10.0), turns=12, cost_s=1.0)
    assert 7 <= desk.order[:12].count("ben") <= 9


def test_an_upload_gets_on_behind_bots_that_never_end() -> None:
    desk = Desk()
    with desk.taken():
        desk.asks("upload", desk.job(BEN, 10.0))
        for _ in range(3):
            desk.asks("bot", desk.job(ADA, 10.0, Urgency.BOT), turns=20)
    assert desk.order.index("upload") <= OLDEST_EVERY


def test_what_was_spent_is_told_by_job() -> None:
    desk = Desk()
    with desk.taken():
        first, second = desk.job(ADA, 10.0), desk.job(BEN, 20.0)
        desk.asks("first", first, cost_s=3.0)
        desk.asks("second", second, cost_s=5.0)
        desk.cpu_s += 100.0  # of whoever holds the core
    assert (first.cpu_s, second.cpu_s) == (3.0, 5.0)


def test_a_job_that_is_stopped_waits_no_longer() -> None:
    scheduler, stop = Scheduler(1), threading.Event()
    with scheduler.workload(ADA, Urgency.BOT) as busy, scheduler.workload(BEN, Urgency.BOT) as waiting:
        with busy.lane().turns(lambda: False), ThreadPoolExecutor(1) as pool:
            asking = pool.submit(_takes_a_turn, waiting.lane(), stop.is_set)
            while not waiting.waiting:
                pass
            stop.set()
            with pytest.raises(Cancelled):
                asking.result(60)
        assert (waiting.waiting, waiting.running) == (0, 0)
        _takes_a_turn(waiting.lane(), lambda: False)  # the core is free for whoever comes next


def test_a_core_is_kept_for_a_moment_for_whoever_stores_what_it_read() -> None:
    desk = Desk()
    short, long = desk.job(ADA, 10.0), desk.job(BEN, 10_000.0)
    with short.lane().turns(lambda: False) as turns:
        turns.offer()
        desk.asks("long", long)
        desk.now_s += AWAY_S / 2
        turns.wait()
        assert (desk.order, short.running, long.waiting) == ([], 1, 1)
        turns.offer()
        desk.now_s += AWAY_S
        desk.joined()
        assert (desk.order, short.running, short.waiting) == (["long"], 0, 1)
        turns.wait()
        assert (short.running, short.waiting) == (1, 0)
        turns.offer()
        desk.now_s += AWAY_S
        desk.scheduler.look()  # it is stopped while it stores, and has no core
    assert (short.running, short.waiting) == (0, 0)
    with desk.taken():
        pass


def test_models_go_when_nobody_came_for_a_while() -> None:
    idle = threading.Event()
    scheduler = Scheduler(1, idle_s=0.01, on_idle=idle.set)
    with scheduler.workload(ADA, Urgency.BOT):
        pass
    assert idle.wait(60)


def test_models_stay_while_somebody_may_need_them() -> None:
    unloaded: list[str] = []
    scheduler = Scheduler(1, idle_s=600, on_idle=lambda: unloaded.append("models"))
    with scheduler.workload(ADA, Urgency.BOT):
        with scheduler.workload(BEN, Urgency.BOT):
            pass
        assert not scheduler.idle.is_running
    assert scheduler.idle.is_running
    with scheduler.workload(BEN, Urgency.BOT):
        assert not scheduler.idle.is_running
    assert unloaded == []


def test_no_more_turns_at_once_than_cores() -> None:
    scheduler, most, lock = Scheduler(3), [0, 0], threading.Lock()

    def take(_: int) -> None:
        with scheduler.workload(ADA, Urgency.UPLOAD) as workload, workload.lane().turns(lambda: False):
            with lock:
                most[0] += 1
                most[1] = max(most)
            meeting.wait(60)
            with lock:
                most[0] -= 1

    meeting = threading.Barrier(3)  # three are at work at once, or nobody gets on
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(take, range(12)))
    assert most == [0, 3]


def test_what_is_left_of_a_job_follows_its_lanes() -> None:
    scheduler = Scheduler(2)
    with scheduler.workload(ADA, Urgency.BOT) as workload:
        workload.sound_s = 90.0
        loud, rare = workload.lane(sound_s=80.0, length_s=100.0), workload.lane(sound_s=10.0, length_s=100.0)
        loud.reached(50.0)
        rare.reached(100.0)
        loud.reached(75.0)
        assert workload.remaining_s == pytest.approx(20.0)


def _takes_a_turn(lane: Lane, stopped: Callable[[], bool]) -> None:
    with lane.turns(stopped):
        pass
