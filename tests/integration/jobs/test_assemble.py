"""The job that assembles a bot's recording, on a real database, with a folder as storage."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from harness.captured import ZERO_MS, sound
from harness.failing import FailingObjects
from harness.fake_clock import FakeClock
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.holdings import Holdings
from sederunt.jobs.assemble import assemble
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.job import Job
from sederunt.meetings.record.recorder import Recorder, stay_name
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.bot import HOST_LOST, Bot, Gap
from sederunt.model.status import BotStatus
from sederunt.settings import Settings

MakeBot = Callable[..., Bot]


async def test_a_gap_is_as_long_as_what_is_missing_once_a_host_that_was_cut_off_has_stored_the_rest(
    database: Database, bots: Bots, make_bot: MakeBot, clock: FakeClock, tmp_path: Path
) -> None:
    """It heard ten seconds, of which storage had four when the next host came and marked the gap."""
    zero = datetime.fromtimestamp(ZERO_MS / 1000, clock.now().tzinfo)
    bot = make_bot(
        status=BotStatus.PROCESSING,
        recording_started_at=zero,
        recording_ended_at=zero + timedelta(seconds=18),
    )
    objects = FailingObjects(tmp_path / "objects")
    spools = [PieceSpool(tmp_path / host, bot.id, objects) for host in ("first", "second")]
    first, second = (_recorder(bot, spool, epoch) for epoch, spool in enumerate(spools, 1))
    await _hear(first, 0, 4)
    objects.away = True
    await _hear(first, 4, 10)
    objects.away = False
    marked = Gap(start=await spools[1].stored_until_s(), end=14.0, cause=HOST_LOST)
    await _hear(second, 14, 18)
    await bots.create(bot, job=False)
    await bots.mark(bot.id, gaps=(marked,))
    await spools[0].sweep()
    context = SimpleNamespace(
        bots=bots, objects=objects, clock=clock, holdings=Holdings(database), settings=Settings(data=tmp_path)
    )
    job = Job(kind="assemble", id=bot.id, resource="bot", delivered=1, cut_off=asyncio.Event())
    await assemble(job, cast(WorkerContext, context))
    (gap,) = (await bots.get(bot.id)).gaps
    assert marked.start == pytest.approx(4, abs=0.3)
    assert gap.start == pytest.approx(10, abs=0.3)
    assert gap.end == 14.0


def _recorder(bot: Bot, spool: PieceSpool, epoch: int) -> Recorder:
    return Recorder(
        bot_id=bot.id,
        stay=stay_name(epoch, 1),
        started_ms=ZERO_MS,
        piece_s=1000.0,
        batch_ms=200,
        spool=spool,
        on_speech=lambda source, speaking, at_ms: None,
    )


async def _hear(recorder: Recorder, start_s: int, end_s: int) -> None:
    for at_s in range(start_s, end_s, 2):
        recorder.frames_arrived(sound(at_s, at_s + 2))
        await recorder.cut()
