"""Changes how a page listens where somebody is shown speaking and no sound comes."""

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.clock import Clock, unix_ms
from sederunt.errors import PageStuck
from sederunt.meetings.record.recorder import Recorder
from sederunt.settings import CaptureSettings

AGAIN_S = 30.0  # until a page that stays deaf is asked again: a frame made anew within it begins encoded

logger = log.get(component="meetings")


class CaptureFallback:
    """The change of one page to the worklet backend."""

    def __init__(
        self, page: MeetingPage, recorder: Recorder, settings: CaptureSettings, clock: Clock, bot_id: str
    ) -> None:
        self._page, self._recorder, self._settings, self._clock, self._bot_id = page, recorder, settings, clock, bot_id
        self._documents = page.documents
        self._again = 0.0  # not before this monotonic second
        self._shown_since_ms: int | None = None

    async def check(self, someone_shown_speaking: bool) -> None:
        """Change the backend if somebody has been shown speaking for too long without a frame. Raises PageCrashed."""
        if self._page.documents != self._documents:  # this one listens as the first did, and may be heard so
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
            except PageStuck:  # whether the page is frozen, the looks tell; it is asked again when it was deaf as long
                self._again, self._shown_since_ms = 0.0, unix_ms(self._clock.now())
