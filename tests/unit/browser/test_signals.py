"""Signals as they come from the page."""

import json
from struct import pack

import pytest

from sederunt.browser.signals import BrokenSignal, read_signal

BODY = json.dumps({"kind": "datachannel", "data": {"label": "collections"}, "at_ms": 1700})


def test_a_text_message_is_a_signal() -> None:
    signal = read_signal(BODY)
    assert (signal.kind, dict(signal.data), signal.at_ms) == ("datachannel", {"label": "collections"}, 1700)


def test_bytes_after_the_header_become_the_payload() -> None:
    head = BODY.encode()
    signal = read_signal(pack("<I", len(head)) + head + b"\x00\xff")
    assert signal.data["payload"] == b"\x00\xff"


def test_an_empty_binary_payload_is_still_bytes() -> None:
    head = BODY.encode()
    assert read_signal(pack("<I", len(head)) + head).data["payload"] == b""


@pytest.mark.parametrize(
    "message", ["", "[]", "{}", '{"kind": 1}', '{"kind":"x","data":3,"at_ms":1}', b"", b"\xff\xff"]
)
def test_what_is_no_signal_is_refused(message: str | bytes) -> None:
    with pytest.raises(BrokenSignal):
        read_signal(message)
