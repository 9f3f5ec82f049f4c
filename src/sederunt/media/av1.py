"""AV1 as pages hand it over: pictures made of units (OBUs), each with its size (AV1 specification, section 5.3)."""

_FORBIDDEN, _HAS_EXTENSION, _HAS_SIZE = 0x80, 0x04, 0x02  # bits of a unit's first byte
_MOST_SIZE_BYTES = 8


def is_whole(payload: bytes) -> bool:
    """Return whether the picture's units fill it to the last byte.

    The muxer looks into each picture of AV1, and gives up a whole file for one that is damaged.
    """
    position: int | None = 0
    while position is not None and position < len(payload):
        position = _after_unit(payload, position)
    return bool(payload) and position == len(payload)


def _after_unit(payload: bytes, position: int) -> int | None:
    """Return where the unit that begins here ends; None where none does."""
    head = payload[position]
    if head & _FORBIDDEN or not head & _HAS_SIZE:
        return None
    position += 2 if head & _HAS_EXTENSION else 1
    size = 0
    for index, byte in enumerate(payload[position : position + _MOST_SIZE_BYTES]):
        size |= (byte & 0x7F) << 7 * index
        if not byte & 0x80:
            return position + index + 1 + size
    return None
