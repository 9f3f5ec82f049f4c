"""Bound the way into a meeting: one deadline for all pages of a bot's attempt, derived from its caller's limits."""

import math

from sederunt.clock import Clock

ENTRY_S = 60.0  # to open pages, answer notices and knock, besides a share of the caller's waiting time
MOST_OF_WAITING_S = 120.0


MOST_HOST_LATE_S = 600.0  # as long as other bots look again (V, B2)


class EntryLimits:
    """How long a bot may take to enter: until it waits to be let in, and from then on.

    Args:
        waiting_room_s: the caller's limit for waiting to be let in, in seconds. Before it waits, a bot has 60 s plus
            this time, of which at most 120 s count.
        early_s: how long the bot waits before it knocks: it was sent to load its page before its time.
        endless: no limit until it waits; for a bot that was inside already and comes back.
        host_late: whether the caller said that a host may be late: by a time, or by a waiting time of its own.
    """

    def __init__(
        self,
        clock: Clock,
        waiting_room_s: float,
        *,
        endless: bool = False,
        early_s: float = 0.0,
        host_late: bool = False,
    ) -> None:
        self._clock, self._waiting_room_s = clock, waiting_room_s
        self._host_waited_for_s = min(waiting_room_s, MOST_HOST_LATE_S) if host_late and not endless else 0.0
        self._host_waited_since: float | None = None
        self.knocks_at = clock.monotonic() + early_s  # not before
        self._entry_s = math.inf if endless else ENTRY_S + min(waiting_room_s, MOST_OF_WAITING_S) + max(early_s, 0.0)
        self._entry_until = clock.monotonic() + self._entry_s
        self._waits_since: float | None = None

    def note_waiting(self) -> None:
        """Hear that the bot waits to be let in; only the first call counts, on whichever page."""
        if self._waits_since is None:
            self._waits_since = self._clock.monotonic()

    def waits_for_host(self) -> bool:
        """Return whether a refusal that may only mean a late host is still doubted. The time for this counts from the
        first such refusal and is added to the time for the way in.
        """
        now = self._clock.monotonic()
        if self._host_waited_since is None:
            self._host_waited_since = now
            self._entry_until += self._host_waited_for_s
        return now - self._host_waited_since < self._host_waited_for_s

    def begin_again(self) -> None:
        """Hear that the bot enters again as somebody else: signing in takes its own time."""
        self._entry_until = self._clock.monotonic() + self._entry_s

    def note_inside(self) -> None:
        """Hear that the bot is inside: if its page breaks, the way back begins again, however late."""
        self._waits_since, self._entry_until, self._entry_s = None, math.inf, math.inf
        self._host_waited_for_s = 0.0  # a meeting that existed and is gone is over

    @property
    def waited_outside(self) -> bool:
        """Return whether the bot has waited to be let in since it was last inside."""
        return self._waits_since is not None

    @property
    def has_waited(self) -> bool:
        """Return whether the bot has waited to be let in for as long as its caller allows."""
        return self.waiting_left_s <= 0

    @property
    def waiting_left_s(self) -> float:
        """Return how many seconds the bot may still wait to be let in; infinite until it waits."""
        if self._waits_since is None:
            return math.inf
        return self._waiting_room_s - (self._clock.monotonic() - self._waits_since)

    @property
    def left_s(self) -> float:
        """Return the seconds left until the bot must be waiting to be let in; infinite once it waits."""
        return math.inf if self._waits_since is not None else self._entry_until - self._clock.monotonic()
