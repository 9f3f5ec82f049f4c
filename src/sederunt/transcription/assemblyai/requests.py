"""Build requests to AssemblyAI: upload a file, transcribe it, open a stream. Pure."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall, continued
from sederunt.transcription.cloud.reading import record
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.languages import primary_tag

UPLOAD, TRANSCRIPTS, SOCKET = "/v2/upload", "/v2/transcript", "/v3/ws"
ENGLISH, SEVERAL = "universal-streaming-english", "universal-streaming-multilingual"
LISTED = 100  # transcripts in a page of a listing, newest first


def headers(access: Access) -> dict[str, str]:
    """Return the header with the key, which has no prefix."""
    return {"authorization": access.key}


def check(_access: Access) -> VendorCall:
    """List one transcript: free, and refused without a valid key."""
    return VendorCall(method="GET", path=TRANSCRIPTS, query=[("limit", "1")])


def upload(ask: Ask) -> VendorCall:
    """Send a file as the whole body."""
    return VendorCall(method="POST", path=UPLOAD, headers={"content-type": "application/octet-stream"}, sound=Sound())


def transcribe(ask: Ask, audio_url: str) -> VendorCall:
    """Submit an uploaded file for transcription."""
    payload: dict[str, Any] = {
        "audio_url": audio_url,
        "speech_models": [ask.model.vendor_model],
        "speaker_labels": ask.diarize,
        "filter_profanity": ask.mask_profanity,
    }
    if tag := primary_tag(ask.lang):
        payload["language_code"] = tag
    else:
        payload["language_detection"] = True
    if ask.vocabulary:
        payload["keyterms_prompt"] = list(ask.vocabulary)
    return VendorCall(method="POST", path=TRANSCRIPTS, json=payload)


def transcripts() -> VendorCall:
    """List the newest transcripts."""
    return VendorCall(method="GET", path=TRANSCRIPTS, query=[("limit", str(LISTED))])


def older_transcripts(listing: Any) -> VendorCall | None:
    """List the transcripts older than those of a page, which calls them previous."""
    return continued(transcripts(), record(record(listing).get("page_details")).get("prev_url"))


def transcript(transcript_id: str) -> VendorCall:
    """Fetch the state of a transcript and, once it is done, its text."""
    return VendorCall(method="GET", path=f"{TRANSCRIPTS}/{transcript_id}")


def delete(_access: Access, copy: str) -> tuple[VendorCall, ...]:
    """Delete a transcript and its sound."""
    return (VendorCall(method="DELETE", path=f"{TRANSCRIPTS}/{copy}"),)


def stream(ask: Ask) -> str:
    """Return the path of a stream's socket."""
    is_english = primary_tag(ask.lang) == "en"
    query = [
        ("sample_rate", "16000"),
        ("encoding", "pcm_s16le"),
        ("speech_model", ENGLISH if is_english else SEVERAL),
        ("format_turns", "true"),
    ]
    if not is_english:
        query.append(("language_detection", "true"))
    if ask.diarize:
        query.append(("speaker_labels", "true"))
    if ask.mask_profanity:
        query.append(("filter_profanity", "true"))
    if ask.vocabulary:
        query.append(("keyterms_prompt", json.dumps(list(ask.vocabulary), ensure_ascii=False)))
    return f"{SOCKET}?{urlencode(query)}"
