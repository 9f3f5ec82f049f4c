"""Decides what to do when the page has lost its connection: report it, wait, mark a gap, or give the page up."""

from collections.abc import Sequence

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.errors import Superseded
from sederunt.meetings.journal import Journal
from sederunt.meetings.outcomes import Broken, ended_by
from sederunt.meetings.record.recorder import Recorder
from sederunt.meetings.session.media_link import MediaLink
from sederunt.model.trouble import PageTrouble, Recovery

FED_MS = 3000  # sound this recent proves the connection
UNNOTICED_MS = 7000  # the connection was lost at most this long before the report: browsers take 5 s to notice
SHORTEST_GAP_MS = 1000
AGAIN_MS = 10_000  # until a gap that the database did not take is tried again
LATE_MS = 5000  # sound is late if it comes this long after it was captured …
LATE_LOOKS = 3  # … at this many looks in a row with new sound: a single delayed batch does not count

DISK_REFUSES = PageTrouble(
    cause="disk_refuses",
    seen="This host's disk takes no pieces of the recording; they are kept in memory, and lost if the host dies.",
    recovery=Recovery.NONE,
)

SOUND_LATE = PageTrouble(
    cause="sound_late",
    seen="Sound comes more than five seconds after it was captured: the page, or this host, does not keep up.",
    recovery=Recovery.NONE,
)

logger = log.get(component="meetings")


class Outages:
    """The outages of one stay; those that its page survives become gaps.

    Args:
        started_ms: the zero of the recording, in Unix milliseconds.
    """

    def __init__(
        self, page: MeetingPage, link: MediaLink, recorder: Recorder, journal: Journal, *, started_ms: int
    ) -> None:
        self._page, self._link, self._recorder, self._journal = page, link, recorder, journal
        self._started_ms = started_ms
        self._documents = page.documents
        self._deaf_since_ms: float | None = None  # in an outage
        self._unmarked: list[tuple[float, int]] = []  # outages that are over and not written as gaps yet
        self._again_ms = 0
        self._is_refused = False  # by this disk, and reported
        self._seen_ms: float | None = None  # the newest frame at the previous look
        self._late_looks = 0

    def found(
        self, now: float, now_ms: int, *, shown_speaking: bool, has_company: bool, site_reconnects: bool
    ) -> Sequence[PageTrouble]:
        """Return the new troubles of the page's connection.

        Args:
            now: monotonic seconds.
            now_ms: the same moment in Unix milliseconds.
            shown_speaking: whether the page shows somebody as speaking.
            has_company: whether anybody else is here.
            site_reconnects: whether the site says that it is reconnecting.
        """
        if self._page.documents != self._documents:  # the documents that reported are gone
            self._documents = self._page.documents
            self._link.forget()
        last_ms = self._recorder.last_frame_ms
        is_fed = last_ms is not None and now_ms - last_ms <= FED_MS
        troubles = self._link.judge(
            now,
            is_fed=is_fed,
            shown_speaking=shown_speaking,
            has_company=has_company,
            site_reconnects=site_reconnects,
        )
        was_refused, self._is_refused = self._is_refused, self._recorder.is_refused
        own_troubles = [DISK_REFUSES] if self._is_refused and not was_refused else []
        if self._falls_behind(last_ms, now_ms):
            own_troubles.append(SOUND_LATE)
        return [*own_troubles, *troubles]

    def _falls_behind(self, last_ms: float | None, now_ms: int) -> bool:
        # True once each time that sound begins to come late.
        previous_ms, self._seen_ms = self._seen_ms, last_ms
        if last_ms is None or last_ms == previous_ms:
            return False  # no new sound: nobody speaks, or none comes at all, which other checks notice
        self._late_looks = self._late_looks + 1 if now_ms - last_ms >= LATE_MS else 0
        return self._late_looks == LATE_LOOKS

    async def tell(self, troubles: Sequence[PageTrouble], now_ms: int) -> Broken | None:
        """Take these troubles, and mark an outage that is over; return how the stay ends if one of them ends it."""
        for trouble in troubles:
            if trouble.recovery is Recovery.FRESH_PAGE:
                return ended_by(trouble)
            self._journal.note_trouble(trouble)
            if trouble.cause == "connection_lost":
                self._deaf_since_ms = max(self._recorder.last_frame_ms or self._started_ms, now_ms - UNNOTICED_MS)
        if self._deaf_since_ms is not None and not self._link.dead_s:
            if now_ms - self._deaf_since_ms >= SHORTEST_GAP_MS:
                self._unmarked.append((self._deaf_since_ms, now_ms))
            self._deaf_since_ms = None
        if self._unmarked and now_ms >= self._again_ms:
            await self._mark(now_ms)
        return None

    def left_over(self, now_ms: int) -> tuple[tuple[float, float], ...]:
        """Return the outages that are not written as gaps yet, (from, to) in seconds of the recording. The stay ends
        now, and with it an outage that is under way."""
        since_ms = self._deaf_since_ms
        if since_ms is not None and now_ms - since_ms >= SHORTEST_GAP_MS:
            self._unmarked.append((since_ms, now_ms))
        self._deaf_since_ms = None
        return tuple(self._seconds(outage) for outage in self._unmarked)

    def _seconds(self, outage: tuple[float, int]) -> tuple[float, float]:
        start_ms, end_ms = outage
        return (start_ms - self._started_ms) / 1000, (end_ms - self._started_ms) / 1000

    async def _mark(self, now_ms: int) -> None:
        # An unreachable database neither ends the meeting nor loses a gap.
        while self._unmarked:
            start_s, end_s = self._seconds(self._unmarked[0])
            try:
                await self._journal.add_gap(start_s, end_s, "connection_lost")
            except Superseded:
                raise
            except Exception:
                logger.exception("gap not written", action="gap_kept", bot_id=str(self._journal.bot.id))
                self._again_ms = now_ms + AGAIN_MS
                return
            self._unmarked.pop(0)
