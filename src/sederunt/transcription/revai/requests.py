"""What is asked of Rev.ai: a job for the transcript, and before it one for the language where none is given. Pure."""

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
CODES = MappingProxyType({"zh": "cmn"})  # languages that Rev.ai names, and tells, otherwise
LISTED = 100  # jobs looked through for ours; newest first


def headers(access: Access) -> dict[str, str]:
    """Return the header that carries the key."""
    return {"authorization": f"Bearer {access.key}"}


def check(_access: Access) -> VendorCall:
    """Ask for the account: free, and refused without a good key."""
    return VendorCall(method="GET", path="/speechtotext/v1/account")


def submit(ask: Ask, lang: str | None) -> VendorCall:
    """Send a file to be transcribed; a language that is not known is left to Rev.ai, which takes English."""
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
    """Send a file to have its language found."""
    return _upload(LANGUAGE_JOBS, ask, {"metadata": ask.reference})


def jobs(path: str) -> VendorCall:
    """List the newest jobs of either kind."""
    return VendorCall(method="GET", path=path, query=[("limit", str(LISTED))])


def older_jobs(path: str, listing: Any) -> VendorCall | None:
    """List the jobs behind those of a listing; one that is not full has none."""
    listed = records(listing)
    return behind(jobs(path), "starting_after", text(listed[-1].get("id")) if len(listed) >= LISTED else "")


def job(path: str, job_id: str) -> VendorCall:
    """Look at a job of either kind."""
    return VendorCall(method="GET", path=f"{path}/{job_id}")


def transcript(job_id: str) -> VendorCall:
    """Fetch a transcript with the times of its words."""
    return VendorCall(method="GET", path=f"{JOBS}/{job_id}/transcript", headers={"accept": TRANSCRIPT})


def language(job_id: str) -> VendorCall:
    """Fetch what a language job found."""
    return VendorCall(method="GET", path=f"{LANGUAGE_JOBS}/{job_id}/result")


def delete(_access: Access, copy: str) -> tuple[VendorCall, ...]:
    """Delete a job of either kind: `copy` is the path under which it is looked at."""
    return (VendorCall(method="DELETE", path=copy),)


def _upload(path: str, ask: Ask, options: Mapping[str, Any]) -> VendorCall:
    return VendorCall(
        method="POST",
        path=path,
        headers={"content-type": ask.media_type},
        form=[("options", json.dumps(options))],
        sound=Sound(part="media"),
    )
