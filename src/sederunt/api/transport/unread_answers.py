"""The connections with unread answers: those that read nothing are closed, and their total memory is limited.

A server writes until the send buffer is full, and then waits for room without a time limit. Meanwhile an answer made at
once occupies memory, and one made piece by piece occupies its file and its place among the connections.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sederunt.model.budgets import count_of

TAKEN_S, TAKEN_BYTES = 60.0, 32 * 1024  # the least that must be read from a full buffer, in that time


class AnsweredConnection(Protocol):
    """A connection with an answer that does not fit into the send buffer."""

    def unread_bytes(self) -> int:
        """Return the number of unsent bytes of its answers."""

    def taken_bytes(self) -> int | None:
        """Return how many bytes the other side has received in all; None if the system does not tell."""


Answered = TypeVar("Answered", bound=AnsweredConnection)


@dataclass(slots=True)
class _Taken:
    since: float
    bytes: int | None


class UnreadAnswers(Generic[Answered]):
    """Counts the unread answers of one process.

    Args:
        most_bytes: how much may wait here in all.
        taken_s: a connection that reads less than `TAKEN_BYTES` in that time is closed.
    """

    def __init__(self, most_bytes: float = count_of("unread_mb") * 1e6, taken_s: float = TAKEN_S) -> None:
        self._most_bytes, self._taken_s = most_bytes, taken_s
        self._all: dict[Answered, tuple[str, _Taken]] = {}  # → the address at the other end

    def __len__(self) -> int:
        return len(self._all)

    def waits(self, connection: Answered, address: str, now: float) -> None:
        """Note that the send buffer is full."""
        self._all.setdefault(connection, (address, _Taken(now, connection.taken_bytes())))

    def goes_on(self, connection: Answered) -> None:
        """Note that the send buffer has room again, or that the connection has ended."""
        self._all.pop(connection, None)

    def stalled(self, now: float) -> list[Answered]:
        """Return connections that have read next to nothing for too long."""
        victims = []
        for connection, (_, last) in self._all.items():
            if now - last.since < self._taken_s:
                continue
            taken_bytes = connection.taken_bytes()
            if taken_bytes is not None and last.bytes is not None and taken_bytes - last.bytes < TAKEN_BYTES:
                victims.append(connection)
            last.since, last.bytes = now, taken_bytes
        return victims

    def beyond_memory(self) -> list[Answered]:
        """Return connections to close so that the rest fits: the largest answer of the address with the most bytes."""
        sizes = self._sizes()
        victims = []
        total = sum(sizes.values())
        while total > self._most_bytes:
            victims.append(victim := self._greediest(sizes))
            total -= sizes.pop(victim)
        return victims

    def greediest(self) -> Answered | None:
        """Return the connection to close first to make room."""
        return self._greediest(self._sizes()) if self._all else None

    def _sizes(self) -> dict[Answered, int]:
        return {connection: connection.unread_bytes() for connection in self._all}

    def _greediest(self, sizes: dict[Answered, int]) -> Answered:
        bytes_by_address: Counter[str] = Counter()
        for connection, size in sizes.items():
            bytes_by_address[self._all[connection][0]] += size
        address, _ = bytes_by_address.most_common(1)[0]
        return max((candidate for candidate in sizes if self._all[candidate][0] == address), key=sizes.__getitem__)
