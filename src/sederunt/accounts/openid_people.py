"""Sign people in by an OpenID provider: known people, and new ones whom the operator's rules admit."""

from contextlib import suppress
from uuid import UUID

from sederunt import log
from sederunt.accounts.openid_rules import Claims, Membership, membership_of, name_of, verified_email
from sederunt.accounts.sign_in import SignIns
from sederunt.database.accounts import Accounts
from sederunt.database.engine import Database
from sederunt.database.identities import Identities, PersonIdentity
from sederunt.database.people import Person
from sederunt.errors import Conflict, Forbidden, NotFound, SignInFailed
from sederunt.settings import OidcSettings

logger = log.get(component="accounts")


class OpenIdPeople:
    """Lets people in by their identity at the provider."""

    def __init__(self, settings: OidcSettings, database: Database, sign_ins: SignIns) -> None:
        self._settings, self._database, self._sign_ins = settings, database, sign_ins
        self.identities, self._accounts = Identities(database), Accounts(database)

    async def enter(self, issuer: str, claims: Claims) -> str:
        """Return a session token for the person whom the claims describe. Raises Forbidden if no rule admits them."""
        membership = membership_of(self._settings, claims)
        account_id = await self._account_of(membership) if membership is not None else None
        identity = await self.identities.get(issuer, claims["sub"])
        if identity is None and membership is not None and account_id is not None:
            identity = await self._first_time(issuer, claims, account_id, membership.role.value)
        elif identity is not None and identity.made:
            await self._follow(identity.person_id, account_id, membership)
        places = await self._sign_ins.people.of_person(identity.person_id) if identity is not None else []
        if identity is not None and identity.made:
            places = [place for place in places if place.account_id == account_id]
        if identity is None or not places:
            logger.info("a provider's subject is nobody here", action="openid_nobody", issuer=issuer)
            raise Forbidden(
                f"You are signed in at {self._settings.name}, and have no place here. Ask an owner for a link; with "
                "it you can connect your sign-in under People."
            )
        logger.info("somebody came by a provider", action="openid_signed_in", person_id=str(identity.person_id))
        return await self._sign_ins.begin(identity.person_id, places[0].account_id)

    async def link(self, issuer: str, claims: Claims, person: Person) -> None:
        """Link a subject to a person who is signed in. Raises Conflict if it is linked to somebody else."""
        identity = await self.identities.get(issuer, claims["sub"])
        if identity is not None and identity.person_id == person.id:
            return
        if identity is not None or not await self.identities.link(issuer, claims["sub"], person.id):
            raise Conflict("This sign-in belongs to somebody else here already.")
        await self._sign_ins.people.note(person.account_id, person.name, "linkIdentity", issuer, by_person=True)

    async def _first_time(self, issuer: str, claims: Claims, account_id: UUID, role: str) -> PersonIdentity | None:
        name, email = name_of(claims), verified_email(claims)
        is_added = await self.identities.add_person(
            issuer, claims["sub"], name=name, email=email, account_id=account_id, role=role
        )
        if is_added:
            await self._sign_ins.people.note(account_id, name, "joinByIdentity", issuer, by_person=True)
        return await self.identities.get(issuer, claims["sub"])

    async def _follow(self, person_id: UUID, account_id: UUID | None, membership: Membership | None) -> None:
        """Change the roles of a person who came by the provider to what its claims give now.

        An account keeps its last owner, whatever the claims say.
        """
        people = self._sign_ins.people
        for place in await people.of_person(person_id):
            if place.account_id != account_id:
                with suppress(Conflict):
                    await people.change_role(person_id, place.account_id, None)
        if membership is None or account_id is None:
            await people.end_sessions(person_id)
            return
        try:
            with suppress(Conflict):
                await people.change_role(person_id, account_id, membership.role.value)
        except NotFound:
            await people.add_member(person_id, account_id, membership.role.value)

    async def _account_of(self, membership: Membership) -> UUID:
        if membership.account is None:
            return self._database.default_account_id
        accounts = [account for account in await self._accounts.all() if account.name == membership.account]
        if len(accounts) != 1:
            raise SignInFailed(
                f"The sign-in is not set up right: there {'is no account' if not accounts else 'are several accounts'} "
                f"named {membership.account!r}. Tell whoever runs this installation."
            )
        return accounts[0].id
