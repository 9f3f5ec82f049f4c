"""How many attempts one receiver, and one account, may have under way; and when a silent receiver is left alone.

Places in the queue are everybody's. A receiver that takes all of its ten seconds to say nothing would hold one for as
long, and two hundred events for it would hold them all.

A receiver is counted and remembered for each account by itself: many send to the same host (an automation service, a
serverless platform), and silence that one account provokes there must not hold up what others send to it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import httpx2

from sederunt.accounting import Ledger

FULL_S = 1.0  # before one that found no place is looked at again
OPENS_AFTER = 3  # attempts in a row that had no answer
PAUSES_S = (5.0, 15.0, 30.0, 60.0)  # then the receiver is left alone for so long; one attempt decides about the next
MOST_KNOWN = 10_000  # receivers in trouble that are remembered


@dataclass(slots=True)
class _Trouble:
    """A receiver that has recently not answered."""

    unanswered: int = 0
    opened: int = 0  # how often it was left alone since it last answered
    until: float = 0.0  # monotonic seconds


@dataclass(kw_only=True, slots=True)
class Destinations:
    """Counts and remembers for one worker. Pure but for the counting; the caller says what time it is."""

    ledger: Ledger = field(default_factory=Ledger)
    _trouble: dict[tuple[UUID, str], _Trouble] = field(default_factory=dict)

    def pause_s(self, url: str, account_id: UUID, now_s: float) -> float:
        """Return how long an attempt has to wait before it may be asked for again; 0 where it may be made now."""
        receiver = (account_id, receiver_of(url))
        trouble = self._trouble.get(receiver)
        if trouble is not None and trouble.until > now_s:
            return trouble.until - now_s
        if trouble is not None and trouble.opened > 0 and self.ledger.used("receiver_attempts", receiver) > 0:
            return FULL_S
        has_room = self.ledger.has_room("receiver_attempts", receiver)
        return 0.0 if has_room and self.ledger.has_room("webhook_attempts", account_id) else FULL_S

    def is_in_trouble(self, url: str, account_id: UUID) -> bool:
        """Return whether a receiver left this account's last attempt without an answer."""
        return (account_id, receiver_of(url)) in self._trouble

    @contextmanager
    def attempt(self, url: str, account_id: UUID) -> Iterator[None]:
        """Count an attempt for as long as the block lasts.

        Enter it before anything else is awaited after `pause_s`: else others find the same room.
        """
        receiver, ledger = (account_id, receiver_of(url)), self.ledger
        with ledger.holding("receiver_attempts", receiver), ledger.holding("webhook_attempts", account_id):
            yield

    def note(self, url: str, account_id: UUID, *, answered: bool, now_s: float) -> bool:
        """Remember how an attempt went; return whether the receiver is back after it was left alone."""
        receiver = (account_id, receiver_of(url))
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
