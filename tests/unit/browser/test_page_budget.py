"""A page may send what a large meeting needs, and not what harms the host."""

import pytest

from sederunt.browser.loopback import PageChannel
from sederunt.browser.page_budget import ALLOWANCES, MOST_REALMS, Overrun, PageBudget
from sederunt.browser.signals import MOST_KEPT, Signal, without_bulk


@pytest.mark.parametrize("what", ALLOWANCES)
def test_an_allowance_holds_for_hours_and_a_flood_uses_it_up(what: str) -> None:
    seconds = 0.0
    allowance = ALLOWANCES[what]
    budget = PageBudget(now=lambda: seconds)
    for _ in range(4 * 3600):
        budget.spend(what, allowance.per_s)
        seconds += 1.0
    for _ in range(49):  # within one second
        budget.spend(what, allowance.default / 50)
    with pytest.raises(Overrun, match=what):
        budget.spend(what, allowance.default / 10)


def test_one_flood_does_not_touch_the_other_allowances() -> None:
    budget = PageBudget(now=lambda: 0.0)
    with pytest.raises(Overrun):
        budget.spend("signals", ALLOWANCES["signals"].default + 1)
    budget.spend("frames", 1)


def test_a_page_has_so_many_frames_with_names_of_so_many_letters() -> None:
    line = PageChannel(token="t", on_frames=lambda _: None, on_signal=lambda _: None, may_knock=lambda _: True)
    for number in range(MOST_REALMS):
        line.realm(str(number))
    line.realm("0")
    with pytest.raises(Overrun, match="pages and frames"):
        line.realm("one more")
    with pytest.raises(Overrun, match="name of a realm"):
        line.realm("x" * 65)


def test_what_is_kept_of_a_signal_is_small() -> None:
    signal = Signal(kind="f" * 999, data={"payload": b"x" * 99_999, "url": "u", "people": ["p" * 9999] * 99}, at_ms=1)
    kept = without_bulk(signal)
    assert len(kept.data["payload"]) == MOST_KEPT
    assert (kept.data["url"], len(kept.kind), "people" in kept.data) == ("u", 40, False)
