"""Reports that the database is away: once when the outage begins, once a minute while it lasts, and once at its end."""

from collections.abc import Iterator
from contextlib import contextmanager

from sederunt import log
from sederunt.clock import Clock
from sederunt.database.faults import is_away

REMIND_S = 60.0

logger = log.get(component="database")


class OutageReport:
    """Watches every use of one database.

    Each loop of a process meets the same outage again and again. Their own log lines about it are dropped; the lines
    here stand for them (`log.mark_reported`).
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failing: set[str] = set()  # kinds of use: SQLite still reads a file that can no longer be written
        self._since = self._reported_at = 0.0

    @contextmanager
    def watch(self, use: str) -> Iterator[None]:
        """Note whether a use of the database fails because the database is away, or succeeds."""
        try:
            yield
        except Exception as error:
            if is_away(error) or isinstance(error, OSError):  # drivers pass on those of their connections
                self._fails(use, error)
                log.mark_reported(error)
            raise
        if use in self._failing:
            self._succeeds(use)

    def _fails(self, use: str, error: Exception) -> None:
        now = self._clock.monotonic()
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        if not self._failing:
            self._since = self._reported_at = now
            logger.error("the database is away", action="database_away", error=reason)
        elif now - self._reported_at >= REMIND_S:
            self._reported_at = now
            away_s = round(now - self._since)
            logger.error("the database is still away", action="database_away", error=reason, away_s=away_s)
        self._failing.add(use)

    def _succeeds(self, use: str) -> None:
        self._failing.discard(use)
        if not self._failing:
            away_s = round(self._clock.monotonic() - self._since)
            logger.warning("the database is back", action="database_back", away_s=away_s)
