"""What AssemblyAI's refusals mean: its codes say little, its sentences more. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.faults import Explained, explain

_F = ProviderFault

# Words of a sentence → class; the first that fits counts.
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
# Codes of a stream's errors and closes.
CODES: Mapping[int, ProviderFault] = MappingProxyType(
    {1008: _F.AUTH, 1011: _F.TRANSIENT, 1013: _F.TRANSIENT, 3005: _F.TRANSIENT, 3006: _F.INVALID_REQUEST}
    | {3007: _F.INVALID_REQUEST, 3008: _F.TRANSIENT, 3009: _F.RATE_LIMITED}
)
SILENT = ("no spoken audio", "no speech")  # what a file without a word is told by


def phrase_kind(sentence: str) -> ProviderFault | None:
    """Return the class that a sentence's words tell; None where they tell none."""
    plain = sentence.lower()
    return next((kind for words, kind in PHRASES if words in plain), None)


def kind_of(code: int, sentence: str) -> ProviderFault:
    """Return the class of a stream's error."""
    return phrase_kind(sentence) or CODES.get(code, _F.TRANSIENT)


def refusal(status: int, body: Any) -> Explained:
    """Read a refusal of a request, or of a socket by its close code."""
    told = explain(status, body)
    is_close = status >= 1000
    kind = phrase_kind(told.message) if is_close or status in (400, 401, 403) else None
    return Explained(message=told.message, code=told.code, kind=kind)
