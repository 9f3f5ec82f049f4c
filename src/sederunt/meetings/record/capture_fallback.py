"""Responds to missing sound while somebody is shown speaking: another capture backend, a report, a fresh page."""

from collections.abc import Callable

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.clock import Clock, unix_ms
from sederunt.errors import PageCrashed, PageError, PageStuck
from sederunt.meetings.record.recorder import Recorder
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.settings import CaptureSettings

AGAIN_S = 30.0  # until a page that stays deaf is switched again: a new frame in it starts with encoded capture
# Somebody was shown speaking for this long in all, and no packet of sound was captured on this page: this is reported,
# and the page replaced if it received none either.
REPORT_S, REPLACE_S = 5.0, 12.0
TURNS = 2  # … and if speech began this often: a site may show one person as speaking for ever
SURE_S = 2.0  # speech that a site shows for a shorter time in all may be a mistake
FORGET_S = 30.0  # after this long without anybody shown speaking, counting begins anew
MOST_STEP_S = 2.0  # the most that one check counts: a host that stood still saw nothing meanwhile

NO_SOUND = PageTrouble(
    cause="no_sound",
    seen="The site shows people speaking, and not one packet of sound has come.",
    recovery=Recovery.NONE,
)
PAGE_WITHOUT_SOUND = PageTrouble(
    cause="no_sound",
    seen="The site shows people speaking, and the page has not received one packet of sound.",
    recovery=Recovery.FRESH_PAGE,
)

logger = log.get(component="meetings")


class CaptureFallback:
    """The responses to missing sound on one page.

    Args:
        replaces: whether a page without any sound is worth a fresh one; only once for a bot.
    """

    def __init__(
        self,
        page: MeetingPage,
        recorder: Recorder,
        settings: CaptureSettings,
        clock: Clock,
        bot_id: str,
        *,
        replaces: bool = False,
    ) -> None:
        self._page, self._recorder, self._settings, self._clock, self._bot_id = page, recorder, settings, clock, bot_id
        self._documents = page.documents
        self._again = 0.0  # not before this monotonic second
        self._shown_since_ms: int | None = None
        self._replaces = replaces
        self._checked_at = self._last_shown_at = clock.monotonic()
        self._shown_s = 0.0  # in all, without a packet of sound
        self._is_reported = False
        self.missed_speech = False  # somebody certainly spoke, and not one packet of it has come

    async def check(
        self, someone_shown_speaking: bool, in_call: bool = True, turns: Callable[[], int] = lambda: 0
    ) -> PageTrouble | None:
        """Change the backend if somebody has been shown speaking for too long without a frame. Raises PageCrashed.

        Args:
            in_call: whether the page answered the last look and showed the call.
            turns: returns how often people were seen to begin to speak.

        Returns a trouble to report; one with FRESH_PAGE means giving this page up.
        """
        await self._change_backend(someone_shown_speaking)
        self._count(someone_shown_speaking and in_call)
        if self._recorder.last_frame_ms is not None:
            return None
        if self._shown_s >= REPORT_S and not self._is_reported:
            self._is_reported = True
            return NO_SOUND
        if self._replaces and self._shown_s >= REPLACE_S and turns() >= TURNS and await self._received_nothing():
            return PAGE_WITHOUT_SOUND
        return None

    def unreported(self) -> PageTrouble | None:
        """Return the trouble to report for a stay that ends before its missing sound was reported."""
        if self._is_reported or not self.missed_speech or self._recorder.last_frame_ms is not None:
            return None
        self._is_reported = True
        return NO_SOUND

    def _count(self, is_shown: bool) -> None:
        now = self._clock.monotonic()
        step_s, self._checked_at = min(now - self._checked_at, MOST_STEP_S), now
        if is_shown:
            self._shown_s += step_s
            self._last_shown_at = now
        elif now - self._last_shown_at >= FORGET_S:
            self._shown_s = 0.0
        self.missed_speech = self.missed_speech or self._shown_s >= SURE_S

    async def _received_nothing(self) -> bool:
        # Once the page's receivers have got a packet of sound, the page is not replaced any more.
        try:
            tracks = (await self._page.capture_state())["tracks"]
        except PageCrashed:
            raise
        except PageError:  # the next check asks again
            return False
        self._replaces = not any(track["packets"] for track in tracks if track["kind"] == "audio")
        return self._replaces

    async def _change_backend(self, someone_shown_speaking: bool) -> None:
        if self._page.documents != self._documents:  # a new document begins with the first backend, which may work
            self._documents, self._again, self._shown_since_ms = self._page.documents, 0.0, None
        if not someone_shown_speaking:
            self._shown_since_ms = None
            return
        now_ms = unix_ms(self._clock.now())
        self._shown_since_ms = self._shown_since_ms or now_ms
        last_ms = max(self._recorder.last_frame_ms or 0, self._shown_since_ms)
        if now_ms - last_ms < self._settings.deaf_after_s * 1000 or self._clock.monotonic() < self._again:
            return
        self._again = self._clock.monotonic() + AGAIN_S
        if self._settings.backend == "auto":
            logger.warning("capture is deaf", action="capture_fell_back", bot_id=self._bot_id)
            try:
                await self._page.use_backend("worklet")
            except PageStuck:  # looks find a frozen page; try again after the same time of deafness
                self._again, self._shown_since_ms = 0.0, unix_ms(self._clock.now())
