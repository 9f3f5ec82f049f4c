"""A real database, SQLite and PostgreSQL, per test."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from harness.fake_clock import FakeClock
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.outbox import Outbox
from sederunt.jobs.follow_ups import FOLLOW_UPS
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus


@pytest.fixture
async def database(address: str, clock: FakeClock) -> AsyncIterator[Database]:
    """Nobody publishes what is committed here, as if each writer died right after its commit."""
    async with Database(address, clock=clock) as opened:
        yield opened


@pytest.fixture
def bots(database: Database) -> Bots:
    return Bots(database, follow_ups=FOLLOW_UPS)


@pytest.fixture
def outbox(database: Database) -> Outbox:
    return Outbox(database)


MakeBot = Callable[..., Bot]


@pytest.fixture
def make_bot(database: Database, clock: FakeClock) -> MakeBot:
    def make(*, webhook_url: str | None = None, **fields: Any) -> Bot:
        config = BotConfig(
            service=Service("gmeet"),
            meeting_url="https://meet.google.com/abc-defg-hij",
            bot_name="Notes",
            transcription_model="none",
            webhook_url=webhook_url,
            custom_metadata={"order": "7"},
        )
        given = {
            "id": new_id(clock.now()),
            "account_id": database.default_account_id,
            "config": config,
            "status": BotStatus.BOOTING,
            "created_at": clock.now(),
        }
        return Bot(**{**given, **fields})

    return make
