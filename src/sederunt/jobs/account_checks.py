"""Checks whether a meeting account can still sign in: in a browser of a host, at the site itself, as a bot would."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from sederunt import log
from sederunt.accounts.meeting_accounts import AccountVerdict, MeetingAccounts, SignIn
from sederunt.browser.page import MeetingPage
from sederunt.browser.page_request import PageRequest
from sederunt.bus.streams import account_check_subject
from sederunt.errors import PageError, SetupError
from sederunt.jobs.context import WorkerContext
from sederunt.meetings.join.page_request import browser_mode
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.registry import platform_of
from sederunt.platforms.sign_in import Credentials, recognised, sign_in
from sederunt.platforms.sign_in_pages import SignInPages

MOST = 2  # concurrent checks of one host; each has its own browser
CHECK_S = 120.0

_VERDICTS: Mapping[PageState, AccountVerdict] = {
    PageState.SIGNED_IN: AccountVerdict.ACCEPTED,
    PageState.SIGN_IN_REJECTED: AccountVerdict.REJECTED,
    PageState.DIALOG: AccountVerdict.REJECTED,  # nothing was typed, and the site asks who we are
    PageState.SIGN_IN_NEEDED: AccountVerdict.PERSON_NEEDED,
    PageState.CHALLENGED: AccountVerdict.PERSON_NEEDED,
}

logger = log.get(component="jobs")


class AccountChecks:
    """The checks of one host."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._accounts = MeetingAccounts(context.database, context.sealer)
        self._running = 0

    async def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Try an account. Returns the verdict and the row of evidence that decided. A state that worked is kept."""
        if self._running >= MOST:
            return {"message": "Other accounts are being checked on this host: try again in a minute."}
        account_id, meeting_account_id = UUID(request["account_id"]), UUID(request["meeting_account_id"])
        saved_account = await self._accounts.open(meeting_account_id, account_id)
        self._running += 1
        try:
            async with asyncio.timeout(CHECK_S):
                reading = await self._tried(saved_account, meeting_account_id, account_id)
        except (PageError, SetupError, TimeoutError) as error:
            logger.warning("an account could not be checked", action="account_unchecked", why=str(error))
            reading = Reading(state=PageState.TROUBLE, row="account.unreachable")
        finally:
            self._running -= 1
        verdict = _VERDICTS.get(reading.state, AccountVerdict.UNCLEAR)
        ids = {"meeting_account_id": str(meeting_account_id)}
        logger.info("an account was checked", action="account_checked", verdict=verdict, row=reading.row, **ids)
        return {"verdict": verdict, "row": reading.row}

    async def _tried(self, saved_account: SignIn, meeting_account_id: UUID, account_id: UUID) -> Reading:
        """Return what the site says: with the stored browser state, or, if that is void, with the password."""
        pages = platform_of(saved_account.service).accounts.pages
        reading = Reading(state=PageState.LOADING, row="account.no_sign_in_pages")
        if pages is None:
            return reading
        for state in [saved_account.state] * (saved_account.state is not None) + [None] * (
            saved_account.password is not None
        ):
            async with self._page(meeting_account_id, account_id, state) as page:
                reading = await _read(pages, page, saved_account, self._context, by_password=state is None)
                if reading.state is PageState.SIGNED_IN:
                    await self._accounts.renew_state(meeting_account_id, account_id, await page.storage_state())
                    break
        return reading

    @asynccontextmanager
    async def _page(
        self, meeting_account_id: UUID, account_id: UUID, state: Mapping[str, Any] | None
    ) -> AsyncIterator[MeetingPage]:
        assert self._context.pool is not None, "hosts have browsers"
        mode = browser_mode(self._context.settings.browser)
        request = PageRequest(
            bot_id=meeting_account_id,
            account_id=account_id,
            mode=mode,
            watch={},
            hosts=(),
            storage_state=state,
            signs_in=True,
        )
        page = await self._context.pool.open(request, on_frames=lambda _frames: None, on_signal=lambda _signal: None)
        try:
            yield page
        finally:
            await page.close()


async def _read(
    pages: SignInPages, page: MeetingPage, saved_account: SignIn, context: WorkerContext, *, by_password: bool
) -> Reading:
    if not by_password:
        return await recognised(pages, page, clock=context.clock)
    credentials = Credentials(email=saved_account.email, password=saved_account.password or "")
    end = await sign_in(pages, page, credentials, clock=context.clock, on_state=lambda _reading: None)
    return end.reading


@asynccontextmanager
async def serving_account_checks(context: WorkerContext) -> AsyncIterator[None]:
    """Check accounts while the block runs."""
    subscription = await context.bus.serve(account_check_subject(context.name), AccountChecks(context).answer)
    try:
        yield
    finally:
        await subscription.close()
