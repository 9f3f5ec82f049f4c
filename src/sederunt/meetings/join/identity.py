"""The identity under which a bot enters: a guest, an account with sealed browser state or password, or a token holder.

None of it touches the disk: state goes from its sealed row into the browser's memory, and back when the site has
prolonged it; a password goes into the site's own field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID

from sederunt import log
from sederunt.errors import NotFound, PageError
from sederunt.model.bot import Bot, Service
from sederunt.platforms.registry import platform_of
from sederunt.platforms.sign_in import Credentials
from sederunt.platforms.sign_in_pages import AccountKind

logger = log.get(component="meetings")


class OpenedAccount(Protocol):
    """An opened meeting account."""

    @property
    def service(self) -> Service: ...

    @property
    def email(self) -> str: ...

    @property
    def password(self) -> str | None: ...

    @property
    def state(self) -> Mapping[str, Any] | None: ...


class AccountSource(Protocol):
    """The store of meeting accounts; every call names the tenant."""

    async def open(self, meeting_account_id: UUID, account_id: UUID) -> OpenedAccount: ...

    async def renew_state(self, meeting_account_id: UUID, account_id: UUID, state: Mapping[str, Any]) -> None: ...


class Stateful(Protocol):
    """A page that can return its storage state."""

    async def storage_state(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """The identity under which one page enters."""

    meeting_account: UUID | None = None
    storage_state: Mapping[str, Any] | None = field(default=None, repr=False)  # of a browser that is signed in
    credentials: Credentials | None = field(default=None, repr=False)  # used if there is no state, or an invalid one
    token: str | None = field(default=None, repr=False)  # for the meeting's address
    asked_at: str = field(default="", repr=False)  # the page on which a guest was asked to sign in

    @property
    def signed_in(self) -> bool:
        return self.storage_state is not None or self.token is not None

    @property
    def has_to_sign_in(self) -> bool:
        return self.credentials is not None and not self.signed_in

    def next_after_rejection(self, last_identity: "Identity") -> "Identity | None":
        """Return the identity with which to retry after a site called a session invalid; None to accept the rejection.

        `last_identity` is the rejected page's final identity. If stored state is invalid, the password replaces it.
        State that the password gave a moment ago is worth another page: the site's own pages race its silent sign-in.
        """
        if self.has_to_sign_in:
            return last_identity if last_identity.storage_state is not None else None
        return replace(self, storage_state=None) if self.credentials is not None else None


GUEST = Identity()


class NoIdentity(Exception):
    """The caller gave nothing to sign in with."""


class VoidIdentity(Exception):
    """What the caller gave no longer allows signing in; the text names the row that says so."""


async def identity_of(bot: Bot, accounts: AccountSource) -> Identity:
    """Return the bot's own identity. Raises NoIdentity, VoidIdentity."""
    authentication = bot.config.authentication
    if authentication is None:
        raise NoIdentity
    if platform_of(bot.config.service).accounts.kind is AccountKind.TOKEN:
        if authentication.entry_token is None:
            raise NoIdentity
        return Identity(token=authentication.entry_token)
    if authentication.meeting_account_id is None:
        raise NoIdentity
    try:
        meeting_account = UUID(authentication.meeting_account_id)
        account = await accounts.open(meeting_account, bot.account_id)
    except (ValueError, NotFound):
        raise VoidIdentity("account.gone") from None
    if account.service != bot.config.service:
        raise VoidIdentity("account.other_service")  # a password is for the site it belongs to
    password = account.password
    credentials = Credentials(email=account.email, password=password) if password is not None else None
    return Identity(meeting_account=meeting_account, storage_state=account.state, credentials=credentials)


async def renew(bot: Bot, identity: Identity, page: Stateful, accounts: AccountSource) -> None:
    """Keep the state as the site has changed it, since sites prolong a sign-in in use. Never raises for a lost page."""
    if identity.meeting_account is None:
        return
    try:
        await accounts.renew_state(identity.meeting_account, bot.account_id, await page.storage_state())
    except (PageError, NotFound) as error:
        logger.warning("state not renewed", action="renewal_failed", bot_id=str(bot.id), why=str(error))
