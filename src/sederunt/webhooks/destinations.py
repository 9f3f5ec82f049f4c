"""Limit the attempts under way per receiver and per account, and leave silent receivers alone for a while.

All accounts share the places in the queue. A receiver that stays silent for its full ten seconds holds a place for as
long, and two hundred events for it would hold them all.

Receivers are counted and remembered per account: many accounts send to the same host (an automation service, a
serverless platform), and silence that one account provokes there must not delay the events of others.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import httpx2

from sederunt.accounting import Ledger

FULL_S = 1.0  # until an attempt that found no place is tried again
OPENS_AFTER = 3  # unanswered attempts in a row
PAUSES_S = (5.0, 15.0, 30.0, 60.0)  # how long the receiver is then left alone; one attempt decides on the next pause
MOST_KNOWN = 10_000  # receivers in trouble that are remembered


@dataclass(slots=True)
class _Trouble:
    """A receiver that has recently not answered."""

    unanswered: int = 0
    opened: int = 0  # pauses since its last answer
    until: float = 0.0  # monotonic seconds


@dataclass(kw_only=True, slots=True)
class Destinations:
    """The receivers of one worker. Pure except for the counting; the caller passes the time."""

    ledger: Ledger = field(default_factory=Ledger)
    _trouble: dict[tuple[UUID, str], _Trouble] = field(default_factory=dict)

    def pause_s(self, url: str, account_id: UUID, now_s: float) -> float:
        """Return how long to wait before asking for an attempt again; 0 if it may be made now."""
        receiver = (account_id, receiver_of(url))
        trouble = self._trouble.get(receiver)
        if trouble is not None and trouble.until > now_s:
            return trouble.until - now_s
        if trouble is not None and trouble.opened > 0 and self.ledger.used("receiver_attempts", receiver) > 0:
            return FULL_S
        has_room = self.ledger.has_room("receiver_attempts", receiver)
        return 0.0 if has_room and self.ledger.has_room("webhook_attempts", account_id) else FULL_S

    def is_in_trouble(self, url: str, account_id: UUID) -> bool:
        """Return whether this account's last attempt at the receiver had no answer."""
        return (account_id, receiver_of(url)) in self._trouble

    @contextmanager
    def attempt(self, url: str, account_id: UUID) -> Iterator[None]:
        """Count an attempt for as long as the block lasts.

        Await nothing between `pause_s` and entering this block: others would find the same room.
        """
        receiver, ledger = (account_id, receiver_of(url)), self.ledger
        with ledger.holding("receiver_attempts", receiver), ledger.holding("webhook_attempts", account_id):
            yield

    def note(self, url: str, account_id: UUID, *, answered: bool, now_s: float) -> bool:
        """Remember how an attempt went; return whether the receiver is back after a pause."""
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
    """Return host and port of an address: they are slow or down together."""
    try:
        address = httpx2.URL(url)
    except httpx2.InvalidURL:
        return url
    return f"{address.host}:{address.port or address.scheme}"
