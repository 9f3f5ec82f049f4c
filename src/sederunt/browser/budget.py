"""What one page may send to its host: more than any meeting needs, and far less than it takes to harm the host.

The channel out of a page is spoken by our scripts, but whoever runs script in the meeting's origin can speak it too. A
page that sends more than this is dropped; the host and its other bots go on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType

MOST_REALMS = 200  # pages and frames of one bot; a site's reloads make a few dozen in hours
MOST_REALM_NAME = 64  # characters; ours have 16
MOST_CONNECTIONS = 32
MOST_BROKEN = 500  # messages that could not be read, in all


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """So much at once, and so much a second after that."""

    burst: float
    per_s: float


# A room of a hundred whose roster, speakers and chat all change sends some 50 signals a second; a hundred Opus tracks
# 5,000 frames, three videos of 1080p 100 frames and 1.5 MB. Late pages send what waited in one go.
ALLOWANCES: Mapping[str, Allowance] = MappingProxyType(
    {
        "signals": Allowance(burst=5_000, per_s=300),
        "signal bytes": Allowance(burst=64e6, per_s=4e6),
        "people": Allowance(burst=100_000, per_s=3_000),  # in lists, and among those who speak
        "frames": Allowance(burst=200_000, per_s=15_000),
        "media bytes": Allowance(burst=128e6, per_s=16e6),
    }
)


class Overrun(Exception):
    """The page sent more than any meeting needs."""


@dataclass(slots=True)
class PageBudget:
    """A leaky bucket for each allowance of one page.

    Args:
        now: monotonic seconds.
    """

    now: Callable[[], float] = monotonic
    _spent: dict[str, float] = field(default_factory=dict)
    _at: dict[str, float] = field(default_factory=dict)

    def spend(self, what: str, amount: float) -> None:
        """Take from an allowance. Raises Overrun where it is used up."""
        allowance, now = ALLOWANCES[what], self.now()
        leaked = (now - self._at.get(what, now)) * allowance.per_s
        spent = max(0.0, self._spent.get(what, 0.0) - leaked) + amount
        self._spent[what], self._at[what] = spent, now
        if spent > allowance.burst:
            raise Overrun(f"more than {allowance.per_s:,.0f} {what} a second")


def refuse_more(what: str, count: int, most: int) -> None:
    """Raise Overrun where there are more of something than a page may have."""
    if count > most:
        raise Overrun(f"more than {most} {what}")
