"""Ids that sort by time: UUID version 7 (RFC 9562)."""

import secrets
from datetime import datetime
from uuid import UUID

from sederunt.clock import unix_ms


def new_id(now: datetime) -> UUID:
    """Return a fresh id: 48 bits of milliseconds, then 74 random bits."""
    value = (unix_ms(now) & (1 << 48) - 1) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)
