"""The time by which media is old enough to go: the clock's, as long as that goes forward with the seconds that go by.

A clock that is set forward by a week would otherwise delete in half a minute what was recorded today, and nothing
brings it back when the clock is put right. To keep media an hour longer harms nobody.
"""

from datetime import datetime, timedelta

from sederunt import log

logger = log.get(component="jobs")

SLACK = timedelta(minutes=1)  # more than this is not the network's time service at work
PAUSE = timedelta(hours=1)  # … or, at a start, an ordinary pause of the installation
STEADY_S = 3600.0  # for which a clock that leapt has to go on from there before it is believed


class RetentionTime:
    """What one process believes. Pure but for its memory of the last look.

    At a start the seconds that went by are not known: a clock that is far from what was noted last has leapt, too.
    """

    def __init__(self) -> None:
        self._believed: tuple[datetime, float] | None = None  # and the monotonic second at which it was
        self._leapt: tuple[timedelta, float] | None = None  # how far, and since when
        self._skipped: tuple[datetime, datetime] | None = None

    @property
    def has_looked(self) -> bool:
        return self._believed is not None

    def at(self, clock: datetime, monotonic: float, noted: datetime | None) -> datetime:
        """Return the time that is believed at this look.

        Args:
            clock: what the clock says; the least of several where there are several.
            noted: at the first look, what was believed last by whoever noted it; None where nobody did.
        """
        before, elapsed_s, slack = noted or clock, 0.0, PAUSE
        if self._believed is not None:
            before, elapsed_s, slack = self._believed[0], monotonic - self._believed[1], SLACK
        lived = before + timedelta(seconds=elapsed_s)
        if clock <= lived + slack or self._is_steady(clock - lived, monotonic):
            self._leapt = self._skipped = None
            lived = clock
        elif self._skipped is None:
            self._skipped = (lived, clock - timedelta(seconds=elapsed_s) - SLACK)
        self._believed = (lived, monotonic)
        return lived

    def came(self, moment: datetime) -> bool:
        """Return whether a moment is none of those over which the clock leapt."""
        return self._skipped is None or not self._skipped[0] < moment < self._skipped[1]

    def _is_steady(self, by: timedelta, monotonic: float) -> bool:
        if self._leapt is None or abs(by - self._leapt[0]) > SLACK:
            self._leapt, self._skipped = (by, monotonic), None
            sentence = "the clock is far ahead of the time that went by: no media is deleted for its age for an hour"
            logger.error(sentence, action="clock_leapt", by_s=round(by.total_seconds()), held_s=STEADY_S)
        return monotonic - self._leapt[1] >= STEADY_S
