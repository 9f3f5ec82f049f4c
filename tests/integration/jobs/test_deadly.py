"""A job that kills every worker it is given to: its resource ends as failed, and the caller is told why."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable

import pytest

from harness.nats import NatsServer
from sederunt.bus.connection import Bus
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.jobs.follow_ups import DEADLY_AFTER
from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus

MakeBot = Callable[..., Bot]

# One life of a worker that knows only the kind `transcribe`, whose work kills it. It ends by itself when it gave up.
WORKER = """
import asyncio, os, signal, sys, types
from dataclasses import replace
from pydantic import SecretStr
from sederunt import log
from sederunt.bus.connection import Bus
from sederunt.bus.consume import Consumer
from sederunt.database.bots import Bots
from sederunt.database.job_beginnings import JobBeginnings
from sederunt.database.engine import Database
from sederunt.jobs.follow_ups import KINDS
from sederunt.jobs.job import handler_of
from sederunt.settings import BusSettings

log.configure()

async def deadly(job, house):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    token = SecretStr(os.environ["TOKEN"])
    settings = BusSettings(url=os.environ["URL"], token=token, ack_wait_s=2, replicas=1)
    kind = replace(KINDS["transcribe"], work="__main__:deadly", times=1)
    bus = await Bus.connect(settings, name="worker")
    async with Database(os.environ["DATABASE"]) as database:
        handler = handler_of(kind, types.SimpleNamespace(bots=Bots(database), beginnings=JobBeginnings(database)))
        gave_up = asyncio.Event()

        async def handle(delivery):
            outcome = await handler(delivery)
            gave_up.set()
            return outcome

        consumer = Consumer(bus, "transcribe", handle)
        running = asyncio.create_task(consumer.run())
        await gave_up.wait()
        await consumer.drain(10)
        await running
    await bus.close()

asyncio.run(main())
"""


async def life_of_a_worker(server: NatsServer, address: str) -> int:
    """Its exit code."""
    token = server.embedded.token.get_secret_value()
    environment = {"URL": server.embedded.url, "TOKEN": token, "DATABASE": address}
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, env={**os.environ, **environment})
    try:
        async with asyncio.timeout(60):
            return await worker.wait()
    finally:
        if worker.returncode is None:
            worker.kill()
            await worker.wait()


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)  # the database has no part in it
async def test_a_job_that_kills_its_worker_again_and_again_is_given_up(
    bus: Bus, server: NatsServer, address: str, database: Database, bots: Bots, make_bot: MakeBot
) -> None:
    bot = await bots.create(make_bot(status=BotStatus.TRANSCRIBING))
    await bus.publish_job("transcribe", bot.id, json.dumps({"id": str(bot.id)}).encode(), "one")
    lives = [await life_of_a_worker(server, address) for _ in range(DEADLY_AFTER + 1)]
    assert lives == [-signal.SIGKILL] * DEADLY_AFTER + [0]
    assert await bus.queued("transcribe") == frozenset()
    assert (await bots.get(bot.id)).status is BotStatus.FAILED
    told = (await bots.events(bot.id))[-1].data
    assert told["new_status"] == "failed"
    assert "begun 2 times" in told["message"]
