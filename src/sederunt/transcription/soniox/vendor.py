"""Soniox as a vendor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Find, Progress, VendorJob
from sederunt.transcription.cloud.reading import record, records, status_word, text
from sederunt.transcription.cloud.vendor import TERMS, Live, Vendor
from sederunt.transcription.provider import Result
from sederunt.transcription.soniox import requests
from sederunt.transcription.soniox.parse import parse
from sederunt.transcription.soniox.rows import MODELS, PROVIDER_ROW
from sederunt.transcription.soniox.stream import KEEPALIVE, SonioxCodec

SESSION_S = 300 * 60.0


async def batch(job: VendorJob) -> Result:
    """Upload, submit, wait and fetch. Nothing expires and an account holds 2,000, so both are deleted at once."""
    file_id = await job.once("upload", requests.upload(job.ask), act="take the file")
    file = f"{requests.FILES}/{file_id}"
    job.leaves(file)
    find = Find(
        call=requests.transcriptions(),
        pick=lambda listing: _ours(listing, job.ask.reference),
        older=requests.older_transcriptions,
    )
    job_id = await job.once("submit", requests.transcribe(job.ask, file_id), find=find)
    transcription = f"{requests.TRANSCRIPTIONS}/{job_id}"
    job.leaves(transcription)
    await job.poll(requests.transcription(job_id), state)
    result = await job.fetch(requests.transcript(job_id), lambda answer: parse(answer, job.ask.duration_s))
    await job.erase(transcription)
    await job.erase(file)
    return result


def state(answer: Any) -> Progress | Explained:
    """Return the progress of a transcription."""
    transcription = record(answer)
    match status_word(transcription.get("status")):
        case "completed":
            return Progress.DONE
        case "error" | "failed":  # by the SDK, and by the page on errors
            return Explained(
                message=text(transcription.get("error_message")), code=text(transcription.get("error_type"))
            )
    return Progress.RUNNING


def _ours(listing: Any, reference: str) -> Mapping[str, Any] | None:
    """Return the transcription with our reference, submitted by an earlier attempt."""
    stored_reference = reference[: requests.LONGEST_REFERENCE]
    for transcription in records(record(listing).get("transcriptions")):
        if stored_reference and transcription.get("client_reference_id") == stored_reference:
            return transcription
    return None


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    erase=requests.delete,
    live=Live(
        codec=SonioxCodec,
        path=lambda _ask: requests.SOCKET,
        terms=replace(TERMS, longest_session_s=SESSION_S),
        pace=1.0,
        keepalive=KEEPALIVE,
        keepalive_s=8.0,
    ),
)
