"""Store the accounts that bots sign in with at a meeting site: a browser's state, or an address and a password.

If a site takes a short-lived token instead, the caller sends it with the bot, and it is sealed in the bot's own row.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sederunt import log
from sederunt.accounts.sealing import Sealer
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.paging import ListPage, ListPageRequest
from sederunt.database.vault import ListedMeetingAccount, MeetingAccountRow, Vault
from sederunt.errors import InvalidConfig
from sederunt.model.bot import Service
from sederunt.platforms.registry import services_taking
from sederunt.platforms.sign_in_pages import AccountKind

logger = log.get(component="accounts")

_PLACE = ("meeting_accounts", "secret")


def no_accounts(service: Service) -> str:
    """Say that a service has no meeting accounts, and which do."""
    services = " and ".join(services_taking(AccountKind.SESSION))
    token = "; its bots take a token in authentication.zoom_zak_token" * (service in services_taking(AccountKind.TOKEN))
    return f"Meeting accounts exist for {services}, not for {service}{token}."


class AccountVerdict(StrEnum):
    """A site's answer when a meeting account was tried there."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    PERSON_NEEDED = "person_needed"
    UNCLEAR = "unclear"

    @property
    def sentence(self) -> str:
        """Return a sentence for people that says what to do."""
        return _SENTENCES[self]


_SENTENCES: Mapping[AccountVerdict, str] = {
    AccountVerdict.ACCEPTED: "The site knows this account: bots can sign in with it.",
    AccountVerdict.REJECTED: "The site does not let this account in any more: sign it in again.",
    AccountVerdict.PERSON_NEEDED: "The site asks for something that only a person can answer: sign it in yourself.",
    AccountVerdict.UNCLEAR: "The site could not be reached, or showed a page that says neither yes nor no.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class MeetingAccount:
    """A meeting account as lists show it."""

    id: UUID  # the `account_id` of a bot's `authentication`
    account_id: UUID  # the tenant
    service: Service
    email: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SignIn:
    """What a browser needs to sign in with an account: a state, a password, or both."""

    service: Service
    email: str
    password: str | None = field(default=None, repr=False)
    state: Mapping[str, Any] | None = field(default=None, repr=False)  # Playwright's storage state


class MeetingAccounts:
    """The meeting accounts of all tenants; each call names its tenant."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._vault = Vault(database)
        self._sealer = sealer
        self._clock = database.clock

    async def add(self, account_id: UUID, sign_in: SignIn, *, most: float = math.inf) -> MeetingAccount:
        """Store an account. Raises InvalidConfig for a service without sign-in, or without password and state;
        LimitReached if the tenant has `most` meeting accounts.
        """
        if sign_in.service not in services_taking(AccountKind.SESSION):
            raise InvalidConfig({"service": [no_accounts(sign_in.service)]})
        if sign_in.password is None and sign_in.state is None:
            raise InvalidConfig({"password": ["Give a password, or the state of a browser that is signed in."]})
        now = self._clock.now()
        row_id = new_id(now)
        row = MeetingAccountRow(
            id=row_id,
            account_id=account_id,
            service=sign_in.service,
            email=sign_in.email,
            secret=self._sealer.seal(_text(sign_in), *_PLACE, row_id),
            created_at=now,
            updated_at=now,
        )
        await self._vault.add_meeting_account(row, most=most)
        logger.info("A meeting account was added.", action="meeting_account_added", meeting_account_id=str(row_id))
        return _shown(row)

    async def keep_state(self, account_id: UUID, sign_in: SignIn) -> MeetingAccount:
        """Store the state of a signed-in browser; it replaces that of an account with this service and address."""
        assert sign_in.state is not None, "there is a state to keep"
        for meeting_account in await self.of(account_id):
            if (meeting_account.service, meeting_account.email) == (sign_in.service, sign_in.email):
                await self.renew_state(meeting_account.id, account_id, sign_in.state)
                return await self.get(meeting_account.id, account_id)
        return await self.add(account_id, sign_in)

    async def of(self, account_id: UUID) -> list[MeetingAccount]:
        """Return the tenant's meeting accounts, oldest first."""
        return [_shown(row) for row in await self._vault.meeting_accounts(account_id)]

    async def page(self, account_id: UUID, page: ListPageRequest) -> ListPage[MeetingAccount]:
        """Return a page of the tenant's meeting accounts. Raises InvalidConfig for a cursor that is not ours."""
        row_page = await self._vault.meeting_account_page(account_id, page)
        return ListPage(items=[_shown(row) for row in row_page.items], cursor=row_page.cursor)

    async def get(self, meeting_account_id: UUID, account_id: UUID) -> MeetingAccount:
        """Return a meeting account without its secrets. Raises NotFound."""
        return _shown(await self._vault.meeting_account(meeting_account_id, account_id))

    async def open(self, meeting_account_id: UUID, account_id: UUID) -> SignIn:
        """Return a meeting account with its secrets. Raises NotFound, SetupError if the sealing key is gone."""
        row = await self._vault.meeting_account(meeting_account_id, account_id)
        secret = json.loads(self._sealer.open(row.secret, *_PLACE, row.id))
        return SignIn(service=Service(row.service), email=row.email, **secret)

    async def renew_state(self, meeting_account_id: UUID, account_id: UUID, state: Mapping[str, Any]) -> None:
        """Store the browser's state after a visit: sites prolong a sign-in that is used. Raises NotFound."""
        sign_in = await self.open(meeting_account_id, account_id)
        new_sign_in = SignIn(service=sign_in.service, email=sign_in.email, password=sign_in.password, state=state)
        sealed = self._sealer.seal(_text(new_sign_in), *_PLACE, meeting_account_id)
        await self._vault.renew_meeting_account(meeting_account_id, account_id, sealed)

    async def remove(self, meeting_account_id: UUID, account_id: UUID) -> None:
        """Remove a meeting account. Raises NotFound."""
        await self._vault.remove_meeting_account(meeting_account_id, account_id)
        logger.info(
            "A meeting account was removed.",
            action="meeting_account_removed",
            meeting_account_id=str(meeting_account_id),
        )


def _text(sign_in: SignIn) -> str:
    return json.dumps({"password": sign_in.password, "state": sign_in.state})


def _shown(row: ListedMeetingAccount) -> MeetingAccount:
    return MeetingAccount(
        id=row.id,
        account_id=row.account_id,
        service=Service(row.service),
        email=row.email,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
