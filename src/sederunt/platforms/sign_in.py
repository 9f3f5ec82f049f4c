"""Signing in with an address and a password on a site's own pages: the same way on every site, by its tables.

A password is typed once, and only into a field of the site's own sign-in hosts. What follows is read like any other
page: refused, challenged, let through. Nothing is solved and nobody is played: a question that only a person can
answer ends the try.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sederunt import log
from sederunt.clock import Clock
from sederunt.errors import PageCrashed, PageError, PageStuck
from sederunt.platforms.flow import LOOK_EVERY_S, NOTHING_HELPED, PageFlow
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.sign_in_pages import NOTHING_SENT, PASSWORD_DUE, SignInPages, for_account
from sederunt.platforms.targets import Act, FoundControl

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

ASKED_AGAIN_S = 15.0  # a password field that was emptied after it was sent, and stays so for so long
ASKS_S = 3.0  # a field that stands so long is meant; a session may still be looked up behind it before
RECOGNISED_S = 30.0  # for a site to say whether it knows the account
SILENT_S = 8.0  # after the password no page that we know for so long: the cookies are asked

logger = log.get(component="platforms")


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    email: str = field(repr=False)
    password: str = field(repr=False)


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
    led_by: str = "",
) -> SignInEnd:
    """Sign the page's browser in. `on_state` hears of every change of state.

    `led_by` is the meeting's address where that led a guest to the sign-in pages: it is opened first, for the site then
    knows where to lead back to.

    Raises PageError when no door can be reached, PageStuck when the page answers nothing for 10 s, PageCrashed when
    its renderer is gone.
    """
    pages = for_account(pages, credentials.email)
    answers = {Act.FILL_ACCOUNT: credentials.email, Act.FILL_PASSWORD: credentials.password}
    flow = PageFlow(
        pages=pages,
        page=page,
        entry_urls=(led_by, *pages.entry_urls) if led_by else pages.entry_urls,
        answers=answers,
        clock=clock,
    )
    doubts = _Doubts(pages=pages, flow=flow)
    await _open(flow)
    while True:
        due = () if Act.FILL_PASSWORD in flow.steps.sent else (PASSWORD_DUE,)
        reading, controls = await flow.look(due if flow.steps.sent else (*due, NOTHING_SENT))
        if flow.is_news(reading):
            on_state(reading)
        ended = flow.ending(reading) or doubts.asked_again(reading, controls) or await doubts.cookies(reading)
        if ended is not None:
            password_sent = Act.FILL_PASSWORD in flow.steps.sent
            if password_sent and ended.row == NOTHING_HELPED and pages.owns(ended.url):
                # The site took the password, and asks for something that we do not know: a person has to look.
                ended = replace(ended, state=PageState.SIGN_IN_NEEDED, row="sign_in.unknown_question")
            return SignInEnd(reading=ended, password_sent=password_sent)
        if not (pages.owns(reading.url) and await flow.step(reading, controls)):
            await _load_again(flow, reading)
            await clock.sleep(LOOK_EVERY_S)


async def recognised(pages: SignInPages, page: MeetingPage, *, clock: Clock) -> Reading:
    """Open the site's sign-in with what the browser remembers, type nothing, and return what came of it.

    SIGNED_IN: the site knows the account. DIALOG: it asks for an address or a password. LOADING: it said nothing that
    we know for `RECOGNISED_S`. Otherwise a standing that ends a try.

    Raises PageError as `sign_in` does.
    """
    flow = PageFlow(pages=pages, page=page, entry_urls=pages.entry_urls, answers={}, clock=clock)
    await _open(flow)
    began_at = clock.monotonic()
    while True:
        reading, _ = await flow.look((NOTHING_SENT,))
        flow.is_news(reading)
        ended = flow.ending(reading)
        asks = reading.state is PageState.DIALOG and clock.monotonic() - flow.seen.state_since >= ASKS_S
        if ended is not None or asks or clock.monotonic() - began_at >= RECOGNISED_S:
            return ended or reading
        await clock.sleep(LOOK_EVERY_S)


async def _open(flow: PageFlow) -> None:
    """Open the first sign-in page that can be reached."""
    for number, url in enumerate(flow.entry_urls):
        flow.reloads = number
        try:
            await flow.open(url)
            break
        except (PageStuck, PageCrashed):
            raise
        except PageError as error:
            if number == len(flow.entry_urls) - 1:
                raise
            logger.warning("door not reached", action="door_unreachable", number=number, why=str(error))


async def _load_again(flow: PageFlow, reading: Reading) -> None:
    try:
        await flow.load_again_if_stalled(reading)
    except (PageStuck, PageCrashed):
        raise
    except PageError as error:  # what it shows now is read like anything else
        logger.warning("door not reached", action="door_unreachable", number=flow.reloads, why=str(error))


@dataclass(kw_only=True, slots=True)
class _Doubts:
    """What tells an ending where no row does."""

    pages: SignInPages
    flow: PageFlow
    emptied_since: float | None = None
    asked_at: float = -math.inf

    def asked_again(self, reading: Reading, controls: Mapping[str, FoundControl]) -> Reading | None:
        """End the try where a site goes on asking for the password that it was given.

        Wrong is only what the site itself calls wrong: it may have lost the session, or want another page first.
        """
        now = self.flow.clock.monotonic()
        field_ids = [step.id for step in self.pages.journey.steps if step.act is Act.FILL_PASSWORD]
        emptied = Act.FILL_PASSWORD in self.flow.steps.sent and any(
            name in controls and not controls[name].value for name in field_ids
        )
        self.emptied_since = (self.emptied_since or now) if emptied else None
        if self.emptied_since is None or now - self.emptied_since < ASKED_AGAIN_S:
            return None
        return Reading(state=PageState.SIGN_IN_NEEDED, row="sign_in.asked_again", url=reading.url)

    async def cookies(self, reading: Reading) -> Reading | None:
        """After the password a page may follow that we do not know, though the account is signed in by then."""
        now = self.flow.clock.monotonic()
        silent = reading.state is PageState.LOADING and now - self.flow.seen.state_since >= SILENT_S
        if not silent or Act.FILL_PASSWORD not in self.flow.steps.sent or now - self.asked_at < SILENT_S:
            return None
        self.asked_at = now
        there = {cookie["name"] for cookie in (await self.flow.page.storage_state())["cookies"]}
        known = next((name for name in self.pages.cookies if name in there), None)
        if known is None:
            return None
        return Reading(state=PageState.SIGNED_IN, row="sign_in.cookie", url=reading.url, seen=known)
