"""Tidies up, for ever: due bots, unsent messages, due webhooks, lost jobs, old media.

Every worker runs it, and every host while no worker is up. It needs no leader: each step is a guarded update or a
publish that may be repeated.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from sederunt import log
from sederunt.bus.connection import Bus, BusAway
from sederunt.bus.erasure import erase_events
from sederunt.clock import Clock, SteadyClock
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Deliveries
from sederunt.database.holdings import Holdings
from sederunt.database.outbox import Outbox, Resource
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletion, Deletions, RetentionTimes
from sederunt.database.search import Search
from sederunt.jobs.follow_ups import NEEDED, NEEDED_BY_RECORDINGS
from sederunt.jobs.holdings import measure
from sederunt.jobs.line import WaitingLine, Walked
from sederunt.jobs.publish import sweep
from sederunt.jobs.retention_time import RetentionTime
from sederunt.jobs.scratch import remove_left
from sederunt.jobs.vendor_deletion import VendorDeletion
from sederunt.model.recording import Recording
from sederunt.storage.objects import Objects

logger = log.get(component="jobs")

T = TypeVar("T")

UNSENT_AFTER_S = 5.0  # by then the writer has published its rows or died, or NATS is away
QUICK_EVERY_S = 1.0
SLOW_EVERY_S = 30.0  # lost jobs, old media, deletions
LEAST_SET_S = 2.0  # less than this is an adjustment by the network's time service
MOST_FAILED = 3  # consecutive failures: the storage is away
EXPIRED_AT_ONCE, MEASURED_AT_ONCE = 100, 50
MOST_EXPIRING_S = 60.0  # of one pass, because lost jobs wait for it
SOON_S = 5.0  # second slow pass after a start and after the message server was away: it may have lost jobs


@dataclass(frozen=True, kw_only=True, slots=True)
class Stores:
    """The stores that housekeeping works on."""

    bots: Bots
    recordings: Recordings
    deliveries: Deliveries
    deletions: Deletions
    times: RetentionTimes
    outbox: Outbox
    holdings: Holdings
    search: Search
    objects: Objects
    scratch: Path  # of this machine's jobs
    vendors: VendorDeletion | None = None  # deletes what transcription vendors keep


@dataclass(frozen=True, kw_only=True, slots=True)
class Tidied:
    """The result of one pass."""

    due: int = 0
    waiting: int = 0  # bots that were told their place in the line
    unseated: int = 0
    unsent: int = 0
    deliveries: int = 0
    requeued: int = 0
    expired: int = 0
    deleted: int = 0
    erased: int = 0  # copies at vendors
    set_apart: int = 0  # lines whose words an older program wrote


Lost = tuple[str, str]  # (kind of job, id of the resource)


class Housekeeping:
    """The passes, and the loop around them.

    Args:
        is_wanted: whether this process makes passes at this moment.
    """

    def __init__(
        self,
        stores: Stores,
        bus: Bus,
        clock: Clock,
        line: WaitingLine,
        *,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._stores, self._line, self._is_wanted = stores, line, is_wanted
        self._bus = bus
        self._clock, self._counted = clock, SteadyClock(clock)
        self._time = RetentionTime()
        self._suspects: frozenset[Lost] = frozenset()
        self._back = asyncio.Event()  # the message server was away
        # Deletions that are complete here, while a vendor may still have copies.
        self._at_vendors: dict[UUID, Deletion] = {}
        self._some_at_vendors = asyncio.Event()
        # Deletions that only wait for receivers of the last changes → what closes their receipts.
        self._untold: dict[UUID, Callable[[], Awaitable[None]]] = {}
        self._failed: dict[UUID, None] = {}  # ids that the storage refused at the last try, oldest first
        self._log_holds_deleted = True  # the previous process may have died in between

    async def run(self) -> None:
        """Run the quick pass every second, the slow one and that of vendors every half minute, for ever.

        No pass waits for another: deletions may take minutes, and a due bot must not wait for them; a vendor may stay
        silent for longer, and no deletion here waits for that.
        """
        end_back = self._bus.when_back(self._back.set)
        try:
            await asyncio.gather(
                self._repeat(self.quick_pass, QUICK_EVERY_S), self._repeat_slow_pass(), self._repeat_vendor_pass()
            )
        finally:
            end_back()

    async def _repeat(self, one_pass: Callable[[], Awaitable[Tidied]], every_s: float) -> None:
        while True:
            await self._guarded(one_pass)
            await self._clock.sleep(every_s)

    async def _repeat_slow_pass(self) -> None:
        """Repeat the slow pass, twice in a row after a start and after the message server was away, because a job is
        put back only after it was missed twice.
        """
        is_soon = True
        while True:
            await self._guarded(self.slow_pass)
            try:
                async with asyncio.timeout(SOON_S if is_soon else SLOW_EVERY_S):
                    await self._back.wait()
            except TimeoutError:
                is_soon = False
                continue
            self._back.clear()
            is_soon = True

    async def _repeat_vendor_pass(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SLOW_EVERY_S):
                    await self._some_at_vendors.wait()
            self._some_at_vendors.clear()
            await self._guarded(self.vendor_pass)

    async def quick_pass(self) -> Tidied:
        """Do what callers wait for: due bots, due webhooks, and messages that a crash left unsent."""
        result = await self._tried(self._line.walk, Walked())
        await self._tried(self._heed_clock, None)
        deliveries = await self._tried(self._deliver_due, 0)
        unsent = await self._tried(lambda: sweep(self._bus, self._stores.outbox, older_than_s=UNSENT_AFTER_S), 0)
        return Tidied(due=result.sent, waiting=result.told, unseated=result.ended, deliveries=deliveries, unsent=unsent)

    async def _deliver_due(self) -> int:
        # Published anew each second; the queue takes one delivery job per resource.
        due_resources = await self._stores.deliveries.due(self._clock.now())
        count = 0
        for resource, resource_id in due_resources:
            count += await self._publish("deliver", resource, resource_id, occasion=f"due-{self._now_ms()}")
        return count

    async def _tried(self, step: Callable[[], Awaitable[T]], default: T) -> T:
        """Return a step's result. Logs a step that fails, which delays no other. Raises BusAway."""
        try:
            return await step()
        except BusAway:
            raise
        except Exception:
            logger.exception("housekeeping failed", action="housekeeping_failed")
            return default

    async def _heed_clock(self) -> None:
        """Retry all waiting webhooks if the clock was set back. Otherwise they, and all later ones of their bots, would
        wait that much longer for their stored times.
        """
        back_s = (self._counted.now() - self._clock.now()).total_seconds()
        if abs(back_s) < LEAST_SET_S:
            return
        if back_s > 0:
            webhooks = await self._stores.deliveries.hasten_all()
            logger.warning("the clock was set back", action="clock_set_back", by_s=round(back_s), webhooks=webhooks)
        self._counted = SteadyClock(self._clock)

    async def slow_pass(self) -> Tidied:
        """Run the slow pass: what no caller waits for."""
        requeued_count = await self._tried(self._put_back_lost_jobs, 0)
        now = await self._retention_time()  # without it no media is known to be due
        deleted_count = await self._tried(self._remove_deleted, 0)  # callers were promised the deletion
        expired_count = await self._tried(partial(self._remove_expired, now), 0)
        await self._tried(self._measure_unmeasured, None)
        line_count = await self._tried(self._stores.search.set_apart, 0)
        await self._tried(lambda: asyncio.to_thread(remove_left, self._stores.scratch), None)
        await self._tried(self._overwrite_deleted, None)
        return Tidied(requeued=requeued_count, expired=expired_count, deleted=deleted_count, set_apart=line_count)

    async def vendor_pass(self) -> Tidied:
        """Ask vendors to delete their data about deleted bots and recordings, and close the receipts of what is deleted
        everywhere.
        """
        copy_count = 0
        for deletion in list(self._at_vendors.values()):
            copy_count += await self._tried(partial(self._erase_copies, deletion), 0)
        return Tidied(erased=copy_count)

    async def _erase_copies(self, deletion: Deletion) -> int:
        copies = await self._stores.vendors.erase(deletion.resource_id) if self._stores.vendors else 0
        if copies is not None:
            await self._finish(deletion, vendor_copies=copies)
            del self._at_vendors[deletion.resource_id]
        return copies or 0

    async def _guarded(self, one_pass: Callable[[], Awaitable[Tidied]]) -> None:
        """Make one pass; one that fails is logged and repeated later. That NATS is away is logged elsewhere."""
        if not self._is_wanted():  # later, what was seen until now is outdated
            self._counted, self._suspects = SteadyClock(self._clock), frozenset()
            return
        try:
            result = await one_pass()
        except BusAway:
            return
        except Exception:
            logger.exception("housekeeping failed", action="housekeeping_failed")
            return
        if result != Tidied():
            facts = {name: count for name in Tidied.__slots__ if (count := getattr(result, name))}
            logger.info("tidied", action="tidied", **facts)

    async def _put_back_lost_jobs(self) -> int:
        """Publish jobs that rows need and no queue has: after a power cut, or a NATS that lost its storage.

        A job is missed twice before it is put back, because between a commit and its publishing it is nowhere for a
        moment. Processes that miss it in the same minute put it back once: the server drops the second message.
        """
        missing_jobs: dict[Lost, Resource] = {}
        for kind, resource, ids in await self._needed():
            queued_ids = await self._bus.queued(kind)
            missing_jobs |= {(kind, str(id_)): resource for id_ in ids if str(id_) not in queued_ids}
        lost_jobs = {key: resource for key, resource in missing_jobs.items() if key in self._suspects}
        self._suspects = frozenset(missing_jobs.keys() - lost_jobs.keys())
        for (kind, id_), resource in lost_jobs.items():
            logger.warning("lost job put back", action="job_put_back", kind=kind, id=id_)
            await self._publish(kind, resource, UUID(id_), occasion=f"lost-{self._now_ms() // 60_000}")
        return len(lost_jobs)

    async def _needed(self) -> list[tuple[str, Resource, list[UUID]]]:
        """Return (kind of job, resource, ids) that must be queued or at work."""
        jobs: list[tuple[str, Resource, list[UUID]]] = []
        for status, kind in NEEDED.items():
            jobs.append((kind, "bot", await self._stores.bots.all_accounts.with_status(status)))
        for recording_status, kind in NEEDED_BY_RECORDINGS.items():
            recordings = await self._stores.recordings.with_status(recording_status)
            jobs.append(
                (kind, "recording", [recording.id for recording in recordings if not must_be_fetched(recording)])
            )
            jobs.append(
                ("fetch", "recording", [recording.id for recording in recordings if must_be_fetched(recording)])
            )
        return jobs

    async def _retention_time(self) -> datetime:
        """Return the time by which the age of media is judged, and store it for the next process."""
        times = self._stores.times
        noted_time = None if self._time.has_looked else await times.noted()
        believed_time = self._time.at(await times.clock(), self._clock.monotonic(), noted_time)
        await times.note(believed_time)
        return believed_time

    async def _remove_deleted(self) -> int:
        """Delete what callers requested. Returns how many resources. What only waits for a vendor delays nothing."""
        deletions: list[Deletion] = []
        while page := await self._stores.deletions.unfinished(behind=deletions[-1] if deletions else None):
            deletions += page
        # The receipt of an upload in progress is dated tomorrow.
        deletions_by_id = {
            deletion.resource_id: deletion for deletion in deletions if self._time.came(deletion.requested_at)
        }
        await self._tried(partial(self._finish_told, deletions_by_id), None)
        to_delete = {
            id_: deletion
            for id_, deletion in deletions_by_id.items()
            if id_ not in self._at_vendors and id_ not in self._untold
        }
        count, untried_ids = await self._try_each(to_delete, lambda id_: self._delete(to_delete[id_]))
        for id_ in untried_ids:  # rows go all the same, so that nobody can read them
            await self._tried(partial(self._stores.deletions.remove_rows, to_delete[id_]), None)
        return count

    async def _finish_told(self, open_ids: Collection[UUID]) -> None:
        """Close the receipts that only waited for their receivers, if that is over."""
        untold_ids = await self._stores.deletions.all_untold() if self._untold else set()
        for id_, finish in list(self._untold.items()):
            if id_ not in open_ids:  # another worker closed it
                del self._untold[id_]
            elif id_ not in untold_ids:
                self._log_holds_deleted = True
                await self._tried(finish, None)

    async def _remove_expired(self, now: datetime) -> int:
        """Remove expired media. Returns of how many resources. Transcripts stay."""
        bots, recordings = self._stores.bots, self._stores.recordings
        return await self._remove_pages("bot", partial(bots.all_accounts.expired, now), bots.media_removed) + (
            await self._remove_pages("recording", partial(recordings.expired, now), recordings.media_removed)
        )

    async def _remove_pages(
        self,
        resource: Resource,
        find_expired: Callable[..., Awaitable[list[UUID]]],
        note: Callable[[UUID], Awaitable[None]],
    ) -> int:
        """Remove expired media while pages are full; deletions that callers request meanwhile do not wait for it."""
        count, deadline_s = 0, self._clock.monotonic() + MOST_EXPIRING_S
        while True:
            # Beyond the ids that failed before: they are the oldest and would otherwise fill every page.
            limit = EXPIRED_AT_ONCE + len(self._failed)
            page = await find_expired(limit=limit)
            removed_count, _ = await self._try_each(page, partial(self._remove_media, resource, note))
            count += removed_count
            if removed_count < EXPIRED_AT_ONCE or self._clock.monotonic() > deadline_s:
                return count
            await self._tried(self._remove_deleted, 0)

    async def _remove_media(self, resource: Resource, note: Callable[[UUID], Awaitable[None]], id_: UUID) -> None:
        await self._stores.objects.delete_prefix(f"{resource}s/{id_}/")
        await note(id_)
        logger.info("media had its time", action="media_removed", resource=resource, id=str(id_))

    async def _measure_unmeasured(self) -> None:
        holdings = await self._stores.holdings.unmeasured(limit=MEASURED_AT_ONCE + len(self._failed))
        holdings_by_id = {holding.resource_id: holding for holding in holdings}
        await self._try_each(
            holdings_by_id, lambda id_: measure(holdings_by_id[id_], self._stores.holdings, self._stores.objects)
        )

    async def _try_each(self, ids: Collection[UUID], act: Callable[[UUID], Awaitable[None]]) -> tuple[int, list[UUID]]:
        """Act on one resource after another, and last on those that failed before, so that one that cannot be deleted
        keeps no other waiting.

        Returns how often it worked, and what was left untried because the storage is away.
        """
        id_set = set(ids)
        failed_ids = [id_ for id_ in self._failed if id_ in id_set]
        order = [*(id_ for id_ in ids if id_ not in self._failed), *failed_ids]
        count, failure_count = 0, 0
        for place, id_ in enumerate(order):
            if failure_count >= MOST_FAILED:
                return count, order[place:]
            has_worked = await self._tried(partial(_done, act, id_), False)
            self._failed.pop(id_, None)
            if has_worked:
                count, failure_count = count + 1, 0
            else:
                failure_count += 1
                self._failed[id_] = None
        return count, []

    async def _delete(self, deletion: Deletion) -> None:
        """Delete a resource; repeated after a crash. Rows go first, so that nobody can read them any more."""
        self._log_holds_deleted = True
        await self._stores.deletions.remove_rows(deletion)
        event_count = await erase_events(self._bus, deletion.resource_id) if deletion.resource == "bot" else 0
        removed_count = await self._stores.objects.delete_prefix(f"{deletion.resource}s/{deletion.resource_id}/")
        await asyncio.to_thread(remove_left, self._stores.scratch, of=deletion.resource_id)
        if self._stores.vendors and await self._stores.vendors.has_copies(deletion.resource_id):
            self._at_vendors[deletion.resource_id] = deletion  # the receipt stays open
            self._some_at_vendors.set()
        else:
            await self._finish(deletion, objects=removed_count, feed_events=event_count)

    async def _finish(self, deletion: Deletion, **counts: int) -> None:
        """Close a receipt. It stays open if a receiver has still to be told of the last changes."""
        if await self._stores.deletions.is_untold(deletion.resource_id):
            self._untold[deletion.resource_id] = partial(self._finish, deletion, **counts)
            return
        self._untold.pop(deletion.resource_id, None)
        await self._stores.deletions.finish(deletion)
        logger.info(
            "resource deleted",
            action="deleted",
            resource=deletion.resource,
            id=str(deletion.resource_id),
            account_id=str(deletion.account_id),
            requested_at=deletion.requested_at.isoformat(),
            **counts,
        )

    async def _overwrite_deleted(self) -> None:
        if self._log_holds_deleted:
            self._log_holds_deleted = not await self._stores.deletions.overwrite()

    async def _publish(self, kind: str, resource: Resource, resource_id: UUID, *, occasion: str) -> bool:
        payload = json.dumps({"id": str(resource_id), "resource": resource}).encode()
        return await self._bus.publish_job(kind, resource_id, payload, f"{kind}-{resource_id}-{occasion}")

    def _now_ms(self) -> int:
        return round(self._clock.now().timestamp() * 1000)


async def _done(act: Callable[[UUID], Awaitable[None]], id_: UUID) -> bool:
    await act(id_)
    return True


def must_be_fetched(recording: Recording) -> bool:
    """Return whether a recording's file is still elsewhere."""
    return recording.recording_object is None and any(
        (recording.source_url, recording.source_bot_id, recording.source_recording_id)
    )
