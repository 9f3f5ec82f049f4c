"""How many attempts one receiver, and one account, may have under way; and when a silent receiver is left alone.

Places in the queue are everybody's. A receiver that takes all of its ten seconds to say nothing would hold one for as
long, and two hundred events for it would hold them all.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

import httpx2

Key = TypeVar("Key")

AT_ONCE = 4  # attempts under way at one receiver, in one worker
AT_ONCE_OF_ACCOUNT = 12  # … and of one account, of the 32 places of a worker
FULL_S = 1.0  # before one that found no place is looked at again
OPENS_AFTER = 3  # attempts in a row that had no answer
PAUSES_S = (5.0, 15.0, 30.0, 60.0)  # then the receiver is left alone for so long; one attempt decides about the next
MOST_KNOWN = 10_000  # receivers in trouble that are remembered


@dataclass(slots=True)
class _Trouble:
    """A receiver that did not answer of late."""

    unanswered: int = 0
    opened: int = 0  # how often it was left alone since it last answered
    until: float = 0.0  # monotonic seconds


@dataclass(kw_only=True, slots=True)
class Destinations:
    """Counts and remembers for one worker. Pure but for the counting; the caller says what time it is."""

    _under_way: Counter[str] = field(default_factory=Counter)
    _of_account: Counter[UUID] = field(default_factory=Counter)
    _trouble: dict[str, _Trouble] = field(default_factory=dict)

    def pause_s(self, url: str, account_id: UUID, now_s: float) -> float:
        """Return how long an attempt has to wait before it may be asked for again; 0 where it may be made now."""
        receiver = receiver_of(url)
        trouble = self._trouble.get(receiver)
        if trouble is not None and trouble.until > now_s:
            return trouble.until - now_s
        is_probed = trouble is not None and trouble.opened > 0 and self._under_way[receiver] > 0
        if is_probed or self._under_way[receiver] >= AT_ONCE or self._of_account[account_id] >= AT_ONCE_OF_ACCOUNT:
            return FULL_S
        return 0.0

    @contextmanager
    def attempt(self, url: str, account_id: UUID) -> Iterator[None]:
        """Count an attempt for as long as the block lasts."""
        receiver = receiver_of(url)
        self._under_way[receiver] += 1
        self._of_account[account_id] += 1
        try:
            yield
        finally:
            _less(self._under_way, receiver)
            _less(self._of_account, account_id)

    def note(self, url: str, *, answered: bool, now_s: float) -> bool:
        """Remember how an attempt went; return whether the receiver is back after it was left alone."""
        receiver = receiver_of(url)
        if answered:
            trouble = self._trouble.pop(receiver, None)
            return trouble is not None and trouble.opened > 0
        if receiver not in self._trouble and len(self._trouble) >= MOST_KNOWN:
            del self._trouble[next(iter(self._trouble))]
        trouble = self._trouble.setdefault(receiver, _Trouble())
        trouble.unanswered += 1
        if trouble.opened or trouble.unanswered >= OPENS_AFTER:
            trouble.until = now_s + PAUSES_S[min(trouble.opened, len(PAUSES_S) - 1)]
            trouble.opened += 1
        return False


def receiver_of(url: str) -> str:
    """Return host and port of an address: what is slow or gone together."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return url
    return f"{parsed.host}:{parsed.port or parsed.scheme}"


def _less(counter: Counter[Key], key: Key) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
