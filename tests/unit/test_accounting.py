"""The table of budgets, what counts against it, and that no limit stands anywhere else."""

import math
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from sederunt.accounting import Ledger, Rate, limits_of
from sederunt.model.budgets import BUDGETS, ROWS, default_of
from sederunt.settings import LimitSettings, Settings


def test_a_key_that_spent_its_minute_waits_for_the_next_token(clock: FakeClock) -> None:
    rate = Rate.per_minute(2, clock.monotonic)
    assert [rate.wait_s("a") for _ in range(3)] == [0, 0, 30]
    assert rate.wait_s("b") == 0
    clock.advance(30)
    assert [rate.wait_s("a") for _ in range(2)] == [0, 30]
    clock.advance(3600)
    assert [rate.wait_s("a") for _ in range(3)] == [0, 0, 30]


def test_no_limit_is_no_limit(clock: FakeClock) -> None:
    rate = Rate.per_minute(0, clock.monotonic)
    assert {rate.wait_s("a") for _ in range(1000)} == {0}
    assert rate.charge("a", 1e9)


def test_what_is_charged_may_overdraw_and_is_paid_back(clock: FakeClock) -> None:
    rate = Rate.per_minute(60, clock.monotonic)
    assert rate.charge("a", 60)
    assert not rate.charge("a", 30)
    assert rate.wait_s("a") == 31
    clock.advance(31)
    assert rate.wait_s("a") == 0


def test_what_a_holder_has_is_counted_and_given_back() -> None:
    ledger = Ledger({"fetches": 2, "sockets": 0})
    with ledger.holding("fetches", "ada"):
        assert ledger.has_room("fetches", "ada")
        with ledger.holding("fetches", "ada"):
            assert not ledger.has_room("fetches", "ada")
            assert ledger.has_room("fetches", "ben")
            assert ledger.told() == {"fetches": {"used": 2, "most": 2, "refused": 1}}
    assert ledger.held("fetches") == {}
    assert ledger.most("sockets") == math.inf
    assert ledger.has_room("sockets", "ada", 10**9)


def test_what_other_processes_hold_counts_too() -> None:
    ledger = Ledger({"sockets": 3})
    ledger.take("sockets", "ada")
    ledger.hear("sockets", {"ada": 2})
    assert not ledger.has_room("sockets", "ada")
    assert ledger.has_room("sockets", "ben")
    ledger.hear("sockets", {})
    assert ledger.has_room("sockets", "ada")


def test_every_setting_of_the_table_is_one_and_every_setting_of_limits_is_in_the_table() -> None:
    settings = Settings()
    limits = limits_of(settings)
    assert limits == {row.name: default_of(row.name) for row in ROWS}
    assert {f"limits.{name}" for name in LimitSettings.model_fields} <= {row.setting for row in ROWS}
    assert len(BUDGETS) == len(ROWS)


def test_an_operators_choice_is_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_LIMITS__FETCHES", "7")
    monkeypatch.setenv("SEDERUNT_API__CONCURRENT_BOTS", "3")
    ledger = Ledger(limits_of(Settings()))
    assert (ledger.most("fetches"), ledger.most("bots_at_work")) == (7, 3)


def test_an_account_of_more_weight_has_more_of_what_is_shared_and_of_nothing_else() -> None:
    heavy, usual, light = UUID(int=1), UUID(int=2), UUID(int=3)
    known = Settings(account_weights={heavy: 3, light: 0.1})
    ledger = Ledger(limits_of(known), known.account_weights)
    assert [ledger.share("fetches", account) for account in (heavy, usual, light)] == [12, 4, 1]
    assert ledger.share("sockets", heavy) == ledger.share("sockets", usual)  # of the whole installation
    assert ledger.share("refusals", str(heavy)) == default_of("refusals")
    for _ in range(5):
        ledger.take("fetches", heavy)
        ledger.take("fetches", usual)
    assert (ledger.has_room("fetches", heavy), ledger.has_room("fetches", usual)) == (True, False)
    assert Ledger({"fetches": 0}, {light: 0.1}).share("fetches", light) == 0
