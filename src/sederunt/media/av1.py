"""AV1 as pages deliver it: pictures made of units (OBUs), each with its size (AV1 specification, section 5.3)."""

_FORBIDDEN, _HAS_EXTENSION, _HAS_SIZE = 0x80, 0x04, 0x02  # bits of a unit's first byte
_MOST_SIZE_BYTES = 8


def is_whole(payload: bytes) -> bool:
    """Return whether the picture's units fill it exactly.

    The muxer parses each AV1 picture, and gives up the whole file for a damaged one.
    """
    position: int | None = 0
    while position is not None and position < len(payload):
        position = _after_unit(payload, position)
    return bool(payload) and position == len(payload)


def _after_unit(payload: bytes, position: int) -> int | None:
    """Return the end of the unit that begins here; None if there is none."""
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
