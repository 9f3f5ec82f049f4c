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
# Close codes after which a session is over, though its address still answers (4403).
ENDS = frozenset({1000, *range(4400, 4500)})
# After any other code it goes on at the same address. That needs no key: no code speaks of keys here.
GOES_ON = dict.fromkeys(CLOSES, ProviderFault.TRANSIENT)


async def batch(job: VendorJob) -> Result:
    """Upload, submit and wait: the job's own answer holds the transcript. A repeated submit would be billed again."""
    url = await job.once("upload", requests.upload(job.ask), "audio_url", act="take the file")
    find = Find(call=requests.jobs(), pick=lambda listing: _ours(listing, job.ask.reference), older=requests.older_jobs)
    job_id = await job.once("submit", requests.submit(job.ask, url), find=find)
    job.leaves(job_id)
    sent = requests.job(job_id)
    return await job.fetch(sent, lambda told: parse(told, job.ask.duration_s), told=await job.poll(sent, state))


async def start(client: Client, ask: Ask, copies: CopyNotes) -> str:
    """Begin a live session; return the address to connect to.

    Gladia keeps its sound and transcript for a year, so it is noted before it is there: by our reference, until the
    answer names its id.
    """
    ask = replace(ask, reference=uuid4().hex)
    unanswered = requests.UNANSWERED + ask.reference
    await copies.add(unanswered)
    try:
        begun = record(await client.fetch(requests.begin(ask), "begin a session"))
    except ProviderError as error:
        if error.status is not None and error.status < 500:
            await copies.replace(unanswered, None)
        raise
    if session_id := text(begun.get("id")):
        await copies.replace(unanswered, requests.live_copy(session_id))
    url = text(begun.get("url"))
    if not url:
        raise client.speaker.refusal("begin a session", 502, Explained(message="it named no address"))
    return url


def state(told: Any) -> Progress | Explained:
    """Read how far a job is."""
    shown = record(told)
    match status_word(shown.get("status")):
        case "done":
            return Progress.DONE
        case "error" | "failed":
            return Explained(message=text(shown.get("error_message")), code=str(shown.get("error_code") or ""))
    return Progress.RUNNING


async def copies_of(client: Client, copy: str) -> Sequence[str]:
    """Return the notes of what is to be deleted: a session whose id never came is looked up by our reference."""
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
    """Return the job with our reference, which another try had submitted."""
    for each in records(record(listing).get("items")):
        metadata = record(each.get("custom_metadata")) or record(
            record(each.get("request_params")).get("custom_metadata")
        )
        if reference and metadata.get("reference") == reference:
            return each
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
