"""Build requests to Rev.ai: a transcription job, after a language job if no language is given. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall, behind
from sederunt.transcription.cloud.reading import records, text
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.languages import primary_tag

JOBS, LANGUAGE_JOBS = "/speechtotext/v1/jobs", "/languageid/v1/jobs"
TRANSCRIPT = "application/vnd.rev.transcript.v1.0+json"
CODES = MappingProxyType({"zh": "cmn"})  # languages for which Rev.ai uses another code
LISTED = 100  # jobs in a page of a listing, newest first


def headers(access: Access) -> dict[str, str]:
    """Return the header with the key."""
    return {"authorization": f"Bearer {access.key}"}


def check(_access: Access) -> VendorCall:
    """Fetch the account: free, and refused without a valid key."""
    return VendorCall(method="GET", path="/speechtotext/v1/account")


def submit(ask: Ask, lang: str | None) -> VendorCall:
    """Send a file for transcription; without a language, Rev.ai assumes English."""
    options: dict[str, Any] = {
        "transcriber": ask.model.vendor_model,
        "skip_diarization": not ask.diarize,
        "filter_profanity": ask.mask_profanity,
        "metadata": ask.reference,
    }
    if tag := primary_tag(lang):
        options["language"] = CODES.get(tag, tag)
    if ask.vocabulary:
        options["custom_vocabularies"] = [{"phrases": list(ask.vocabulary)}]
    return _upload(JOBS, ask, options)


def find_language(ask: Ask) -> VendorCall:
    """Send a file for language detection."""
    return _upload(LANGUAGE_JOBS, ask, {"metadata": ask.reference})


def jobs(path: str) -> VendorCall:
    """List the newest jobs of either kind."""
    return VendorCall(method="GET", path=path, query=[("limit", str(LISTED))])


def older_jobs(path: str, listing: Any) -> VendorCall | None:
    """List the jobs older than those of a page; a page that is not full is the last."""
    page_jobs = records(listing)
    return behind(jobs(path), "starting_after", text(page_jobs[-1].get("id")) if len(page_jobs) >= LISTED else "")


def job(path: str, job_id: str) -> VendorCall:
    """Fetch the state of a job of either kind."""
    return VendorCall(method="GET", path=f"{path}/{job_id}")


def transcript(job_id: str) -> VendorCall:
    """Fetch a transcript with word times."""
    return VendorCall(method="GET", path=f"{JOBS}/{job_id}/transcript", headers={"accept": TRANSCRIPT})


def language(job_id: str) -> VendorCall:
    """Fetch the result of a language job."""
    return VendorCall(method="GET", path=f"{LANGUAGE_JOBS}/{job_id}/result")


def delete(_access: Access, copy: str) -> tuple[VendorCall, ...]:
    """Delete a job of either kind: `copy` is its path."""
    return (VendorCall(method="DELETE", path=copy),)


def _upload(path: str, ask: Ask, options: Mapping[str, Any]) -> VendorCall:
    return VendorCall(
        method="POST",
        path=path,
        headers={"content-type": ask.media_type},
        form=[("options", json.dumps(options))],
        sound=Sound(part="media"),
    )
