"""The host and the worker: open the service, take jobs, drain when asked."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import Any, Literal
from uuid import UUID

from sederunt import __version__, log
from sederunt.bus.connection import Bus, BusAway, NoResponder
from sederunt.bus.consume import Consumer
from sederunt.bus.heartbeat import SILENT_S, Heartbeats, beating, hearing, is_resting
from sederunt.bus.streams import holds_subject
from sederunt.bus.tasks import end
from sederunt.calendars.follower import CalendarFollower
from sederunt.counters import COUNTERS
from sederunt.database.calendars import CalendarFeeds
from sederunt.database.holdings import AccountLimits
from sederunt.database.retention import RetentionTimes
from sederunt.database.search import Search
from sederunt.database.seats import BookingLimits
from sederunt.database.waiting import WaitingBots
from sederunt.errors import SetupError
from sederunt.jobs.capacity import Capacity
from sederunt.jobs.context import WorkerContext, open_context
from sederunt.jobs.drain import Drain
from sederunt.jobs.follow_ups import KINDS, JobKind
from sederunt.jobs.footprint import Footprint
from sederunt.jobs.housekeeping import Housekeeping, Stores
from sederunt.jobs.installation import seats_of
from sederunt.jobs.job import handler_of
from sederunt.jobs.line import WaitingLine
from sederunt.jobs.prewarm import prewarm
from sederunt.jobs.readiness import PartCheck, Readiness
from sederunt.jobs.scratch import folder_of
from sederunt.jobs.seating import SeatLimits
from sederunt.jobs.shares import JobSize, Shares
from sederunt.jobs.vendor_deletion import VendorDeletion
from sederunt.meetings.record.leftovers import Leftovers
from sederunt.meetings.record.spool_lock import LockedSpool, own_spool
from sederunt.settings import Settings
from sederunt.transcription.models import check_fallback

logger = log.get(component="jobs")

TEST_EVERY_S = 5.0  # writing trials run less often: see Readiness
THREADS = 64  # of a worker at most; created on demand
LOW_PRIORITY = 10  # of workers: a late transcript does no harm, a late bot misses its meeting

Ready = Callable[[str, dict[str, object]], None]


async def run_host(settings: Settings, drain: Drain, *, ready: Ready) -> None:
    """Take bots while there is room, until `drain` is asked for; then let them sit or move, and hand back the rest."""
    with own_spool(settings.data) as spool:
        host_settings = settings.host.model_copy(update={"name": spool.host_name(settings.host.name)})
        await _run_host(settings.model_copy(update={"host": host_settings}), spool, drain, ready)


async def _run_host(settings: Settings, spool: LockedSpool, drain: Drain, ready: Ready) -> None:
    from sederunt.browser.pool import BrowserPool  # imported here, because a worker loads no browser
    from sederunt.jobs.account_checks import serving_account_checks
    from sederunt.jobs.sign_in_windows import serving_windows

    async with (
        BrowserPool(settings.browser, allow_private=settings.allow_private_addresses) as pool,
        open_context(settings, role="host", pool=pool, spools=spool.folder) as context,
    ):
        with suppress(NoResponder, BusAway):
            await context.bus.request(holds_subject(context.name), {"id": ""}, within_s=1)
            raise SetupError(f"Another host is called '{context.name}'. Give each its own SEDERUNT_HOST__NAME.")
        consumers: list[Consumer] = []
        capacity = Capacity(
            settings.host,
            lambda: sum(consumer.held for consumer in consumers),
            live=lambda: len(context.transcribed_live),
        )
        consumers += _consumers("host", context, capacity.has_room)
        subscription = await context.bus.serve(holds_subject(context.name), lambda request: _holds(consumers, request))
        say_ready = partial(ready, "host", {"name": context.name, "pid": os.getpid()})

        footprint = Footprint(pool.processes)

        def seats() -> Mapping[str, object]:
            (attend_consumer,) = consumers
            free = 0 if drain.asked.is_set() else capacity.free_seats()
            seat_counts = {
                "total": 0 if drain.asked.is_set() else attend_consumer.held + free,
                "held": attend_consumer.held,
                "free": free,
            }
            return {
                "seats": seat_counts,
                "cores": os.cpu_count() or 1,
                "load": round(capacity.load, 3),
                "draining": drain.asked.is_set(),
                "budgets": context.ledger.told(),
                "browsers": footprint.told(),
            }

        parts = TestedParts(context, {"browser": pool.state})
        async with (
            _storing_leftovers(context, consumers, spool),
            _standing_in(context),
            serving_windows(context),
            _waking_ahead(context, pool.wake),
            serving_account_checks(context),
            _alive(context, "host", parts, seats),
        ):
            await _work(consumers, drain, say_ready, moves=context.bus)
        await subscription.close()


async def run_worker(
    settings: Settings, drain: Drain, *, ready: Ready, own: Mapping[str, PartCheck] = MappingProxyType({})
) -> None:
    """Work through the queues and tidy until `drain` is asked for; then let jobs end for a while, and hand back the
    rest.

    Args:
        own: parts that are tested besides those of every role.

    Raises SetupError if the settings name unknown models for a fallback.
    """
    check_fallback(settings.transcription.fallback)
    os.nice(LOW_PRIORITY)
    # A vendor that does not answer blocks its job's thread; other jobs must not wait for a thread because of it.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "worker"))
    async with (
        open_context(settings, role="worker") as context,
        hearing(context.bus) as heartbeats,
        _unasked(context, heartbeats),
    ):
        consumers = _consumers("worker", context, lambda: True)

        def at_work() -> Mapping[str, object]:
            job_counts = {consumer.kind: consumer.held for consumer in consumers}
            return {"at_work": job_counts, "draining": drain.asked.is_set(), "budgets": context.ledger.told()}

        async with _alive(context, "worker", TestedParts(context, own), at_work):
            await _work(consumers, drain, lambda: ready("worker", {"pid": os.getpid()}))


@asynccontextmanager
async def _alive(
    context: WorkerContext, role: str, parts: "TestedParts", more: Callable[[], Mapping[str, object]]
) -> AsyncIterator[None]:
    """Send this process's heartbeat, with the results of its self-tests, while the block runs."""

    async def facts() -> Mapping[str, object]:
        process_facts = {"version": __version__, "tally": COUNTERS.told()}
        return {**process_facts, "parts": parts.last, "tested_at": parts.tested_at, **more()}

    test_task = asyncio.create_task(parts.run(), name="self-test")
    try:
        async with beating(context.bus, role, context.name, facts):
            yield
    finally:
        await end(test_task)


class TestedParts:
    """The results of this process's last self-test.

    Args:
        own: parts that only this role has.
    """

    def __init__(self, context: WorkerContext, own: Mapping[str, PartCheck] = MappingProxyType({})) -> None:
        data = context.settings.data
        self._readiness = Readiness(context.database, context.bus, context.objects, data, context.clock, own)
        self._clock = context.clock
        self.last: Mapping[str, str] = {}
        self.tested_at: str | None = None

    async def run(self) -> None:
        """Test for ever."""
        while True:
            try:
                self.last = await self._readiness.parts()
            except Exception as error:
                logger.exception("self-test failed", action="self_test_failed")
                self.last = {"self_test": str(error)[:200] or type(error).__name__}
            self.tested_at = self._clock.now().isoformat()
            await asyncio.sleep(TEST_EVERY_S)


def _consumers(role: Literal["host", "worker"], context: WorkerContext, has_room: Callable[[], bool]) -> list[Consumer]:
    return [_consumer(kind, context, has_room) for kind in KINDS.values() if kind.role == role]


def _consumer(kind: JobKind, context: WorkerContext, has_room: Callable[[], bool]) -> Consumer:
    shares = _shares(kind, kind.budget, context) if kind.budget is not None else None
    consumer = Consumer(
        context.bus,
        kind.kind,
        handler_of(kind, context),
        slots=kind.slots(context.settings),
        has_room=has_room,
        must_wait_s=shares.must_wait_s if shares is not None else None,
    )
    if shares is not None:
        shares.held = lambda: consumer.held_ids
    return consumer


def _shares(kind: JobKind, budget: str, context: WorkerContext) -> Shares:
    async def size_of(resource_id: UUID) -> JobSize | None:
        if (holding := await context.holdings.of(resource_id)) is not None:
            return JobSize(account_id=holding.account_id, sound_s=holding.sound_s)
        account_id = await context.recordings.account_of(resource_id)
        return JobSize(account_id=account_id) if account_id is not None else None

    return Shares(context.ledger, budget, size_of, long_budget=kind.long_budget)


async def _work(
    consumers: Sequence[Consumer], drain: Drain, say_ready: Callable[[], None], *, moves: Bus | None = None
) -> None:
    """Run the consumers until `drain` is asked for, then drain them. A consumer that fails ends the role, which is then
    restarted.

    Args:
        moves: bus on which other hosts report their seats, to which bots move before this host ends.
    """
    async with asyncio.TaskGroup() as group:
        for consumer in consumers:
            group.create_task(consumer.run(), name=f"consume {consumer.kind}")
        say_ready()
        logger.info("role is ready", action="role_ready", kinds=[consumer.kind for consumer in consumers])
        await drain.asked.wait()
        async with AsyncExitStack() as stack:
            others_have_seats = None
            if moves is not None:
                heartbeats = await stack.enter_async_context(hearing(moves))
                others_have_seats = partial(_others_have_seats, heartbeats)
            drains = (
                consumer.drain(
                    drain.within_s,
                    others=others_have_seats,
                    offer_after_s=drain.offer_after_s,
                    cut_short=drain.cut_short,
                )
                for consumer in consumers
            )
            handed_back_counts = await asyncio.gather(*drains)
        logger.info("role drained", action="role_drained", handed_back=sum(handed_back_counts))


def _others_have_seats(heartbeats: Heartbeats) -> bool:
    """Return whether another host would take a bot; a draining host reports no seats."""
    return seats_of(heartbeats.living("host")).free > 0


async def _holds(consumers: Sequence[Consumer], request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer `host.<name>.holds`."""
    return {"holds": any(consumer.holds(str(request.get("id"))) for consumer in consumers)}


@asynccontextmanager
async def _storing_leftovers(
    context: WorkerContext, consumers: Sequence[Consumer], spool: LockedSpool
) -> AsyncIterator[None]:
    """Store, beside the bots, what other processes left in the spool of this host."""
    leftovers = Leftovers(
        spool.folder,
        bots=context.bots,
        deletions=context.deletions,
        objects=context.objects,
        clock=context.clock,
        held=lambda bot_id: any(consumer.holds(str(bot_id)) for consumer in consumers),
        take_over=spool.take_over,
    )
    task = asyncio.create_task(leftovers.run(), name="leftovers")
    try:
        yield
    finally:
        await end(task)


@asynccontextmanager
async def _waking_ahead(context: WorkerContext, wake: Callable[[], None]) -> AsyncIterator[None]:
    """Have browsers ready ahead of bots, while the block runs."""
    waiting = WaitingBots(context.database)
    task = asyncio.create_task(prewarm(waiting, context.clock, wake), name="wake ahead")
    try:
        yield
    finally:
        await end(task)


@asynccontextmanager
async def _standing_in(context: WorkerContext) -> AsyncIterator[None]:
    """Do the workers' unrequested work while there is no worker, or all rest: bots and webhooks become due."""
    async with hearing(context.bus) as heartbeats:

        def no_worker() -> bool:
            return heartbeats.listening_s > SILENT_S and all(map(is_resting, heartbeats.living("worker")))

        async with _unasked(context, heartbeats, no_worker):
            yield


@asynccontextmanager
async def _unasked(
    context: WorkerContext, heartbeats: Heartbeats, is_wanted: Callable[[], bool] = lambda: True
) -> AsyncIterator[None]:
    """Do the work that no job requests, beside the block: tidy up, and follow calendars."""
    housekeeping_task = asyncio.create_task(_housekeeping(context, heartbeats, is_wanted).run(), name="housekeeping")
    calendars_task = asyncio.create_task(_calendars(context, is_wanted).run(), name="calendars")
    try:
        yield
    finally:
        await end(housekeeping_task, calendars_task)


def _housekeeping(context: WorkerContext, heartbeats: Heartbeats, is_wanted: Callable[[], bool]) -> Housekeeping:
    stores = Stores(
        bots=context.bots,
        recordings=context.recordings,
        deliveries=context.deliveries,
        deletions=context.deletions,
        times=RetentionTimes(context.database),
        outbox=context.outbox,
        holdings=context.holdings,
        search=Search(context.database),
        objects=context.objects,
        scratch=folder_of(context.settings),
        vendors=VendorDeletion(context.objects, context.vendor_access, context.settings, context.clock),
    )
    settings = context.settings
    line = WaitingLine(
        context.bots,
        WaitingBots(context.database),
        context.clock,
        limits=SeatLimits(per_account=settings.api.concurrent_bots, live=settings.live.most_bots),
        longest_wait_s=settings.host.seat_wait_minutes * 60,
        heartbeats=heartbeats,
    )
    return Housekeeping(stores, context.bus, context.clock, line, is_wanted=is_wanted)


def _calendars(context: WorkerContext, is_wanted: Callable[[], bool]) -> CalendarFollower:
    return CalendarFollower(
        CalendarFeeds(context.database),
        context.bots,
        context.sealer,
        context.clock,
        allow_private=context.settings.allow_private_addresses,
        booking=BookingLimits(per_account=context.settings.api.concurrent_bots, seats=context.settings.api.seats),
        most=context.settings.api.scheduled_bots,
        limits=AccountLimits(stored_gb=context.settings.limits.stored_gb),
        is_wanted=is_wanted,
    )
