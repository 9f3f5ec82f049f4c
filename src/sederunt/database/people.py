"""The store of people: their accounts and roles, sessions, sign-in links, and the audit log."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Integer, bindparam, delete, exists, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError

from sederunt.database import tables as t
from sederunt.database.columns import Moment
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.paging import ListPage, ListPageRequest, read_page
from sederunt.database.queries import id_parameter
from sederunt.database.row_limits import refuse_more_rows
from sederunt.errors import Conflict, InvalidConfig, NotFound


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody with a role in an account."""

    id: UUID
    email: str | None
    name: str
    has_password: bool
    has_identity: bool  # signs in by an OpenID provider
    created_at: datetime
    account_id: UUID
    account_name: str
    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A link that signs a person in once."""

    account_id: UUID
    person_id: UUID | None
    name: str
    role: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """An entry of the audit log."""

    id: int
    at: datetime
    who: str
    by_person: bool
    action: str
    target: str | None


class People:
    """People and their sessions. Tokens arrive as digests, so nothing here could sign anybody in."""

    def __init__(self, database: Database) -> None:
        self._database = database
        people, members = t.people.c, t.members.c
        person = (
            select(
                people.id,
                people.email,
                people.name,
                people.password_hash.is_not(None).label("has_password"),
                exists().where(t.identities.c.person_id == people.id).label("has_identity"),
                people.created_at,
                members.account_id,
                t.accounts.c.name.label("account_name"),
                members.role,
            )
            .join_from(t.people, t.members, members.person_id == people.id)
            .join(t.accounts, t.accounts.c.id == members.account_id)
        )
        self._member = database.query(
            person.where(members.account_id == id_parameter("account"), people.id == id_parameter("id"))
        )
        self._persons = person
        self._of_account = database.query(
            person.where(members.account_id == id_parameter("account")).order_by(people.created_at, people.id)
        )
        self._of_person = database.query(person.where(people.id == id_parameter("id")).order_by(t.accounts.c.name))
        self._session = database.query(
            person.join(
                t.sessions, (t.sessions.c.person_id == people.id) & (t.sessions.c.account_id == members.account_id)
            ).where(
                t.sessions.c.digest == bindparam("digest", type_=t.sessions.c.digest.type),
                t.sessions.c.expires_at > bindparam("now", type_=Moment()),
            )
        )
        self._password = database.query(
            select(people.id, people.password_hash).where(people.email == bindparam("email"))
        )
        self._began = database.query(
            select(t.sessions.c.created_at).where(
                t.sessions.c.digest == bindparam("digest", type_=t.sessions.c.digest.type)
            )
        )
        self._own_password = database.query(select(people.password_hash).where(people.id == id_parameter("id")))
        self._link = database.query(
            select(*(column for column in t.sign_in_links.c if column.key != "digest")).where(
                t.sign_in_links.c.digest == bindparam("digest", type_=t.sign_in_links.c.digest.type),
                t.sign_in_links.c.expires_at > bindparam("now", type_=Moment()),
            )
        )
        self._count = database.query(select(func.count().label("people")).select_from(t.people))
        self._deeds = database.query(
            select(*(column for column in t.audit.c if column.key != "account_id"))
            .where(
                t.audit.c.account_id == id_parameter("account"), t.audit.c.id < bindparam("before", type_=BigInteger())
            )
            .order_by(t.audit.c.id.desc())
            .limit(bindparam("most", type_=Integer()))
        )

    async def any(self) -> bool:
        """Return whether any person exists."""
        row = await self._count.first()
        return bool(row and row["people"])

    async def of_account(self, account_id: UUID) -> list[Person]:
        """Return the people with a role in an account, oldest first."""
        return [_person(row) for row in await self._of_account.all(account=account_id)]

    async def member_page(self, account_id: UUID, page: ListPageRequest) -> ListPage[Person]:
        """Return a page of the people with a role in an account. Raises InvalidConfig for a foreign cursor."""
        members = self._persons.where(t.members.c.account_id == account_id)
        return await read_page(self._database, members, t.people, page, _person)

    async def member(self, person_id: UUID, account_id: UUID) -> Person:
        """Return a person with a role in an account. Raises NotFound."""
        row = await self._member.first(id=person_id, account=account_id)
        if row is None:
            raise unknown_member()
        return _person(row)

    async def of_person(self, person_id: UUID) -> list[Person]:
        """Return one person in each of their accounts."""
        return [_person(row) for row in await self._of_person.all(id=person_id)]

    async def of_session(self, digest: bytes) -> Person | None:
        """Return a session's person and account; None if the session is over."""
        row = await self._session.first(digest=digest, now=self._now())
        return _person(row) if row else None

    async def session_began(self, digest: bytes) -> datetime | None:
        """Return when the session began; None if it is over."""
        row = await self._began.first(digest=digest)
        return row["created_at"] if row else None

    async def password_hash(self, email: str) -> tuple[UUID, str] | None:
        """Return (person, hash) for an address; None if it is unknown, or its person has no password."""
        row = await self._password.first(email=email)
        return (row["id"], row["password_hash"]) if row and row["password_hash"] else None

    async def password_of(self, person_id: UUID) -> str | None:
        """Return the hash of a person's password; None if they have none."""
        row = await self._own_password.first(id=person_id)
        return row["password_hash"] if row else None

    async def add(self, name: str, account_id: UUID, role: str) -> UUID:
        """Store a new person with a role in an account."""
        person_id = new_id(self._now())
        async with self._database.begin() as connection:
            await connection.execute(insert(t.people).values(id=person_id, name=name, created_at=self._now()))
            await connection.execute(insert(t.members).values(person_id=person_id, account_id=account_id, role=role))
        return person_id

    async def add_member(self, person_id: UUID, account_id: UUID, role: str) -> None:
        """Give a person a role in another account."""
        async with self._database.begin() as connection:
            await connection.execute(insert(t.members).values(person_id=person_id, account_id=account_id, role=role))

    async def change(self, person_id: UUID, **values: str) -> None:
        """Write name, email or password_hash. Raises InvalidConfig if another person has the address."""
        try:
            async with self._database.begin() as connection:
                await connection.execute(update(t.people).where(t.people.c.id == person_id).values(values))
        except IntegrityError:
            raise InvalidConfig({"email": ["Somebody else has this address."]}) from None

    async def change_role(self, person_id: UUID, account_id: UUID, role: str | None) -> None:
        """Change a person's role; None removes them from the account. Raises NotFound, Conflict for the last owner."""
        conditions = (t.members.c.person_id == person_id, t.members.c.account_id == account_id)
        of_account = select(t.members).where(t.members.c.account_id == account_id).with_for_update()
        async with self._database.begin() as connection:
            members = {row.person_id: row.role for row in (await connection.execute(of_account)).all()}
            if person_id not in members:
                raise unknown_member()
            owners = [member for member, member_role in members.items() if member_role == "owner"]
            if owners == [person_id] and role != "owner":
                raise Conflict("An account needs an owner: make somebody else one first.")
            if role is not None:
                await connection.execute(update(t.members).where(*conditions).values(role=role))
                return
            await connection.execute(delete(t.members).where(*conditions))
            sessions = t.sessions.c
            session_conditions = (sessions.person_id == person_id, sessions.account_id == account_id)
            await connection.execute(delete(t.sessions).where(*session_conditions))

    async def add_session(self, digest: bytes, person_id: UUID, account_id: UUID, expires_at: datetime) -> None:
        """Store the session of a person who signed in. Deletes expired sessions."""
        values = {"person_id": person_id, "account_id": account_id, "created_at": self._now(), "expires_at": expires_at}
        async with self._database.begin() as connection:
            await connection.execute(delete(t.sessions).where(t.sessions.c.expires_at <= self._now()))
            await connection.execute(insert(t.sessions).values(digest=digest, **values))

    async def end_session(self, digest: bytes) -> None:
        """Delete a session."""
        async with self._database.begin() as connection:
            await connection.execute(delete(t.sessions).where(t.sessions.c.digest == digest))

    async def end_sessions(self, person_id: UUID, *, but: bytes = b"") -> None:
        """Delete every session of a person, or all but one.

        Args:
            but: digest of the session that stays.
        """
        sessions = t.sessions.c
        async with self._database.begin() as connection:
            await connection.execute(delete(t.sessions).where(sessions.person_id == person_id, sessions.digest != but))

    async def add_link(self, digest: bytes, link: Link, *, most: float = math.inf) -> None:
        """Store a sign-in link. Deletes expired links.

        Raises LimitReached if the account has `most` people and links.
        """
        values = {name: getattr(link, name) for name in link.__slots__}
        async with self._database.begin() as connection:
            await connection.execute(delete(t.sign_in_links).where(t.sign_in_links.c.expires_at <= self._now()))
            everybody = ((t.members, true()), (t.sign_in_links, true()))
            await refuse_more_rows(connection, "members", most, link.account_id, *everybody)
            await connection.execute(insert(t.sign_in_links).values(digest=digest, **values))

    async def link(self, digest: bytes) -> Link | None:
        """Return a sign-in link; None if it was used or has expired."""
        row = await self._link.first(digest=digest, now=self._now())
        return Link(**row) if row else None

    async def use_link(self, digest: bytes) -> bool:
        """Use up a link. Returns whether it was still unused."""
        async with self._database.begin() as connection:
            statement = delete(t.sign_in_links).where(t.sign_in_links.c.digest == digest)
            return bool((await connection.execute(statement)).rowcount)

    async def note(self, account_id: UUID, who: str, action: str, target: str | None, *, by_person: bool) -> None:
        """Write an entry of the audit log."""
        deed = {"who": who, "by_person": by_person, "action": action, "target": target}
        async with self._database.begin() as connection:
            await connection.execute(insert(t.audit).values(account_id=account_id, at=self._now(), **deed))

    async def deeds(self, account_id: UUID, *, before: int | None = None, limit: int = 100) -> list[Deed]:
        """Return the audit log of an account, newest first."""
        rows = await self._deeds.all(account=account_id, before=before or 2**62, most=limit)
        return [Deed(**{**row, "by_person": bool(row["by_person"])}) for row in rows]

    def _now(self) -> datetime:
        return self._database.clock.now()


def unknown_member() -> NotFound:
    """Return the error for a person who does not exist, or has no role in the account."""
    return NotFound("There is nobody with this id in the account.")


def _person(row: Mapping[str, Any]) -> Person:
    flags = {name: bool(row[name]) for name in ("has_password", "has_identity")}
    return Person(**{**row, **flags})
