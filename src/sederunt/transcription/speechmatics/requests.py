"""What is asked of Speechmatics: a job with its file in one form, or a stream. Pure."""

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
LISTED = 100  # jobs looked through for ours; newest first
MAX_DELAY_S = 1.5  # how long a stream may think about a word; 0.7 to 4
OTHERWISE = "en"
PAUSE_S = 0.6  # a longer silence ends an utterance
# Its own codes where they are not ISO 639-1.
CODES: Mapping[str, str] = MappingProxyType({"zh": "cmn"})


def headers(access: Access) -> dict[str, str]:
    """Return the header that carries the key, of requests and of handshakes."""
    return {"authorization": f"Bearer {access.key}"}


def check(_access: Access) -> VendorCall:
    """List one job: free, and refused without a good key."""
    return VendorCall(method="GET", path=JOBS, query=[("limit", "1")])


def submit(ask: Ask) -> VendorCall:
    """Send a file to be transcribed. A language that it finds without being sure is taken all the same; a file with too
    little speech to find one would be rejected but for a default.
    """
    wanted = _common(ask) | {"language": code_of(ask.lang) or "auto"}
    config: dict[str, Any] = {
        "type": "transcription",
        "transcription_config": wanted,
        "tracking": {"reference": ask.reference},
    }
    if wanted["language"] == "auto":
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
    """List the jobs behind those of a listing; one that is not full has none."""
    listed = records(record(listing).get("jobs"))
    return behind(jobs(), "created_before", text(listed[-1].get("created_at")) if len(listed) >= LISTED else "")


def job(job_id: str) -> VendorCall:
    """Look at a job."""
    return VendorCall(method="GET", path=f"{JOBS}/{job_id}")


def transcript(job_id: str) -> VendorCall:
    """Fetch a job's transcript with the times of its words."""
    return VendorCall(method="GET", path=f"{JOBS}/{job_id}/transcript", query=[("format", "json-v2")])


def delete(_access: Access, copy: str) -> tuple[VendorCall, ...]:
    """Delete a job with everything that belongs to it, also while it runs."""
    return (VendorCall(method="DELETE", path=f"{JOBS}/{copy}", query=[("force", "true")]),)


def stream(ask: Ask) -> dict[str, Any]:
    """Return the first message of a stream."""
    wanted = _common(ask) | {
        "language": code_of(ask.lang) or OTHERWISE,
        "enable_partials": True,
        "max_delay": MAX_DELAY_S,
        "max_delay_mode": "flexible",
        "conversation_config": {"end_of_utterance_silence_trigger": PAUSE_S},
    }
    return {
        "message": "StartRecognition",
        "audio_format": {"type": "raw", "encoding": "pcm_s16le", "sample_rate": 16_000},
        "transcription_config": wanted,
    }


def code_of(lang: str | None) -> str | None:
    """Return Speechmatics' code of a language; None where it is to be found."""
    tag = primary_tag(lang)
    return None if tag is None else CODES.get(tag, tag)


def _common(ask: Ask) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "model": ask.model.vendor_model,
        "diarization": "speaker" if ask.diarize else "none",
    }
    if ask.vocabulary:
        wanted["additional_vocab"] = [{"content": term} for term in ask.vocabulary]
    return wanted
