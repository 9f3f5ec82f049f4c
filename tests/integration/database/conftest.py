"""Every store is tested on both engines: `database` comes once as SQLite, once as PostgreSQL."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from sederunt.database.bots import Bots
from sederunt.database.engine import Database, OutboxRow
from sederunt.database.ids import new_id
from sederunt.database.recordings import Recordings
from sederunt.jobs.follow_ups import FOLLOW_UPS
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.recording import Recording, RecordingConfig
from sederunt.model.status import BotStatus, RecordingStatus

MakeBot = Callable[..., Bot]
MakeRecording = Callable[..., Recording]


@pytest.fixture
def announced() -> list[OutboxRow]:
    """What was told to the publisher after a commit."""
    return []


@pytest.fixture
async def database(address: str, clock: FakeClock, announced: list[OutboxRow]) -> AsyncIterator[Database]:
    async with Database(address, clock=clock, on_outbox=announced.extend) as opened:
        yield opened


@pytest.fixture
def bots(database: Database) -> Bots:
    return Bots(database, follow_ups=FOLLOW_UPS)


@pytest.fixture
def make_bot(database: Database, clock: FakeClock) -> MakeBot:
    """A bot of the default account; `config=` takes some fields of its config, the rest goes to the bot."""

    def make(*, config: dict[str, Any] | None = None, account_id: UUID | None = None, **fields: Any) -> Bot:
        asked = {
            "service": Service("gmeet"),
            "meeting_url": "https://meet.google.com/abc-defg-hij",
            "bot_name": "Notes",
            "transcription_model": "vendor1",
        }
        defaults = {"id": new_id(clock.now()), "status": BotStatus.BOOTING, "created_at": clock.now()}
        return Bot(
            account_id=account_id or database.default_account_id,
            config=BotConfig(**{**asked, **(config or {})}),
            **{**defaults, **fields},
        )

    return make


@pytest.fixture
def recordings(database: Database) -> Recordings:
    return Recordings(database)


@pytest.fixture
def make_recording(database: Database, clock: FakeClock) -> MakeRecording:
    def make(*, config: dict[str, Any] | None = None, **fields: Any) -> Recording:
        return Recording(
            id=new_id(clock.now()),
            account_id=database.default_account_id,
            config=RecordingConfig(**{"transcription_model": "vendor1", **(config or {})}),
            status=RecordingStatus.TRANSCRIBING,
            created_at=clock.now(),
            **fields,
        )

    return make
