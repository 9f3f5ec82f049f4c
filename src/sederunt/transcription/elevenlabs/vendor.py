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

# Its word for a refusal, where the HTTP status would mislead: an empty account answers 401 like a wrong key.
KINDS: Mapping[str, ProviderFault] = {
    "quota_exceeded": ProviderFault.PAYMENT,
    "invalid_audio": ProviderFault.MEDIA,
    "too_many_concurrent_requests": ProviderFault.RATE_LIMITED,
    "system_busy": ProviderFault.RATE_LIMITED,
}


async def batch(job: VendorJob) -> Result:
    """Transcribe by one request that answers with the transcript, which stays there until it is deleted."""

    def read(told: Any) -> Result:
        if kept := text(record(told).get("transcription_id")):
            job.leaves(kept)
        return parse(told, job.ask.duration_s)

    return await job.hear(requests.transcribe(job.ask), read)


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal: {"detail": {"status", "message"}}, or a list of faults of a form."""
    detail = record(body).get("detail")
    faults = [_fault(each) for each in records(detail)] if isinstance(detail, list) else []
    if faults:
        return Explained(message="; ".join(filter(None, faults)))
    told = explain(status, body)
    return Explained(message=told.message, code=told.code, kind=KINDS.get(told.code))


def _fault(told: Mapping[str, Any]) -> str:
    """Read one fault of a form, such as {"loc": ["body", "model_id"], "msg": "Field required"}."""
    place = [str(each) for each in listed(told.get("loc")) if each != "body"]
    return ": ".join(filter(None, (".".join(place), text(told.get("msg")))))


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    explain=refusal,
    erase=requests.delete,
)
