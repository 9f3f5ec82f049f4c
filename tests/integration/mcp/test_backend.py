"""What the tools get of the service besides its answers."""

import pytest

from harness.file_server import file_server
from sederunt.mcp.backend import Refusal, service_at


async def test_evidence_is_read_from_the_bucket_to_which_the_service_leads_and_no_key_goes_there() -> None:
    with file_server() as service, file_server() as bucket:
        there = bucket.give("/why?signed", b"{}")
        service.give("/files/bot/b/why.json?until=1", b"", 302, Location=there)
        service.give("/files/bot/b/page.txt?until=1", b"", 302, Location=f"{bucket.url}/gone")
        async with service_at(service.url, "sk_secret") as backend:
            found = await backend.linked("https://public.example.org/files/bot/b/why.json?until=1")
            assert found is not None
            assert found.content == b"{}"
            assert await backend.linked("https://public.example.org/files/bot/b/page.txt?until=1") is None
            assert await backend.linked("https://public.example.org/files/bot/b/other?until=1") is None
        assert (service.keys[0], bucket.keys) == ("Bearer sk_secret", [None, None])


async def test_a_page_of_somebody_else_is_a_sentence() -> None:
    """Many sites answer every path with their page."""
    with file_server() as site:
        site.give("/api/v1/bot/x-1", b"<!doctype html><title>Welcome</title>")
        async with service_at(site.url, "sk_secret") as backend:
            with pytest.raises(Refusal, match="Something else than this service answered, with status 200"):
                await backend.ask("GET", "/bot/x-1")
