"""How people sign in to the console: one-time links, passwords, sessions.

A session is a random token in a cookie; the database has only its digest. The token that protects requests against
forgery is derived from it, so nothing more is stored.
"""

import hashlib
import hmac
import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from sederunt import log
from sederunt.accounting import Ledger, Rate
from sederunt.accounts.keys import EVERYTHING, Caller, Scope
from sederunt.accounts.password_hashing import LONGEST_PASSWORD, PasswordHashing
from sederunt.clock import Clock
from sederunt.database.engine import Database
from sederunt.database.identities import Identities
from sederunt.database.people import Link, People, Person
from sederunt.errors import Forbidden, InvalidConfig, NotFound
from sederunt.model.budgets import count_of

logger = log.get(component="accounts")

SESSION_FOR = timedelta(days=30)
LINK_FOR = timedelta(days=7)
FRESH_FOR = timedelta(minutes=15)  # age of a session that may change a password without the old one
SHORTEST_PASSWORD = 10
FIRST_PERSON = "Owner"


class MemberRole(StrEnum):
    """The rights of a person in an account."""

    OWNER = "owner"  # everything, people and keys included
    MEMBER = "member"  # bots and recordings
    VIEWER = "viewer"  # look


_SCOPES: Mapping[MemberRole, frozenset[Scope]] = {
    MemberRole.OWNER: EVERYTHING,
    MemberRole.MEMBER: EVERYTHING - {Scope.ADMIN},
    MemberRole.VIEWER: frozenset({Scope.READ}),
}


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person who is signed in."""

    person: Person
    csrf: str  # every request that changes something must carry it
    session: bytes  # its digest

    @property
    def role(self) -> MemberRole:
        return MemberRole(self.person.role)

    @property
    def caller(self) -> Caller:
        """Return the caller of this person's requests."""
        return Caller(
            account_id=self.person.account_id,
            key_id=None,
            name=self.person.name,
            scopes=_SCOPES[self.role],
            manages=self.role is MemberRole.OWNER,
            person_id=self.person.id,
            session=self.session,
        )


class SignIns:
    """Signs people in and out. A token is given in the clear once, to its owner."""

    def __init__(self, database: Database, ledger: Ledger | None = None) -> None:
        self._passwords = PasswordHashing(ledger or Ledger())
        self.people, self._identities = People(database), Identities(database)
        self._clock: Clock = database.clock
        self._tries = Rate.per_minute(count_of("sign_in_tries"), self._clock.monotonic)  # per person who is signed in

    async def invite(
        self,
        account_id: UUID,
        role: MemberRole,
        *,
        name: str = FIRST_PERSON,
        person_id: UUID | None = None,
        most: float = math.inf,
    ) -> str:
        """Return the token of a link that lets somebody in once: a new person, or `person_id`.

        Raises LimitReached if the account has `most` people and links.
        """
        token = secrets.token_urlsafe(24)
        expires_at = self._clock.now() + LINK_FOR
        link = Link(account_id=account_id, person_id=person_id, name=name, role=role.value, expires_at=expires_at)
        await self.people.add_link(_digest(token), link, most=most)
        return token

    async def name_on_link(self, token: str) -> str | None:
        """Return the name of the person that a link lets in; None if it was used, or is too old."""
        link = await self.people.link(_digest(token))
        return link.name if link else None

    async def accept(self, token: str) -> str:
        """Use a link; return the token of a session. Raises NotFound if it was used, or is too old."""
        link = await self.people.link(_digest(token))
        if link is None or not await self.people.use_link(_digest(token)):
            raise NotFound("This link was used already, or is too old. Ask for another one.")
        person_id = link.person_id or await self.people.add(link.name, link.account_id, link.role)
        logger.info("Somebody came by a link.", action="link_used", person_id=str(person_id))
        return await self.begin(person_id, link.account_id)

    async def sign_in(self, email: str, password: str, *, issuer: str | None = None) -> str:
        """Begin a session and return its token. Raises TooManyRequests, InvalidConfig; the error is the same for an
        unknown address, a wrong password, and a person who came by the OpenID provider `issuer`.
        """
        person_row = await self.people.password_hash(_address(email))
        is_correct = await self._passwords.fits(person_row[1] if person_row else None, password)
        is_allowed = person_row is not None and is_correct and not await self.came_by(issuer, person_row[0])
        accounts = await self.people.of_person(person_row[0]) if person_row and is_allowed else []
        if not accounts:
            logger.info("A sign-in was refused.", action="sign_in_refused")
            raise InvalidConfig({"password": ["Address and password do not fit together."]})
        logger.info("Somebody signed in.", action="signed_in", person_id=str(accounts[0].id))
        return await self.begin(accounts[0].id, accounts[0].account_id)

    async def visitor(self, token: str) -> SignedIn | None:
        """Return the person of a session; None if it is over."""
        person = await self.people.of_session(_digest(token))
        return SignedIn(person, csrf_of(token), _digest(token)) if person else None

    async def scopes_of_session(self, session: bytes, account_id: UUID) -> frozenset[Scope]:
        """Return the current scopes in an account of a session's person, by its digest; none if it is over."""
        person = await self.people.of_session(session)
        return _SCOPES[MemberRole(person.role)] if person and person.account_id == account_id else frozenset()

    async def came_by(self, issuer: str | None, person_id: UUID) -> bool:
        """Return whether a person came by this OpenID provider: then there is no other way in."""
        if issuer is None:
            return False
        return any(identity.made and identity.issuer == issuer for identity in await self._identities.of(person_id))

    async def set_password(
        self, visitor: SignedIn, email: str, name: str, password: str, current: str, *, issuer: str | None = None
    ) -> None:
        """Store a person's address, name and password, and end their other sessions.

        Raises InvalidConfig for an impossible name, address or password, and for a wrong current password, if that is
        needed; Forbidden for a person who came by the OpenID provider `issuer`.
        """
        person = visitor.person
        if await self.came_by(issuer, person.id):
            raise Forbidden("You came by your organisation's sign-in: it lets you in, and no password does beside it.")
        if await self.needs_password(visitor):
            await self._check_password(person, current)
        faults: dict[str, list[str]] = {}
        address = _address(email)
        if not 3 <= len(address) <= 320 or "@" not in address[1:-1] or any(c.isspace() for c in address):
            faults["email"] = ["email must be an address such as ada@example.org."]
        if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
            faults["password"] = [f"password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,} characters."]
        if not 1 <= len(name.strip()) <= 200:
            faults["name"] = ["name must have 1 to 200 characters."]
        if faults:
            raise InvalidConfig(faults)
        password_hash = await self._passwords.hash(password)
        await self.people.change(person.id, email=address, name=name.strip(), password_hash=password_hash)
        await self.people.end_sessions(person.id, but=visitor.session)

    async def needs_password(self, visitor: SignedIn) -> bool:
        """Return whether a person must give their password to change it, so that nobody takes over a session left open.

        A person who came by a link within `FRESH_FOR` may have forgotten it, and needs none.
        """
        began_at = await self.people.session_began(visitor.session)
        return visitor.person.has_password and (began_at is None or self._clock.now() - began_at > FRESH_FOR)

    async def _check_password(self, person: Person, password: str) -> None:
        """Raise InvalidConfig if this is not the person's password, or there were too many tries."""
        if self._tries.wait_s(person.id):
            raise InvalidConfig({"current": ["Too many tries: wait a minute."]})
        hashed = await self.people.password_of(person.id)
        if not await self._passwords.fits(hashed, password):
            raise InvalidConfig({"current": ["This is not your current password."]})

    async def sign_out(self, token: str) -> None:
        """End this session."""
        await self.people.end_session(_digest(token))

    async def begin(self, person_id: UUID, account_id: UUID) -> str:
        """Begin a session of a person who has proved their identity, and return its token."""
        token = secrets.token_urlsafe(32)
        await self.people.add_session(_digest(token), person_id, account_id, self._clock.now() + SESSION_FOR)
        return token


def csrf_of(token: str) -> str:
    """Return the token that pages of this session know, and other sites cannot."""
    return hmac.new(token.encode("utf-8", "replace"), b"sederunt csrf", hashlib.sha256).hexdigest()[:32]


def is_csrf(token: str, csrf: str) -> bool:
    """Return whether a request came from a page of this session; compared in constant time."""
    return hmac.compare_digest(csrf_of(token).encode(), csrf.encode("utf-8", "replace"))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _address(email: str) -> str:
    return email.strip().casefold()
