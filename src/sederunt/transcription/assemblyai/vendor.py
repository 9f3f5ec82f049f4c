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
    """Upload, submit and wait. A job has no field for our reference: it is found again by the URL of its upload."""
    url = await job.once("upload", requests.upload(job.ask), "upload_url", act="take the file")
    find = Find(call=requests.transcripts(), pick=lambda listing: _ours(listing, url), older=requests.older_transcripts)
    job_id = await job.once("submit", requests.transcribe(job.ask, url), find=find)
    job.leaves(job_id)
    transcript_call = requests.transcript(job_id)
    answer = await job.poll(transcript_call, state)
    if status_word(record(answer).get("status")) in ("error", "failed"):
        return Result(utterances=(), detected_lang=None)  # the file has no speech
    return await job.fetch(transcript_call, lambda answer: parse(answer, job.ask.duration_s), answer=answer)


def state(answer: Any) -> Progress | Explained:
    """Return the progress of a job. Failures come with status 200, and so do files without speech."""
    transcript = record(answer)
    match status_word(transcript.get("status")):
        case "completed":
            return Progress.DONE
        case "error" | "failed":
            reason = text(transcript.get("error"))
            is_silent = any(phrase in reason.lower() for phrase in SILENT)
            return Progress.DONE if is_silent else Explained(message=reason, kind=phrase_kind(reason))
    return Progress.RUNNING


def _ours(listing: Any, url: str) -> Mapping[str, Any] | None:
    """Return the job of our upload, submitted by an earlier attempt."""
    jobs = records(record(listing).get("transcripts"))
    return next((job for job in jobs if job.get("audio_url") == url), None)


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
