"""Protocol buffers as bytes, without a schema: enough to write what the sites' own channels carry."""

from collections.abc import Iterable


class ProtoMessage:
    """Fields in the order given: `ProtoMessage((1, 7), (2, "text"), (3, ProtoMessage(...)))`. None is left out."""

    def __init__(self, *fields: "tuple[int, int | str | bytes | ProtoMessage | None]") -> None:
        self._fields = fields

    def __bytes__(self) -> bytes:
        return b"".join(_field(number, value) for number, value in self._fields if value is not None)


def repeated(
    number: int, values: Iterable[ProtoMessage]
) -> "list[tuple[int, int | str | bytes | ProtoMessage | None]]":
    """Return a field once per value, to be splatted into a ProtoMessage."""
    return [(number, value) for value in values]


def _field(number: int, value: "int | str | bytes | ProtoMessage") -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else bytes(value)
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
