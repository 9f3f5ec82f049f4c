"""Factories for the platforms' tests: signals as the pages send them, and protocol buffers made by hand."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest


@dataclass(frozen=True, kw_only=True)
class MadeSignal:
    """The shape of browser.signals.Signal, which these tests need not import."""

    kind: str
    data: dict[str, Any] = field(default_factory=dict)
    at_ms: int = 1_000


Signals = Callable[..., Any]
Proto = Callable[..., bytes]


def make_proto(*fields: tuple[int, Any]) -> bytes:
    """A message from (number, value): int as varint, str and bytes by length; None is left out."""
    made = b""
    for number, value in fields:
        if isinstance(value, int):
            made += _varint(number << 3) + _varint(value)
        elif value is not None:
            raw = value.encode() if isinstance(value, str) else value
            made += _varint(number << 3 | 2) + _varint(len(raw)) + raw
    return made


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])


@pytest.fixture
def signal() -> Signals:
    """signal(kind, at_ms=…, **data)"""

    def make(kind: str, at_ms: int = 1_000, **data: Any) -> Any:
        return MadeSignal(kind=kind, data=data, at_ms=at_ms)

    return make


@pytest.fixture
def proto() -> Proto:
    return make_proto


@pytest.fixture
def collections(signal: Signals) -> Callable[..., Any]:
    """A frame of Meet's `collections` channel: collections(users=[…], devices=[…], chats=[…])."""

    def make(
        users: list[bytes] | None = None,
        devices: list[bytes] | None = None,
        chats: list[bytes] | None = None,
        at_ms: int = 1_000,
        packed: Callable[[bytes], bytes] = zlib.compress,
        number: int | None = 5,
    ) -> Any:
        numbered = make_proto((1, number)) if number is not None else None
        people = make_proto((1, numbered), *((2, user) for user in users or []))
        outputs = make_proto(*((2, device) for device in devices or []))
        both = make_proto((1, people if users else None), *((4, make_proto((2, chat))) for chat in chats or []))
        event = make_proto((1, make_proto((2, make_proto((3, outputs if devices else None), (13, both))))))
        return signal("datachannel", at_ms=at_ms, label="collections", payload=packed(event))

    return make
