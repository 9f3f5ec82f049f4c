"""The way into a meeting, the same for every site: open the page, answer what it asks, knock, wait, believe.

One loop looks at the page, lets the evidence table say where the bot stands, and takes the next step of the site's
journey. Everything that differs between sites is in their tables; everything that takes time is here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sederunt import log
from sederunt.clock import Clock
from sederunt.errors import PageCrashed, PageError, PageStuck
from sederunt.model.status import StopReason
from sederunt.platforms.platform import ENDINGS, MeetingLink, Platform, Reading, Standing
from sederunt.platforms.survey import press
from sederunt.platforms.targets import Act, Found, Step
from sederunt.platforms.words import cut

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

LOOK_EVERY_S = 0.15
WAITING_LOOK_EVERY_S = 0.5
FROZEN_S = 10.0  # a page that answers nothing for so long is dead: two looks
NAVIGATION_S = 60.0
STUCK_S = 90.0  # on the way, and nothing came of any step for so long
RECONNECT_S = 60.0
SHORT_PAUSE_S = 1.0
PASSCODE_S = 8.0  # a field for a passcode may stand there for a moment before the address fills it

logger = log.get(room="platforms")


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """How one try to get in ended: IN_CALL, or the standing that ended it."""

    reading: Reading


async def join(
    platform: Platform,
    page: MeetingPage,
    link: MeetingLink,
    *,
    name: str,
    waiting_room_s: float,
    clock: Clock,
    on_standing: Callable[[Reading], None],
    noted: Callable[[], Collection[str]] = tuple,
    signed_in: bool = False,
) -> Admission:
    """Enter the meeting as `name`; the name is cut to what the site takes.

    `on_standing` hears of every change of standing; `noted` is the decoder's word on signals. With `signed_in` a
    question for a name, or for signing in, means that the stored session is void. Raises PageStuck when the page
    answers nothing for 10 s, PageCrashed when its renderer is gone.
    """
    way = _Way(platform=platform, page=page, link=link, clock=clock, name=cut(name, platform.name_limit))
    await way.open(link.url)
    while True:
        reading, found = await way.look(noted())
        if way.is_news(reading):
            on_standing(reading)
        if signed_in and (rejected := _void_session(way, reading, found)) is not None:
            return Admission(reading=rejected)
        if await way.load_again_if_premature(reading):
            continue
        if ended := way.ending(reading, waiting_room_s) or way.lacking_passcode(reading, found):
            if ended.reason is StopReason.WAITING_ROOM_TIMEOUT and ended.row == OUR_LIMIT:
                await platform.leave(page)
            return Admission(reading=ended)
        stepped = await way.step(reading, found)
        if not stepped:
            await way.load_again_if_stalled(reading)
            await clock.sleep(WAITING_LOOK_EVERY_S if reading.standing is Standing.LOBBY else LOOK_EVERY_S)


OUR_LIMIT = "admission.waiting_room_limit"


@dataclass(kw_only=True, slots=True)
class _Way:
    """What one try has seen and done so far. Times are the clock's monotonic seconds."""

    platform: Platform
    page: MeetingPage
    link: MeetingLink
    clock: Clock
    name: str
    standing_since: float = 0.0
    last: Reading | None = None
    lobby_since: float | None = None
    moved_at: float = 0.0  # the last time anything was loaded, done, or changed
    frozen_since: float | None = None
    reloads: int = 0
    loaded_again: int = 0
    named: bool = False
    knocked: bool = False  # since the page was loaded
    done: dict[str, int] = field(default_factory=dict)
    last_step: str = ""
    last_worked: bool = False
    done_at: dict[str, float] = field(default_factory=dict)
    shown_since: dict[str, float] = field(default_factory=dict)

    async def open(self, url: str) -> None:
        await self.page.goto(url, deadline_s=NAVIGATION_S)
        self.knocked = False
        self.moved_at = self.clock.monotonic()

    async def look(self, noted: Collection[str]) -> tuple[Reading, Mapping[str, Found]]:
        """One look. A page that does not answer reads as LOADING until it has been frozen for too long."""
        started = self.clock.monotonic()
        try:
            look, found = await self.platform.look(self.page, [step.target for step in self.platform.journey.steps])
        except PageStuck:
            self.frozen_since = started if self.frozen_since is None else self.frozen_since
            if self.clock.monotonic() - self.frozen_since >= FROZEN_S:
                raise
            return Reading(standing=Standing.LOADING, row="admission.frozen", url=self.page.url), {}
        except PageCrashed:
            raise
        except PageError as error:  # a document that is just being replaced
            logger.warning("page could not be read", action="look_failed", why=str(error))
            return Reading(standing=Standing.LOADING, row="admission.unread", url=self.page.url), {}
        self.frozen_since = None
        self._note_shown(found)
        return self.platform.judge(look, joined=False, noted=noted), found

    def is_news(self, reading: Reading) -> bool:
        """Keep the reading; say whether the standing or its row changed."""
        now = self.clock.monotonic()
        if self.last is not None and (self.last.standing, self.last.row) == (reading.standing, reading.row):
            return False
        if self.last is None or self.last.standing is not reading.standing:
            self.moved_at = now
        self.last, self.standing_since = reading, now
        if reading.standing is Standing.LOBBY and self.lobby_since is None:
            self.lobby_since = now
        return True

    def ending(self, reading: Reading, waiting_room_s: float) -> Reading | None:
        """The reading that ends the try, once it has been seen for long enough to be believed."""
        now = self.clock.monotonic()
        held_s = now - self.standing_since
        if reading.standing in ENDINGS or reading.standing is Standing.IN_CALL:
            return reading if held_s >= reading.settle_s else None
        if reading.standing is Standing.PREJOIN and reading.reason is not None and held_s >= reading.settle_s:
            return replace(reading, standing=Standing.REFUSED)  # the site asks again and again for what we lack
        if self.lobby_since is not None and now - self.lobby_since >= waiting_room_s:
            return Reading(
                standing=Standing.REFUSED,
                reason=StopReason.WAITING_ROOM_TIMEOUT,
                row=OUR_LIMIT,
                url=reading.url,
                seen=reading.seen,
            )
        if reading.standing is Standing.RECONNECTING and held_s >= RECONNECT_S:
            return _trouble("admission.reconnecting", reading)
        if reading.standing is not Standing.LOBBY and now - self.moved_at >= STUCK_S:
            return _trouble("admission.nothing_helped", reading)
        return None

    async def step(self, reading: Reading, found: Mapping[str, Found]) -> bool:
        """Take the first step that is due. False where there is none."""
        for step in self.platform.journey.steps:
            if step.id not in found or reading.standing not in step.standings:
                continue
            if self._is_due(step, found[step.id]):
                return await self._take(step, found[step.id])
            if self._holds_up(step, found[step.id]):
                return False
        return False

    def lacking_passcode(self, reading: Reading, found: Mapping[str, Found]) -> Reading | None:
        """The site wants a passcode that neither the link nor the caller's text had."""
        asked = [step for step in self.platform.journey.steps if step.act is Act.FILL_PASSCODE and step.id in found]
        if not asked or self.link.passcode is not None or found[asked[0].id].value:
            return None
        if self.clock.monotonic() - self.shown_since[asked[0].id] < PASSCODE_S:
            return None
        return Reading(
            standing=Standing.REFUSED,
            reason=StopReason.INVALID_MEETING_URL,
            row="admission.passcode_unknown",
            url=reading.url,
            seen=asked[0].id,
        )

    async def load_again_if_premature(self, reading: Reading) -> bool:
        """Some refusals are shown too early: the page is loaded again a few times before they are believed."""
        pause_s, times = self.platform.journey.load_again.get(reading.row, (0.0, 0))
        if self.loaded_again >= times:
            return False
        if self.clock.monotonic() - self.standing_since >= pause_s:
            self.loaded_again += 1
            self.last = None
            await self.open(self.link.url)
        else:
            await self.clock.sleep(LOOK_EVERY_S)
        return True

    async def load_again_if_stalled(self, reading: Reading) -> None:
        """A page that stays unknown is loaded again, by the other door where the site has one; after a knock it may
        be a waiting room in words we do not know, which is not left for that."""
        journey = self.platform.journey
        stalled = reading.standing is Standing.LOADING and (
            self.clock.monotonic() - max(self.moved_at, max(self.done_at.values(), default=0.0)) >= journey.loading_s
        )
        if not stalled or self.knocked or self.reloads >= journey.reloads:
            return
        self.reloads += 1
        self.done.clear()
        logger.warning("page stalled, loading it again", action="page_reloaded", times=self.reloads)
        await self.open(self.link.fallback_url or self.link.url)

    def _is_due(self, step: Step, found: Found) -> bool:
        if self.done.get(step.id, 0) >= step.most:
            return False
        now = self.clock.monotonic()
        if step.id in self.done_at and now - self.done_at[step.id] < self._pause_s(step):
            return False
        if step.act is Act.FILL_NAME and found.value == self.name:
            self.named = True
            return False
        if step.act is Act.FILL_PASSCODE and (self.link.passcode is None or found.value):
            return False  # not known, or already there: the address brought it
        patience_s = step.patience_s if self.named else max(step.patience_s, step.without_name_s)
        return now - self.shown_since.get(step.id, now) >= patience_s

    def _pause_s(self, step: Step) -> float:
        """What was done in between, an answered dialog say, may have been all that a repeat was waiting for; and what
        did not work changed nothing that would have to be waited for."""
        patient = self.last_step == step.id and self.last_worked
        return step.again_s if patient else min(step.again_s, SHORT_PAUSE_S)

    def _holds_up(self, step: Step, found: Found) -> bool:
        """Nobody knocks before name and passcode stand in their fields."""
        if step.act is Act.FILL_NAME:
            return found.value != self.name and self.done.get(step.id, 0) < step.most
        return step.act is Act.FILL_PASSCODE and not found.value

    async def _take(self, step: Step, found: Found) -> bool:
        """Do it. Whether it worked, the next look tells: a field that slipped away is only one that is tried again."""
        try:
            worked = await self._act(step, found)
        except PageCrashed:
            raise
        except PageError as error:  # PageStuck too: whether the page is frozen, the looks tell
            worked = False
            logger.warning("step did not work", action="step_failed", step=step.id, why=str(error))
        self.done[step.id] = self.done.get(step.id, 0) + 1
        self.done_at[step.id] = self.clock.monotonic()
        self.last_step, self.last_worked = step.id, worked
        if step.act is Act.FILL_NAME:
            self.named = worked
        self.knocked = self.knocked or (step.knocks and worked)
        logger.info("step taken", action="step_taken", step=step.id, worked=worked)
        return True

    async def _act(self, step: Step, found: Found) -> bool:
        match step.act:
            case Act.FILL_NAME:
                return await self.page.type_text([found.handle, *step.target.selectors], self.name) is not None
            case Act.FILL_PASSCODE:
                assert self.link.passcode is not None, "a passcode step is due only with a passcode"
                handles = [found.handle, *step.target.selectors]
                return await self.page.type_text(handles, self.link.passcode) is not None
            case Act.CLICK:
                # A control without a box refuses the pointer, and one under another gets none of its clicks.
                unpointed = 0 if found.boxless else 1 if found.covered else step.unpointed
                return await press(self.page, found, by_pointer=self.done.get(step.id, 0) != unpointed)

    def _note_shown(self, found: Mapping[str, Found]) -> None:
        now = self.clock.monotonic()
        self.shown_since = {step: self.shown_since.get(step, now) for step in found}


def _void_session(way: _Way, reading: Reading, found: Mapping[str, Found]) -> Reading | None:
    """A signed-in browser that is asked for a name, or to sign in, is signed in no more."""
    asked = reading.standing is Standing.SIGN_IN_NEEDED and way.ending(reading, 0) is not None
    named = way.platform.journey.name_means_guest and any(
        step.act is Act.FILL_NAME and step.id in found for step in way.platform.journey.steps
    )
    if not (asked or named):
        return None
    return Reading(standing=Standing.SIGN_IN_REJECTED, row="admission.void_session", url=reading.url, seen=reading.seen)


def _trouble(row: str, reading: Reading) -> Reading:
    return Reading(standing=Standing.TROUBLE, row=row, url=reading.url, seen=reading.row or reading.seen)
