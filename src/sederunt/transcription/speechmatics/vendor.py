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
SILENT = "no speech"  # what a file without a word is rejected by, where its language was to be found
LOCKED = 423


async def batch(job: VendorJob) -> Result:
    """Submit, wait and fetch. Jobs are kept for seven days, or until they are deleted."""
    find = Find(call=requests.jobs(), pick=lambda listing: _ours(listing, job.ask.reference), older=requests.older_jobs)
    job_id = await job.once("submit", requests.submit(job.ask), find=find)
    job.leaves(job_id)
    told = await job.poll(requests.job(job_id), state)
    if status_word(_shown(told).get("status")) in ENDED:
        return Result(utterances=(), detected_lang=None)  # nobody speaks in it
    return await job.fetch(requests.transcript(job_id), parse)


def state(told: Any) -> Progress | Explained:
    """Read how far a job is."""
    shown = _shown(told)
    status = status_word(shown.get("status"))
    if status == "done":
        return Progress.DONE
    if status in ENDED:
        errors = "; ".join(filter(None, (text(each.get("message")) for each in records(shown.get("errors")))))
        if SILENT in errors.lower():
            return Progress.DONE
        return Explained(message=errors or f"the job was {status}", code=status)
    return Progress.RUNNING


def _shown(told: Any) -> Mapping[str, Any]:
    return record(record(told).get("job")) or record(told)


def _ours(listing: Any, reference: str) -> Mapping[str, Any] | None:
    """Return the job with our reference, which another try had submitted."""
    for each in records(record(listing).get("jobs")):
        tracking = record(record(each.get("config")).get("tracking"))
        if reference and tracking.get("reference") == reference:
            return each
    return None


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal: `error` is one of a list, `detail` says what it was. A job that runs is locked for a while."""
    told = explain(status, body)
    detail = text(record(body).get("detail"))
    kind = ProviderFault.TRANSIENT if status == LOCKED else None
    return Explained(message=detail or told.message, code=told.message if detail else "", kind=kind)


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
