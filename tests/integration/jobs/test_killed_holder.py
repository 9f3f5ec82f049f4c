"""A process that holds a job is killed: another one gets it after the ack wait, and not before."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from harness.nats import Connections, NatsServer
from sederunt.bus.connection import Bus
from sederunt.bus.consume import Consumer
from sederunt.bus.held_job import Done, JobDelivery, Outcome

# Takes one job, says so, and holds it for ever.
HOLDER = """
import asyncio, os, sys
from pydantic import SecretStr
from sederunt import log
from sederunt.bus.connection import Bus
from sederunt.bus.consume import Consumer
from sederunt.settings import BusSettings

log.configure()

async def hold(delivery):
    print(delivery.message["id"], flush=True)
    await delivery.cut_off.wait()
    print("cut off", flush=True)
    await asyncio.Event().wait()

async def main():
    token = SecretStr(os.environ["TOKEN"])
    settings = BusSettings(url=os.environ["URL"], token=token, ack_wait_s=float(os.environ["ACK_WAIT_S"]), replicas=1)
    await Consumer(await Bus.connect(settings, name="holder"), "assemble", hold).run()

asyncio.run(main())
"""


@asynccontextmanager
async def holding(
    server: NatsServer, bus: Bus, resource_id: str, *, ack_wait_s: float
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process that holds a job."""
    token = server.embedded.token.get_secret_value()
    environment = {"URL": server.embedded.url, "TOKEN": token, "ACK_WAIT_S": str(ack_wait_s)}
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, stdout=asyncio.subprocess.PIPE, env={**os.environ, **environment}
    )
    await bus.publish_job("assemble", resource_id, json.dumps({"id": resource_id}).encode(), "one")
    try:
        assert await said(holder) == resource_id
        yield holder
    finally:
        if holder.returncode is None:
            holder.kill()
            await holder.wait()


async def said(holder: asyncio.subprocess.Process) -> str:
    """The next line that the other process printed."""
    assert holder.stdout is not None
    async with asyncio.timeout(60):
        return (await holder.stdout.readline()).decode().strip()


async def test_a_holder_that_was_asleep_for_two_ack_waits_is_told(bus: Bus, server: NatsServer) -> None:
    async with holding(server, bus, str(uuid4()), ack_wait_s=2) as holder:
        holder.send_signal(signal.SIGSTOP)
        await asyncio.sleep(5)  # of its time, not of ours
        holder.send_signal(signal.SIGCONT)
        assert await said(holder) == "cut off"


async def test_a_killed_holders_job_is_given_to_another_after_the_ack_wait(
    bus: Bus, connect: Connections, server: NatsServer
) -> None:
    resource_id = str(uuid4())
    ack_wait_s = 6.0  # longer than a busy machine's stalls
    async with holding(server, bus, resource_id, ack_wait_s=ack_wait_s):
        taken: asyncio.Future[JobDelivery] = asyncio.get_running_loop().create_future()

        async def take(delivery: JobDelivery) -> Outcome:
            taken.set_result(delivery)
            return Done()

        second = Consumer(await connect(ack_wait_s=ack_wait_s), "assemble", take)
        running = asyncio.create_task(second.run())
        # The thing proved: while its holder lives nobody else is given it.
        await asyncio.wait({taken}, timeout=1.5 * ack_wait_s)
        assert not taken.done()
    async with asyncio.timeout(60):
        delivery = await taken
    assert delivery.message["id"] == resource_id
    assert delivery.delivered > 1, "it is the same job, given out anew"
    await second.drain(5)
    await running
    assert await bus.queued("assemble") == frozenset()
