"""As whom a bot enters: a guest, an account whose browser state is kept sealed, or the holder of a Zoom token.

Nothing of it touches the disk: state goes from its sealed row into the browser's memory, and back when the site has
prolonged it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from sederunt import log
from sederunt.errors import NotFound, PageError
from sederunt.model.bot import Bot, Service

logger = log.get(room="meetings")


class SignIn(Protocol):
    """An opened meeting account."""

    @property
    def state(self) -> Mapping[str, Any] | None: ...


class MeetingAccounts(Protocol):
    """Where meeting accounts are kept; every question names the tenant."""

    async def open(self, meeting_account_id: UUID, account_id: UUID) -> SignIn: ...

    async def renew_state(self, meeting_account_id: UUID, account_id: UUID, state: Mapping[str, Any]) -> None: ...


class Stateful(Protocol):
    """A page that can tell its storage state."""

    async def storage_state(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """As whom one page enters."""

    meeting_account: UUID | None = None
    state: Mapping[str, Any] | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)  # for the address, Zoom

    @property
    def signed_in(self) -> bool:
        return self.state is not None or self.token is not None


GUEST = Identity()


class NoIdentity(Exception):
    """The caller gave nothing to sign in with; the text names why, where an account was named."""


class VoidIdentity(Exception):
    """What the caller gave cannot sign in any more; the text names the row that says so."""


async def identity_of(bot: Bot, accounts: MeetingAccounts) -> Identity:
    """The bot's own identity. Raises NoIdentity, VoidIdentity."""
    given = bot.config.authentication
    if given is None:
        raise NoIdentity
    if bot.config.service is Service.ZOOM:
        if given.zoom_zak_token is None:
            raise NoIdentity
        return Identity(token=given.zoom_zak_token)
    if given.account_id is None:
        raise NoIdentity
    try:
        meeting_account = UUID(given.account_id)
        opened = await accounts.open(meeting_account, bot.account_id)
    except (ValueError, NotFound):
        raise VoidIdentity("account.gone") from None
    if opened.state is None:
        # An address and a password alone: nobody has refused them, they were never tried. `accounts login` tries.
        raise NoIdentity("account.never_signed_in")
    return Identity(meeting_account=meeting_account, state=opened.state)


async def renew(bot: Bot, identity: Identity, page: Stateful, accounts: MeetingAccounts) -> None:
    """Keep what the site has made of the state: it prolongs a sign-in that is used. Never raises for a lost page."""
    if identity.meeting_account is None:
        return
    try:
        await accounts.renew_state(identity.meeting_account, bot.account_id, await page.storage_state())
    except (PageError, NotFound) as error:
        logger.warning("state not renewed", action="renewal_failed", bot_id=str(bot.id), why=str(error))
