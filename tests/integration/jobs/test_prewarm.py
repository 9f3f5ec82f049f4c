"""Browsers that rest are woken a minute before a bot is due."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from harness.fake_clock import FakeClock
from sederunt.bus.tasks import end
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.waiting import WaitingBots
from sederunt.jobs import prewarm as module
from sederunt.jobs.prewarm import prewarm
from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus


async def test_who_is_due_within_a_minute_wakes_them_and_a_database_that_fails_does_not_end_it(
    database: Database, bots: Bots, clock: FakeClock, make_bot: Callable[..., Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0.0)
    woken, looks = asyncio.Event(), asyncio.Semaphore(0)
    waiting = WaitingBots(database)
    due = waiting.due
    answers = iter([RuntimeError("the database is away")])

    async def looked(*arguments: object) -> object:
        looks.release()
        if (fault := next(answers, None)) is not None:
            raise fault
        return await due(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(waiting, "due", looked)
    at = clock.now() + timedelta(minutes=5)
    await bots.create(make_bot(status=BotStatus.SCHEDULED, scheduled_for=at), job=False)
    looking = asyncio.create_task(prewarm(waiting, clock, woken.set))
    async with asyncio.timeout(60):
        for _ in range(4):
            await looks.acquire()
        assert not woken.is_set()
        clock.advance(240)
        await woken.wait()
    await end(looking)
