"""ElevenLabs as a vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.faults import Explained, explain
from sederunt.transcription.cloud.job import VendorJob
from sederunt.transcription.cloud.reading import listed, record, records, text
from sederunt.transcription.cloud.vendor import Vendor
from sederunt.transcription.elevenlabs import requests
from sederunt.transcription.elevenlabs.parse import parse
from sederunt.transcription.elevenlabs.rows import MODELS, PROVIDER_ROW
from sederunt.transcription.provider import Result

# Codes of refusals whose HTTP status misleads: an empty account gets 401, like a wrong key.
KINDS: Mapping[str, ProviderFault] = {
    "quota_exceeded": ProviderFault.PAYMENT,
    "invalid_audio": ProviderFault.MEDIA,
    "too_many_concurrent_requests": ProviderFault.RATE_LIMITED,
    "system_busy": ProviderFault.RATE_LIMITED,
}


async def batch(job: VendorJob) -> Result:
    """Transcribe with one request, answered by the transcript. ElevenLabs keeps it until it is deleted."""

    def read(answer: Any) -> Result:
        if transcription_id := text(record(answer).get("transcription_id")):
            job.leaves(transcription_id)
        return parse(answer, job.ask.duration_s)

    return await job.hear(requests.transcribe(job.ask), read)


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal: {"detail": {"status", "message"}}, or a list of form errors."""
    detail = record(body).get("detail")
    faults = [_fault(fault) for fault in records(detail)] if isinstance(detail, list) else []
    if faults:
        return Explained(message="; ".join(filter(None, faults)))
    explained = explain(status, body)
    return Explained(message=explained.message, code=explained.code, kind=KINDS.get(explained.code))


def _fault(fault: Mapping[str, Any]) -> str:
    """Read one form error, such as {"loc": ["body", "model_id"], "msg": "Field required"}."""
    place = [str(part) for part in listed(fault.get("loc")) if part != "body"]
    return ": ".join(filter(None, (".".join(place), text(fault.get("msg")))))


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    explain=refusal,
    erase=requests.delete,
)
