"""Rev.ai as a vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.faults import Explained, explain
from sederunt.transcription.cloud.job import Find, Progress, VendorJob
from sederunt.transcription.cloud.reading import place, record, records, status_word, text
from sederunt.transcription.cloud.vendor import Vendor
from sederunt.transcription.languages import primary_tag
from sederunt.transcription.provider import Result
from sederunt.transcription.revai import requests
from sederunt.transcription.revai.parse import parse, top_language
from sederunt.transcription.revai.rows import MODELS, PROVIDER_ROW

DONE = frozenset({"transcribed", "completed"})
# Failure of a job → fault class; any other failure is the vendor's fault.
FAILURES: Mapping[str, ProviderFault] = {
    "invalid_media": ProviderFault.MEDIA,
    "download_failure": ProviderFault.MEDIA,
    "empty_media": ProviderFault.MEDIA,
    "insufficient_balance": ProviderFault.PAYMENT,
}


async def batch(job: VendorJob) -> Result:
    """Detect the language if none is given, then submit, wait and fetch. Jobs stay until they are deleted."""
    detected_lang = None
    if job.ask.lang is None:
        detected_lang = await _language(job)
    submit_call = requests.submit(job.ask, job.ask.lang or detected_lang)
    job_id = await job.once("submit", submit_call, find=_find(job, requests.JOBS))
    job.leaves(f"{requests.JOBS}/{job_id}")
    await job.poll(requests.job(requests.JOBS, job_id), state)
    lang = detected_lang or primary_tag(job.ask.lang)
    return await job.fetch(requests.transcript(job_id), lambda answer: parse(answer, lang=lang))


async def _language(job: VendorJob) -> str | None:
    """Detect the language with a job of its own: transcription assumes English if none is given."""
    submit_call = requests.find_language(job.ask)
    find = _find(job, requests.LANGUAGE_JOBS)
    job_id = await job.once("language", submit_call, find=find, act="find the language")
    copy = f"{requests.LANGUAGE_JOBS}/{job_id}"
    job.leaves(copy)
    await job.poll(requests.job(requests.LANGUAGE_JOBS, job_id), state)
    detected_lang = await job.fetch(requests.language(job_id), _language_told, act="say the language")
    await job.erase(copy)
    return detected_lang


def _language_told(body: Any) -> str | None:
    place(record(body), "top_language")
    return top_language(body)


def state(answer: Any) -> Progress | Explained:
    """Return the progress of a job of either kind."""
    job = record(answer)
    status = status_word(job.get("status"))
    if status in DONE:
        return Progress.DONE
    if status == "failed":
        code = text(job.get("failure"))
        return Explained(message=text(job.get("failure_detail")), code=code, kind=FAILURES.get(code))
    return Progress.RUNNING


def _find(job: VendorJob, path: str) -> Find:
    return Find(
        call=requests.jobs(path),
        pick=lambda listing: _ours(listing, job.ask.reference),
        older=lambda listing: requests.older_jobs(path, listing),
    )


def _ours(listing: Any, reference: str) -> Mapping[str, Any] | None:
    """Return the job with our reference, submitted by an earlier attempt."""
    return next((job for job in records(listing) if reference and job.get("metadata") == reference), None)


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal; 403 means an account without credit, since a wrong key gets 401."""
    explained = explain(status, body)
    detail = text(record(body).get("detail")) or explained.message
    kind = ProviderFault.PAYMENT if status == 403 else None
    return Explained(message=detail, code=explained.code if explained.code != str(status) else "", kind=kind)


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    explain=refusal,
    erase=requests.delete,
)
