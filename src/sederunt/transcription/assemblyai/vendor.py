"""AssemblyAI as a vendor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sederunt.transcription.assemblyai import requests
from sederunt.transcription.assemblyai.faults import CODES, SILENT, phrase_kind, refusal
from sederunt.transcription.assemblyai.parse import parse
from sederunt.transcription.assemblyai.rows import MODELS, PROVIDER_ROW
from sederunt.transcription.assemblyai.stream import AssemblyCodec
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Find, Progress, VendorJob
from sederunt.transcription.cloud.reading import record, records, status_word, text
from sederunt.transcription.cloud.vendor import TERMS, Live, Vendor
from sederunt.transcription.provider import Result

SESSION_S = 3 * 3600.0


async def batch(job: VendorJob) -> Result:
    """Upload, submit, wait. A job has no field of ours; it is found again by the address of its upload."""
    url = await job.once("upload", requests.upload(job.ask), "upload_url", act="take the file")
    find = Find(call=requests.transcripts(), pick=lambda listing: _ours(listing, url), older=requests.older_transcripts)
    job_id = await job.once("submit", requests.transcribe(job.ask, url), find=find)
    job.leaves(job_id)
    sent = requests.transcript(job_id)
    told = await job.poll(sent, state)
    if status_word(record(told).get("status")) in ("error", "failed"):
        return Result(utterances=(), detected_lang=None)  # nobody speaks in it
    return await job.fetch(sent, lambda told: parse(told, job.ask.duration_s), told=told)


def state(told: Any) -> Progress | Explained:
    """Read how far a job is: failures come with a 200, and so does a file without a word."""
    shown = record(told)
    match status_word(shown.get("status")):
        case "completed":
            return Progress.DONE
        case "error" | "failed":
            why = text(shown.get("error"))
            is_silent = any(words in why.lower() for words in SILENT)
            return Progress.DONE if is_silent else Explained(message=why, kind=phrase_kind(why))
    return Progress.RUNNING


def _ours(listing: Any, url: str) -> Mapping[str, Any] | None:
    """Return the job of our upload, which another try had submitted."""
    jobs = records(record(listing).get("transcripts"))
    return next((each for each in jobs if each.get("audio_url") == url), None)


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    explain=refusal,
    erase=requests.delete,
    live=Live(
        codec=AssemblyCodec,
        path=requests.stream,
        terms=replace(TERMS, longest_session_s=SESSION_S),
        pace=1.0,
        waits=True,
        closes=CODES,
    ),
)
