"""Commands on a real nats-server."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from harness.nats import Connections, NatsServer
from sederunt.bus import connection, streams
from sederunt.bus.connection import Bus, BusAway, NoResponder
from sederunt.bus.streams import command_subject


async def echo(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"ok": True, "heard": message["do"]}


async def until_there(server: NatsServer) -> None:
    """It tells nobody that it listens."""
    async with asyncio.timeout(60):
        while True:
            try:
                _, writing = await asyncio.open_connection("127.0.0.1", server.embedded.port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writing.close()
            return


async def test_a_command_is_answered_by_its_holder(bus: Bus, connect: Connections) -> None:
    bot_id = uuid4()
    holder = await connect()
    serving = await holder.serve(command_subject(bot_id), echo)
    assert await bus.command(bot_id, {"do": "stop"}) == {"ok": True, "heard": "stop"}
    await serving.close()
    with pytest.raises(NoResponder):
        await bus.command(bot_id, {"do": "stop"})


async def test_that_nobody_is_there_is_told_at_once(bus: Bus) -> None:
    with pytest.raises(NoResponder):  # who waits in vain gets BusAway
        await bus.command(uuid4(), {"do": "stop"}, within_s=60)


async def test_a_holders_fault_is_an_answer(bus: Bus, connect: Connections) -> None:
    async def fail(_: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ValueError("no page")

    bot_id = uuid4()
    await (await connect()).serve(command_subject(bot_id), fail)
    assert await bus.command(bot_id, {"do": "chat"}) == {"error": "no page"}


async def test_who_waits_for_a_holder_who_leaves_is_told_so(bus: Bus, connect: Connections) -> None:
    begun = asyncio.Event()

    async def never(_: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.set()
        await asyncio.Event().wait()
        return {}

    bot_id = uuid4()
    serving = await (await connect()).serve(command_subject(bot_id), never)
    asking = asyncio.create_task(bus.command(bot_id, {"do": "chat"}, within_s=60))
    await begun.wait()
    await serving.close()
    assert await asking == {"error": "It ended before this was done."}


async def test_without_a_server_the_caller_is_told_in_time(bus: Bus, server: NatsServer) -> None:
    await server.stop()
    async with asyncio.timeout(60):
        with pytest.raises(BusAway):
            await bus.command(uuid4(), {"do": "stop"}, within_s=0.5)


async def test_a_server_without_room_for_the_queues_is_not_said_to_be_silent(tmp_path: Path) -> None:
    full = NatsServer(tmp_path)
    config = full.embedded.config
    config.write_text(config.read_text().replace("max_file_store: 16GB", "max_file_store: 1MB"))
    await full.start()
    try:
        await until_there(full)
        with pytest.raises(BusAway, match=r"could not keep the queues .*insufficient storage"):
            await Bus.connect(full.settings(), name="test", within_s=10)
    finally:
        await full.stop()


async def test_a_holder_answers_again_after_the_server_was_killed(
    bus: Bus, connect: Connections, server: NatsServer
) -> None:
    bot_id = uuid4()
    await (await connect()).serve(command_subject(bot_id), echo)
    await server.stop()
    await server.start()
    async with asyncio.timeout(60):
        while True:
            try:
                answer = await bus.command(bot_id, {"do": "stop"}, within_s=2)
                break
            except (NoResponder, BusAway):
                await asyncio.sleep(0.05)
    assert answer["ok"]


async def test_a_publisher_waits_for_the_server_and_stores_once(bus: Bus, server: NatsServer) -> None:
    await server.stop()
    publishing = asyncio.create_task(bus.publish_job("assemble", "a", b'{"id": "a"}', "one"))
    await server.start()
    assert await publishing
    assert not await bus.publish_job("assemble", "a", b'{"id": "a"}', "one")


async def test_whoever_gives_up_waiting_for_a_flush_leaves_the_connection_whole(bus: Bus, connect: Connections) -> None:
    async def answer(message: Mapping[str, Any]) -> Mapping[str, Any]:
        return message

    await (await connect()).serve("echo", answer)
    for turns in range(20):
        flushing = asyncio.create_task(bus.flush())
        for _ in range(turns):
            await asyncio.sleep(0)
        flushing.cancel()
    await bus.flush()
    assert await bus.request("echo", {"n": 1}, within_s=30) == {"n": 1}


async def test_a_queue_that_takes_nothing_is_told_from_one_that_was_late_until_it_takes_a_job(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "UNSTORED_S", 0.05)
    await bus.js.delete_stream(streams.QUEUES["deliver"].stream)
    told = []
    for _ in range(2):
        with pytest.raises(BusAway):
            await bus.publish("job.deliver.a", b"{}", "first", within_s=0.1)
        told.append(bus.stores_jobs)
    assert told == [True, False]
    await streams.declare(bus.js, ack_wait_s=bus.settings.ack_wait_s, replicas=bus.settings.replicas)
    await bus.publish("job.deliver.a", b"{}", "second")
    assert bus.stores_jobs
