"""Deepgram as a vendor."""

from __future__ import annotations

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.job import VendorJob
from sederunt.transcription.cloud.vendor import Live, Vendor
from sederunt.transcription.deepgram import requests
from sederunt.transcription.deepgram.parse import parse
from sederunt.transcription.deepgram.rows import MODELS, PROVIDER_ROW
from sederunt.transcription.deepgram.stream import KEEPALIVE, DeepgramCodec
from sederunt.transcription.provider import Result


async def batch(job: VendorJob) -> Result:
    """Transcribe by one request that answers with the transcript; nothing can be looked up, and nothing stays there."""
    return await job.hear(requests.listen(job.ask), lambda told: parse(told, job.ask.duration_s))


VENDOR = Vendor(
    row=PROVIDER_ROW,
    models=MODELS,
    headers=requests.headers,
    batch=batch,
    check=requests.check,
    live=Live(
        codec=DeepgramCodec,
        path=requests.stream,
        keepalive=KEEPALIVE,
        keepalive_s=4.0,
        # 1011 is also what ten seconds without a sound end with; 1008 is sound that it could not decode, which the next
        # session may hear, not a wrong key.
        closes={1008: ProviderFault.TRANSIENT},
    ),
)
