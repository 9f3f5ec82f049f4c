"""A silent receiver costs its own events time, and nobody else's."""

from contextlib import ExitStack
from uuid import UUID, uuid4

from sederunt.model.budgets import count_of
from sederunt.webhooks.destinations import OPENS_AFTER, PAUSES_S, Destinations, receiver_of

SLOW, OTHER = "https://slow.example/hook?a=1", "https://other.example/hook"
ADA, BEN = UUID(int=1), UUID(int=2)


def test_one_receiver_has_few_attempts_at_once_and_another_is_not_affected() -> None:
    destinations = Destinations()
    with ExitStack() as attempts:
        for _ in range(count_of("receiver_attempts")):
            assert destinations.pause_s(SLOW, ADA, 0.0) == 0
            attempts.enter_context(destinations.attempt(SLOW, ADA))
        assert destinations.pause_s("https://slow.example:443/another", ADA, 0.0) > 0
        assert destinations.pause_s(OTHER, ADA, 0.0) == 0
    assert destinations.pause_s(SLOW, ADA, 0.0) == 0


def test_what_one_account_does_to_a_receiver_holds_up_no_other_account_that_sends_to_it() -> None:
    destinations = Destinations()
    for _ in range(OPENS_AFTER):
        destinations.note(SLOW, ADA, answered=False, now_s=0.0)
    with ExitStack() as attempts:
        for _ in range(count_of("receiver_attempts")):
            attempts.enter_context(destinations.attempt(SLOW, ADA))
        assert destinations.pause_s(SLOW, ADA, 0.0) > 0
        assert destinations.pause_s(SLOW, BEN, 0.0) == 0
        assert not destinations.is_in_trouble(SLOW, BEN)


def test_one_account_with_many_receivers_leaves_places_to_others() -> None:
    destinations = Destinations()
    with ExitStack() as attempts:
        for number in range(count_of("webhook_attempts")):
            attempts.enter_context(destinations.attempt(f"https://{number}.example/", ADA))
        assert destinations.pause_s(OTHER, ADA, 0.0) > 0
        assert destinations.pause_s(OTHER, BEN, 0.0) == 0


def test_a_receiver_that_says_nothing_is_left_alone_for_longer_and_longer_and_one_attempt_decides() -> None:
    destinations, now_s = Destinations(), 0.0
    for _ in range(OPENS_AFTER - 1):
        assert not destinations.note(SLOW, ADA, answered=False, now_s=now_s)
        assert destinations.pause_s(SLOW, ADA, now_s) == 0
    for pause_s in (*PAUSES_S, PAUSES_S[-1]):
        destinations.note(SLOW, ADA, answered=False, now_s=now_s)
        assert destinations.pause_s(SLOW, ADA, now_s) == pause_s
        now_s += pause_s
        assert destinations.pause_s(SLOW, ADA, now_s) == 0
        with destinations.attempt(SLOW, ADA):
            assert destinations.pause_s(SLOW, ADA, now_s) > 0
    assert destinations.note(SLOW, ADA, answered=True, now_s=now_s)  # it is back
    assert not destinations.note(SLOW, ADA, answered=True, now_s=now_s)
    assert destinations.pause_s(SLOW, ADA, now_s) == 0


def test_what_is_remembered_is_bounded() -> None:
    destinations = Destinations()
    for number in range(10_050):
        destinations.note(f"https://{number}.example/", ADA, answered=False, now_s=0.0)
    with destinations.attempt(SLOW, uuid4()):
        pass
    assert len(destinations._trouble) == 10_000
    assert not destinations.ledger.held("receiver_attempts")
    assert not destinations.ledger.held("webhook_attempts")


def test_an_address_that_is_none_is_a_receiver_of_its_own() -> None:
    assert receiver_of("http://a:b:c/") == "http://a:b:c/"
    assert receiver_of("https://a.example/x") == receiver_of("https://a.example:443/y?z=1")
