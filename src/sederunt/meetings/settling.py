"""What is done on the page once a bot is inside: answer notices, see to the camera, open what tells of people."""

import asyncio
from collections.abc import Callable

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.errors import PageCrashed, PageError
from sederunt.platforms.platform import Platform

# The network tells of people within a moment, or never: then the page's own list has to stand open. It may take
# another's place on the page, so it is not opened before.
PATIENCE_S = 3.0
MOST_LOOKS = 4

logger = log.get(room="meetings")


class Settling:
    """Of one stay. One at a time: of two that press the same button one finds it gone."""

    def __init__(self, platform: Platform, bot_id: str, *, anybody_known: Callable[[], bool]) -> None:
        """`anybody_known`: whether the roster is known, from wherever."""
        self._platform, self._bot_id, self._anybody_known = platform, bot_id, anybody_known
        self._one = asyncio.Lock()
        self._looks = 0

    async def settle(self, page: MeetingPage, *, camera: bool) -> None:
        """A control that slipped away is only one to be tried again; whether the page is frozen, the looks tell."""
        async with self._one:
            try:
                # A list of people once opened has to stay so: whatever else is opened, it comes last.
                await self._platform.settle(page, roster_heard=self._looks == 0, camera=camera)
            except PageCrashed:
                raise
            except PageError as error:
                logger.warning("notice not answered", action="settle_failed", bot_id=self._bot_id, why=str(error))

    async def look_for_people(self, page: MeetingPage, *, camera: bool, inside_s: float) -> None:
        """Open the page's list of people where nobody is known yet, a few times with growing pauses."""
        if self._anybody_known() or self._looks >= MOST_LOOKS or inside_s < PATIENCE_S * 2**self._looks:
            return
        self._looks += 1
        await self.settle(page, camera=camera)
