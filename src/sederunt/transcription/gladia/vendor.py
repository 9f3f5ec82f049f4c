"""Gladia as a vendor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from sederunt.errors import ProviderError, ProviderFault
from sederunt.transcription.cloud.client import Client
from sederunt.transcription.cloud.faults import CLOSES, Explained
from sederunt.transcription.cloud.job import Find, Progress, VendorJob, looked_up
from sederunt.transcription.cloud.reading import record, records, status_word, text
from sederunt.transcription.cloud.vendor import TERMS, Ask, Live, Vendor
from sederunt.transcription.gladia import requests
from sederunt.transcription.gladia.parse import parse
from sederunt.transcription.gladia.rows import MODELS, PROVIDER_ROW
from sederunt.transcription.gladia.stream import GladiaCodec
from sederunt.transcription.provider import Result
from sederunt.transcription.sessions import CopyNotes

SESSION_S = 3 * 3600.0
# Close codes after which a session is over, although its URL still answers (4403).
ENDS = frozenset({1000, *range(4400, 4500)})
# After any other code the session goes on at the same URL. That needs no key, so no code means a wrong one.
GOES_ON = dict.fromkeys(CLOSES, ProviderFault.TRANSIENT)


async def batch(job: VendorJob) -> Result:
    """Upload, submit and wait: the finished job has the transcript. A repeated submit would be billed again."""
    url = await job.once("upload", requests.upload(job.ask), "audio_url", act="take the file")
    find = Find(call=requests.jobs(), pick=lambda listing: _ours(listing, job.ask.reference), older=requests.older_jobs)
    job_id = await job.once("submit", requests.submit(job.ask, url), find=find)
    job.leaves(job_id)
    job_call = requests.job(job_id)
    return await job.fetch(
        job_call, lambda answer: parse(answer, job.ask.duration_s), answer=await job.poll(job_call, state)
    )


async def start(client: Client, ask: Ask, copies: CopyNotes) -> str:
    """Begin a live session; return the URL to connect to.

    Gladia keeps its sound and transcript for a year, so it is noted before it is requested: by our reference, until
    the answer has its id.
    """
    ask = replace(ask, reference=uuid4().hex)
    unanswered = requests.UNANSWERED + ask.reference
    await copies.add(unanswered)
    try:
        session = record(await client.fetch(requests.begin(ask), "begin a session"))
    except ProviderError as error:
        if error.status is not None and error.status < 500:
            await copies.replace(unanswered, None)
        raise
    if session_id := text(session.get("id")):
        await copies.replace(unanswered, requests.live_copy(session_id))
    url = text(session.get("url"))
    if not url:
        raise client.speaker.refusal("begin a session", 502, Explained(message="it named no address"))
    return url


def state(answer: Any) -> Progress | Explained:
    """Return the progress of a job."""
    job = record(answer)
    match status_word(job.get("status")):
        case "done":
            return Progress.DONE
        case "error" | "failed":
            return Explained(message=text(job.get("error_message")), code=str(job.get("error_code") or ""))
    return Progress.RUNNING


async def copies_of(client: Client, copy: str) -> Sequence[str]:
    """Return the copies to delete. A session whose id never came is looked up by our reference."""
    if not copy.startswith(requests.UNANSWERED):
        return (copy,)
    reference = copy.removeprefix(requests.UNANSWERED)
    find = Find(
        call=requests.live_sessions(),
        pick=lambda listing: _ours(listing, reference),
        older=requests.older_live_sessions,
    )
    session = record(await looked_up(client, find))
    return (requests.live_copy(text(session.get("id"))),) if session else ()


def _ours(listing: Any, reference: str) -> Mapping[str, Any] | None:
    """Return the job with our reference, submitted by an earlier attempt."""
    for entry in records(record(listing).get("items")):
        metadata = record(entry.get("custom_metadata")) or record(
            record(entry.get("request_params")).get("custom_metadata")
        )
        if reference and metadata.get("reference") == reference:
            return entry
    return None


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    erase=requests.delete,
    copies=copies_of,
    live=Live(
        codec=GladiaCodec,
        start=start,
        terms=replace(TERMS, longest_session_s=SESSION_S),
        resumes=True,
        ends=ENDS,
        closes=GOES_ON,
    ),
)
