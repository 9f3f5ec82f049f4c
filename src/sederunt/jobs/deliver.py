"""The job `deliver`: one resource's webhooks, in order.

The queue holds one such job per resource at most, so nobody else is at the same resource. The job ends when a
receiver has to be tried again later; housekeeping calls for the resource when that time has come, and likewise for
an event that was written while this job was about to end.
"""

from sederunt.jobs.house import House
from sederunt.jobs.work import Job


async def deliver(job: Job, house: House) -> None:
    """Deliver what is pending and due."""
    await house.postman.deliver_all(job.id)
