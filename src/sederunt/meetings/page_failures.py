"""How many pages of a bot broke, and when no further one is worth trying."""

from sederunt.clock import Clock

MAX_PAGES = 3  # fresh pages in a row before a broken one is believed
STEADY_S = 60.0  # a page that was in the meeting for so long was a good one
# Before a fresh page, after the first broken one in a row, the second, and so on. The first is short: a page that
# merely crashed shall be back at once. The later ones outlive a network that is away.
PAUSES_S = (1.0, 5.0, 15.0, 30.0)
# A recording is given up only after it has been away for so long: a router that starts anew or a provider that
# stumbles takes minutes, and the rest of the meeting is worth more than they are.
OUTAGE_S = 300.0
MOST_PAGES = 20  # fresh pages in a row though each sat for a moment: each is one more coming and going in the meeting


class PageFailures:
    """Counts the broken pages of one holder."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0
        self._away_since = clock.monotonic()  # the last time that the bot sat

    def add(self, *, sat_s: float) -> None:
        """Count one more broken page, which had been in the meeting for `sat_s` seconds."""
        self._count = 1 if sat_s >= STEADY_S else self._count + 1
        if sat_s:
            self._away_since = self._clock.monotonic()

    def are_believed(self, *, recording: bool) -> bool:
        """Return whether no further page is worth trying; a recording is given up much later than a first try."""
        if not recording:
            return self._count >= MAX_PAGES
        away_s = self._clock.monotonic() - self._away_since
        return self._count >= MOST_PAGES or (self._count >= MAX_PAGES and away_s >= OUTAGE_S)

    @property
    def pause_s(self) -> float:
        """Return the seconds to wait before the next page."""
        return PAUSES_S[min(self._count, len(PAUSES_S)) - 1]
