"""Gladia as a vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.client import Client
from sederunt.transcription.cloud.faults import CLOSES, Explained
from sederunt.transcription.cloud.job import Find, Progress, VendorJob
from sederunt.transcription.cloud.reading import record, records, status_word, text
from sederunt.transcription.cloud.vendor import Ask, Live, Vendor
from sederunt.transcription.gladia import requests
from sederunt.transcription.gladia.parse import parse
from sederunt.transcription.gladia.rows import MODELS, PROVIDER_ROW
from sederunt.transcription.gladia.stream import GladiaCodec
from sederunt.transcription.provider import Result

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


async def start(client: Client, ask: Ask) -> str:
    """Begin a live session; return the address to connect to."""
    begun = record(await client.fetch(requests.begin(ask), "begin a session"))
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
        case "error":
            return Explained(message=text(shown.get("error_message")), code=str(shown.get("error_code") or ""))
    return Progress.RUNNING


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
    live=Live(codec=GladiaCodec, start=start, resumes=True, ends=ENDS, closes=GOES_ON),
)
