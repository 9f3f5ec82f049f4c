"""How long a process that was asked to end waits, and for what."""

from sederunt.bus.consume import OFFERED_S
from sederunt.jobs.drain import REPLACED_S, Drain


def test_who_stops_a_service_is_patient_once() -> None:
    drain = Drain(OFFERED_S + 30)
    assert drain.ask()
    assert drain.asked.is_set()
    assert (drain.within_s, drain.offer_after_s) == (OFFERED_S + 30, 30)
    assert not drain.ask()
    assert not drain.cut_short.is_set()


def test_work_moves_to_a_successor_at_once_and_is_handed_back_when_the_service_stops() -> None:
    drain = Drain(15)
    drain.replace()
    assert drain.asked.is_set()
    assert (drain.within_s, drain.offer_after_s) == (REPLACED_S, 0)
    assert drain.ask()
    assert drain.cut_short.is_set()
    assert not drain.ask()


def test_a_successor_of_a_process_that_ends_already_changes_nothing() -> None:
    drain = Drain(15)
    assert drain.ask()
    drain.replace()
    assert drain.within_s == 15
    assert not drain.ask()
