"""A page's messages besides media, and their format: JSON as text, or JSON and bytes in one binary message.

A binary message is a little-endian uint32, the length of the JSON that follows it, and then the payload. The payload
becomes `data["payload"]`, as bytes.

The channel is ours, but the page's own scripts can imitate ours, so its messages are not trusted. A signal has a known
kind and known fields, of the right types and of a limited length; anything else is rejected.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError
from typing import Any

from sederunt import foreign_json

_LENGTH = Struct("<I")
MOST_ENTRIES = 2_000  # people of a list, or keys of those who speak
MOST_WORD, MOST_TEXT, MOST_ADDRESS = 1_000, 20_000, 65_536  # characters
MOST_ASTRAY_MS = 24 * 3_600_000  # a page's clock may have been set, but not by more than this
MOST_KEPT, MOST_KIND = 4_096, 40  # characters or bytes of one value, and of the kind


Check = Callable[[object], bool]


def _is_text(most: int) -> Check:
    return lambda value: isinstance(value, str) and len(value) <= most


def _is_entries(is_entry: Check) -> Check:
    return lambda value: isinstance(value, list) and len(value) <= MOST_ENTRIES and all(map(is_entry, value))


def _is_scalar(value: object) -> bool:
    return (
        value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= MOST_TEXT)
    )


def _is_payload(value: object) -> bool:
    return isinstance(value, str | bytes)


def _is_track(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 16


def _is_person(value: object) -> bool:
    return isinstance(value, dict) and all(
        _PERSON[name](entry) if name in _PERSON else _is_scalar(entry) for name, entry in value.items()
    )


_is_word, _is_address = _is_text(MOST_WORD), _is_text(MOST_ADDRESS)
_PERSON: Mapping[str, Check] = {
    "key": _is_text(MOST_TEXT),  # the text is the key of rows without an id
    "name": _is_text(MOST_TEXT),
    "avatar": lambda value: value is None or isinstance(value, str),  # may contain a picture
    "is_self": lambda value: isinstance(value, bool),
}
# Kind → its fields; further ones of `capture` are numbers and words.
KINDS: Mapping[str, Mapping[str, Check]] = {
    "datachannel": {"label": _is_word, "payload": _is_payload},
    "fetch": {
        "url": _is_address,
        "method": _is_word,
        "status": _is_scalar,
        "request": _is_text(MOST_TEXT),
        "payload": _is_payload,
    },
    "websocket": {"url": _is_address, "payload": _is_payload},
    "worker": {"payload": _is_payload},
    "roster": {"people": _is_entries(_is_person), "whole": _is_scalar},
    "speaking": {"keys": _is_entries(_is_text(MOST_TEXT))},
    "stage": {"key": _is_text(MOST_TEXT)},
    "banner": {"alone": _is_scalar, "recorded": _is_scalar, "count": _is_scalar},
    "self": {"key": _is_word},
    "call": {"id": _is_address},
    "chat": {"id": _is_address, "sender": _is_text(MOST_TEXT), "text": _is_text(MOST_TEXT)},
    "capture": {"event": _is_word, "track": _is_track, "payload": _is_payload},
}


class BrokenSignal(ValueError):
    """A message that is not a signal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """A raw message from a page, not interpreted.

    kind and data:
        datachannel  {label, payload: bytes | str}
        fetch        {url, method, status, request, payload: bytes}; from fetch and from XMLHttpRequest. `request` is
                     the beginning of the request's body, if that is text
        websocket    {url, payload: bytes | str}: what the page's own socket received
        worker       {payload: str}: what one of the page's workers posted
        roster       {people: [{key, name, avatar, is_self}], whole}: all rows, at each change
        speaking     {keys: [key, …]}: everybody shown as speaking, at each change
        stage        {key}: the person shown large, at each change; empty for nobody
        banner       {alone, recorded, count}: from the page's sentences and its counter, at each change
        self         {key}: the bot's key in the page's own objects
        call         {id}: an id of the call, or an address with one, from the page's own objects
        chat         {id, sender, text}: once per message
        capture      {event: "attached" | "displaced" | "deaf" | "backend" | "stream" | …, track, …}; "stream", each
                     time a track begins: {media, stream, mid, ufrag}, the names of its stream and of its m-line,
                     and the user fragment of the connection's other end
    """

    kind: str
    data: Mapping[str, Any]
    at_ms: int  # Unix milliseconds, of the page


def without_bulk(signal: Signal) -> Signal:
    """Return a signal that is small enough to be stored: long texts and payloads are cut."""
    data = {
        name: value[:MOST_KEPT] if isinstance(value, str | bytes) else value
        for name, value in signal.data.items()
        if isinstance(value, str | bytes | int | float | bool | None) or len(repr(value)) <= MOST_KEPT
    }
    return Signal(kind=signal.kind[:MOST_KIND], data=data, at_ms=signal.at_ms)


def entries_of(signal: Signal) -> int:
    """Return how many people or keys a signal contains."""
    return sum(len(value) for value in signal.data.values() if isinstance(value, list))


def read_signal(message: str | bytes, now_ms: float, in_ours: Callable[[float], float] = float) -> Signal:
    """Return the signal in one message of a page; `now_ms` in Unix milliseconds. Raises BrokenSignal.

    `in_ours` converts the page's times into those of `now_ms`.
    """
    try:
        if isinstance(message, str):
            body, payload = foreign_json.read(message), None
        else:
            (length,) = _LENGTH.unpack_from(message)
            body, payload = foreign_json.read(message[4 : 4 + length]), message[4 + length :]
        if not isinstance(body["data"], dict):  # a list of pairs would work too, with names of any type
            raise TypeError
        data = body["data"]
        if payload is not None:
            data["payload"] = payload
        signal = Signal(kind=str(body["kind"]), data=data, at_ms=int(in_ours(int(body["at_ms"]))))
    except (ValueError, KeyError, TypeError, OverflowError, StructError) as cause:
        raise BrokenSignal(f"a message of {len(message)} bytes is no signal") from cause
    if (fault := _fault(signal, now_ms)) is not None:
        raise BrokenSignal(f"a message of {len(message)} bytes is no signal: {fault}")
    return signal


def _fault(signal: Signal, now_ms: float) -> str | None:
    # Returns the fault in a signal's shape, without its contents.
    fields = KINDS.get(signal.kind)
    if fields is None:
        return "its kind is unknown"
    if abs(signal.at_ms - now_ms) > MOST_ASTRAY_MS:
        return "its time is none"
    for name, value in signal.data.items():
        if not fields.get(name, _is_scalar)(value):
            return f"{name[:MOST_KIND]!r} has another shape"
    return None
