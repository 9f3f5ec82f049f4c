"""Build requests to ElevenLabs: one form, answered with the transcript. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.languages import primary_tag

PATH = "/v1/speech-to-text"
CODES: Mapping[str, str] = {"tl": "fil"}  # its list has Tagalog under this code only


def headers(access: Access) -> dict[str, str]:
    """Return the header with the key."""
    return {"xi-api-key": access.key}


def check(_access: Access) -> VendorCall:
    """Fetch the user of the key: free, and refused without a valid key. A key for transcription lacks permission."""
    return VendorCall(method="GET", path="/v1/user", answering_refusals=frozenset({(401, "missing_permissions")}))


def transcribe(ask: Ask) -> VendorCall:
    """Send a file; the answer is its transcript. Audio events, such as laughter, are not tagged."""
    form = [
        ("model_id", ask.model.vendor_model),
        ("timestamps_granularity", "word"),
        ("tag_audio_events", "false"),
        ("diarize", "true" if ask.diarize else "false"),
    ]
    if tag := primary_tag(ask.lang):
        form.append(("language_code", CODES.get(tag, tag)))
    form += [("keyterms", term) for term in ask.vocabulary]
    return VendorCall(
        method="POST",
        path=PATH,
        headers={"content-type": ask.media_type},
        form=form,
        sound=Sound(part="file"),
        answers_late=True,
    )


def delete(_access: Access, transcript_id: str) -> tuple[VendorCall, ...]:
    """Delete a transcript that ElevenLabs keeps."""
    return (VendorCall(method="DELETE", path=f"{PATH}/transcripts/{transcript_id}"),)
