"""The store of identities: who people are at an OpenID provider."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from sederunt.database import tables as t
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.queries import id_parameter


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonIdentity:
    """A subject of a provider, and the person whom it signs in."""

    issuer: str
    subject: str
    person_id: UUID
    made: bool  # the identity created the person; False: an existing person linked it


class Identities:
    """The identities of all accounts' people."""

    def __init__(self, database: Database) -> None:
        self._database = database
        columns = t.identities.c
        identities = select(columns.issuer, columns.subject, columns.person_id, columns.made)
        self._one = database.query(
            identities.where(columns.issuer == bindparam("issuer"), columns.subject == bindparam("subject"))
        )
        self._of_person = database.query(identities.where(columns.person_id == id_parameter("person")))
        self._email = database.query(select(t.people.c.id).where(t.people.c.email == bindparam("email")))

    async def get(self, issuer: str, subject: str) -> PersonIdentity | None:
        """Return the person whom a subject signs in; None if the subject is new."""
        row = await self._one.first(issuer=issuer, subject=subject)
        return PersonIdentity(**{**row, "made": bool(row["made"])}) if row else None

    async def of(self, person_id: UUID) -> list[PersonIdentity]:
        """Return the identities of one person."""
        rows = await self._of_person.all(person=person_id)
        return [PersonIdentity(**{**row, "made": bool(row["made"])}) for row in rows]

    async def link(self, issuer: str, subject: str, person_id: UUID) -> bool:
        """Let a subject sign in an existing person; False if it signs in somebody already."""
        try:
            async with self._database.begin() as connection:
                await connection.execute(insert(t.identities).values(self._row(issuer, subject, person_id, made=False)))
        except IntegrityError:
            return False
        return True

    async def unlink(self, issuer: str, person_id: UUID) -> bool:
        """Delete a person's linked identities at a provider; False if there were none. Those that created the person
        stay.
        """
        conditions = (
            t.identities.c.issuer == issuer,
            t.identities.c.person_id == person_id,
            t.identities.c.made.is_(False),
        )
        async with self._database.begin() as connection:
            return bool((await connection.execute(delete(t.identities).where(*conditions))).rowcount)

    async def add_person(
        self, issuer: str, subject: str, *, name: str, email: str | None, account_id: UUID, role: str
    ) -> bool:
        """Store a person who signs in for the first time, with their role; False if they exist by now.

        An e-mail address that another person has is left out: nobody becomes another person by giving the same address.
        """
        now = self._database.clock.now()
        person_id = new_id(now)
        is_taken = email is None or await self._email.first(email=email) is not None
        person = {"id": person_id, "name": name, "email": None if is_taken else email, "created_at": now}
        try:
            async with self._database.begin() as connection:
                await connection.execute(insert(t.people).values(person))
                await connection.execute(
                    insert(t.members).values(person_id=person_id, account_id=account_id, role=role)
                )
                await connection.execute(insert(t.identities).values(self._row(issuer, subject, person_id, made=True)))
        except IntegrityError:
            return False
        return True

    def _row(self, issuer: str, subject: str, person_id: UUID, *, made: bool) -> dict[str, object]:
        identity = PersonIdentity(issuer=issuer, subject=subject, person_id=person_id, made=made)
        values: dict[str, object] = {name: getattr(identity, name) for name in identity.__slots__}
        return {**values, "created_at": self._database.clock.now()}
