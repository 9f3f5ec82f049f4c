"""When the site's own signals end the stay: at once if its page agrees, later if the page still shows the call."""

from collections.abc import Mapping

from sederunt.claims.claim import Fact
from sederunt.clock import Clock, unix_ms
from sederunt.meetings.session.observer import MeetingObserver
from sederunt.meetings.session.stop_rules import Departure
from sederunt.model.status import StopReason
from sederunt.platforms.page_state import PageState

ENDING_S = 5.0  # a page may show the call for this long after a signal has reported its end
GOES_ON_MS = 3_000  # sound captured this long after the signal shows, together with such a page, that the call goes on

_DEPARTURES: Mapping[Fact, Departure] = {
    Fact.REMOVED: Departure(reason=StopReason.KICKED, row="signal.removed"),
    Fact.OVER: Departure(reason=StopReason.MEETING_ENDED, row="signal.over"),
}
# A notice may cover the call; None: the page did not answer.
_MAY_BE_CALL = (PageState.IN_CALL, PageState.DIALOG, None)


class ToldEnd:
    """The end of one stay as signals report it. A signal may belong to a connection that was replaced by another."""

    def __init__(self, observer: MeetingObserver, clock: Clock) -> None:
        self._observer, self._clock = observer, clock
        self._told: tuple[Fact, int] | None = None
        self._held_since = 0.0  # since when the page has shown the call in spite of the signal, or not answered

    def departure(self, page_state: PageState | None) -> Departure | None:
        """Return how the stay has ended, by signals and the page's present state; None while it goes on."""
        roster, now = self._observer.roster, self._clock.monotonic()
        end, previous_end = roster.told_end(), self._told
        self._told = end
        if end is None:
            return None
        # A page that reconnects has its own time limit.
        if end != previous_end or page_state is PageState.RECONNECTING:
            self._held_since = now
        if page_state is PageState.RECONNECTING or (page_state in _MAY_BE_CALL and now - self._held_since < ENDING_S):
            return None
        if page_state in (PageState.IN_CALL, PageState.DIALOG) and self._is_heard(end[1] + GOES_ON_MS):
            roster.goes_on(unix_ms(self._clock.now()))
            return None
        return self.standing()

    def standing(self) -> Departure | None:
        """Return how the stay has ended by signals that were not taken back, whatever the page shows."""
        end = self._observer.roster.told_end()
        return _DEPARTURES[end[0]] if end is not None else None

    def _is_heard(self, since_ms: int) -> bool:
        recorder = self._observer.recorder
        return recorder is not None and recorder.last_frame_ms is not None and recorder.last_frame_ms >= since_ms
