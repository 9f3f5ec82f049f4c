"""What is left in a host's spool, with a real database and a folder as storage."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from harness.failing import FailingObjects, WatchedClock
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.retention import Deletions
from sederunt.meetings.record.leftovers import Leftovers
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus, StopReason, Trigger


@dataclass
class Host:
    """A host that was started anew, on the spool of the one before."""

    bots: Bots
    deletions: Deletions
    objects: FailingObjects
    clock: WatchedClock
    spool: Path
    account: Any
    sitting: set[UUID] = field(default_factory=set)

    @property
    def leftovers(self) -> Leftovers:
        return Leftovers(
            self.spool,
            bots=self.bots,
            deletions=self.deletions,
            objects=self.objects,
            clock=self.clock,
            held=self.sitting.__contains__,
        )

    async def bot(self, status: BotStatus = BotStatus.RECORDING) -> UUID:
        config = BotConfig(
            service=Service("gmeet"), meeting_url="https://x", bot_name="Minutes", transcription_model="none"
        )
        now = self.clock.now()
        bot = Bot(id=new_id(now), account_id=self.account, config=config, status=status, created_at=now)
        await self.bots.create(bot, job=False)
        return bot.id

    async def ended_bot(self) -> UUID:
        """One whose deletion nothing forbids."""
        bot_id = await self.bot(BotStatus.JOINING)
        await self.bots.record_transition(bot_id, Trigger.REFUSED, reason=StopReason.REQUEST_DENIED)
        return bot_id

    async def delete(self, bot_id: UUID) -> None:
        """As a caller and then housekeeping do it."""
        await self.bots.request_deletion(bot_id, self.account)
        receipt = await self.deletions.get(bot_id)
        assert receipt is not None
        await self.deletions.remove_rows(receipt)
        await self.objects.delete_prefix(f"bots/{bot_id}/")
        await self.deletions.finish(receipt)

    def leave(self, bot_id: UUID, *names: str) -> Path:
        """The pieces that the host before could not store."""
        folder = self.spool / str(bot_id)
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).write_bytes(b"sound")
        return folder


@pytest.fixture
async def host(tmp_path: Path, objects: FailingObjects) -> AsyncIterator[Host]:
    clock = WatchedClock()
    async with Database(f"sqlite+aiosqlite:///{tmp_path}/sederunt.db", clock=clock) as database:
        account = database.default_account_id
        yield Host(Bots(database), Deletions(database), objects, clock, tmp_path / "spool", account)


async def test_what_a_killed_host_left_is_stored_at_its_start_or_when_storage_is_back(host: Host) -> None:
    left, empty, sitting = [await host.bot() for _ in range(3)]
    folders = [host.leave(left, "000001.01-000000.mka", "000001.01-000000.mkv"), host.leave(empty)]
    host.sitting.add(sitting)
    kept = host.leave(sitting, "000001.01-000000.mka")
    host.objects.away = True
    running = asyncio.create_task(host.leftovers.run())
    await host.clock.pause()
    assert len(list(folders[0].iterdir())) == 2
    host.objects.away = False
    host.clock.advance(30)
    await host.clock.pause()
    running.cancel()
    assert [Path(key).parent.name for key in await host.objects.keys(f"bots/{left}/")] == ["pieces", "video"]
    assert not any(folder.exists() for folder in folders)
    assert any(kept.iterdir()), "its own holder sees to it"
    assert await host.objects.keys(f"bots/{sitting}/") == []


async def test_pieces_of_a_deleted_bot_go_and_are_never_stored(host: Host) -> None:
    bot_id = await host.ended_bot()
    folder = host.leave(bot_id, "000001.01-000000.mka")
    await host.delete(bot_id)
    await host.leftovers.store()
    assert not folder.exists()
    assert host.objects.files_put == 0


async def test_a_bot_that_is_deleted_while_its_pieces_are_stored_keeps_none(host: Host) -> None:
    bot_id = await host.ended_bot()
    folder = host.leave(bot_id, "000001.01-000000.mka")
    host.objects.meanwhile = lambda: host.delete(bot_id)
    await host.leftovers.store()
    assert host.objects.files_put == 1
    assert await host.objects.keys(f"bots/{bot_id}/") == []
    assert not folder.exists()


async def test_pieces_of_a_bot_whose_media_had_its_time_go(host: Host) -> None:
    bot_id = await host.ended_bot()
    folder = host.leave(bot_id, "000001.01-000000.mka")
    host.clock.advance(timedelta(days=7).total_seconds())
    await host.leftovers.store()
    assert not folder.exists()
    assert host.objects.files_put == 0


async def test_pieces_of_a_bot_that_the_database_never_heard_of_are_kept(host: Host) -> None:
    folder = host.leave(uuid4(), "000001.01-000000.mka")
    await host.leftovers.store()
    assert any(folder.iterdir())
    assert host.objects.files_put == 0


async def test_a_piece_is_on_its_way_once_whoever_stores_it(host: Host) -> None:
    """A second copy that arrives after the first was merged or deleted would be there again."""
    bot_id = await host.bot()
    folder = host.leave(bot_id, "000001.01-000000.mka")
    on_its_way, arrives = asyncio.Event(), asyncio.Event()

    async def slowly() -> None:
        on_its_way.set()
        await arrives.wait()

    host.objects.meanwhile = slowly
    storing = asyncio.create_task(host.leftovers.store())
    await on_its_way.wait()
    sweeping = asyncio.create_task(PieceSpool(host.spool, bot_id, host.objects).sweep())
    await asyncio.wait({sweeping}, timeout=0.2)
    assert not sweeping.done(), "who ends the stay waits for what is on its way"
    arrives.set()
    await storing
    assert await sweeping == 0
    assert host.objects.files_put == 1
    assert not folder.exists()
