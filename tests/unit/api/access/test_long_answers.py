"""Long answers of an account are computed one after another; others' go on beside them."""

import asyncio
from uuid import UUID

import pytest

from sederunt.accounting import Ledger
from sederunt.api.access.long_answers import LONG_ANSWERS, LongAnswers
from sederunt.errors import TooManyRequests

ONE, OTHER = UUID(int=1), UUID(int=2)


async def test_one_at_a_time_for_an_account_others_beside_it_and_not_too_many_behind() -> None:
    turns, begun, done = LongAnswers(Ledger({LONG_ANSWERS: 2})), [], asyncio.Event()

    async def answer(account_id: UUID, name: str) -> None:
        async with turns.turn(account_id):
            begun.append(name)
            await done.wait()

    async with asyncio.TaskGroup() as tasks:
        for account_id, name in ((ONE, "first"), (ONE, "second"), (OTHER, "other")):
            tasks.create_task(answer(account_id, name))
        await asyncio.sleep(0.01)
        assert begun == ["first", "other"]
        with pytest.raises(TooManyRequests):
            await answer(ONE, "third")
        done.set()
    assert begun == ["first", "other", "second"]
    async with turns.turn(ONE):
        pass
