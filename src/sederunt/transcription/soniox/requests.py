"""Build requests to Soniox: upload a file, transcribe it, open a stream. Pure."""

from __future__ import annotations

from typing import Any

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall, behind
from sederunt.transcription.cloud.reading import record, text
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.languages import primary_tag

FILES, TRANSCRIPTIONS, SOCKET = "/v1/files", "/v1/transcriptions", "/transcribe-websocket"
LISTED = 100  # transcriptions in a page of a listing, newest first
LONGEST_REFERENCE = 256


def headers(access: Access) -> dict[str, str]:
    """Return the header with the key, for requests and handshakes.

    From 15 January 2027, a key that is only in a stream's first message is refused.
    """
    return {"authorization": f"Bearer {access.key}"}


def check(_access: Access) -> VendorCall:
    """List the models: free, and refused without a valid key."""
    return VendorCall(method="GET", path="/v1/models")


def upload(ask: Ask) -> VendorCall:
    """Send a file."""
    return VendorCall(method="POST", path=FILES, headers={"content-type": ask.media_type}, sound=Sound(part="file"))


def transcribe(ask: Ask, file_id: str) -> VendorCall:
    """Submit a file for transcription."""
    payload = {
        "model": ask.model.vendor_model,
        "file_id": file_id,
        "client_reference_id": ask.reference[:LONGEST_REFERENCE],
        **_common(ask),
    }
    return VendorCall(method="POST", path=TRANSCRIPTIONS, json=payload)


def transcriptions() -> VendorCall:
    """List the newest transcriptions."""
    return VendorCall(method="GET", path=TRANSCRIPTIONS, query=[("limit", str(LISTED))])


def older_transcriptions(listing: Any) -> VendorCall | None:
    """List the transcriptions older than those of a page."""
    return behind(transcriptions(), "cursor", text(record(listing).get("next_page_cursor")))


def transcription(transcription_id: str) -> VendorCall:
    """Fetch the state of a transcription."""
    return VendorCall(method="GET", path=f"{TRANSCRIPTIONS}/{transcription_id}")


def transcript(transcription_id: str) -> VendorCall:
    """Fetch a transcription's text."""
    return VendorCall(method="GET", path=f"{TRANSCRIPTIONS}/{transcription_id}/transcript")


def delete(_access: Access, copy: str) -> tuple[VendorCall, ...]:
    """Delete a file or a transcription: `copy` is its path."""
    return (VendorCall(method="DELETE", path=copy),)


def stream(ask: Ask) -> dict[str, Any]:
    """Return the first message of a stream."""
    return {
        "model": ask.model.vendor_model,
        "audio_format": "pcm_s16le",
        "sample_rate": 16_000,
        "num_channels": 1,
        "enable_endpoint_detection": True,
        "max_endpoint_delay_ms": 1_000,
        **_common(ask),
    }


def _common(ask: Ask) -> dict[str, Any]:
    options: dict[str, Any] = {
        "enable_language_identification": True,
        "enable_speaker_diarization": ask.diarize,
    }
    if tag := primary_tag(ask.lang):
        options["language_hints"] = [tag]
    if ask.vocabulary:
        options["context"] = {"terms": list(ask.vocabulary)}
    return options
