"""What a page says besides media, and how it arrives: JSON as text, or JSON and bytes in one binary message.

A binary message is a little-endian uint32, the length of the JSON that follows it, and then the payload. The payload
becomes `data["payload"]`, as bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError
from typing import Any

_LENGTH = Struct("<I")
MOST_KEPT, MOST_KIND = 4_096, 40  # characters or bytes of one value, and of the kind


class BrokenSignal(ValueError):
    """A message that is not a signal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """A raw message from a page: nothing in it has been interpreted.

    kind and data:
        datachannel  {label, payload: bytes | str}
        fetch        {url, method, status, payload: bytes}; from fetch and from XMLHttpRequest
        websocket    {url, payload: bytes | str}: what the page's own socket received
        worker       {payload: str}: what one of the page's workers posted
        roster       {people: [{key, name, avatar, is_self}], whole}: all rows, each time they changed
        speaking     {keys: [key, …]}: all who are shown speaking, each time that changed
        stage        {key}: whoever is shown large, each time that changed; empty for nobody
        banner       {alone, recorded}: what the page's sentences say, each time that changed
        self         {key}: by what the page's own objects know the bot
        chat         {id, sender, text}: once per message
        capture      {event: "attached" | "displaced" | "deaf" | "backend" | "stream" | …, track, …}
    """

    kind: str
    data: Mapping[str, Any]
    at_ms: int  # Unix milliseconds, of the page


def without_bulk(signal: Signal) -> Signal:
    """Return a signal that is fit to be kept: long texts and payloads are cut."""
    data = {
        name: value[:MOST_KEPT] if isinstance(value, str | bytes) else value
        for name, value in signal.data.items()
        if isinstance(value, str | bytes | int | float | bool | None) or len(repr(value)) <= MOST_KEPT
    }
    return Signal(kind=signal.kind[:MOST_KIND], data=data, at_ms=signal.at_ms)


def read_signal(message: str | bytes) -> Signal:
    """Return the signal in one message of a page. Raises BrokenSignal."""
    try:
        if isinstance(message, str):
            body, payload = json.loads(message), None
        else:
            (length,) = _LENGTH.unpack_from(message)
            body, payload = json.loads(message[4 : 4 + length]), message[4 + length :]
        data = dict(body["data"])
        if payload is not None:
            data["payload"] = payload
        return Signal(kind=str(body["kind"]), data=data, at_ms=int(body["at_ms"]))
    except (ValueError, KeyError, TypeError, StructError) as cause:
        raise BrokenSignal(f"a message of {len(message)} bytes is no signal") from cause
