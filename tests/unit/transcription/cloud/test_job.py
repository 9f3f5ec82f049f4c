"""What a job that is done has come to is asked for until it is there."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from sederunt.errors import ProviderError
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.client import Client, Manners
from sederunt.transcription.cloud.job import Notes, VendorJob
from sederunt.transcription.cloud.vendor import asked
from sederunt.transcription.models import find
from sederunt.transcription.revai import requests
from sederunt.transcription.revai.parse import parse
from sederunt.transcription.revai.vendor import VENDOR

WORDS: dict[str, list[Any]] = {"monologues": []}


async def _no_pause(_seconds: float) -> None:
    """Wait for nothing."""


def _read(body: Any) -> Any:
    parse(body)
    return body


async def fetched(*answers: httpx2.Response) -> tuple[Any, int]:
    """What a job hands on after these answers, and how many of them it took."""
    left = list(answers)
    row, access = find("rev-ai"), Access(key="k", label="the operator's key")
    assert row is not None
    ask = asked(row, access, lang=None, vocabulary=(), mask_profanity=False, mixed=False)
    async with Client(VENDOR, Settings(), access, Manners(pause=_no_pause)) as client:
        await client._http.aclose()
        client._http = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _request: left.pop(0)))
        job = VendorJob(ask, Path("unused"), client, Notes({}, lambda _notes: None))
        return await job.fetch(requests.transcript("1"), _read), len(answers) - len(left)


@pytest.mark.parametrize(
    "first",
    [
        httpx2.Response(409, json={"title": "not ready"}),
        httpx2.Response(423),
        httpx2.Response(404, json={"title": "no such transcript"}),
        httpx2.Response(200, content=b""),
        httpx2.Response(200, json={}),
        httpx2.Response(200, json=[]),
        httpx2.Response(200, json={"error": "try later"}),
    ],
)
async def test_what_is_not_there_yet_is_asked_for_again(first: httpx2.Response) -> None:
    assert await fetched(*[first] * 6, httpx2.Response(200, json=WORDS)) == (WORDS, 7)


async def test_what_never_comes_is_told_as_the_vendor_told_it() -> None:
    with pytest.raises(ProviderError, match="409") as told:
        await fetched(*[httpx2.Response(409, json={"detail": "not ready"})] * 50)
    assert not told.value.retryable
    with pytest.raises(ProviderError, match="empty") as told:
        await fetched(*[httpx2.Response(200, content=b"")] * 50)
    assert told.value.retryable
    with pytest.raises(ProviderError, match=r"Rev\S* failed to hand out .*no monologues: \[\]"):
        await fetched(*[httpx2.Response(200, json=[])] * 50)
    with pytest.raises(ProviderError, match="no monologues: try later"):
        await fetched(*[httpx2.Response(200, json={"error": "try later"})] * 50)
    with pytest.raises(ProviderError, match="404"):
        await fetched(*[httpx2.Response(404)] * 50)


async def test_what_is_gone_is_not_asked_for_again() -> None:
    with pytest.raises(ProviderError, match="410"):
        await fetched(httpx2.Response(410))
