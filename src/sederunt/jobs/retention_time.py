"""The time by which the age of media is judged: the clock's, as long as the clock advances with elapsed time.

A clock that is set forward by a week would otherwise delete today's recordings within half a minute, and nothing would
bring them back once the clock is corrected. Keeping media an hour longer harms nobody.
"""

from datetime import datetime, timedelta

from sederunt import log

logger = log.get(component="jobs")

SLACK = timedelta(minutes=1)  # more than this is no adjustment by the network's time service
PAUSE = timedelta(hours=1)  # at a start: more than this is no ordinary pause of the installation
STEADY_S = 3600.0  # how long a clock that leapt has to run steadily before it is believed


class RetentionTime:
    """The time that one process believes. Pure except for its memory of the last look.

    At a start the elapsed time is unknown: a clock that is far from the last noted time counts as having leapt, too.
    """

    def __init__(self) -> None:
        self._believed: tuple[datetime, float] | None = None  # with the monotonic time in seconds
        self._leapt: tuple[timedelta, float] | None = None  # how far, and since when
        self._skipped: tuple[datetime, datetime] | None = None

    @property
    def has_looked(self) -> bool:
        return self._believed is not None

    def at(self, clock: datetime, monotonic: float, noted: datetime | None) -> datetime:
        """Return the time that is believed at this look.

        Args:
            clock: the clock's time; the least if there are several clocks.
            noted: at the first look, the time that any process believed last; None if none did.
        """
        last_time, elapsed_s, slack = noted or clock, 0.0, PAUSE
        if self._believed is not None:
            last_time, elapsed_s, slack = self._believed[0], monotonic - self._believed[1], SLACK
        expected_time = last_time + timedelta(seconds=elapsed_s)
        if clock <= expected_time + slack or self._is_steady(clock - expected_time, monotonic):
            self._leapt = self._skipped = None
            expected_time = clock
        elif self._skipped is None:
            self._skipped = (expected_time, clock - timedelta(seconds=elapsed_s) - SLACK)
        self._believed = (expected_time, monotonic)
        return expected_time

    def came(self, moment: datetime) -> bool:
        """Return whether a moment is outside the span over which the clock leapt."""
        return self._skipped is None or not self._skipped[0] < moment < self._skipped[1]

    def _is_steady(self, leap: timedelta, monotonic: float) -> bool:
        if self._leapt is None or abs(leap - self._leapt[0]) > SLACK:
            self._leapt, self._skipped = (leap, monotonic), None
            sentence = "the clock is far ahead of the time that went by: no media is deleted for its age for an hour"
            logger.error(sentence, action="clock_leapt", by_s=round(leap.total_seconds()), held_s=STEADY_S)
        return monotonic - self._leapt[1] >= STEADY_S
