"""Speechmatics as a vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.faults import Explained, explain
from sederunt.transcription.cloud.job import Find, Progress, VendorJob
from sederunt.transcription.cloud.reading import record, records, status_word, text
from sederunt.transcription.cloud.vendor import Live, Vendor
from sederunt.transcription.provider import Result
from sederunt.transcription.speechmatics import requests
from sederunt.transcription.speechmatics.parse import parse
from sederunt.transcription.speechmatics.rows import MODELS, PROVIDER_ROW
from sederunt.transcription.speechmatics.stream import CLOSES, SpeechmaticsCodec

ENDED = frozenset({"rejected", "deleted", "expired"})
SILENT = "no speech"  # in the rejection of a file without speech, when its language was to be detected
LOCKED = 423


async def batch(job: VendorJob) -> Result:
    """Submit, wait and fetch. Jobs are kept for seven days, or until they are deleted."""
    find = Find(call=requests.jobs(), pick=lambda listing: _ours(listing, job.ask.reference), older=requests.older_jobs)
    job_id = await job.once("submit", requests.submit(job.ask), find=find)
    job.leaves(job_id)
    answer = await job.poll(requests.job(job_id), state)
    if status_word(_shown(answer).get("status")) in ENDED:
        return Result(utterances=(), detected_lang=None)  # the file has no speech
    return await job.fetch(requests.transcript(job_id), parse)


def state(answer: Any) -> Progress | Explained:
    """Return the progress of a job."""
    job = _shown(answer)
    status = status_word(job.get("status"))
    if status == "done":
        return Progress.DONE
    if status in ENDED:
        errors = "; ".join(filter(None, (text(error.get("message")) for error in records(job.get("errors")))))
        if SILENT in errors.lower():
            return Progress.DONE
        return Explained(message=errors or f"the job was {status}", code=status)
    return Progress.RUNNING


def _shown(answer: Any) -> Mapping[str, Any]:
    return record(record(answer).get("job")) or record(answer)


def _ours(listing: Any, reference: str) -> Mapping[str, Any] | None:
    """Return the job with our reference, submitted by an earlier attempt."""
    for job in records(record(listing).get("jobs")):
        tracking = record(record(job.get("config")).get("tracking"))
        if reference and tracking.get("reference") == reference:
            return job
    return None


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal: `error` is one of a fixed set, `detail` explains it. A running job is locked for a while."""
    explained = explain(status, body)
    detail = text(record(body).get("detail"))
    kind = ProviderFault.TRANSIENT if status == LOCKED else None
    return Explained(message=detail or explained.message, code=explained.message if detail else "", kind=kind)


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    explain=refusal,
    erase=requests.delete,
    live=Live(
        codec=SpeechmaticsCodec,
        path=lambda _ask: requests.SOCKET,
        waits=True,
        closes=CLOSES,
    ),
)
