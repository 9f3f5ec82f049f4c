"""Classify AssemblyAI's refusals, mostly by their sentences: its codes say little. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.faults import Explained, explain

_F = ProviderFault

# Words in a message → fault class; the first match counts.
PHRASES: tuple[tuple[str, ProviderFault], ...] = (
    ("balance", _F.PAYMENT),
    ("insufficient funds", _F.PAYMENT),
    ("too many concurrent", _F.RATE_LIMITED),
    ("too many sessions", _F.RATE_LIMITED),
    ("too many requests", _F.RATE_LIMITED),
    ("download", _F.MEDIA),
    ("transcoding failed", _F.MEDIA),
    ("does not appear to contain audio", _F.MEDIA),
    ("file type", _F.MEDIA),
    ("server error", _F.TRANSIENT),
)
# Error codes and close codes of streams → fault class.
CODES: Mapping[int, ProviderFault] = MappingProxyType(
    {1008: _F.AUTH, 1011: _F.TRANSIENT, 1013: _F.TRANSIENT, 3005: _F.TRANSIENT, 3006: _F.INVALID_REQUEST}
    | {3007: _F.INVALID_REQUEST, 3008: _F.TRANSIENT, 3009: _F.RATE_LIMITED}
)
SILENT = ("no spoken audio", "no speech")  # the messages for a file without speech


def phrase_kind(sentence: str) -> ProviderFault | None:
    """Return the fault class that a message's words indicate; None if no phrase matches."""
    lowered = sentence.lower()
    return next((kind for words, kind in PHRASES if words in lowered), None)


def kind_of(code: int, sentence: str) -> ProviderFault:
    """Return the fault class of a stream's error."""
    return phrase_kind(sentence) or CODES.get(code, _F.TRANSIENT)


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal of a request, or of a socket by its close code."""
    explained = explain(status, body)
    is_close = status >= 1000
    kind = phrase_kind(explained.message) if is_close or status in (400, 401, 403) else None
    return Explained(message=explained.message, code=explained.code, kind=kind)
