"""What a job's handler gets, how it may end, and what then happens to the job.

Only this module translates errors for queues.
"""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast
from uuid import UUID

from sederunt import log, tracing
from sederunt.bus import held_job
from sederunt.bus.held_job import Done, Drop, JobDelivery, Outcome
from sederunt.errors import (
    DestinationError,
    LimitReached,
    MediaError,
    NotFound,
    ObjectMissing,
    ProviderError,
    SederuntError,
    StorageMissing,
    Superseded,
)
from sederunt.jobs.follow_ups import JobKind
from sederunt.tracing import Origin, origin_in

if TYPE_CHECKING:
    from sederunt.jobs.context import WorkerContext

logger = log.get(component="jobs")

GIVE_UP_PAUSE_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One job, as its handler sees it."""

    kind: str
    id: UUID  # of the resource
    resource: Literal["bot", "recording"]
    delivered: int  # how often it began, this time included; for kinds without a limit, how often it was delivered
    cut_off: asyncio.Event  # set when another process may hold the job: leave, write nothing more
    beside: bool = False  # its holder drains, and works on until this process has taken its place


class Again(SederuntError):
    """Give the job out again, to anyone, after a pause. Not counted as a fault."""

    def __init__(self, after_s: float, why: str = "") -> None:
        super().__init__(why)
        self.after_s = after_s


class GiveUp(SederuntError):
    """The job will never succeed; the sentence says why."""


_CALLERS_FAULT = (MediaError, DestinationError, LimitReached)
_TOLD_BY_SENTENCE = (*_CALLERS_FAULT, Again, GiveUp, ProviderError, ObjectMissing, StorageMissing)

Work = Callable[[Job, "WorkerContext"], Awaitable[None]]
OnGiveUp = Callable[[Job, "WorkerContext", BaseException], Awaitable[None]]


def handler_of(kind: JobKind, context: "WorkerContext") -> held_job.Handler:
    """Return the kind's work, imported now, in the form that the bus takes."""
    work = cast(Work, _imported(kind.work))
    on_give_up = cast(OnGiveUp, _imported(kind.give_up)) if kind.give_up else None
    unreported_ids: set[UUID] = set()  # could not be given up: they return every minute, and this process survived them

    async def handle(delivery: JobDelivery) -> Outcome:
        job = job_of(delivery)
        with tracing.continuing(await _origin_of(delivery, job, context)):
            if delivery.delivered == 1:
                with tracing.span(f"queue {job.kind}", kind="consumer", began_at=delivery.published_at):
                    pass
            ids: dict[str, str | int] = {
                f"sederunt.{job.resource}.id": str(job.id),
                "sederunt.delivered": job.delivered,
            }
            with tracing.span(job.kind, kind="consumer", attributes=ids) as span:
                outcome = await worked(job)
                if span is not None:
                    span.set_attribute("sederunt.outcome", type(outcome).__name__)
                return outcome

    async def worked(job: Job) -> Outcome:
        try:
            if kind.times is not None:  # the queue also counts deliveries that only waited for an account's share
                delivery_count = job.delivered
                job = replace(job, delivered=1)  # if the count fails, nothing is known
                job = replace(job, delivered=min(await context.beginnings.begin(kind.kind, job.id), delivery_count))
            if kind.is_deadly(job.delivered) and job.id not in unreported_ids:
                raise GiveUp(f"It was begun {job.delivered - 1} times and came to no end: it seems to end its worker.")
            await work(job, context)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            outcome = outcome_of(error, kind, job.delivered)
            _tell(job, error, outcome)
            if isinstance(error, NotFound) and kind.times is not None:  # deleted before it was counted
                await context.beginnings.forget(job.id)
            if isinstance(outcome, Drop) and on_give_up is not None:
                outcome = await _given_up(job, context, error, on_give_up)
                if isinstance(outcome, held_job.Redeliver):
                    unreported_ids.add(job.id)
            return outcome
        return Done()

    return handle


async def _origin_of(delivery: JobDelivery, job: Job, context: "WorkerContext") -> Origin:
    """Return the request that caused a job: from the message, else from the row."""
    origin = origin_in(delivery.message)
    if origin.request_id:
        return origin
    try:
        return origin_in(await context.store_of(job.resource).origin(job.id))
    except Exception as error:  # whatever a driver raises: no job may fail for lack of an id
        logger.debug("origin of a job not read", action="origin_unread", id=str(job.id), error=str(error))
        return Origin()


def job_of(delivery: JobDelivery) -> Job:
    """Return the job in a delivery. Raises ValueError or KeyError for a foreign message."""
    return Job(
        kind=delivery.kind,
        id=UUID(delivery.message["id"]),
        resource=delivery.message.get("resource", "bot"),
        delivered=delivery.delivered,
        beside=delivery.beside,
        cut_off=delivery.cut_off,
    )


def outcome_of(error: Exception, kind: JobKind, delivered: int) -> Outcome:
    """Return what an error means. Leave: taken over. Done: deleted. Drop: hopeless. Redeliver: after a pause."""
    match error:
        case Again(after_s=after_s):
            return held_job.Redeliver(after_s)
        case Superseded():
            return held_job.Leave()
        case NotFound():
            return Done()
        case GiveUp() | MediaError() | LimitReached():
            return Drop()
        case ProviderError(retryable=False) | DestinationError(retryable=False):
            return Drop()
    retry_after_s = (error.retry_after_s or 0.0) if isinstance(error, ProviderError) else 0.0
    is_last = kind.is_last(delivered, missing=isinstance(error, ObjectMissing))
    return Drop() if is_last else held_job.Redeliver(max(retry_after_s, kind.pause_s(delivered)))


async def _given_up(job: Job, context: "WorkerContext", error: Exception, on_give_up: OnGiveUp) -> Outcome:
    """Give a job up. The row must note it, or the resource would hang for ever; until then the job stays."""
    try:
        await on_give_up(job, context, error)
    except (NotFound, Superseded):
        return Done()
    except Exception:
        logger.exception("giving up failed", action="give_up_failed", kind=job.kind, id=str(job.id))
        return held_job.Redeliver(GIVE_UP_PAUSE_S)
    return Drop()


def _tell(job: Job, error: Exception, outcome: Outcome) -> None:
    ids = {"kind": job.kind, "id": str(job.id), "delivered": job.delivered}
    # The message of such an error says everything; of any other, an operator needs the traceback.
    cause = {"reason": str(error)} if isinstance(error, _TOLD_BY_SENTENCE) else {"exc_info": error}
    match outcome:
        case Done() | held_job.Leave():
            logger.info("job is not ours any more", action="job_left", reason=str(error), **ids)
        case Drop() if isinstance(error, _CALLERS_FAULT):
            logger.warning("job given up", action="job_given_up", **cause, **ids)
        case Drop():
            logger.error("job given up", action="job_given_up", **cause, **ids)
        case held_job.Redeliver(after_s=after_s):
            logger.warning("job goes back", action="job_goes_back", again_in_s=after_s, **cause, **ids)


def _imported(target: str) -> object:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
