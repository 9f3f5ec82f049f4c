"""Count use against budgets in one process: places and sockets that holders occupy, and rates that refill.

The limits come from `model/budgets`, changed by the settings. Each process has one ledger; processes exchange the use
that they share (`api/access/shared_use`).
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from time import monotonic
from types import MappingProxyType
from typing import Any
from uuid import UUID

from sederunt.errors import TooManyRequests
from sederunt.model.budgets import BUDGETS, Budget, BudgetOwner, CountedOver
from sederunt.settings import Settings

MOST_KNOWN = 100_000  # holders that a rate remembers


def limits_of(settings: Settings) -> Mapping[str, float]:
    """Return every budget's limit, by its name."""
    return {name: _chosen(settings, row) for name, row in BUDGETS.items()}


def _chosen(settings: Settings, row: Budget) -> float:
    value: Any = reduce(getattr, row.setting.split("."), settings) if row.setting else None
    return row.default if value is None else float(value)


class Rate:
    """Token buckets, one per holder. A bucket starts full and refills at a constant rate.

    Args:
        size: tokens of a full bucket; 0 for no limit.
        per_s: tokens refilled per second.
        now: monotonic seconds.
    """

    def __init__(self, size: float, per_s: float, now: Callable[[], float] = monotonic) -> None:
        self._size, self._per_s, self._now = size, per_s, now
        self._buckets: dict[Hashable, tuple[float, float]] = {}  # holder → (tokens left, when counted)
        self._spent: Counter[Hashable] | None = None

    @classmethod
    def per_minute(cls, size: float, now: Callable[[], float] = monotonic) -> "Rate":
        """Make a rate of `size` tokens per minute, all of which may be spent at once."""
        return cls(size, size / 60, now)

    def wait_s(self, holder: Hashable) -> int:
        """Take one token and return 0; if there is none, return the whole seconds until there is."""
        if not self._size:
            return 0
        tokens = self._left(holder)
        if tokens < 1:
            return math.ceil((1 - tokens) / self._per_s)
        self._keep(holder, tokens - 1)
        if self._spent is not None:
            self._spent[holder] += 1
        return 0

    def charge(self, holder: Hashable, amount: float) -> bool:
        """Take tokens even if too few are left; return False if the bucket is overdrawn afterwards."""
        if not self._size:
            return True
        tokens = self._left(holder) - amount
        self._keep(holder, tokens)
        return tokens >= 0

    def behind_s(self, holder: Hashable) -> float:
        """Return the seconds until an overdrawn bucket is back at zero; 0 if it is not overdrawn."""
        return max(0.0, -self._left(holder) / self._per_s) if self._size else 0.0

    def take_spent(self) -> Mapping[Hashable, int]:
        """Return the tokens that each holder spent here since the last call, for other processes to charge."""
        counts, self._spent = self._spent or Counter(), Counter()
        return counts

    def _left(self, holder: Hashable) -> float:
        now = self._now()
        tokens, counted_at = self._buckets.get(holder, (self._size, now))
        return min(self._size, tokens + (now - counted_at) * self._per_s)

    def _keep(self, holder: Hashable, tokens: float) -> None:
        if len(self._buckets) >= MOST_KNOWN and holder not in self._buckets:
            self._buckets.clear()
        self._buckets[holder] = (tokens, self._now())


class Ledger:
    """What each holder uses of each budget in this process, and how often requests were refused.

    Args:
        limits: limit by budget name; None for the defaults.
        weights: how many ordinary accounts an account counts for, by account id; 1 if absent.
    """

    def __init__(
        self, limits: Mapping[str, float] | None = None, weights: Mapping[UUID, float] = MappingProxyType({})
    ) -> None:
        self._weights = weights
        self._limits = dict(limits) if limits is not None else {name: row.default for name, row in BUDGETS.items()}
        self._held: dict[str, Counter[Hashable]] = {}
        self._elsewhere: dict[str, Mapping[str, float]] = {}  # budget → holder, as text → use in other processes
        self._refused: Counter[str] = Counter()

    def most(self, budget: str) -> float:
        """Return a budget's limit; infinite if it has none."""
        limit = self._limits[budget]
        return math.inf if BUDGETS[budget].zero_is_endless and not limit else limit

    def share(self, budget: str, holder: Hashable) -> float:
        """Return a holder's limit; an account's share of a process's places grows with its weight."""
        row, limit = BUDGETS[budget], self.most(budget)
        if row.of is BudgetOwner.ACCOUNT and row.over is CountedOver.PROCESS and isinstance(holder, UUID):
            return max(min(1.0, limit), limit * self.weight_of(holder))
        return limit

    def weight_of(self, account: UUID) -> float:
        """Return how many ordinary accounts an account counts for."""
        return self._weights.get(account, 1.0)

    def limit(self, budget: str) -> float:
        """Return a budget's limit as set, including 0."""
        return self._limits[budget]

    def used(self, budget: str, holder: Hashable) -> float:
        """Return a holder's use of a budget, in this process and in those that reported their use."""
        here = self._held[budget][holder] if budget in self._held else 0
        return here + self._elsewhere.get(budget, {}).get(str(holder), 0)

    def has_room(self, budget: str, holder: Hashable, amount: float = 1) -> bool:
        """Return whether a holder may use `amount` more; if not, count a refusal."""
        fits = self.used(budget, holder) + amount <= self.share(budget, holder)
        if not fits:
            self.refuse(budget)
        return fits

    def refuse(self, budget: str) -> None:
        """Count a refusal, or a wait, that a budget counted elsewhere caused."""
        self._refused[budget] += 1

    def take(self, budget: str, holder: Hashable, amount: int = 1) -> None:
        """Note that a holder uses `amount` more."""
        self._held.setdefault(budget, Counter())[holder] += amount

    def give_back(self, budget: str, holder: Hashable, amount: int = 1) -> None:
        """Note that a holder uses `amount` less."""
        amounts = self._held[budget]
        amounts[holder] -= amount
        if amounts[holder] <= 0:
            del amounts[holder]

    def forget(self, holder: Hashable) -> None:
        """Give back everything that a holder uses."""
        for amounts in self._held.values():
            amounts.pop(holder, None)

    @contextmanager
    def holding(self, budget: str, holder: Hashable, amount: int = 1) -> Iterator[None]:
        """Count `amount` for a holder while the block runs."""
        self.take(budget, holder, amount)
        try:
            yield
        finally:
            self.give_back(budget, holder, amount)

    @contextmanager
    def place(self, budget: str, holder: Hashable, *, full: str, again_s: int) -> Iterator[None]:
        """Hold one of a holder's places while the block runs.

        Raises TooManyRequests with the message `full` if all are taken.
        """
        if not self.has_room(budget, holder):
            raise TooManyRequests(full, again_s, budget)
        with self.holding(budget, holder):
            yield

    def held(self, budget: str) -> Mapping[str, float]:
        """Return each holder's use of a budget in this process."""
        return {str(holder): count for holder, count in self._held.get(budget, {}).items()}

    def hear(self, budget: str, elsewhere: Mapping[str, float]) -> None:
        """Store the use of a budget in all other processes, by holder."""
        self._elsewhere[budget] = elsewhere

    def told(self) -> dict[str, Mapping[str, float]]:
        """Return for each budget used here its largest holder's use, the limit and the number of refusals."""
        names = sorted({*self._held, *self._refused})
        return {
            name: {
                "used": max((self.used(name, holder) for holder in self._held.get(name, ())), default=0),
                "most": self._limits[name],
                "refused": self._refused[name],
            }
            for name in names
        }
