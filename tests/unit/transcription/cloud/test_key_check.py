"""Whether a key is good is told apart from what else it may do."""

from typing import Any

import httpx2
import pytest

from sederunt.errors import ProviderError, ProviderFault
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.client import Client, Manners
from sederunt.transcription.cloud.vendor import Vendor
from sederunt.transcription.deepgram.vendor import VENDOR as DEEPGRAM
from sederunt.transcription.elevenlabs.vendor import VENDOR as ELEVENLABS

ACCESS = Access(key="k", label="the operator's key")


async def check(vendor: Vendor, status: int, body: Any) -> None:
    async with Client(vendor, Settings(), ACCESS, Manners(tries=1)) as client:
        await client._http.aclose()
        reply = httpx2.Response(status, json=body)
        client._http = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _request: reply))
        await client.fetch(vendor.check(ACCESS), "check the key")


@pytest.mark.parametrize(
    ("vendor", "status", "body"),
    [
        (ELEVENLABS, 401, {"detail": {"status": "missing_permissions", "message": "needs user_read"}}),
        (DEEPGRAM, 403, {"err_code": "INSUFFICIENT_PERMISSIONS", "err_msg": "needs project:read"}),
    ],
    ids=["elevenlabs", "deepgram"],
)
async def test_a_key_that_may_only_transcribe_is_accepted(vendor: Vendor, status: int, body: Any) -> None:
    await check(vendor, status, body)


@pytest.mark.parametrize(
    ("vendor", "body"),
    [
        (ELEVENLABS, {"detail": {"status": "invalid_api_key", "message": "No."}}),
        (DEEPGRAM, {"err_code": "INVALID_AUTH", "err_msg": "No."}),
    ],
    ids=["elevenlabs", "deepgram"],
)
async def test_a_wrong_key_is_refused(vendor: Vendor, body: Any) -> None:
    with pytest.raises(ProviderError) as caught:
        await check(vendor, 401, body)
    assert caught.value.kind is ProviderFault.AUTH
