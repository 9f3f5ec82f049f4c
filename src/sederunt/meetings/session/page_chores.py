"""What is done on the page once a bot is inside: answer notices, see to the camera, open what tells of people."""

import asyncio
import contextlib
from collections.abc import Callable

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.errors import PageCrashed, PageError
from sederunt.platforms.platform import Platform

# The network tells of people within a moment, or never: then the page's own list has to be opened. It may take
# another's place on the page, so it is not opened before.
PATIENCE_S = 3.0
AGAIN_S = 20.0  # pause between two looks at lists of which one may have closed the other

logger = log.get(component="meetings")


class PageChores:
    """Of one stay. One at a time: of two that press the same button one finds it gone."""

    def __init__(
        self,
        platform: Platform,
        bot_id: str,
        *,
        anybody_known: Callable[[], bool],
        network_heard: Callable[[], bool],
    ) -> None:
        """`anybody_known`: whether the roster is known, from wherever; `network_heard`: whether from signals."""
        self._platform, self._bot_id = platform, bot_id
        self._anybody_known, self._network_heard = anybody_known, network_heard
        self._one = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None
        self._looks = 0
        self._next_look_s = PATIENCE_S

    @property
    def is_busy(self) -> bool:
        """Whether something is being done on the page already."""
        return self._one.locked()

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError, PageError):
                await self._looking

    async def settle(self, page: MeetingPage, *, camera: bool) -> None:
        """A control that slipped away is only one to be tried again; whether the page is frozen, the looks tell."""
        async with self._one:
            try:
                heard = self._looks == 0 or self._network_heard()
                await self._platform.settle(page, roster_heard=heard, camera=camera)
            except PageCrashed:
                raise
            except PageError as error:
                logger.warning("notice not answered", action="settle_failed", bot_id=self._bot_id, why=str(error))

    async def say(self, page: MeetingPage, text: str) -> None:
        """Write to the chat; meanwhile nothing else takes its panel's place. Raises PageError."""
        async with self._one:
            await self._platform.send_chat(page, text)

    def look_for_people(self, page: MeetingPage, *, camera: bool, inside_s: float) -> None:
        """Open the page's lists where the network tells of nobody: soon where nobody is known, then now and again.

        Returns at once: a list that is slow to open holds up nothing.
        """
        if self._network_heard() or inside_s < self._next_look_s or self.is_busy:
            return
        if self._looks == 0 and self._anybody_known() and inside_s < AGAIN_S:
            return
        self._looks += 1
        self._next_look_s = inside_s + min(AGAIN_S, PATIENCE_S * 2 ** (self._looks - 1))
        self._looking = asyncio.create_task(self._look(page, camera=camera), name="look for people")

    async def _look(self, page: MeetingPage, *, camera: bool) -> None:
        with contextlib.suppress(PageCrashed):  # that it is gone, the page itself tells
            await self.settle(page, camera=camera)
