"""Enters a meeting: signs in if a password is needed, then joins. One page, one try."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from typing import Any

from sederunt import counters, log
from sederunt.browser.page import MeetingPage
from sederunt.errors import NotFound, PageError
from sederunt.meetings.context import BotContext
from sederunt.meetings.join.identity import Identity
from sederunt.meetings.journal import Journal
from sederunt.meetings.outcomes import (
    CutOff,
    Moved,
    Outcome,
    Refused,
    SignInNeeded,
    ended_by,
    outcome_of,
    outcome_of_sign_in,
)
from sederunt.meetings.session.commands import Commands
from sederunt.model.status import StopReason
from sederunt.platforms.admission import join
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import MeetingLink, names_no_meeting
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.platform import Platform
from sederunt.platforms.sign_in import sign_in

# How a platform reads an address of another host: a check against robots, or a fault of the site.
_LED_AWAY = frozenset({PageState.CHALLENGED, PageState.TROUBLE})

ASK_ROW_EVERY_S = 5.0  # the row has a stop even if its command was lost

logger = log.get(component="meetings")


async def enter(
    context: BotContext,
    platform: Platform,
    link: MeetingLink,
    page: MeetingPage,
    identity: Identity,
    *,
    limits: EntryLimits,
    on_identity: Callable[[Identity], None],
    noted: Callable[[], Collection[str]],
) -> Outcome | None:
    """Enter the meeting; return None once inside, else how the try ended. Raises PageError.

    The meeting is opened in the tab that signed in: a fresh tab races the site's silent sign-in and is taken for a
    guest's (platforms.md, B2).

    Args:
        on_identity: called with the page's identity after it has signed in.
        noted: returns what the decoder has noted about signals.
    """
    bot = context.journal.bot

    waits_since: float | None = None

    def on_state(reading: Reading) -> None:
        nonlocal waits_since
        if reading.state is PageState.LOBBY:
            waits_since = context.clock.monotonic() if waits_since is None else waits_since
        elif waits_since is not None:
            counters.add("lobby_seconds", str(reading.state), context.clock.monotonic() - waits_since)
            waits_since = None
        logger.info("standing", action="standing_changed", bot_id=str(bot.id), to=reading.state, row=reading.row)

    if identity.has_to_sign_in:
        result = await _sign_in(context, platform, link, page, identity, on_state)
        if not isinstance(result, Identity):
            return result
        identity = result
        on_identity(identity)
    admission = await join(
        platform,
        page,
        platform.with_token(link, identity.token) if identity.token else link,
        name=bot.config.bot_name,
        limits=limits,
        clock=context.clock,
        on_state=on_state,
        noted=noted,
        signed_in=identity.signed_in,
    )
    if limits.waited_outside and was_shown_out(platform, admission.reading):
        return Refused(reason=StopReason.REQUEST_DENIED, row=admission.reading.row)
    return outcome_of(admission)


def was_shown_out(platform: Platform, reading: Reading) -> bool:
    """Return whether the site led the page to another host. For a bot that waited to be let in this is a refusal, and
    not a check against robots or a fault of the site."""
    return reading.state in _LED_AWAY and names_no_meeting(platform.parse_link, reading.url)


async def until_entered(
    entry: Coroutine[Any, Any, Outcome | None], page: MeetingPage, commands: Commands, journal: Journal
) -> Outcome | None:
    """Wait for the end of `enter`; a stop, a cut-off or the death of the page ends the wait at once."""
    join_task = asyncio.ensure_future(entry)
    interruptions: dict[asyncio.Future[Any], Callable[[], Outcome]] = {
        asyncio.ensure_future(event.wait()): outcome
        for event, outcome in (
            (commands.stop, lambda: Refused(reason=StopReason.MANUALLY_STOPPED, row="order.stop")),
            (commands.cut_off, CutOff),
            (commands.moved, Moved),
            (page.gone, lambda: ended_by(page.gone_by)),
        )
    }
    try:
        while True:
            finished_tasks, _ = await asyncio.wait(
                {join_task, *interruptions}, timeout=ASK_ROW_EVERY_S, return_when=asyncio.FIRST_COMPLETED
            )
            if join_task in finished_tasks:
                return join_task.result()
            if finished_tasks:
                return interruptions[finished_tasks.pop()]()
            await journal.write_troubles()
            if await journal.is_stop_requested():
                commands.stop.set()
    finally:
        for task in (*interruptions, join_task):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError, PageError):
            await join_task


async def _sign_in(
    context: BotContext,
    platform: Platform,
    link: MeetingLink,
    page: MeetingPage,
    identity: Identity,
    on_state: Callable[[Reading], None],
) -> Identity | Outcome:
    # The returned identity has the state that the site gave for the password, which is sealed already.
    assert identity.credentials is not None, "there is a password to try"
    assert identity.meeting_account is not None, "a password comes with its account"
    if platform.accounts.pages is None:
        return SignInNeeded(row="account.no_sign_in_pages")
    pages = platform.accounts.pages
    end = await sign_in(
        pages,
        page,
        identity.credentials,
        clock=context.clock,
        on_state=on_state,
        led_by=link.url if pages.owns(identity.asked_at) else "",
    )
    if (outcome := outcome_of_sign_in(end)) is not None:
        return outcome
    bot, account = context.journal.bot, identity.meeting_account
    state = await page.storage_state()
    ids = {"bot_id": str(bot.id), "meeting_account_id": str(account)}
    logger.info("signed in", action="signed_in", row=end.reading.row, **ids)
    try:
        await context.accounts.renew_state(account, bot.account_id, state)
    except NotFound as error:  # the account was removed meanwhile: this bot goes on, the next one cannot
        logger.warning("state not kept", action="renewal_failed", why=str(error), **ids)
    return replace(identity, storage_state=state, credentials=None)
