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
# Why a job failed → whose fault it is; an open set: what is not named is the vendor's.
FAILURES: Mapping[str, ProviderFault] = {
    "invalid_media": ProviderFault.MEDIA,
    "download_failure": ProviderFault.MEDIA,
    "empty_media": ProviderFault.MEDIA,
    "insufficient_balance": ProviderFault.PAYMENT,
}


async def batch(job: VendorJob) -> Result:
    """Find the language where none is given, then submit, wait and fetch. Jobs stay until they are deleted."""
    found = None
    if job.ask.lang is None:
        found = await _language(job)
    sent = requests.submit(job.ask, job.ask.lang or found)
    job_id = await job.once("submit", sent, find=_find(job, requests.JOBS))
    job.leaves(f"{requests.JOBS}/{job_id}")
    await job.poll(requests.job(requests.JOBS, job_id), state)
    lang = found or primary_tag(job.ask.lang)
    return await job.fetch(requests.transcript(job_id), lambda told: parse(told, lang=lang))


async def _language(job: VendorJob) -> str | None:
    """Ask for the language by a job of its own: transcription takes all for English that it is not told about."""
    sent = requests.find_language(job.ask)
    find = _find(job, requests.LANGUAGE_JOBS)
    job_id = await job.once("language", sent, find=find, act="find the language")
    copy = f"{requests.LANGUAGE_JOBS}/{job_id}"
    job.leaves(copy)
    await job.poll(requests.job(requests.LANGUAGE_JOBS, job_id), state)
    found = await job.fetch(requests.language(job_id), _language_told, act="say the language")
    await job.erase(copy)
    return found


def _language_told(body: Any) -> str | None:
    place(record(body), "top_language")
    return top_language(body)


def state(told: Any) -> Progress | Explained:
    """Read how far a job of either kind is."""
    shown = record(told)
    status = status_word(shown.get("status"))
    if status in DONE:
        return Progress.DONE
    if status == "failed":
        code = text(shown.get("failure"))
        return Explained(message=text(shown.get("failure_detail")), code=code, kind=FAILURES.get(code))
    return Progress.RUNNING


def _find(job: VendorJob, path: str) -> Find:
    return Find(
        call=requests.jobs(path),
        pick=lambda listing: _ours(listing, job.ask.reference),
        older=lambda listing: requests.older_jobs(path, listing),
    )


def _ours(listing: Any, reference: str) -> Mapping[str, Any] | None:
    """Return the job with our reference, which another try had submitted."""
    return next((each for each in records(listing) if reference and each.get("metadata") == reference), None)


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal; 403 is an account without credit, since a wrong key gets 401."""
    told = explain(status, body)
    detail = text(record(body).get("detail")) or told.message
    kind = ProviderFault.PAYMENT if status == 403 else None
    return Explained(message=detail, code=told.code if told.code != str(status) else "", kind=kind)


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    explain=refusal,
    erase=requests.delete,
)
