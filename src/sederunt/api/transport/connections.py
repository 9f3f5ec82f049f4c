"""The connections of an API process, and which of them are closed: no caller without a key may lock out the others.

A connection without a complete request head costs its opener nothing. Their number per address is therefore small, each
has little time, and if the process is full, the oldest of them is closed to make room. Connections that wait for their
next request follow, then those whose answers nobody reads; no other connection is cut off while it is answered.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sederunt import log
from sederunt.accounting import Ledger
from sederunt.addresses import CRUMB_BYTES, MOST_CRUMBS
from sederunt.api.transport.unread_answers import TAKEN_S, AnsweredConnection, UnreadAnswers
from sederunt.model.budgets import count_of

HEAD_S = 20.0  # from the connection, or the first byte of a further request, to the end of its headers
BODY_S, BODY_BYTES = 30.0, 32 * 1024  # in that time, a body must bring so much or end
LINGER_S = 30.0  # how long a body may continue after its request is answered
LOOK_S = 1.0
HALF_OPEN = "half_open_connections"
RESERVED_FILES = 256  # for the database, the storage, the bus and everything else

logger = log.get(component="api")


class Connection(AnsweredConnection, Protocol):
    """A counted connection: a protocol of the server."""

    def is_held_up(self) -> bool:
        """Return whether we have paused reading."""

    def cut(self) -> None:
        """End the connection at once."""

    def time_out(self) -> None:
        """End the connection with an answer."""


@dataclass(slots=True)
class _Body:
    since: float
    came: int = 0  # bytes since then
    pieces: int = 0
    ends: float | None = None  # when it is cut off at the latest; None until its request is answered

    def is_in_crumbs(self) -> bool:
        return self.pieces > MOST_CRUMBS and self.came < self.pieces * CRUMB_BYTES


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectionLimits:
    """Limits on the number of connections and on their times."""

    most: int
    most_half_per_address: int = count_of(HALF_OPEN)
    head_s: float = HEAD_S
    body_s: float = BODY_S
    taken_s: float = TAKEN_S
    most_unread_bytes: float = count_of("unread_mb") * 1e6


class Connections:
    """Counts the connections of one process.

    Args:
        monotonic: returns seconds.
        ledger: counts the connections of each address that have no complete request head.
    """

    def __init__(self, limits: ConnectionLimits, monotonic: Callable[[], float], ledger: Ledger) -> None:
        self._limits, self._monotonic, self._ledger = limits, monotonic, ledger
        self._all: dict[Connection, str] = {}  # → the address at the other end
        self._half: dict[Connection, float] = {}  # → since when, oldest first
        self._idle: dict[Connection, None] = {}  # oldest first
        self._bodies: dict[Connection, _Body] = {}
        self._unread: UnreadAnswers[Connection] = UnreadAnswers(limits.most_unread_bytes, limits.taken_s)
        self._timer: asyncio.TimerHandle | None = None
        self.ended = 0  # connections cut off or timed out

    def __len__(self) -> int:
        return len(self._all)

    def came(self, connection: Connection, address: str) -> bool:
        """Count a new connection; return False if there is no room for it and none can be made."""
        if self._ledger.used(HALF_OPEN, address) >= self._limits.most_half_per_address:
            self._ledger.refuse(HALF_OPEN)
            self._end(next(candidate for candidate in self._half if self._all[candidate] == address))
        if len(self._all) >= self._limits.most:
            victim = next(iter(self._half), None) or next(iter(self._idle), None) or self._unread.greediest()
            if victim is None:
                self.ended += 1
                return False
            self._end(victim)
        self._all[connection] = address
        self.begun(connection)
        return True

    def begun(self, connection: Connection) -> None:
        """Note that a request begins to arrive."""
        if connection not in self._all or connection in self._half:
            return
        self._idle.pop(connection, None)
        self._half[connection] = self._monotonic()
        self._ledger.take(HALF_OPEN, self._all[connection])
        self._watch()

    def has_head(self, connection: Connection) -> None:
        """Note that the headers are complete, and a body may follow."""
        self._no_longer_half(connection)
        if connection in self._all:
            self._bodies[connection] = _Body(self._monotonic())
            self._watch()

    def has_body(self, connection: Connection, count: int) -> None:
        """Note a piece of a body. A body in tiny pieces is cut off, since each costs as much as a whole block."""
        if body := self._bodies.get(connection):
            body.came += count
            body.pieces += 1
            if body.is_in_crumbs():
                self._end(connection)

    def is_whole(self, connection: Connection) -> None:
        """Note that the request is complete."""
        self._bodies.pop(connection, None)

    def is_answered(self, connection: Connection) -> None:
        """Note that the connection is idle until the next request, except for the unread rest of a body."""
        if body := self._bodies.get(connection):
            body.ends = self._monotonic() + LINGER_S
        if connection in self._all and connection not in self._half:
            self._idle[connection] = None

    def is_unread(self, connection: Connection) -> None:
        """Note that the send buffer is full, and an answer waits here."""
        if connection in self._all:
            self._unread.waits(connection, self._all[connection], self._monotonic())
            self._watch()

    def is_read(self, connection: Connection) -> None:
        """Note that the send buffer has room again."""
        self._unread.goes_on(connection)

    def left(self, connection: Connection) -> None:
        """Forget a connection that has ended or become a WebSocket."""
        self._no_longer_half(connection)
        self._idle.pop(connection, None)
        self._bodies.pop(connection, None)
        self._unread.goes_on(connection)
        self._all.pop(connection, None)

    def _no_longer_half(self, connection: Connection) -> None:
        if self._half.pop(connection, None) is None:
            return
        self._ledger.give_back(HALF_OPEN, self._all[connection])

    def _end(self, connection: Connection) -> None:
        self.ended += 1
        self.left(connection)
        connection.cut()

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look_again)

    def _look_again(self) -> None:
        self._timer = None
        self.look()
        if self._half or self._bodies or self._unread:
            self._watch()

    def look(self) -> None:
        """End connections that take too long."""
        now = self._monotonic()
        slow_connections = []
        for connection, since in self._half.items():
            if now - since < self._limits.head_s:
                break  # the oldest come first
            slow_connections.append(connection)
        for connection in [
            candidate for candidate, body in self._bodies.items() if body.ends is not None and body.ends <= now
        ]:
            self._end(connection)
        for connection, body in self._bodies.items():
            if now - body.since < self._limits.body_s:
                continue
            if body.ends is None and body.came < BODY_BYTES and not connection.is_held_up():
                slow_connections.append(connection)
            body.since, body.came, body.pieces = now, 0, 0
        for connection in (*self._unread.stalled(now), *self._unread.beyond_memory()):
            self._end(connection)
        for connection in slow_connections:
            self.ended += 1
            self.left(connection)
            connection.time_out()
        if slow_connections:
            logger.info("connections took too long", action="connections_timed_out", count=len(slow_connections))
