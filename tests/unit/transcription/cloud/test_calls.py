"""Addresses put together, and where a vendor is."""

import pytest

from sederunt.errors import SetupError
from sederunt.settings import Settings
from sederunt.transcription.cloud.addresses import rest_address, same_origin, socket_address
from sederunt.transcription.cloud.calls import joined
from sederunt.transcription.deepgram.rows import PROVIDER_ROW


@pytest.mark.parametrize(
    ("base", "path", "address"),
    [
        ("https://host", "/v1/files", "https://host/v1/files"),
        ("https://host/", "/v1/files", "https://host/v1/files"),
        ("https://host/v1", "/v1/files", "https://host/v1/files"),
        ("https://host/proxy", "/v1/files", "https://host/proxy/v1/files"),
        ("https://host/proxy/v1", "/v1/files", "https://host/proxy/v1/files"),
        (
            "ws://host:1/v1/listen",
            "/v1/listen?model=nova-2&language=en",
            "ws://host:1/v1/listen?model=nova-2&language=en",
        ),
        ("https://host", "https://files.elsewhere/x?signed=1", "https://files.elsewhere/x?signed=1"),
    ],
)
def test_a_base_may_hold_the_beginning_of_the_path(base: str, path: str, address: str) -> None:
    assert joined(base, path) == address


def test_a_key_goes_to_its_own_vendor_only() -> None:
    assert same_origin("https://host/v1/x", "https://host")
    assert not same_origin("https://host:444/x", "https://host")
    assert not same_origin("http://host/x", "https://host")


def test_the_settings_decide_then_the_region_then_the_row() -> None:
    row, plain = PROVIDER_ROW, Settings()
    assert rest_address(plain, row, None) == "https://api.deepgram.com"
    assert rest_address(plain, row, "eu") == "https://api.eu.deepgram.com"
    assert socket_address(plain, row, "eu") == "wss://api.eu.deepgram.com"
    given = Settings(providers={"deepgram": {"url": "http://127.0.0.1:9"}})
    assert rest_address(given, row, "eu") == "http://127.0.0.1:9"
    assert socket_address(given, row, None) == "ws://127.0.0.1:9"  # never the real vendor beside a simulated one
    with pytest.raises(SetupError, match=r"no region 'mars'.*known: eu, au, in"):
        rest_address(plain, row, "mars")
