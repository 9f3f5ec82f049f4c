"""Sign in with an address and a password on a site's own pages: the same way on every site, by its tables.

A password is typed once, and only into a field of the site's own sign-in hosts. The pages after it are read like any
other: refused, challenged, let through. The bot solves no challenge and impersonates nobody: a question that only a
person can answer ends the attempt.
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

ASKED_AGAIN_S = 15.0  # how long a password field must stay empty after it was sent
ASKS_S = 3.0  # a field shown for this long is meant; before that the site may still look up a session
RECOGNISED_S = 30.0  # for a site to say whether it knows the account
SILENT_S = 8.0  # after the password, no known page for this long: the cookies are checked

logger = log.get(component="platforms")


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    email: str = field(repr=False)
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInEnd:
    """How signing in ended: SIGNED_IN, or the state that ended it."""

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
    """Sign the page's browser in. `on_state` is called at every change of state.

    `led_by` is the meeting's address if it led a guest to the sign-in pages: it is opened first, so that the site knows
    where to lead back to.

    Raises PageError when no sign-in page can be reached, PageStuck when the page answers nothing for 10 s, PageCrashed
    when its renderer is gone.
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
        due_signals = () if Act.FILL_PASSWORD in flow.steps.sent else (PASSWORD_DUE,)
        reading, controls = await flow.look(due_signals if flow.steps.sent else (*due_signals, NOTHING_SENT))
        if flow.is_news(reading):
            on_state(reading)
        ending = flow.ending(reading) or doubts.asked_again(reading, controls) or await doubts.cookies(reading)
        if ending is not None:
            password_sent = Act.FILL_PASSWORD in flow.steps.sent
            if password_sent and ending.row == NOTHING_HELPED and pages.owns(ending.url):
                # The site took the password and asks something that we do not know: a person has to look.
                ending = replace(ending, state=PageState.SIGN_IN_NEEDED, row="sign_in.unknown_question")
            return SignInEnd(reading=ending, password_sent=password_sent)
        if not (pages.owns(reading.url) and await flow.step(reading, controls)):
            await _load_again(flow, reading)
            await clock.sleep(LOOK_EVERY_S)


async def recognised(pages: SignInPages, page: MeetingPage, *, clock: Clock) -> Reading:
    """Open the site's sign-in pages with the browser's stored state, type nothing, and return the result.

    SIGNED_IN: the site knows the account. DIALOG: it asks for an address or a password. LOADING: it showed nothing that
    we know for `RECOGNISED_S`. Otherwise a state that ends an attempt.

    Raises PageError as `sign_in` does.
    """
    flow = PageFlow(pages=pages, page=page, entry_urls=pages.entry_urls, answers={}, clock=clock)
    await _open(flow)
    began_at = clock.monotonic()
    while True:
        reading, _ = await flow.look((NOTHING_SENT,))
        flow.is_news(reading)
        ending = flow.ending(reading)
        is_asking = reading.state is PageState.DIALOG and clock.monotonic() - flow.seen.state_since >= ASKS_S
        if ending is not None or is_asking or clock.monotonic() - began_at >= RECOGNISED_S:
            return ending or reading
        await clock.sleep(LOOK_EVERY_S)


async def _open(flow: PageFlow) -> None:
    # Opens the first sign-in page that can be reached.
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
    except PageError as error:  # the next look reads whatever the page shows now
        logger.warning("door not reached", action="door_unreachable", number=flow.reloads, why=str(error))


@dataclass(kw_only=True, slots=True)
class _Doubts:
    """Endings that no row can show."""

    pages: SignInPages
    flow: PageFlow
    emptied_since: float | None = None
    asked_at: float = -math.inf

    def asked_again(self, reading: Reading, controls: Mapping[str, FoundControl]) -> Reading | None:
        """End the attempt if the site keeps asking for the password that it was given.

        The password counts as wrong only if the site says so: it may have lost the session, or need another page first.
        """
        now = self.flow.clock.monotonic()
        field_ids = [step.id for step in self.pages.journey.steps if step.act is Act.FILL_PASSWORD]
        is_emptied = Act.FILL_PASSWORD in self.flow.steps.sent and any(
            name in controls and not controls[name].value for name in field_ids
        )
        self.emptied_since = (self.emptied_since or now) if is_emptied else None
        if self.emptied_since is None or now - self.emptied_since < ASKED_AGAIN_S:
            return None
        return Reading(state=PageState.SIGN_IN_NEEDED, row="sign_in.asked_again", url=reading.url)

    async def cookies(self, reading: Reading) -> Reading | None:
        """Check the cookies: after the password an unknown page may follow although the account is signed in."""
        now = self.flow.clock.monotonic()
        is_silent = reading.state is PageState.LOADING and now - self.flow.seen.state_since >= SILENT_S
        if not is_silent or Act.FILL_PASSWORD not in self.flow.steps.sent or now - self.asked_at < SILENT_S:
            return None
        self.asked_at = now
        cookie_names = {cookie["name"] for cookie in (await self.flow.page.storage_state())["cookies"]}
        sign_in_cookie = next((name for name in self.pages.cookies if name in cookie_names), None)
        if sign_in_cookie is None:
            return None
        return Reading(state=PageState.SIGNED_IN, row="sign_in.cookie", url=reading.url, seen=sign_in_cookie)
