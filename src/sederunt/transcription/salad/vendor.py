"""SaladCloud as a vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Find, Progress, VendorJob
from sederunt.transcription.cloud.reading import record, records, status_word, text
from sederunt.transcription.cloud.vendor import Vendor
from sederunt.transcription.provider import Result
from sederunt.transcription.salad import requests
from sederunt.transcription.salad.parse import is_elsewhere, parse
from sederunt.transcription.salad.rows import MODELS, PROVIDER_ROW

ENDED = frozenset({"failed", "cancelled"})


async def batch(job: VendorJob) -> Result:
    """Upload, submit, wait, and fetch the transcript if it is stored elsewhere. The upload is deleted at once; the job,
    which holds the transcript, with the recording.
    """
    url = await job.once("upload", requests.upload(job.ask), "url", act="take the file")
    copy = requests.file_name(job.ask)
    job.leaves(copy)
    find = Find(
        call=requests.jobs(job.ask),
        pick=lambda listing: _ours(listing, job.ask.reference),
        older=lambda listing: requests.older_jobs(job.ask, listing),
    )
    job_id = await job.once("submit", requests.submit(job.ask, url), find=find)
    job_call = requests.job(job.ask, job_id)
    job.leaves(job_call.path)
    result = await job.fetch(
        job_call, lambda answer: _held(answer, job.ask.duration_s), answer=await job.poll(job_call, state)
    )
    if isinstance(result, str):
        result = await job.fetch(requests.answer(result), lambda output: parse(output, job.ask.duration_s))
    await job.erase(copy)
    return result


def state(answer: Any) -> Progress | Explained:
    """Return the progress of a job; some that succeeded contain an error."""
    job = record(answer)
    status, output = status_word(job.get("status")), record(job.get("output"))
    if status == "succeeded":
        error = output.get("error")
        return Explained(message=str(error)[:300], kind=ProviderFault.MEDIA) if error else Progress.DONE
    if status in ENDED:
        return Explained(message=text(output.get("error")) or f"the job has {status}")
    return Progress.RUNNING


def _held(answer: Any, duration_s: float) -> Result | str:
    """Return the transcript of a finished job, or the URL where it is stored."""
    output = record(answer).get("output")
    return is_elsewhere(output) or parse(output, duration_s)


def _ours(listing: Any, reference: str) -> Mapping[str, Any] | None:
    """Return the job with our reference, submitted by an earlier attempt."""
    jobs = records(record(listing).get("items"))
    return next((job for job in jobs if reference and record(job.get("metadata")).get("reference") == reference), None)


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    erase=requests.delete,
)
