"""Does what a page needs once the bot is inside: answers notices, switches the camera, opens the lists of people."""

import asyncio
import contextlib
from collections.abc import Callable

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.clock import Clock
from sederunt.errors import PageCrashed, PageError
from sederunt.model.trouble import PageTrouble
from sederunt.platforms.notice_answers import NoticeAnswers
from sederunt.platforms.platform import Platform

# The network reports people within a moment, or never: then the page's own list has to be opened. It may replace
# another panel on the page, so it is not opened before.
PATIENCE_S = 3.0
AGAIN_S = 20.0  # between two looks at lists, since opening one may close the other
LOOKS_FOR_ITSELF = 3
# Between two looks at who is left: people whom both leave out are believed to have left (claims, CONTRADICTED_MS).
DOUBT_AGAIN_S = 95.0
SAY_S = 27.0  # shorter than the API waits for the answer
CAMERA_S = 5.0  # how long a site may take to switch the bot's camera on

logger = log.get(component="meetings")


class PageChores:
    """The chores of one stay, one at a time: of two that press the same button, one would find it gone.

    Args:
        camera: whether the bot's camera is to be on.
        anybody_known: returns whether the roster is known, from any source.
        network_heard: returns whether it is known from signals of the network.
        knows_itself: returns whether a listed person is known to be the bot: the page's list says "you".
        doubts_company: returns whether people count as here without a report for long, or everybody as gone.
        on_trouble: called when an answer to a notice does not help.
    """

    def __init__(
        self,
        platform: Platform,
        page: MeetingPage,
        bot_id: str,
        *,
        camera: bool,
        anybody_known: Callable[[], bool],
        network_heard: Callable[[], bool],
        knows_itself: Callable[[], bool] = lambda: True,
        doubts_company: Callable[[], bool] = lambda: False,
        on_trouble: Callable[[PageTrouble], None] = lambda trouble: None,
    ) -> None:
        self._platform, self._page, self._bot_id, self._camera = platform, page, bot_id, camera
        self._anybody_known, self._network_heard, self._knows_itself = anybody_known, network_heard, knows_itself
        self._doubts_company = doubts_company
        self._answers = NoticeAnswers(on_trouble)
        self._one = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None
        self._looks = 0
        self._next_look_s, self._next_doubt_s = PATIENCE_S, AGAIN_S  # recent reports are not doubted

    @property
    def is_busy(self) -> bool:
        return self._one.locked()

    @property
    def _is_told(self) -> bool:
        # The page's lists need not be opened. To find the bot itself they are, but not for ever.
        return self._network_heard() and (self._knows_itself() or self._looks >= LOOKS_FOR_ITSELF)

    async def close(self) -> None:
        """End a look that is under way."""
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError, PageError):
                await self._looking

    async def settle(self, *, lists: bool = False, anew: bool = False) -> None:
        """Answer notices and switch the camera; read the page's lists if they are needed, or requested. Raises
        PageCrashed.

        A control that disappeared is tried again later; looks find out whether the page is frozen. Answers that did not
        help are not repeated unless `anew` is set.
        """
        async with self._one:
            if anew:
                self._answers.forget_all_but(())
            try:
                is_roster_known = not lists and (self._looks == 0 or self._is_told)
                await self._platform.settle(
                    self._page, answers=self._answers, roster_heard=is_roster_known, camera=self._camera
                )
            except PageCrashed:
                raise
            except PageError as error:
                logger.warning("notice not answered", action="settle_failed", bot_id=self._bot_id, why=str(error))

    async def say(self, text: str) -> None:
        """Write to the chat; meanwhile nothing else replaces its panel. Raises PageError.

        The caller gets an answer within the API's deadline, even if the page is busy with something else.
        """
        try:
            async with asyncio.timeout(SAY_S):
                async with self._one:
                    await self._platform.send_chat(self._page, text)
        except TimeoutError:
            raise PageError(f"the page was busy with something else for {SAY_S:g} s") from None

    async def switch_camera_on(self, clock: Clock) -> None:
        """Have the site switch the bot's camera on. Raises PageError if it has not done so after 5 s."""
        self._camera = True
        if await self._page.shows_picture():
            return
        await self.settle()
        until = clock.monotonic() + CAMERA_S
        while not await self._page.shows_picture():
            if clock.monotonic() > until:
                raise PageError("the site has not switched the bot's camera on.")
            await self.settle()

    def look_for_people(self, *, inside_s: float) -> None:
        """Open the page's lists if the network names no participants (soon if nobody is known, then from time to time),
        or if it may have missed somebody leaving, or joining after everybody had left.

        Returns at once, so that a list that opens slowly delays nothing.
        """
        if self.is_busy:
            return
        if inside_s >= self._next_doubt_s and self._doubts_company():
            self._next_doubt_s = inside_s + DOUBT_AGAIN_S
            self._looking = asyncio.create_task(self._look(lists=True), name="look for who is left")
            return
        if self._is_told or inside_s < self._next_look_s:
            return
        if self._looks == 0 and self._anybody_known() and inside_s < AGAIN_S:
            return
        self._looks += 1
        self._next_look_s = inside_s + min(AGAIN_S, PATIENCE_S * 2 ** (self._looks - 1))
        self._looking = asyncio.create_task(self._look(), name="look for people")

    async def _look(self, *, lists: bool = False) -> None:
        with contextlib.suppress(PageCrashed):  # the page itself reports that it is gone
            await self.settle(lists=lists)
