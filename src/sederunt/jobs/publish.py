"""From the outbox to the bus: rows are published right after the commit that wrote them, in their order.

A crash between the two leaves rows behind, which any worker's sweep publishes (`housekeeping`). Both may publish the
same row: its message id makes the server drop the second.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sederunt import log
from sederunt.bus.connection import Bus, BusAway
from sederunt.bus.lease_timing import broken_promises, facts_of
from sederunt.bus.tasks import end, notice_cancellation
from sederunt.clock import Clock
from sederunt.database.engine import Database, OutboxRow, database_url
from sederunt.database.outbox import Outbox, payload_of
from sederunt.settings import Settings

logger = log.get(component="jobs")

MAX_WAITING = 5000  # rows of this process while NATS is away; the sweep publishes further ones


async def publish_row(bus: Bus, row: OutboxRow) -> None:
    """Publish one row. Raises BusAway."""
    if row.kind == "feed":
        await bus.publish(row.subject, row.payload, row.message_id)
        return
    kind = row.subject.removeprefix("job.")
    await bus.publish_job(kind, payload_of(row)["id"], row.payload, row.message_id)


class Publisher:
    """Publishes this process's own rows. Pass `announce` to the database."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: deque[OutboxRow] = deque()
        self._some = asyncio.Event()
        self._marking: set[asyncio.Task[None]] = set()

    def announce(self, rows: Sequence[OutboxRow]) -> None:
        """Note the rows that a commit left to publish. Never waits."""
        self._waiting.extend(rows[: max(MAX_WAITING - len(self._waiting), 0)])
        self._some.set()

    async def run(self, outbox: Outbox) -> None:
        """Publish in order, for ever. While NATS is away the first row waits, and the others behind it."""
        while True:
            await self._some.wait()
            self._some.clear()
            await self._publish_waiting(outbox)
            notice_cancellation()

    async def flush(self, outbox: Outbox, within_s: float = 5.0) -> None:
        """Publish the waiting rows for at most `within_s`; the sweep finds the rest."""
        try:
            async with asyncio.timeout(within_s):
                await self._publish_waiting(outbox)
                await asyncio.gather(*self._marking)  # of a run that was cancelled while marking
        except TimeoutError:
            logger.warning("outbox not empty", action="outbox_left", count=len(self._waiting))

    async def _publish_waiting(self, outbox: Outbox) -> None:
        sent_ids: list[int] = []
        try:
            while self._waiting:
                try:
                    await publish_row(self._bus, self._waiting[0])
                except BusAway:
                    continue
                sent_ids.append(self._waiting.popleft().id)
        finally:
            # One transaction for the whole batch, because each costs a flush to disk.
            if sent_ids:
                mark_task = asyncio.create_task(self._mark(outbox, sent_ids))
                self._marking.add(mark_task)
                mark_task.add_done_callback(self._marking.discard)
                await asyncio.shield(mark_task)

    async def _mark(self, outbox: Outbox, sent_ids: list[int]) -> None:
        try:
            await outbox.mark_sent(sent_ids)
        except Exception:  # the sweep publishes them again, and the server drops the repeats
            logger.exception("rows not marked as sent", action="mark_failed", count=len(sent_ids))


@asynccontextmanager
async def open_published(settings: Settings, clock: Clock, *, name: str) -> AsyncIterator[tuple[Bus, Database]]:
    """Open a process's bus and database. Committed messages are published at once, the rest before the end.

    Raises SetupError if one of them is not there.

    Args:
        name: of the process, as the message server lists it.
    """
    bus = await Bus.connect(settings.bus, name=name)
    for sentence in broken_promises(facts_of(bus)):
        logger.warning(sentence, action="promise_broken")
    try:
        publisher = Publisher(bus)
        database = Database(database_url(settings), clock=clock, on_outbox=publisher.announce)
        async with database, publishing(publisher, Outbox(database)):
            yield bus, database
    finally:
        await bus.close()


@asynccontextmanager
async def publishing(publisher: Publisher, outbox: Outbox) -> AsyncIterator[None]:
    """Publish this process's commits in the background, and the rest at the end."""
    task = asyncio.create_task(publisher.run(outbox), name="outbox")
    try:
        yield
    finally:
        await end(task)
        await publisher.flush(outbox)


async def sweep(bus: Bus, outbox: Outbox, *, older_than_s: float) -> int:
    """Publish rows that are still unpublished some time after their commit. Returns how many."""
    rows = await outbox.unsent(older_than_s=older_than_s)
    sent_ids: list[int] = []
    try:
        for row in rows:
            await publish_row(bus, row)
            sent_ids.append(row.id)
    finally:
        await outbox.mark_sent(sent_ids)
    return len(sent_ids)
