"""The job `deliver`: one resource's webhooks, in order.

The queue holds at most one such job per resource, so nobody else works on the same resource, unless this worker was cut
off from the queue. The job ends if a receiver has to be tried again later; housekeeping publishes the job again when
that time comes, and likewise for an event that was written while this job was about to end.
"""

from sederunt.jobs.context import WorkerContext
from sederunt.jobs.job import Again, Job


async def deliver(job: Job, context: WorkerContext) -> None:
    """Deliver the webhooks that are pending and due."""
    await context.deliverer.deliver_all(job.id, job.cut_off)
    if job.cut_off.is_set():
        raise Again(0.0, "this worker was cut off")
