"""Lead one attempt over a site's pages: look, take the step that is due, remember what was seen for how long.

Joining a meeting (`admission`) and signing in (`sign_in`) use this. Everything that differs between sites is in their
tables; all timing is here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from sederunt import log
from sederunt.clock import Clock
from sederunt.errors import PageCrashed, PageError, PageStuck
from sederunt.model.status import StopReason
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import place_of
from sederunt.platforms.page_state import ENDINGS, PageState, Reading
from sederunt.platforms.survey import press
from sederunt.platforms.targets import Act, FoundControl, Journey, Step, Target

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage
    from sederunt.platforms.evidence import PageSnapshot

LOOK_EVERY_S = 0.15
FROZEN_S = 10.0  # a page that does not answer for this long (two looks) is dead
NAVIGATION_S = 60.0
STUCK_S = 90.0  # on the way in, no step has had an effect for this long
RECONNECT_S = 60.0
HOST_LATE_PAUSE_S = 15.0
SHORT_PAUSE_S = 1.0
OUR_LIMIT = "admission.waiting_room_limit"
OUR_DEADLINE = "admission.deadline"
NOTHING_HELPED = "admission.nothing_helped"
LEAST_NAVIGATION_S = 5.0
ARRIVED = frozenset({PageState.IN_CALL, PageState.SIGNED_IN})

logger = log.get(component="platforms")


class Pages(Protocol):
    """What a flow needs to know of a site's pages; a `Platform` is one."""

    @property
    def journey(self) -> Journey: ...

    async def survey(
        self, page: MeetingPage, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]: ...

    def judge(self, snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading: ...


@dataclass(kw_only=True, slots=True)
class Sightings:
    """Remember what was seen since when, in the clock's monotonic seconds."""

    last: Reading | None = None
    state_since: float = 0.0  # of the last reading's state and row
    moved_at: float = 0.0  # the last time anything was loaded, done, or changed
    frozen_since: float | None = None
    waited_at: str = ""  # address of the lobby that was seen last
    shown_since: dict[str, float] = field(default_factory=dict)  # targets that are present now


@dataclass(kw_only=True, slots=True)
class StepLog:
    """Remember what was done, and whether it worked."""

    done: dict[str, int] = field(default_factory=dict)
    done_at: dict[str, float] = field(default_factory=dict)
    last: str = ""
    last_worked: bool = False
    named: bool = False
    filled: set[Act] = field(default_factory=set)
    sent: set[Act] = field(default_factory=set)  # fields that were filled when a knocking button was pressed
    knocked: bool = False  # since the page was loaded

    def note(self, step: Step, now: float, *, worked: bool) -> None:
        """Write down one step."""
        self.done[step.id] = self.done.get(step.id, 0) + 1
        self.done_at[step.id] = now
        self.last, self.last_worked = step.id, worked
        if step.act is Act.FILL_NAME:
            self.named = worked
        if step.act is not Act.CLICK and worked:
            self.filled.add(step.act)
        if step.knocks:
            self.sent |= self.filled
        self.knocked = self.knocked or (step.knocks and worked)


@dataclass(kw_only=True, slots=True)
class PageFlow:
    """Lead one attempt over a site's pages.

    The first of `entry_urls` is opened; each of the others follows if the one before shows nothing we know. `answers`
    are the contents of the fields; None for an unknown one.
    """

    pages: Pages
    page: MeetingPage
    entry_urls: tuple[str, ...]
    answers: Mapping[Act, str | None] = field(repr=False)
    clock: Clock
    seen: Sightings = field(default_factory=Sightings)
    steps: StepLog = field(default_factory=StepLog)
    limits: EntryLimits | None = None  # of joining; signing in has an end of its own
    reloads: int = 0
    loaded_again: int = 0

    async def open(self, url: str) -> None:
        left_s = self.limits.left_s if self.limits is not None else math.inf
        await self.page.goto(url, deadline_s=max(LEAST_NAVIGATION_S, min(NAVIGATION_S, left_s)))
        self.steps.knocked = False
        self.seen.moved_at = self.clock.monotonic()

    async def look(self, noted: Collection[str]) -> tuple[Reading, Mapping[str, FoundControl]]:
        """Look once. A page that does not answer reads as LOADING until it has been frozen for too long."""
        started_at = self.clock.monotonic()
        try:
            snapshot, controls = await self.pages.survey(self.page, [step.target for step in self.pages.journey.steps])
        except PageStuck:
            self.seen.frozen_since = started_at if self.seen.frozen_since is None else self.seen.frozen_since
            if self.clock.monotonic() - self.seen.frozen_since >= FROZEN_S:
                raise
            return Reading(state=PageState.LOADING, row="admission.frozen", url=self.page.url), {}
        except PageCrashed:
            raise
        except PageError as error:  # a document that is just being replaced
            logger.warning("page could not be read", action="look_failed", why=str(error))
            return Reading(state=PageState.LOADING, row="admission.unread", url=self.page.url), {}
        self.seen.frozen_since = None
        now = self.clock.monotonic()
        self.seen.shown_since = {step: self.seen.shown_since.get(step, now) for step in controls}
        return self.pages.judge(snapshot, joined=False, noted=noted), controls

    def is_news(self, reading: Reading) -> bool:
        """Keep the reading; return whether the state or its row changed."""
        now = self.clock.monotonic()
        if self.seen.last is not None and (self.seen.last.state, self.seen.last.row) == (reading.state, reading.row):
            return False
        if self.seen.last is None or self.seen.last.state is not reading.state:
            self.seen.moved_at = now
        self.seen.last, self.seen.state_since = reading, now
        if reading.state is PageState.LOBBY:
            self.seen.waited_at = place_of(reading.url)
            if self.limits is not None:
                self.limits.note_waiting()
        return True

    def ending(self, reading: Reading) -> Reading | None:
        """Return the reading that ends the attempt, once it has been seen for long enough to be believed."""
        now = self.clock.monotonic()
        unchanged_s = now - self.seen.state_since
        if reading.state in ENDINGS or reading.state in ARRIVED:
            return reading if unchanged_s >= reading.settle_s else None
        if reading.state is PageState.PREJOIN and reading.reason is not None and unchanged_s >= reading.settle_s:
            return replace(reading, state=PageState.REFUSED)  # the site keeps asking for what we lack
        if self.limits is not None and self.limits.left_s <= 0:
            return _trouble(OUR_DEADLINE, reading)
        if self.limits is not None and self.limits.has_waited:
            return Reading(
                state=PageState.REFUSED,
                reason=StopReason.WAITING_ROOM_TIMEOUT,
                row=OUR_LIMIT,
                url=reading.url,
                seen=reading.seen,
            )
        if reading.state is PageState.RECONNECTING and unchanged_s >= RECONNECT_S:
            return _trouble("admission.reconnecting", reading)
        knocks_at = self.limits.knocks_at if self.limits is not None else 0.0  # before that a page may be waiting
        if reading.state is not PageState.LOBBY and now - max(self.seen.moved_at, knocks_at) >= STUCK_S:
            return _trouble(NOTHING_HELPED, reading)
        return None

    async def step(self, reading: Reading, controls: Mapping[str, FoundControl]) -> bool:
        """Take the first step that is due; False if there is none."""
        for step in self.pages.journey.steps:
            if step.id not in controls or reading.state not in step.states:
                continue
            if step.beside and not any(other in controls for other in step.beside):
                continue
            if any(other in controls for other in step.apart):
                continue
            if self._is_due(step, controls[step.id]):
                return await self._take(step, controls[step.id])
            if self._holds_up(step, controls[step.id]):
                return False
        return False

    async def load_again_if_premature(self, reading: Reading) -> bool:
        """Load the page again a few times before a refusal is believed, since some are shown too early; if the caller
        said that the host may be late, keep loading for that long."""
        if reading.row not in self.pages.journey.load_again:
            return False
        pause_s, times = self.pages.journey.load_again[reading.row]
        # Called at the first refusal already: the time for the host counts from then on.
        is_host_awaited = self.limits is not None and self.limits.waits_for_host()
        if self.loaded_again >= times:
            if not is_host_awaited:
                return False
            pause_s = HOST_LATE_PAUSE_S
        if self.clock.monotonic() - self.seen.state_since >= pause_s:
            self.loaded_again += 1
            self.seen.last = None
            await self.open(self.entry_urls[0])
        else:
            await self.clock.sleep(LOOK_EVERY_S)
        return True

    async def ask_again_if_unanswered(self, reading: Reading) -> bool:
        """Ask to be let in once more after a pause, if the site itself ended a request that nobody answered and the
        caller's waiting time lasts beyond the pause."""
        if self.limits is None or reading.row not in self.pages.journey.ask_again:
            return False
        if self.clock.monotonic() - self.seen.state_since < reading.settle_s:
            return False
        pause_s = self.pages.journey.ask_again[reading.row]
        self.limits.note_waiting()  # no row may have known the lobby's words
        if self.limits.waiting_left_s <= pause_s:
            return False
        logger.info("nobody answered, asking again", action="asking_again", row=reading.row, pause_s=pause_s)
        await self.clock.sleep(pause_s)
        self.steps.done.clear()
        self.seen.last = None
        await self.open(self.entry_urls[0])
        return True

    async def load_again_if_stalled(self, reading: Reading) -> None:
        """Load a page that stays unknown again, at the fallback address if the site has one. After a knock it may be a
        waiting room in words we do not know, so the bot stays."""
        journey = self.pages.journey
        is_stalled = reading.state is PageState.LOADING and (
            self.clock.monotonic() - max(self.seen.moved_at, max(self.steps.done_at.values(), default=0.0))
            >= journey.loading_s
        )
        if not is_stalled or self.steps.knocked or self.reloads >= journey.reloads:
            return
        self.reloads += 1
        self.steps.done.clear()
        logger.warning("page stalled, loading it again", action="page_reloaded", times=self.reloads)
        await self.open(self.entry_urls[min(self.reloads, len(self.entry_urls) - 1)])

    def _is_due(self, step: Step, control: FoundControl) -> bool:
        if self.steps.done.get(step.id, 0) >= step.most:
            return False
        if step.knocks and self.limits is not None and self.clock.monotonic() < self.limits.knocks_at:
            return False
        now = self.clock.monotonic()
        if step.id in self.steps.done_at and now - self.steps.done_at[step.id] < self._pause_s(step):
            return False
        if step.act is Act.FILL_NAME and control.value == self.answers[step.act]:
            self.steps.named = True
        if not self._wants_filling(step, control):
            return False
        patience_s = step.patience_s if self.steps.named else max(step.patience_s, step.without_name_s)
        return now - self.seen.shown_since.get(step.id, now) >= patience_s

    def _wants_filling(self, step: Step, control: FoundControl) -> bool:
        # True if a field lacks the content we have for it, and for a control that is no field.
        match step.act:
            case Act.FILL_NAME:
                return control.value != self.answers[step.act]
            case Act.FILL_ACCOUNT:
                return control.value.strip().casefold() != str(self.answers[step.act]).strip().casefold()
            case Act.FILL_PASSCODE:
                return self.answers[step.act] is not None and not control.value  # else the address brought it
            case Act.FILL_PASSWORD:
                return (
                    not control.value and step.act not in self.steps.sent
                )  # once: a second wrong one may lock the account
        return True

    def _pause_s(self, step: Step) -> float:
        # The full pause is needed only after this same step worked: another step in between, such as an answered
        # dialog, may have cleared the way, and a step that failed changed nothing that needs time.
        is_repeat = self.steps.last == step.id and self.steps.last_worked
        return step.again_s if is_repeat else min(step.again_s, SHORT_PAUSE_S)

    def _holds_up(self, step: Step, control: FoundControl) -> bool:
        # The bot knocks only when name and passcode, or account and password, are in their fields. A pressed control
        # gets a moment to disappear: a button below it might undo the answer.
        match step.act:
            case Act.CLICK:
                was_pressed = self.steps.last == step.id and self.steps.last_worked
                return was_pressed and self.clock.monotonic() - self.steps.done_at[step.id] < SHORT_PAUSE_S
            case Act.FILL_NAME:
                return self._wants_filling(step, control) and self.steps.done.get(step.id, 0) < step.most
            case Act.FILL_ACCOUNT:
                return self._wants_filling(step, control)
            case Act.FILL_PASSCODE | Act.FILL_PASSWORD:
                return not control.value
        return False

    async def _take(self, step: Step, control: FoundControl) -> bool:
        # The next look shows whether the step worked: a field that disappeared is simply tried again.
        try:
            worked = await self._act(step, control)
        except PageCrashed:
            raise
        except PageError as error:  # PageStuck too: the looks show whether the page is frozen
            worked = False
            # The driver's message may quote the text that it was told to type.
            why = type(error).__name__ if step.act is Act.FILL_PASSWORD else str(error)
            logger.warning("step did not work", action="step_failed", step=step.id, why=why)
        self.steps.note(step, self.clock.monotonic(), worked=worked)
        logger.info("step taken", action="step_taken", step=step.id, worked=worked)
        return True

    async def _act(self, step: Step, control: FoundControl) -> bool:
        match step.act:
            case Act.FILL_PASSWORD:
                # Only into the field that was seen: the page may be another one by now.
                return await self.page.type_text([control.handle], self._answer(step)) is not None
            case Act.FILL_NAME | Act.FILL_PASSCODE | Act.FILL_ACCOUNT:
                handles = [control.handle, *step.target.selectors]
                return await self.page.type_text(handles, self._answer(step)) is not None
            case Act.CLICK:
                # A control without a box refuses the pointer, and a covered one gets no click.
                unpointed = 0 if control.boxless else 1 if control.covered else step.unpointed
                return await press(self.page, control, by_pointer=self.steps.done.get(step.id, 0) != unpointed)

    def _answer(self, step: Step) -> str:
        answer = self.answers[step.act]
        assert answer is not None, "a field is filled only with what we have"
        return answer


def _trouble(row: str, reading: Reading) -> Reading:
    return Reading(state=PageState.TROUBLE, row=row, url=reading.url, seen=reading.row or reading.seen)
