"""The amount that one page may send to its host: more than any meeting needs, and far too little to harm the host.

Our scripts use the channel out of a page, but any other script in the meeting's origin can use it too. A page that
sends more than this is dropped; the host and its other bots go on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType

from sederunt.accounting import Rate
from sederunt.model.budgets import BUDGETS, Budget, count_of

MOST_REALMS = count_of("page_realms")  # a site's reloads make a few dozen in hours
MOST_REALM_NAME = 64  # characters; ours have 16
MOST_CONNECTIONS = count_of("page_connections")
MOST_BROKEN = count_of("page_broken")
MOST_WINDOWS = 20  # that a page opens; each is closed at once

ALLOWANCES: Mapping[str, Budget] = MappingProxyType(
    {
        "signals": BUDGETS["page_signals"],
        "signal bytes": BUDGETS["page_signal_bytes"],
        "people": BUDGETS["page_people"],
        "frames": BUDGETS["page_frames"],
        "media bytes": BUDGETS["page_media_bytes"],
    }
)


class Overrun(Exception):
    """The page sent more than any meeting needs."""


@dataclass(slots=True)
class PageBudget:
    """A bucket for each allowance of one page.

    Args:
        now: monotonic seconds.
    """

    now: Callable[[], float] = monotonic
    _rates: dict[str, Rate] = field(default_factory=dict)

    def spend(self, what: str, amount: float) -> None:
        """Take from an allowance. Raises Overrun if it is used up."""
        budget = ALLOWANCES[what]
        if what not in self._rates:
            self._rates[what] = Rate(budget.default, budget.per_s, self.now)
        if not self._rates[what].charge(what, amount):
            raise Overrun(f"more than {budget.per_s:,.0f} {what} a second")


def refuse_more(what: str, count: int, most: int) -> None:
    """Raise Overrun if there are more of something than a page may have."""
    if count > most:
        raise Overrun(f"more than {most} {what}")
