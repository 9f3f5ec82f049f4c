"""A ninth vendor of speech to text: one request that answers with words. Everything else is the service's."""

from typing import Any

from sederunt.model.transcript import Word
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall
from sederunt.transcription.cloud.job import VendorJob
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.cloud.reading import (
    Token,
    Voices,
    language,
    number,
    ordered,
    place,
    record,
    records,
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.cloud.vendor import Vendor
from sederunt.transcription.provider import Result
from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow

ROW = ProviderRow(
    name="steno",
    title="Steno",
    max_audio_minutes=240,
    url="https://api.steno.example.org",
    paths=("/v1/minutes", "/v1/me"),
)

MODELS = (
    ModelRow(
        identifier="steno",
        aliases=("steno-one",),
        provider="steno",
        vendor_model="one",
        for_recordings=True,
        can=frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE}),
        price=Price(per_hour=0.10, as_of="2026-11-22"),
    ),
)


def headers(access: Access) -> dict[str, str]:
    """Return the header that carries the key."""
    return {"x-steno-key": access.key}


def check(_access: Access) -> VendorCall:
    """Ask who the key belongs to: free, and refused without a good one."""
    return VendorCall(method="GET", path="/v1/me")


async def batch(job: VendorJob) -> Result:
    """Send the file; its transcript is the answer, and nothing stays there."""
    query = [("model", job.ask.model.vendor_model), ("voices", str(job.ask.diarize).lower())]
    if job.ask.lang:
        query.append(("language", job.ask.lang))
    call = VendorCall(
        method="POST",
        path="/v1/minutes",
        query=query,
        headers={"content-type": job.ask.media_type},
        sound=Sound(),
        answers_late=True,
    )
    return await job.hear(call, parse)


def parse(answer: Any) -> Result:
    """Read a transcript: {"language": "en", "items": [{"text", "from", "to", "who"}]}. Pure.

    An answer in another form is a fault and no silence: `place` and `sure` raise it.
    """
    body, voices = record(answer), Voices()
    place(body, "items")
    items = records(body.get("items"))
    utterances = sure(ordered(utterances_of([_token(item, voices) for item in items])), items, "text")
    return Result(utterances=utterances, detected_lang=language(body.get("language")), diarized=len(voices) > 0)


def _token(item: Any, voices: Voices) -> Token:
    written = text(item.get("text"))
    word = Word(
        word=written.strip(".,!?") or written,
        start=number(item.get("from")),
        end=number(item.get("to")),
        confidence=1.0,
        speaker=voices.number(item.get("who")),
    )
    return Token(word=word, written=written, ends_sentence=written.endswith((".", "!", "?")))


PROVIDER = CloudProvider(Vendor(row=ROW, models=MODELS, headers=headers, batch=batch, check=check))
