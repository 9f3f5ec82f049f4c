"""First answers: the responses to requests with an Idempotency-Key, kept with what the requests created."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Text, Uuid, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.columns import Moment
from sederunt.database.engine import Database
from sederunt.errors import Conflict


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstAnswer:
    """The response to one request, and what identifies a repeat of the request."""

    account_id: UUID
    key: str
    fingerprint: bytes  # of the request
    resource_id: UUID
    body: str | None  # JSON; None: the resource is deleted
    expires_at: datetime


class AnsweredBefore(Conflict):
    """Another request with the same key was first."""

    def __init__(self) -> None:
        super().__init__("Another request with this Idempotency-Key is being answered: send it again.")


async def keep_first_answer(connection: AsyncConnection, answer: FirstAnswer, now: datetime) -> None:
    """Write the answer inside the transaction that creates its resource; deletes expired ones.

    Of two requests with one key the second waits here until the first has committed, and raises AnsweredBefore: its
    transaction must be rolled back.
    """
    await connection.execute(delete(t.first_answers).where(t.first_answers.c.expires_at <= now))
    try:
        await connection.execute(insert(t.first_answers).values(asdict(answer)))
    except IntegrityError:
        raise AnsweredBefore from None


async def empty_first_answers(connection: AsyncConnection, resource_id: UUID) -> None:
    """Take a resource's data out of the answers; their keys stay used."""
    condition = t.first_answers.c.resource_id == resource_id
    await connection.execute(update(t.first_answers).where(condition).values(body=None))


class FirstAnswers:
    """Looks up first answers."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._one = database.query(
            select(t.first_answers).where(
                t.first_answers.c.account_id == bindparam("account", type_=Uuid()),
                t.first_answers.c.key == bindparam("key", type_=Text()),
                t.first_answers.c.expires_at > bindparam("now", type_=Moment()),
            )
        )

    async def find(self, account_id: UUID, key: str) -> FirstAnswer | None:
        """Return the response to the first request with this key; None if there was none, or it has expired."""
        row = await self._one.first(account=account_id, key=key, now=self._database.clock.now())
        return FirstAnswer(**row) if row else None
