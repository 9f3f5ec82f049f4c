"""A meeting site as data: implements the `Platform` protocol the same way for every site."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sederunt.errors import PageChanged, PageStuck
from sederunt.model.bot import Service
from sederunt.platforms import chat
from sederunt.platforms.addresses import with_parameter
from sederunt.platforms.call_controls import CallControls, Panel
from sederunt.platforms.evidence import EvidenceRow, PageSnapshot, decide
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.notice_answers import NoticeAnswers
from sederunt.platforms.page_state import ENDINGS, Reading
from sederunt.platforms.platform import Decoder
from sederunt.platforms.sign_in_pages import GUESTS_ONLY, AccountUse
from sederunt.platforms.survey import press, survey
from sederunt.platforms.targets import FoundControl, Journey, Step, Target
from sederunt.platforms.text import cut

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

LEAVING_S = 3.0  # how long leaving may take; Teams' server needs about that
INSIST_S = 1.0  # a button that is still present after this time is pressed without the pointer
ANSWERING_S = 4.0  # notices that take longer are answered at the next look: the page is not read meanwhile
PANEL_S = 6.0  # how long a panel may take to open: elements may come five seconds late
GLANCE_S = 1.0  # how long a panel that replaced another stays open: lists are read once they stop changing
BETWEEN_LOOKS_S = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The longest texts that a site takes, in UTF-16 units."""

    name: int
    chat: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """Implements `Platform` from tables."""

    service: Service
    title: str  # the site's name as people write it
    limits: Limits
    origins: tuple[str, ...]
    rows: tuple[EvidenceRow, ...]
    never: tuple[str, ...]  # subtrees that people fill: chat, captions, roster, tiles
    journey: Journey
    controls: CallControls
    watch: Mapping[str, Any]
    make_decoder: Callable[[str], Decoder]
    link_parser: Callable[[str], MeetingLink]
    accounts: AccountUse = GUESTS_ONLY

    @property
    def name_limit(self) -> int:
        return self.limits.name

    def parse_link(self, text: str) -> MeetingLink:
        return self.link_parser(text)

    def with_token(self, link: MeetingLink, token: str) -> MeetingLink:
        """Put the token into the link; return the link unchanged if the site takes none."""
        parameter = self.accounts.entry_parameter
        return replace(link, url=with_parameter(link.url, parameter, token)) if parameter else link

    def watch_plan(self) -> Mapping[str, Any]:
        return self.watch

    def decoder(self, own_name: str = "") -> Decoder:
        return self.make_decoder(cut(own_name, self.limits.name))

    async def survey(
        self, page: MeetingPage, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        """Return the raw snapshot behind a reading, with the targets that are present."""
        return await survey(page, rows=self.rows, targets=targets, never=self.never)

    def judge(self, snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        return decide(self.rows, snapshot, joined=joined, noted=noted)

    async def read(self, page: MeetingPage, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        """Look once; check an ending once more after a pause, since pages pass through odd states."""
        reading = self.judge((await self.survey(page))[0], joined=joined, noted=noted)
        if reading.state not in ENDINGS:
            return reading
        await asyncio.sleep(reading.settle_s)
        return self.judge((await self.survey(page))[0], joined=joined, noted=noted)

    async def send_chat(self, page: MeetingPage, text: str) -> None:
        if self.controls.chat is None:
            raise PageChanged(f"The message was not sent: meetings of {self.title} have no chat.")
        await chat.send(page, self.controls.chat, text, limit=self.limits.chat)

    async def leave(self, page: MeetingPage) -> None:
        """Press the leave button and answer its questions until no control is left or none is new for LEAVING_S."""
        now = asyncio.get_running_loop().time
        deadline = now() + LEAVING_S
        pressed_at: dict[str, float] = {}
        while now() < deadline:
            _, controls = await survey(page, targets=self.controls.leaving)
            if not controls:
                return
            # The button's questions come before the button itself, which may stay.
            new_name = next(
                (t.id for t in reversed(self.controls.leaving) if t.id in controls and t.id not in pressed_at), None
            )
            stuck_name = next((name for name in controls if now() - pressed_at.get(name, now()) >= INSIST_S), None)
            if (name := new_name or stuck_name) is not None:
                with contextlib.suppress(PageStuck):  # the next look shows whether it was pressed
                    await press(page, controls[name], by_pointer=None if name == new_name else False)
                pressed_at[name] = now()
                if name == new_name:
                    deadline = now() + LEAVING_S
            await asyncio.sleep(BETWEEN_LOOKS_S)

    async def settle(
        self,
        page: MeetingPage,
        *,
        answers: NoticeAnswers | None = None,
        roster_heard: bool = False,
        camera: bool = False,
    ) -> None:
        """Answer notices, switch the camera, then open the panels that must be open. Safe to repeat."""
        await self._answer_notices(page, answers or NoticeAnswers())
        await self._switch_camera(page, on=camera)
        await self._open_all(page, [panel for panel in self.controls.panels if not (panel.for_roster and roster_heard)])

    async def _answer_notices(self, page: MeetingPage, answers: NoticeAnswers) -> None:
        # Presses the first control of the table that is present, until none is left or ANSWERING_S have passed. A
        # pressed control gets a moment to disappear before anything below it is tried: another button of the same
        # notice might undo the answer.
        steps, now = self.controls.notices, asyncio.get_running_loop().time
        deadline = now() + ANSWERING_S
        press_counts: Counter[str] = Counter()
        pressed_at: dict[str, float] = {}  # by handle: another notice may have the same kind of button
        shown_ids: set[str] = set()

        def rests(control: FoundControl) -> bool:
            return now() - pressed_at.get(control.handle, -math.inf) < INSIST_S

        def is_due(step: Step) -> bool:
            return rests(controls[step.id]) or (
                answers.may_press(controls[step.id]) and press_counts[step.id] < step.most
            )

        while now() < deadline:
            _, controls = await survey(page, targets=[step.target for step in steps], never=self.never)
            shown_ids |= controls.keys()
            step = next((candidate for candidate in steps if candidate.id in controls and is_due(candidate)), None)
            if step is None:
                answers.forget_all_but(shown_ids if controls else ())
                return
            control = controls[step.id]
            if not rests(control):
                pressed_at[control.handle] = now()
                press_counts[step.id] += 1
                is_repeat = answers.note_press(control) > 1
                await press(page, control, by_pointer=False if is_repeat else None)
            await asyncio.sleep(BETWEEN_LOOKS_S)

    async def _switch_camera(self, page: MeetingPage, *, on: bool) -> None:
        if self.controls.camera is None:
            return
        switch = self.controls.camera.on if on else self.controls.camera.off
        _, controls = await survey(page, targets=[switch], never=self.never)
        if switch.id in controls:
            await press(page, controls[switch.id])
            await asyncio.sleep(BETWEEN_LOOKS_S)

    async def _open_all(self, page: MeetingPage, panels: Sequence[Panel]) -> None:
        # If opening one panel closes another, the later ones are opened only briefly, which is enough to read them; the
        # first stays open.
        open_panels = [panel for panel in panels if await self._open(page, panel)]
        snapshot, _ = await survey(page, rows=[row for panel in open_panels for row in panel.rows])
        if any(not any(row.id in snapshot.matches for row in panel.rows) for panel in open_panels):
            await asyncio.sleep(GLANCE_S)
            await self._open(page, open_panels[0])

    async def _open(self, page: MeetingPage, panel: Panel) -> bool:
        # Returns whether the panel is open. Its control is a toggle, so an open panel is left alone.
        snapshot, controls = await survey(page, rows=panel.rows, targets=[panel.control])
        if snapshot.matches or panel.control.id not in controls:
            return bool(snapshot.matches)
        await press(page, controls[panel.control.id])
        deadline = asyncio.get_running_loop().time() + PANEL_S
        while not snapshot.matches and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(BETWEEN_LOOKS_S)
            snapshot, _ = await survey(page, rows=panel.rows)
        return bool(snapshot.matches)
