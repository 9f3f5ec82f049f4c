"""Signing in with an address and a password on a site's own pages: the same way on every site, by its tables.

A password is typed once, and only into a field of the site's own sign-in hosts. What follows is read like any other
page: refused, challenged, let through. Nothing is solved and nobody is played: a question that only a person can
answer ends the try.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sederunt import log
from sederunt.clock import Clock
from sederunt.errors import PageCrashed, PageError, PageStuck
from sederunt.platforms.evidence import EvidenceRow, Kind, PageSnapshot, decide
from sederunt.platforms.platform import PageState, Reading
from sederunt.platforms.survey import survey
from sederunt.platforms.targets import Act, FoundControl, Journey, Target
from sederunt.platforms.way import LOOK_EVERY_S, PageFlow

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

ASKED_AGAIN_S = 15.0  # a password field that was emptied after it was sent, and stays so for so long
SILENT_S = 8.0  # after the password no page that we know for so long: the cookies are asked
# Words for rows of kind `signal`: how far we are.
NOTHING_SENT, PASSWORD_DUE = "nothing_sent", "password_due"

logger = log.get(component="platforms")


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    email: str = field(repr=False)
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInPages:
    """The sign-in pages of one site."""

    doors: tuple[str, ...]  # addresses where signing in begins; the next one where one shows nothing we know
    hosts: str  # regular expression: addresses on which we type and press
    rows: tuple[EvidenceRow, ...]
    journey: Journey
    cookies: tuple[str, ...]  # any of them: signed in, whatever page is shown

    def owns(self, url: str) -> bool:
        return re.search(self.hosts, url, re.IGNORECASE) is not None

    async def look(
        self, page: MeetingPage, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        return await survey(page, rows=self.rows, targets=targets)

    def judge(self, look: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        return decide(self.rows, look, joined=joined, noted=noted)


def rows_of_every_site(site: str, password: Target, *, seen: str) -> tuple[EvidenceRow, ...]:
    """What every site's table begins with: how far we are, and pages that did not come."""
    begin = f"{site}.sign_in"
    return (
        EvidenceRow(id=f"{begin}.unsent", kind=Kind.SIGNAL, patterns=(NOTHING_SENT,), source="own", seen=seen),
        EvidenceRow(id=f"{begin}.due", kind=Kind.SIGNAL, patterns=(PASSWORD_DUE,), source="own", seen=seen),
        EvidenceRow(
            id=f"{begin}.password_field",
            kind=Kind.SELECTOR,
            patterns=password.selectors,
            source=password.source,
            seen=seen,
        ),
        EvidenceRow(
            id=f"{begin}.broken",
            kind=Kind.ADDRESS,
            patterns=(r"^chrome-error:",),
            state=PageState.TROUBLE,
            settle_s=5.0,
            source="own",
            seen=seen,
        ),
        EvidenceRow(
            id=f"{begin}.server",
            kind=Kind.STATUS,
            patterns=("5..",),
            state=PageState.TROUBLE,
            settle_s=5.0,
            source="B2",
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInEnd:
    """How it went: SIGNED_IN, or the standing that ended it."""

    reading: Reading
    password_sent: bool


async def sign_in(
    pages: SignInPages,
    page: MeetingPage,
    credentials: Credentials,
    *,
    clock: Clock,
    on_state: Callable[[Reading], None],
) -> SignInEnd:
    """Sign the page's browser in. `on_standing` hears of every change of standing.

    Raises PageError when no door can be reached, PageStuck when the page answers nothing for 10 s, PageCrashed when
    its renderer is gone.
    """
    answers = {Act.FILL_ACCOUNT: credentials.email, Act.FILL_PASSWORD: credentials.password}
    way = PageFlow(pages=pages, page=page, doors=pages.doors, answers=answers, clock=clock)
    doubts = _Doubts(pages=pages, way=way)
    await _open(way)
    while True:
        reading, found = await way.look(_progress(way))
        if way.is_news(reading):
            on_state(reading)
        ended = way.ending(reading, math.inf) or doubts.asked_again(reading, found) or await doubts.cookies(reading)
        if ended is not None:
            return SignInEnd(reading=ended, password_sent=Act.FILL_PASSWORD in way.sent)
        if not (pages.owns(reading.url) and await way.step(reading, found)):
            await _load_again(way, reading)
            await clock.sleep(LOOK_EVERY_S)


def _progress(way: PageFlow) -> tuple[str, ...]:
    due = () if Act.FILL_PASSWORD in way.sent else (PASSWORD_DUE,)
    return due if way.sent else (*due, NOTHING_SENT)


async def _open(way: PageFlow) -> None:
    """The first door that can be reached."""
    for number, door in enumerate(way.doors):
        way.reloads = number
        try:
            await way.open(door)
            break
        except (PageStuck, PageCrashed):
            raise
        except PageError as error:
            if number == len(way.doors) - 1:
                raise
            logger.warning("door not reached", action="door_unreachable", number=number, why=str(error))


async def _load_again(way: PageFlow, reading: Reading) -> None:
    try:
        await way.load_again_if_stalled(reading)
    except (PageStuck, PageCrashed):
        raise
    except PageError as error:  # what it shows now is read like anything else
        logger.warning("door not reached", action="door_unreachable", number=way.reloads, why=str(error))


@dataclass(kw_only=True, slots=True)
class _Doubts:
    """What tells an ending where no row does."""

    pages: SignInPages
    way: PageFlow
    emptied_since: float | None = None
    asked_at: float = -math.inf

    def asked_again(self, reading: Reading, found: Mapping[str, FoundControl]) -> Reading | None:
        """A site that goes on asking for the password it was given has refused it, whatever its words are."""
        now = self.way.clock.monotonic()
        field_ids = [step.id for step in self.pages.journey.steps if step.act is Act.FILL_PASSWORD]
        emptied = Act.FILL_PASSWORD in self.way.sent and any(
            name in found and not found[name].value for name in field_ids
        )
        self.emptied_since = (self.emptied_since or now) if emptied else None
        if self.emptied_since is None or now - self.emptied_since < ASKED_AGAIN_S:
            return None
        return Reading(state=PageState.SIGN_IN_REJECTED, row="sign_in.asked_again", url=reading.url)

    async def cookies(self, reading: Reading) -> Reading | None:
        """After the password a page may follow that we do not know, though the account is signed in by then."""
        now = self.way.clock.monotonic()
        silent = reading.state is PageState.LOADING and now - self.way.standing_since >= SILENT_S
        if not silent or Act.FILL_PASSWORD not in self.way.sent or now - self.asked_at < SILENT_S:
            return None
        self.asked_at = now
        there = {cookie["name"] for cookie in (await self.way.page.storage_state())["cookies"]}
        known = next((name for name in self.pages.cookies if name in there), None)
        if known is None:
            return None
        return Reading(state=PageState.SIGNED_IN, row="sign_in.cookie", url=reading.url, seen=known)
