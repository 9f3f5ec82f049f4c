"""What a process logs while its database is away: an outage of 100 seconds, for housekeeping and a bot's journal."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import structlog

from harness.bot_context import NoListeners
from harness.fake_clock import FakeClock
from harness.postgres import PostgresServer
from sederunt import log
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import Heartbeats
from sederunt.claims.claim import Source, Subject, here
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Deliveries
from sederunt.database.engine import Database
from sederunt.database.holdings import Holdings
from sederunt.database.ids import new_id
from sederunt.database.live_lines import LiveLineStore
from sederunt.database.outbox import Outbox
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletions, RetentionTimes
from sederunt.database.search import Search
from sederunt.database.waiting import WaitingBots
from sederunt.jobs.housekeeping import Housekeeping, Stores
from sederunt.jobs.line import WaitingLine
from sederunt.jobs.seating import SeatLimits
from sederunt.meetings.journal import Journal
from sederunt.meetings.session.roster import Roster
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus
from sederunt.settings import Settings
from sederunt.storage.objects import open_objects

AWAY_S = 100


class Link:
    """The way to a PostgreSQL server, that a test may cut and mend."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self._server, self._direct = server, server.fresh_database()
        name, _, real = self._direct.partition("@/")[2].partition("?host=")
        self._real, self._here = Path(real, ".s.PGSQL.5432"), folder / ".s.PGSQL.5432"
        self.address = f"postgresql+asyncpg://sederunt@/{name}?host={folder}"
        self.mend()

    def mend(self) -> None:
        self._here.symlink_to(self._real)

    def cut(self) -> None:
        self._here.unlink()
        self._server.end_connections(self._direct)


@asynccontextmanager
async def logged(capsys: pytest.CaptureFixture[str]) -> AsyncIterator[list[dict[str, object]]]:
    """Yield what is logged meanwhile, as operators find it; complete behind the block."""
    lines: list[dict[str, object]] = []
    log.configure()
    try:
        yield lines
    finally:
        structlog.reset_defaults()
        lines += [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]


async def test_a_database_that_is_away_is_logged_when_it_begins_each_minute_and_at_the_end(
    postgres: PostgresServer, bus: Bus, clock: FakeClock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = Link(postgres, tmp_path)
    async with Database(link.address, clock=clock) as database, logged(capsys) as lines:
        housekeeping, journal = _housekeeping(database, bus, clock, tmp_path), await _journal(database)
        roster = Roster()
        ada = here(Source.PROTOCOL, [Subject(key="ada", name="Ada")], round(clock.now().timestamp() * 1000))
        journal.note(roster.take([ada]))
        link.cut()
        for _ in range(AWAY_S):
            await _live_a_second(housekeeping, journal, roster)
            clock.advance(1)
        link.mend()
        await _live_a_second(housekeeping, journal, roster)
        assert [one.name for one in await journal.participants()] == ["Ada"], "nothing is lost by it"
    about = [(line["action"], line.get("away_s"), line["level"]) for line in lines]
    assert about == [
        ("database_away", None, "error"),
        ("database_away", 60, "error"),
        ("database_back", AWAY_S, "warning"),
    ]


async def test_an_error_of_the_database_that_means_no_outage_is_logged_as_ever(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    async with logged(capsys) as lines:
        try:
            async with database.begin():
                raise KeyError("a defect")
        except KeyError:
            log.get().exception("failed", action="failed")
    assert [line["action"] for line in lines] == ["failed"]
    assert "a defect" in str(lines[0]["exception"])


async def _live_a_second(housekeeping: Housekeeping, journal: Journal, roster: Roster) -> None:
    """Do what a worker and a bot's host do all the time."""
    await housekeeping.quick_pass()
    await journal.write_roster(roster)
    await journal.is_stop_requested()


async def _journal(database: Database) -> Journal:
    now = database.clock.now()
    config = BotConfig(
        service=Service("gmeet"), meeting_url="https://x", bot_name="Minutes", transcription_model="none"
    )
    bot = Bot(
        id=new_id(now),
        account_id=database.default_account_id,
        config=config,
        status=BotStatus.RECORDING,
        created_at=now,
        recording_started_at=now,
    )
    bots = Bots(database)
    await bots.create(bot, job=False)
    return await Journal.claim(bot.id, "host", bots=bots, live_lines=LiveLineStore(database), feed=NoListeners())


def _housekeeping(database: Database, bus: Bus, clock: FakeClock, folder: Path) -> Housekeeping:
    bots = Bots(database)
    limits = SeatLimits(per_account=3, live=2)
    line = WaitingLine(bots, WaitingBots(database), clock, limits=limits, longest_wait_s=900, heartbeats=Heartbeats())
    stores = Stores(
        bots=bots,
        recordings=Recordings(database),
        deliveries=Deliveries(database),
        deletions=Deletions(database),
        times=RetentionTimes(database),
        outbox=Outbox(database),
        holdings=Holdings(database),
        search=Search(database),
        objects=open_objects(Settings(data=folder)),
        scratch=folder / "scratch",
    )
    return Housekeeping(stores, bus, clock, line)
