"""The job `deliver`: one resource's webhooks, in order.

The queue holds one such job per resource at most, so nobody else is at the same resource, unless this worker was cut
off from the queue. The job ends when a receiver has to be tried again later; housekeeping calls for the resource when
that time has come, and likewise for an event that was written while this job was about to end.
"""

from sederunt.jobs.context import WorkerContext
from sederunt.jobs.job import Again, Job


async def deliver(job: Job, context: WorkerContext) -> None:
    """Deliver the webhooks that are pending and due."""
    await context.deliverer.deliver_all(job.id, job.cut_off)
    if job.cut_off.is_set():
        raise Again(0.0, "this worker was cut off")
