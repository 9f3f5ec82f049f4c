"""Reads protocol-buffer bytes without a schema: fields by number, in order, wrong bytes tolerated."""

from collections.abc import Iterator
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Message:
    """One message as (field number, wire type, value): integers for numbers, bytes for the rest."""

    fields: tuple[tuple[int, int, int | bytes], ...]

    def number(self, field: int) -> int | None:
        """Return the last integer of this field."""
        values = [value for number, _, value in self.fields if number == field and isinstance(value, int)]
        return values[-1] if values else None

    def text(self, field: int) -> str:
        """Return the last string of this field; empty if there is none or if it is not text."""
        values = [value for number, _, value in self.fields if number == field and isinstance(value, bytes)]
        try:
            return values[-1].decode("utf-8") if values else ""
        except UnicodeDecodeError:
            return ""

    def messages(self, *path: int) -> Iterator["Message"]:
        """Return every message at the end of a path of field numbers."""
        for number, _, value in self.fields:
            if number == path[0] and isinstance(value, bytes) and (inner := parse(value)) is not None:
                if len(path) == 1:
                    yield inner
                else:
                    yield from inner.messages(*path[1:])

    def walk(self, depth: int = 12) -> Iterator["Message"]:
        """Yield this message and everything inside it that reads as a message."""
        yield self
        if depth:
            for _, _, value in self.fields:
                if isinstance(value, bytes) and len(value) > 1 and (inner := parse(value)) is not None:
                    yield from inner.walk(depth - 1)


def parse(data: bytes) -> Message | None:
    """Return the fields of a message; None if the bytes are no message."""
    fields: list[tuple[int, int, int | bytes]] = []
    offset = 0
    try:
        while offset < len(data):
            key, offset = _varint(data, offset)
            number, kind = key >> 3, key & 7
            if number == 0:
                return None
            value: int | bytes
            if kind == VARINT:
                value, offset = _varint(data, offset)
            elif kind == BYTES:
                size, offset = _varint(data, offset)
                value, offset = _slice(data, offset, size)
            elif kind in (FIXED32, FIXED64):
                raw, offset = _slice(data, offset, 8 if kind == FIXED64 else 4)
                value = int.from_bytes(raw, "little")
            else:
                return None
            fields.append((number, kind, value))
    except (IndexError, ValueError):
        return None
    return Message(tuple(fields))


def _slice(data: bytes, offset: int, size: int) -> tuple[bytes, int]:
    if offset + size > len(data):
        raise ValueError("message ends early")
    return data[offset : offset + size], offset + size


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset
        shift += 7
        if shift > 63:
            raise ValueError("number too long")
