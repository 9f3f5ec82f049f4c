"""Searches for input that breaks a parser: each may refuse by its own error, and must not fall in any other way.

Seeded from real cases. A short search with every run; `make fuzz` goes on for ten minutes each (FUZZ_SECONDS).
"""

import json
import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sederunt.api.sockets.actions import order_of
from sederunt.api.transport.bodies import parse_json
from sederunt.browser.frame_batches import BrokenBatch, read_batch
from sederunt.browser.launch import public_endpoints
from sederunt.browser.signals import KINDS, BrokenSignal, Signal, read_signal, without_bulk
from sederunt.errors import MediaError, RequestError
from sederunt.media.probe import probe
from sederunt.platforms.registry import parse_link, platform_of, services

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
QUICK = settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
LINKS = (
    "https://meet.google.com/abc-defg-hij?authuser=1",
    "https://teams.microsoft.com/l/meetup-join/19%3ameeting_x%40thread.v2/0?context=%7b%22Tid%22%3a%22a%22%7d",
    "https://teams.live.com/meet/9312345678901?p=AbCdEf",
    "https://us02web.zoom.us/j/81234567890?pwd=aGVsbG8.1#success",
    "https://zoom.us/my/some.one",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=12), inner, max_size=5),
    max_leaves=15,
)
FRAME = pack("<HBBIIHBxfII", 1, 0, 2, 5, 960, 3, 1, 0.5, 10, 4) + pack("<I", 9) + b"opus"
BATCH = pack("<BBHId", 0x53, 1, 1, 0, 0.0) + FRAME
# A device of a roster, as it stands in a message of Meet's: (1: (2: (2: (1: "spaces/1/devices/2", 2: "Ada")))).
DEVICE = b"\n\x12spaces/1/devices/2\x12\x03Ada"


def mutated(seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """Real cases with a stretch replaced, cut out or doubled."""

    def change(seed: bytes, at: int, length: int, put: bytes, copies: int) -> bytes:
        at %= len(seed) + 1
        return seed[:at] + put * copies + seed[at + length :]

    return st.builds(
        change,
        st.sampled_from(seeds),
        st.integers(0, 4_000),
        st.integers(0, 40),
        st.binary(max_size=20),
        st.integers(0, 3),
    )


def search(strategy: st.SearchStrategy[Any], act: Callable[[Any], object]) -> None:
    """Try what the strategy gives: once around, or for as long as `make fuzz` says."""

    @QUICK
    @given(strategy)
    def once(value: Any) -> None:
        act(value)

    once()
    until = time.monotonic() + SECONDS
    while SECONDS and time.monotonic() < until:
        once()


def refuses(act: Callable[[], object], *errors: type[BaseException]) -> None:
    """Do it; these errors are an answer, any other one is a fault."""
    try:
        act()
    except errors:
        return


@pytest.mark.parametrize("service", services())
def test_links(service: Any) -> None:
    texts = st.text(max_size=200) | mutated(tuple(link.encode() for link in LINKS)).map(lambda b: b.decode("latin-1"))
    search(texts, lambda text: refuses(lambda: parse_link(service, text), RequestError, ValueError))


def test_signals_of_a_page() -> None:
    told = st.fixed_dictionaries({"kind": st.sampled_from([*KINDS, "x"]), "data": JSON, "at_ms": JSON | st.just(1)})
    messages = told.map(json.dumps) | st.text(max_size=100) | st.binary(max_size=100)
    with_head = st.builds(
        lambda head, rest: pack("<I", len(head)) + head.encode() + rest, told.map(json.dumps), st.binary()
    )
    search(messages | with_head, lambda message: refuses(lambda: without_bulk(read_signal(message, 0)), BrokenSignal))


def test_batches_of_a_page() -> None:
    batches = mutated((BATCH, BATCH + FRAME)) | st.binary(max_size=200)
    search(batches, lambda data: refuses(lambda: read_batch(data, now_ms=0), BrokenBatch))


@pytest.mark.parametrize("service", services())
def test_decoders(service: Any) -> None:
    """Whatever a signal of a right shape holds, a decoder makes claims of it, or none."""
    platform = platform_of(service)
    gzipped = zlib.compress(DEVICE)
    payloads = mutated((DEVICE, gzipped, b'{"type":"roster","participants":[{"id":1}]}', b"3:::{}")) | st.text(
        max_size=80
    )
    words = (
        st.sampled_from(["collections", "main-channel", "/SyncMeetingSpaceCollections", "event", "stream"]) | st.text()
    )
    names = ("label", "url", "event", "key", "id", "sender", "text", "stream", "media")
    people = st.lists(
        st.fixed_dictionaries({}, optional={"key": st.text(), "name": st.text(), "avatar": st.none() | st.text()}),
        max_size=4,
    )
    data = st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(names, words),
            "payload": payloads,
            "people": people,
            "keys": st.lists(st.text(), max_size=4),
            "track": st.integers(0, 65_535),
            "whole": st.booleans(),
        },
    )
    signals = st.lists(
        st.builds(lambda kind, data: Signal(kind=kind, data=data, at_ms=1), st.sampled_from(list(KINDS)), data)
    )

    def decode(told: list[Signal]) -> None:
        decoder = platform.decoder("Bot")
        for signal in told:
            assert decoder.decode(signal) is not None

    search(signals, decode)


def test_actions_of_a_listener() -> None:
    orders = st.fixed_dictionaries({"action": st.sampled_from(["stop", "chat-message", "x"]) | JSON, "data": JSON})
    frames = orders.map(json.dumps) | st.text(max_size=60) | st.binary(max_size=60)
    search(frames, lambda frame: refuses(lambda: order_of(frame), RequestError))


def test_json_bodies() -> None:
    bodies = (
        st.binary(max_size=80) | JSON.map(json.dumps).map(str.encode) | st.integers(1, 30_000).map(lambda n: b"[" * n)
    )
    search(bodies, lambda body: refuses(lambda: parse_json(body), RequestError))


def test_host_rules() -> None:
    rules = st.lists(st.text(max_size=20) | st.sampled_from(["MAP a 127.0.0.1:1", "MAP", "EXCLUDE *"])).map(",".join)
    search(rules, lambda text: list(public_endpoints(text)))


def test_containers(tmp_path: Path) -> None:
    """Files that begin like a container; what reads them here is what a process of its own reads otherwise."""
    file = tmp_path / "file"
    mono = pack("<HHIIHH", 1, 1, 8_000, 16_000, 2, 16)
    seeds = (
        b"RIFF\x24\x00\x00\x00WAVEfmt " + pack("<I", 16) + mono + b"data" + bytes(4),
        bytes.fromhex("1a45dfa3934286810142f7810142f2810442f381084282847765626d1853806701ffffffffffffff"),
        b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2\x00\x00\x00\x08moov\x00\x00\x00\x08mdat",
        b"OggS\x00\x02" + bytes(21) + b"\x01\x13OpusHead\x01\x01\x00\x00\x80\xbb" + bytes(5),
        b"fLaC\x80\x00\x00\x22" + bytes(34),
        b"ID3\x04\x00\x00\x00\x00\x00\x00\xff\xfb\x90d" + bytes(400),
    )

    def read(data: bytes) -> None:
        file.write_bytes(data)
        refuses(lambda: probe(file), MediaError)

    search(mutated(seeds), read)
