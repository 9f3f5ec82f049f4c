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
    """Transcribe with one request, answered by the transcript. Nothing can be looked up; Deepgram keeps nothing."""
    return await job.hear(requests.listen(job.ask), lambda answer: parse(answer, job.ask.duration_s))


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
        # 1011 also follows ten seconds without sound. 1008 is sound that could not be decoded (the next session may
        # succeed), not a wrong key.
        closes={1008: ProviderFault.TRANSIENT},
    ),
)
