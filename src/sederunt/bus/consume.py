"""Take jobs from a queue: one at a time per free slot, kept alive while they run, settled when they end.

A job may last four hours. These rules make that safe:

1. Every third of the ack wait the holder says "still at it" and waits for the server's answer; after a reconnect it
   does so at once. The server does not count its own outage against a holder.
2. A killed server forgets the jobs that it gave out in its last moments (measured: jobs delivered within some ten
   milliseconds before the kill are given out again when it is back). So a process that is given a job first asks for
   its holder, on a subject that the holder answers while it works. If there is none, the server says so at once. If
   there is one, it adopts the new delivery as its own handle, and nothing starts a second time. The holder of a
   finished job answers until the server has confirmed the end: a server killed at that moment would have it done again.
   The holder of a job that it hands back stops answering before it tells the server: the job may have another holder in
   the same moment.
3. After every connect nobody takes jobs for a moment, so that all holders are back before the first is given out.
4. A holder without an answer for two ack waits cannot know whether somebody else holds the job by now: `cut_off` is
   set, and the work should end. If the server runs on the same machine, it gives out nothing while it is down, so only
   a process that was itself asleep is cut off.
5. A draining process offers its jobs to others and works on: it refuses the job, so that the server gives it out again,
   and answers that it is handing it over. The next holder starts beside it (`beside`) and owns the job from then on;
   the two handlers agree on the moment of the change.
6. A holder that does not answer, although the server believes it connected, is waited out: see `silent_holder`.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nats.aio.msg import Msg

from sederunt import log
from sederunt.bus import streams
from sederunt.bus.connection import Bus
from sederunt.bus.held_job import Handler, HeldJob, JobDelivery, nak
from sederunt.bus.job_pull import JobPull
from sederunt.bus.silent_holder import Holder, ask, wait_out
from sederunt.bus.tasks import end

logger = log.get(component="bus")

OFFERED_S = 60.0  # of a drain, for others to take over the running jobs
OTHERS_S = 0.5  # how often to look for others
OFFER_EVERY_S = 1.5  # between two offers, if there is time: starting beside us costs a machine seconds of a core
HAND_BACK_S = 16.0  # for a job cancelled at the end of a drain to leave its meeting and be given back
HELD_PAUSE_S = 5.0  # before a job whose resource is at work is given out again
MOST_REFUSED = 1000  # jobs whose refusals here are counted


@dataclass(frozen=True, kw_only=True, slots=True)
class _GivenJob:
    """A job as the server gave it out, before it is ours."""

    sequence: int  # its number in the stream
    resource_id: str
    message: Mapping[str, Any]
    msg: Msg

    @property
    def key(self) -> tuple[int, str]:
        return self.sequence, self.resource_id


class Consumer:
    """Takes jobs of one kind. `run` until `drain`; both are awaited by the role."""

    def __init__(
        self,
        bus: Bus,
        kind: str,
        handler: Handler,
        *,
        slots: int = 1,
        has_room: Callable[[], bool] = lambda: True,
        on_cut_off: Callable[[], None] = lambda: None,
        must_wait_s: Callable[[str], Awaitable[float]] | None = None,
    ) -> None:
        """Take jobs of `kind`, `slots` at once.

        Args:
            must_wait_s: how long a resource's job has to wait before it may be given out again; 0 to take it now. The
                wait does not count as a try.
        """
        self._must_wait_s = must_wait_s
        self.kind = kind
        self._bus = bus
        self._pull = JobPull(bus, kind, on_job=self._take, has_room=lambda: self.held < slots and has_room())
        self._handler = handler
        self._slots = slots
        self._on_cut_off = on_cut_off
        self._held: dict[tuple[int, str], HeldJob] = {}  # by number in the stream and id of the resource
        # A job that waits for another of its resource is refused every few seconds; that is no failed try.
        self._refused: Counter[tuple[int, str]] = Counter()
        self._waiting_out: dict[tuple[int, str], asyncio.Task[None]] = {}  # jobs whose holder does not answer
        self._taking = asyncio.Lock()  # held from asking for a job's holder until it is decided who has it

    @property
    def held(self) -> int:
        """Return the number of jobs that are at work in this process or about to be."""
        return len(self._held) + len(self._waiting_out)

    @property
    def held_ids(self) -> frozenset[str]:
        """Return the ids of the resources whose jobs are at work in this process."""
        return frozenset(resource_id for _, resource_id in self._held)

    def holds(self, resource_id: str) -> bool:
        return any(key[1] == resource_id for key in self._held)

    async def run(self) -> None:
        """Take and work until drained."""
        end_back = self._bus.when_back(self._back)
        try:
            await self._pull.run()
        finally:
            end_back()

    async def drain(
        self,
        within_s: float,
        *,
        others: Callable[[], bool] | None = None,
        offer_after_s: float | None = None,
        cut_short: asyncio.Event | None = None,
    ) -> int:
        """Take nothing more and let running jobs end; after `within_s` hand them back. Return how many those were.

        Args:
            others: whether another process would take a job now. Running jobs are offered to it, and work on until it
                has taken their place. None for jobs that cannot start beside us.
            offer_after_s: when to offer them; None for towards the end of the drain.
            cut_short: set to hand back at once what still runs.
        """
        self._pull.end()
        # First of all, or the server would give what we hand back to our own open request.
        async with self._taking:  # or closing would cancel it, and leave the job without a holder for an ack wait
            await self._pull.close()
        await end(*self._waiting_out.values())
        tasks = {job.task for job in self._held.values()}
        after_s = max(within_s - OFFERED_S if offer_after_s is None else offer_after_s, 0.0)
        offer_task = (
            asyncio.create_task(self._offer(after_s, within_s - after_s, others)) if others is not None else None
        )
        late_tasks = await _late(tasks, within_s, cut_short or asyncio.Event())
        if offer_task is not None:
            await end(offer_task)
        await self._hand_back(late_tasks)
        return len(late_tasks)

    async def _offer(self, after_s: float, over_s: float, others: Callable[[], bool]) -> None:
        """Offer the running jobs to other consumers as soon as there are any, one after another.

        Twenty bots offered at once entered at the same time, and no page answered for seconds.

        Args:
            over_s: the rest of the drain after `after_s`; half of it is for the offers.
        """
        await asyncio.sleep(after_s)
        while not others():  # noqa: ASYNC110  # polled, since there is no event for it
            await asyncio.sleep(OTHERS_S)
        jobs = list(self._held.values())
        every_s = min(OFFER_EVERY_S, over_s / 2 / max(len(jobs), 1))

        async def offer(job: HeldJob, in_s: float) -> bool:
            await asyncio.sleep(in_s)
            return await job.offer()

        results = await asyncio.gather(*(offer(job, number * every_s) for number, job in enumerate(jobs)))
        logger.info("jobs offered", action="jobs_offered", kind=self.kind, count=sum(results))

    async def _hand_back(self, late_tasks: set[asyncio.Task[None]]) -> None:
        """Cancel, and give jobs time to leave meetings and be given back; a second cancel would cut that short."""
        unfinished = late_tasks
        for _ in range(2):  # twice, since the first may have been swallowed: see `tasks`
            for task in unfinished:
                task.cancel()
            if unfinished:
                _, unfinished = await asyncio.wait(unfinished, timeout=HAND_BACK_S / 2)
        if unfinished:
            logger.warning("jobs did not end", action="jobs_left", kind=self.kind, count=len(unfinished))

    def _back(self) -> None:
        self._pull.back()
        for job in self._held.values():
            job.extend_now()

    async def _take(self, msg: Msg) -> None:
        message = json.loads(msg.data)
        job = _GivenJob(
            sequence=msg.metadata.sequence.stream, resource_id=str(message.get("id")), message=message, msg=msg
        )
        held_job = self._held.get(job.key)
        if held_job is not None and not held_job.handing_back:
            held_job.adopt(msg.reply)
        elif job.key in self._waiting_out:
            logger.debug(
                "job given out again while its holder is waited out", action="job_repeated", id=job.resource_id
            )
        elif self._pull.is_over or self.held >= self._slots:
            await self._refuse(job, 0)
        elif self.holds(job.resource_id):
            await self._refuse(job, HELD_PAUSE_S)
        else:
            async with self._taking:
                await self._take_unless_held(job)

    async def _take_unless_held(self, job: _GivenJob) -> None:
        question = {"sequence": job.sequence, "handle": job.msg.reply}
        holder = await ask(self._bus, streams.held_subject(self.kind, job.resource_id), question)
        if holder is not Holder.SILENT:
            await self._take_as_found(holder, job)
            return
        logger.warning("holder of a job does not answer", action="holder_silent", kind=self.kind, id=job.resource_id)
        waiting_task = asyncio.create_task(self._wait_out(question, job), name=f"silent {job.resource_id}")
        self._waiting_out[job.key] = waiting_task
        waiting_task.add_done_callback(lambda _: self._waiting_out.pop(job.key, None))

    async def _wait_out(self, question: Mapping[str, Any], job: _GivenJob) -> None:
        # A first delivery proves nothing: a killed server may have forgotten that it gave the job out.
        proven_s = self._bus.settings.ack_wait_s if job.msg.metadata.num_delivered > 1 else 0.0
        subject = streams.held_subject(self.kind, job.resource_id)
        try:
            holder = await wait_out(self._bus, subject, question, proven_s=proven_s)
        except asyncio.CancelledError:
            await self._refuse(job, 0)
            raise
        async with self._taking:
            self._waiting_out.pop(job.key, None)
            await self._take_as_found(Holder.BUSY if self.holds(job.resource_id) else holder, job)
        self._pull.wake()

    async def _take_as_found(self, holder: Holder, job: _GivenJob) -> None:
        id_ = job.resource_id
        if holder is Holder.GONE and self._must_wait_s is not None and (pause_s := await self._must_wait_s(id_)) > 0:
            await self._refuse(job, pause_s)
        elif holder in (Holder.GONE, Holder.SILENT, Holder.HANDING_OVER):
            await self._start(job, beside=holder is Holder.HANDING_OVER)
        else:
            logger.info("job is held elsewhere", action="job_held", kind=self.kind, id=id_, holder=holder)
            if holder is not Holder.ADOPTED:
                await self._refuse(job, HELD_PAUSE_S)

    async def _refuse(self, job: _GivenJob, after_s: float) -> None:
        if len(self._refused) >= MOST_REFUSED:  # collected over weeks; jobs that wait now are refused again soon
            self._refused.clear()
        self._refused[job.key] += 1
        await self._bus.tell(job.msg.reply, nak(after_s))

    async def _start(self, job: _GivenJob, *, beside: bool = False) -> None:
        if self._pull.is_over:
            await self._refuse(job, 0)
            return
        # A server that was killed may have forgotten deliveries that we remember.
        delivery_count = max(job.msg.metadata.num_delivered - self._refused.get(job.key, 0), 1)
        delivery = JobDelivery(
            kind=self.kind,
            message=job.message,
            delivered=delivery_count,
            published_at=job.msg.metadata.timestamp,
            beside=beside,
        )
        held_job = HeldJob(self._bus, delivery, job.key, job.msg.reply, self._handler, self._on_cut_off)
        self._held[job.key] = held_job
        held_job.task.add_done_callback(lambda _: self._ended(job.key))

    def _ended(self, key: tuple[int, str]) -> None:
        self._held.pop(key, None)
        self._pull.wake()


async def _late(tasks: set[asyncio.Task[None]], within_s: float, cut_short: asyncio.Event) -> set[asyncio.Task[None]]:
    if not tasks:
        return set()
    waiters = [
        asyncio.ensure_future(asyncio.wait(tasks, timeout=within_s)),
        asyncio.ensure_future(cut_short.wait()),
    ]
    await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
    for waiter in waiters:
        waiter.cancel()
    return {task for task in tasks if not task.done()}
