"""In at the door: sign in where a password has to, then join; one page, one try."""

from collections.abc import Callable, Collection
from dataclasses import replace

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.errors import NotFound
from sederunt.meetings.context import BotContext
from sederunt.meetings.join.identity import Identity
from sederunt.meetings.outcomes import Outcome, SignInNeeded, outcome_of, outcome_of_sign_in
from sederunt.model.bot import Bot
from sederunt.platforms.admission import join
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.page_state import Reading
from sederunt.platforms.platform import Platform
from sederunt.platforms.sign_in import sign_in

logger = log.get(component="meetings")


async def enter(
    bot: Bot,
    context: BotContext,
    platform: Platform,
    link: MeetingLink,
    page: MeetingPage,
    identity: Identity,
    *,
    on_state: Callable[[Reading], None],
    on_identity: Callable[[Identity], None],
    noted: Callable[[], Collection[str]],
) -> Outcome | None:
    """None once inside, else how it ended. `on_identity` hears as whom the page enters once it has signed in.

    The meeting is opened in the tab that signed in: a fresh one races the site's silent sign-in and is taken for a
    guest's (platforms.md, B2). Raises PageError.
    """
    if identity.has_to_sign_in:
        known = await _sign_in(bot, context, platform, page, identity, on_state)
        if not isinstance(known, Identity):
            return known
        identity = known
        on_identity(identity)
    admission = await join(
        platform,
        page,
        platform.with_token(link, identity.token) if identity.token else link,
        name=bot.config.bot_name,
        waiting_room_s=bot.config.stop_options.waiting_room_timeout * 60,
        clock=context.clock,
        on_state=on_state,
        noted=noted,
        signed_in=identity.signed_in,
    )
    return outcome_of(admission)


async def _sign_in(
    bot: Bot,
    context: BotContext,
    platform: Platform,
    page: MeetingPage,
    identity: Identity,
    on_state: Callable[[Reading], None],
) -> Identity | Outcome:
    """The identity with the state that the site gave for the password, sealed already; or how it ended."""
    assert identity.credentials is not None, "there is a password to try"
    assert identity.meeting_account is not None, "a password comes with its account"
    if platform.accounts.pages is None:
        return SignInNeeded(row="account.no_sign_in_pages")
    end = await sign_in(platform.accounts.pages, page, identity.credentials, clock=context.clock, on_state=on_state)
    if (ended := outcome_of_sign_in(end)) is not None:
        return ended
    state = await page.storage_state()
    account = str(identity.meeting_account)
    logger.info("signed in", action="signed_in", bot_id=str(bot.id), meeting_account_id=account, row=end.reading.row)
    try:
        await context.accounts.renew_state(identity.meeting_account, bot.account_id, state)
    except NotFound as error:  # removed meanwhile: this bot goes on, the next one will not
        logger.warning("state not kept", action="renewal_failed", bot_id=str(bot.id), why=str(error))
    return replace(identity, storage_state=state, credentials=None)
