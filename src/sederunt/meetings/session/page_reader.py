"""Asks the page of a call for its state, and tolerates one that is busy."""

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.clock import Clock, unix_ms
from sederunt.errors import PageStuck
from sederunt.meetings.record.recorder import Recorder
from sederunt.platforms.page_state import Reading
from sederunt.platforms.platform import Decoder, Platform

FROZEN_S = 15.0  # a page that answers no look for this long (three looks) is dead
BUSY_S = 25.0  # … or for this long while its frames keep coming: a fresh page costs a gap, and a guest another knock
# If its renderer used this many CPU-seconds meanwhile, it is in an endless loop and will never answer.
LOOP_CPU_S = 4.0
LOOPING_S, LOOPING_FED_S = 5.0, 10.0  # one look, two looks
FED_S = 5.0  # frames keep coming if the last is no older than this

logger = log.get(component="meetings")


class PageReader:
    """Reads the page during one stay. Remembers since when it has not answered."""

    def __init__(
        self,
        platform: Platform,
        page: MeetingPage,
        *,
        decoder: Decoder,
        recorder: Recorder,
        clock: Clock,
        bot_id: str,
    ) -> None:
        self._platform, self._page, self._decoder = platform, page, decoder
        self._recorder, self._clock, self._bot_id = recorder, clock, bot_id
        self._answered_at = clock.monotonic()
        self._unanswered_since: float | None = None  # when the first unanswered look began

    async def read(self) -> Reading | None:
        """Return the page's state; None if it did not answer in time: it may be busy, and answer the next look.

        Raises PageStuck once it has not answered for too long.
        """
        asked_at = self._clock.monotonic()
        try:
            reading = await self._platform.read(self._page, joined=True, noted=self._decoder.noted)
        except PageStuck as error:
            since = self._unanswered_since = asked_at if self._unanswered_since is None else self._unanswered_since
            # A page that delivers sound is alive: sound uses nothing that looks need.
            last_ms = self._recorder.last_frame_ms
            is_fed = last_ms is not None and unix_ms(self._clock.now()) - last_ms <= FED_S * 1000
            unanswered_s = self._clock.monotonic() - since
            renderer_cpu_s = self._page.renderer_cpu_s(unanswered_s + 1, self._clock.monotonic() - self._answered_at)
            if unanswered_s >= patience_s(is_fed=is_fed, renderer_cpu_s=renderer_cpu_s):
                raise PageStuck(f"{error} Its renderer ran for {renderer_cpu_s:.1f} s meanwhile.") from error
            logger.warning("look not answered", action="look_unanswered", bot_id=self._bot_id, why=str(error))
            return None
        self._unanswered_since, self._answered_at = None, self._clock.monotonic()
        return reading


def patience_s(*, is_fed: bool, renderer_cpu_s: float) -> float:
    """Return for how many seconds a page may fail to answer looks.

    Args:
        is_fed: whether its frames keep coming.
        renderer_cpu_s: CPU-seconds that its renderer used meanwhile.
    """
    if renderer_cpu_s >= LOOP_CPU_S:
        return LOOPING_FED_S if is_fed else LOOPING_S
    return BUSY_S if is_fed else FROZEN_S
