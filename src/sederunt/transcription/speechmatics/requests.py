"""Build requests to Speechmatics: submit a job with its file in one form, open a stream. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall, behind
from sederunt.transcription.cloud.reading import record, records, text
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.languages import primary_tag

JOBS, SOCKET = "/v2/jobs", "/v2"
LISTED = 100  # jobs in a page of a listing, newest first
MAX_DELAY_S = 1.5  # how long a stream may delay a word; 0.7 to 4
OTHERWISE = "en"
PAUSE_S = 0.6  # a longer silence ends an utterance
# Codes that are not ISO 639-1.
CODES: Mapping[str, str] = MappingProxyType({"zh": "cmn"})


def headers(access: Access) -> dict[str, str]:
    """Return the header with the key, for requests and handshakes."""
    return {"authorization": f"Bearer {access.key}"}


def check(_access: Access) -> VendorCall:
    """List one job: free, and refused without a valid key."""
    return VendorCall(method="GET", path=JOBS, query=[("limit", "1")])


def submit(ask: Ask) -> VendorCall:
    """Send a file for transcription. A language detected with low confidence is accepted; without a default, a file
    with too little speech to detect one would be rejected.
    """
    transcription_config = _common(ask) | {"language": code_of(ask.lang) or "auto"}
    config: dict[str, Any] = {
        "type": "transcription",
        "transcription_config": transcription_config,
        "tracking": {"reference": ask.reference},
    }
    if transcription_config["language"] == "auto":
        config["language_identification_config"] = {"low_confidence_action": "allow", "default_language": OTHERWISE}
    return VendorCall(
        method="POST",
        path=JOBS,
        headers={"content-type": ask.media_type},
        form=[("config", json.dumps(config))],
        sound=Sound(part="data_file"),
    )


def jobs() -> VendorCall:
    """List the newest jobs."""
    return VendorCall(method="GET", path=JOBS, query=[("limit", str(LISTED))])


def older_jobs(listing: Any) -> VendorCall | None:
    """List the jobs older than those of a page; a page that is not full is the last."""
    page_jobs = records(record(listing).get("jobs"))
    return behind(jobs(), "created_before", text(page_jobs[-1].get("created_at")) if len(page_jobs) >= LISTED else "")


def job(job_id: str) -> VendorCall:
    """Fetch the state of a job."""
    return VendorCall(method="GET", path=f"{JOBS}/{job_id}")


def transcript(job_id: str) -> VendorCall:
    """Fetch a job's transcript with word times."""
    return VendorCall(method="GET", path=f"{JOBS}/{job_id}/transcript", query=[("format", "json-v2")])


def delete(_access: Access, copy: str) -> tuple[VendorCall, ...]:
    """Delete a job with everything that belongs to it, even while it runs."""
    return (VendorCall(method="DELETE", path=f"{JOBS}/{copy}", query=[("force", "true")]),)


def stream(ask: Ask) -> dict[str, Any]:
    """Return the first message of a stream."""
    transcription_config = _common(ask) | {
        "language": code_of(ask.lang) or OTHERWISE,
        "enable_partials": True,
        "max_delay": MAX_DELAY_S,
        "max_delay_mode": "flexible",
        "conversation_config": {"end_of_utterance_silence_trigger": PAUSE_S},
    }
    return {
        "message": "StartRecognition",
        "audio_format": {"type": "raw", "encoding": "pcm_s16le", "sample_rate": 16_000},
        "transcription_config": transcription_config,
    }


def code_of(lang: str | None) -> str | None:
    """Return Speechmatics' code of a language; None to detect it."""
    tag = primary_tag(lang)
    return None if tag is None else CODES.get(tag, tag)


def _common(ask: Ask) -> dict[str, Any]:
    transcription_config: dict[str, Any] = {
        "model": ask.model.vendor_model,
        "diarization": "speaker" if ask.diarize else "none",
    }
    if ask.vocabulary:
        transcription_config["additional_vocab"] = [{"content": term} for term in ask.vocabulary]
    return transcription_config
