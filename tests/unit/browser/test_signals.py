"""Signals as they come from the page."""

import json
from struct import pack

import pytest

from sederunt.browser.signals import BrokenSignal, read_signal

BODY = json.dumps({"kind": "datachannel", "data": {"label": "collections"}, "at_ms": 1700})


def test_a_text_message_is_a_signal() -> None:
    signal = read_signal(BODY, 0)
    assert (signal.kind, dict(signal.data), signal.at_ms) == ("datachannel", {"label": "collections"}, 1700)


def test_bytes_after_the_header_become_the_payload() -> None:
    head = BODY.encode()
    signal = read_signal(pack("<I", len(head)) + head + b"\x00\xff", 0)
    assert signal.data["payload"] == b"\x00\xff"


def test_an_empty_binary_payload_is_still_bytes() -> None:
    head = BODY.encode()
    assert read_signal(pack("<I", len(head)) + head, 0).data["payload"] == b""


@pytest.mark.parametrize(
    "message",
    [
        *("", "[]", "{}", '{"kind": 1}', '{"kind":"x","data":3,"at_ms":1}', b"", b"\xff\xff"),
        '{"kind": "datachannel", "data": [[null, []]], "at_ms": 1}',
    ],
)
def test_what_is_no_signal_is_refused(message: str | bytes) -> None:
    with pytest.raises(BrokenSignal):
        read_signal(message, 0)


def told(kind: str, at_ms: object = 1, **data: object) -> str:
    return json.dumps({"kind": kind, "data": data, "at_ms": at_ms})


@pytest.mark.parametrize(
    "message",
    [
        told("eval", code="1"),
        told("speaking", keys="all"),
        told("speaking", keys=[{"key": 1}]),
        told("speaking", keys=["k"] * 2_001),
        told("roster", people=[["Ada"]], whole=True),
        told("roster", people=[{"name": {"first": "Ada"}}], whole=True),
        told("roster", people=[{}] * 2_001, whole=True),
        told("chat", id="1", sender="a", text="x" * 20_001),
        told("chat", id="1", sender="a", text=["x"]),
        told("chat", id="1", sender="a", text="x", more={"a": 1}),
        told("stage", key=7),
        told("capture", event=None),
        told("chat", at_ms=1e300, id="1", sender="a", text="x"),
        told("chat", at_ms=4e12, id="1", sender="a", text="x"),
        '{"kind":"chat","data":{},"at_ms":1e400}',
        "[" * 100_000,
    ],
    ids=range(16),
)
def test_a_signal_of_another_shape_is_refused(message: str) -> None:
    with pytest.raises(BrokenSignal):
        read_signal(message, 0)


def test_what_our_scripts_say_is_of_the_right_shape() -> None:
    person = {"key": "a", "name": "Ada", "avatar": None, "is_self": False}
    for message in (
        told("roster", people=[person, {**person, "avatar": "data:" + "x" * 90_000}], whole=True),
        told("speaking", keys=["a", "b"]),
        told("stage", key=""),
        told("banner", alone=False, recorded=True),
        told("self", key="devices/1"),
        told("chat", id="Ada\nhello", sender="Ada", text="hello"),
        told("capture", event="deaf", track=3, packets=25, tapped=0),
        told("fetch", url="https://a/b", method="POST", status=200, payload="x"),
    ):
        assert read_signal(message, 0).kind
