"""First answers: what a request with an Idempotency-Key was answered, kept with what it made."""

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
    """What one request was answered, and what another one must be like to get it again."""

    account_id: UUID
    key: str
    fingerprint: bytes  # of what was asked
    resource_id: UUID
    body: str | None  # JSON; None: what was made is deleted
    expires_at: datetime


class AnsweredBefore(Conflict):
    """Another request with the same key was first."""

    def __init__(self) -> None:
        super().__init__("Another request with this Idempotency-Key is being answered: send it again.")


async def keep_first_answer(connection: AsyncConnection, answer: FirstAnswer, now: datetime) -> None:
    """Write the answer inside the transaction that makes what it tells of; expired ones go.

    Of two requests with one key the second waits here until the first has committed. Raises AnsweredBefore then: the
    transaction must be undone.
    """
    await connection.execute(delete(t.first_answers).where(t.first_answers.c.expires_at <= now))
    try:
        await connection.execute(insert(t.first_answers).values(asdict(answer)))
    except IntegrityError:
        raise AnsweredBefore from None


async def empty_first_answers(connection: AsyncConnection, resource_id: UUID) -> None:
    """Take what is told of a resource out of the answers; their keys stay used."""
    told = t.first_answers.c.resource_id == resource_id
    await connection.execute(update(t.first_answers).where(told).values(body=None))


class FirstAnswers:
    """Looks first answers up."""

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
        """Return what a request with this key was answered; None where there was none, or long ago."""
        row = await self._one.first(account=account_id, key=key, now=self._database.clock.now())
        return FirstAnswer(**row) if row else None
