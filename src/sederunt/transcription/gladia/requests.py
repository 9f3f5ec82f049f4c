"""Build requests to Gladia: upload a file, submit a job, begin a live session. Pure."""

from __future__ import annotations

from typing import Any

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall, continued
from sederunt.transcription.cloud.reading import record
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.languages import primary_tag

UPLOAD, JOBS, LIVE = "/v2/upload", "/v2/pre-recorded", "/v2/live"
LIVE_COPY = "live/"  # prefix of noted live sessions; noted jobs have none
UNANSWERED = "unanswered-live/"  # prefix of a noted session whose id is unknown; its reference follows
LISTED = 100  # jobs in a page of a listing, newest first
ENDPOINT_S = 0.3  # silence that ends an utterance
LONGEST_S = 15  # an utterance without a pause is cut after so long


def headers(access: Access) -> dict[str, str]:
    """Return the header with the key."""
    return {"x-gladia-key": access.key}


def check(_access: Access) -> VendorCall:
    """List one job: free, and refused without a valid key."""
    return VendorCall(method="GET", path=JOBS, query=[("limit", "1")])


def upload(ask: Ask) -> VendorCall:
    """Send a file."""
    return VendorCall(method="POST", path=UPLOAD, headers={"content-type": ask.media_type}, sound=Sound(part="audio"))


def submit(ask: Ask, audio_url: str) -> VendorCall:
    """Submit an uploaded file for transcription."""
    payload: dict[str, Any] = {
        "audio_url": audio_url,
        "model": ask.model.vendor_model,
        "diarization": ask.diarize,
        "custom_metadata": {"reference": ask.reference},
        **_language(ask),
        **_vocabulary(ask),
    }
    return VendorCall(method="POST", path=JOBS, json=payload)


def jobs() -> VendorCall:
    """List the newest jobs."""
    return VendorCall(method="GET", path=JOBS, query=[("limit", str(LISTED))])


def older_jobs(listing: Any) -> VendorCall | None:
    """List the jobs older than those of a page."""
    return continued(jobs(), record(listing).get("next"))


def job(job_id: str) -> VendorCall:
    """Fetch the state of a job and, once it is done, its transcript."""
    return VendorCall(method="GET", path=f"{JOBS}/{job_id}")


def delete(_access: Access, copy: str) -> tuple[VendorCall, ...]:
    """Delete a job, or a live session (`live_copy`), with its sound."""
    path = f"/v2/{copy}" if copy.startswith(LIVE_COPY) else f"{JOBS}/{copy}"
    return (VendorCall(method="DELETE", path=path),)


def live_copy(session_id: str) -> str:
    """Return the copy to note for a live session."""
    return LIVE_COPY + session_id


def live_sessions() -> VendorCall:
    """List the newest live sessions."""
    return VendorCall(method="GET", path=LIVE, query=[("limit", str(LISTED))])


def older_live_sessions(listing: Any) -> VendorCall | None:
    """List the live sessions older than those of a page."""
    return continued(live_sessions(), record(listing).get("next"))


def begin(ask: Ask) -> VendorCall:
    """Begin a live session; the answer has the URL to connect to, with a token in it."""
    payload: dict[str, Any] = {
        "encoding": "wav/pcm",
        "bit_depth": 16,
        "sample_rate": 16_000,
        "channels": 1,
        "model": ask.model.vendor_model,
        "endpointing": ENDPOINT_S,
        "maximum_duration_without_endpointing": LONGEST_S,
        "custom_metadata": {"reference": ask.reference},
        "messages_config": {
            "receive_partial_transcripts": True,
            "receive_final_transcripts": True,
            "receive_speech_events": True,
            "receive_pre_processing_events": False,
            "receive_realtime_processing_events": False,
            "receive_post_processing_events": False,
            "receive_acknowledgments": True,
            "receive_errors": True,
            "receive_lifecycle_events": True,
        },
        **_language(ask),
    }
    if vocabulary := _vocabulary(ask):
        payload["realtime_processing"] = vocabulary
    region = [("region", ask.access.region)] if ask.access.region else []
    return VendorCall(method="POST", path=LIVE, query=region, json=payload)


def _language(ask: Ask) -> dict[str, Any]:
    if tag := primary_tag(ask.lang):
        return {"language_config": {"languages": [tag], "code_switching": False}}
    return {"language_config": {"languages": [], "code_switching": True}} if ask.several_languages else {}


def _vocabulary(ask: Ask) -> dict[str, Any]:
    if not ask.vocabulary:
        return {}
    return {"custom_vocabulary": True, "custom_vocabulary_config": {"vocabulary": list(ask.vocabulary)}}
