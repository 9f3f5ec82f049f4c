"""Files of the message server that a power cut tore: the queues serve again, and no job is lost or started twice."""

import asyncio
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from harness.nats import NatsServer
from sederunt.bus.connection import Bus
from sederunt.bus.consume import Consumer
from sederunt.bus.held_job import Done, JobDelivery, Outcome
from sederunt.bus.torn_files import mend


async def taken(bus: Bus, count: int) -> list[str]:
    """The ids of so many jobs, each done at once."""
    ids: asyncio.Queue[str] = asyncio.Queue()

    async def work(delivery: JobDelivery) -> Outcome:
        ids.put_nowait(str(delivery.message["id"]))
        return Done()

    consumer = Consumer(bus, "attend", work, slots=4)
    running = asyncio.create_task(consumer.run())
    async with asyncio.timeout(60):
        found = [await ids.get() for _ in range(count)]
    await consumer.drain(5)
    await running
    return found


@pytest.fixture
async def server(tmp_path: Path) -> "NatsServer":
    return NatsServer(tmp_path)


@pytest.mark.parametrize("torn", [b"", b"\x00" * 30, b"torn" * 9])
async def test_a_torn_state_of_a_consumer_is_set_aside_and_its_jobs_are_given_out(
    server: NatsServer, torn: bytes
) -> None:
    ids = [str(uuid4()) for _ in range(3)]
    await server.start()
    try:
        assert await mend(server.embedded, server.settings()) == []
        bus = await Bus.connect(server.settings(), name="before")
        for id_ in ids:
            await bus.publish_job("attend", id_, f'{{"id": "{id_}"}}'.encode(), id_)
        await bus.close()
        await server.stop(signal.SIGTERM)
        (state,) = server.embedded.store.glob("jetstream/*/streams/JOBS_ATTEND/obs/attend/o.dat")
        state.write_bytes(torn)
        await server.start()
        with capture_logs() as logs:
            aside = await mend(server.embedded, server.settings())
        told = [line for line in logs if line["log_level"] == "error"]
        bus = await Bus.connect(server.settings(), name="after", within_s=10)
        found = await taken(bus, len(ids))
        await bus.close()
    finally:
        await server.stop()
    assert sorted(found) == sorted(ids)
    assert len(told) == len(aside)
    if torn.strip(b"\x00"):
        assert len(aside) == 1
    else:  # the server passes over what is empty by itself, unless it is asked before it has
        assert len(aside) <= 1


async def test_a_torn_consumer_of_one_queue_is_set_aside_while_the_stream_of_another_is_torn_too(
    server: NatsServer,
) -> None:
    """The server starts without a stream whose description it cannot read, and knows no consumers of it."""
    await server.start()
    try:
        assert await mend(server.embedded, server.settings()) == []
        bus = await Bus.connect(server.settings(), name="before")
        await bus.publish_job("attend", "one", b'{"id": "one"}', "one")
        await bus.close()
        await server.stop(signal.SIGTERM)
        for torn in ("JOBS_ATTEND/obs/attend/o.dat", "JOBS_ASSEMBLE/meta.inf"):
            (file,) = server.embedded.store.glob(f"jetstream/*/streams/{torn}")
            file.write_bytes(b"torn" * 9)
        await server.start()
        aside = await mend(server.embedded, server.settings())
        bus = await Bus.connect(server.settings(), name="after", within_s=10)
        assert await taken(bus, 1) == ["one"]
        await bus.close()
    finally:
        await server.stop()
    assert [path.name.rpartition("-")[2] for path in aside] == ["attend"]
