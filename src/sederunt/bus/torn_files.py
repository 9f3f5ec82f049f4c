"""Set aside files of the message server that a power cut left half written, so that it starts again.

The server repairs a torn stream by itself: it drops the messages that it cannot read, and housekeeping puts their jobs
back. It does not repair a torn consumer state (its position, and what is given out): it refuses the queue for good.
That state is set aside here. The queue's messages are still there and are given out again; a holder that works on one
of them adopts the new delivery, so that nothing starts twice.
"""

import asyncio
import contextlib
from datetime import UTC, datetime
from pathlib import Path

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from sederunt import log
from sederunt.bus import streams
from sederunt.bus.embedded import EmbeddedServer
from sederunt.settings import BusSettings

logger = log.get(component="bus")

_NO_STORE_FOR_CONSUMER = 10012
WITHIN_S = 20.0  # for a server that has just started to read its files
RETRY_S = 0.2


async def mend(server: EmbeddedServer, bus: BusSettings) -> list[Path]:
    """Declare the queues of a server that has just started; set aside files that keep it from serving one.

    Returns the new places of torn files. A server that is not ready in time is left to the roles, which report it.
    """
    client = Client()
    moved_files: list[Path] = []
    with contextlib.suppress(NatsError, OSError, TimeoutError):
        async with asyncio.timeout(WITHIN_S):
            await client.connect(
                server.url,
                token=server.token.get_secret_value(),
                max_reconnect_attempts=-1,
                reconnect_time_wait=RETRY_S,  # type: ignore[arg-type]  # annotated int, slept as given
                error_cb=_ignored,
            )
            try:
                moved_files = await _declared(client.jetstream(), server, bus)
            finally:
                await client.close()
    return moved_files


async def _ignored(_error: Exception) -> None:
    """Ignore that the server is not up yet."""


async def _declared(js: JetStreamContext, server: EmbeddedServer, bus: BusSettings) -> list[Path]:
    moved_files: list[Path] = []
    while True:
        try:
            await streams.declare(js, ack_wait_s=bus.ack_wait_s, replicas=bus.replicas)
            return moved_files
        except APIError as error:
            if error.err_code == _NO_STORE_FOR_CONSUMER:
                moved_files += [_set_aside(server.store, folder) for folder in await _refused(js, server.store)]
        except NatsError:
            pass
        await asyncio.sleep(RETRY_S)


async def _refused(js: JetStreamContext, store: Path) -> list[Path]:
    """Return the folders of consumers that the server has files for but does not know."""
    refused_folders: list[Path] = []
    for queue in streams.QUEUES.values():
        try:
            consumers = {info.name for info in await js.consumers_info(queue.stream)}
        except NotFoundError:  # its own description is torn: it is declared again once the queues before it work
            continue
        for folder in store.glob(f"jetstream/*/streams/{queue.stream}/obs/{queue.kind}"):
            refused_folders += [folder] if queue.kind not in consumers else []
    return refused_folders


def _set_aside(store: Path, folder: Path) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    target = store / "set-aside" / f"{moment}-{folder.name}"
    target.parent.mkdir(mode=0o700, exist_ok=True)
    folder.rename(target)
    logger.error(
        "the message server's files of a queue are torn: they were set aside, its jobs are given out again",
        action="queue_set_aside",
        queue=folder.name,
        now_at=str(target),
    )
    return target
