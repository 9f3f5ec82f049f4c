"""Make the errors that vendors cause: one table of fault classes, one sentence that names vendor and credential."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sederunt.errors import ProviderError, ProviderFault

_F = ProviderFault

# HTTP status → fault class. Of the others, 5xx are transient and 4xx are the request's fault.
STATUSES: Mapping[int, ProviderFault] = MappingProxyType(
    {401: _F.AUTH, 403: _F.AUTH, 402: _F.PAYMENT, 408: _F.TRANSIENT, 425: _F.TRANSIENT, 429: _F.RATE_LIMITED}
    | {413: _F.MEDIA, 415: _F.MEDIA, 499: _F.TRANSIENT}
)
# WebSocket close code → fault class, unless a vendor's own table has it.
CLOSES: Mapping[int, ProviderFault] = MappingProxyType(
    {1002: _F.INVALID_REQUEST, 1003: _F.INVALID_REQUEST, 1007: _F.INVALID_REQUEST, 1008: _F.AUTH, 4001: _F.AUTH}
    | {4002: _F.PAYMENT, 4003: _F.AUTH}
)
RETRYABLE = frozenset({_F.RATE_LIMITED, _F.TRANSIENT})

_LONGEST = 300  # characters of a vendor's own message that are passed on


@dataclass(frozen=True, kw_only=True, slots=True)
class Explained:
    """The content of a vendor's refusal. `kind` None: the table decides."""

    message: str = ""
    code: str = ""
    kind: ProviderFault | None = None


Explain = Callable[[int, Any], Explained]  # takes a status (or close code), and a body of any type


@dataclass(frozen=True, kw_only=True, slots=True)
class Speaker:
    """Makes errors that name a vendor and a credential."""

    title: str  # the vendor's name, as people write it
    label: str = ""  # of the credential
    secrets: tuple[str, ...] = ()  # never repeated, even if the vendor repeats them

    def refusal(
        self, act: str, status: int, explained: Explained, *, table: Mapping[int, ProviderFault] = STATUSES
    ) -> ProviderError:
        """Return the error for a status that means failure."""
        kind = explained.kind or STATUSES.get(status) or (_F.TRANSIENT if status >= 500 else _F.INVALID_REQUEST)
        code = " ".join(filter(None, (str(status), explained.code)))
        return self.error(kind, act, f"{code}: {explained.message}" if explained.message else code, status=status)

    def error(self, kind: ProviderFault, act: str, reason: str, *, status: int | None = None) -> ProviderError:
        """Return an error of this class: "Deepgram did not accept the operator's key (401: Invalid credentials)"."""
        sentence = (
            f"{self.title} {_SAID[kind].format(act=act, label=self.label or 'the credential')} ({self._clean(reason)})."
        )
        return ProviderError(sentence, retryable=kind in RETRYABLE, kind=kind, status=status)

    def _clean(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "…")
        text = " ".join(text.split()).rstrip(".")
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_SAID: Mapping[ProviderFault, str] = MappingProxyType(
    {
        _F.AUTH: "did not accept {label}",
        _F.PAYMENT: "has no credit left for {label}",
        _F.INVALID_REQUEST: "refused to {act}",
        _F.UNKNOWN_MODEL: "does not know the model",
        _F.MEDIA: "cannot use the sound",
        _F.RATE_LIMITED: "had too many requests with {label}",
        _F.TRANSIENT: "could not {act} just now",
        _F.PROVIDER_FAILED: "failed to {act}",
        _F.IN_DOUBT: "may have transcribed this and billed it to {label}, but its answer was lost",
    }
)


_ABSENT = (
    r"(?:not (?:found|available|supported|valid)|not a valid|not_found|(?:does|do) not exist|unknown|invalid"
    r"|unsupported|none of|no longer|removed|retired|sunset|deprecated|should be|must be|expected one of)"
)
_MODEL_WORD = r"\bmodel(?:_?id|s)?\b"
_UNKNOWN_MODEL = re.compile(
    rf"(?:unknown|invalid|unsupported|no such|not a valid|deprecated|retired|removed)[\s_'\":]*(?:\w+ )?{_MODEL_WORD}"
    rf"|(?:invalid|unknown|unsupported)_model"
    rf"|model_(?:not_found|not_available|deprecated|removed)",
    re.IGNORECASE,
)


def names_unknown_model(message: str, vendor_model: str) -> bool:
    """Return whether a refusal says that the vendor has no such model. A refusal of another field ("keyterms are not
    supported by scribe_v1") does not.
    """
    subject = rf"(?:{_MODEL_WORD}|{re.escape(vendor_model)})" if vendor_model else _MODEL_WORD
    absent_subject = re.compile(rf"{subject}[^.;]{{0,60}}?{_ABSENT}", re.IGNORECASE)
    return bool(_UNKNOWN_MODEL.search(message) or absent_subject.search(message))


def explain(_status: int, body: Any) -> Explained:
    """Read the shapes of errors that most vendors use: {"error": …}, {"message": …}, RFC 7807, {"detail": …}, text."""
    if isinstance(body, str):
        return Explained(message="" if "<" in body[:200] else body)
    if not isinstance(body, Mapping):
        return Explained()
    for name in ("message", "error", "detail", "err_msg", "error_message", "title", "reason"):
        value = body.get(name)
        if isinstance(value, Mapping):
            return explain(_status, value)
        if isinstance(value, str) and value.strip():
            return Explained(message=": ".join(filter(None, (value, _faults_of_fields(body)))), code=_code(body))
    return Explained(message=_faults_of_fields(body), code=_code(body))


def _faults_of_fields(body: Mapping[str, Any]) -> str:
    """Return a vendor's list of refused fields: texts, or objects with a place and a message."""
    for name in ("validation_errors", "errors"):
        if isinstance(faults := body.get(name), list):
            return "; ".join(filter(None, map(_fault_of_field, faults)))
    return ""


def _fault_of_field(fault: Any) -> str:
    if not isinstance(fault, Mapping):
        return fault if isinstance(fault, str) else ""
    place = fault.get("location") or fault.get("field") or fault.get("path") or fault.get("loc")
    place = ".".join(map(str, place)) if isinstance(place, list) else str(place or "")
    message = fault.get("message") or fault.get("msg") or fault.get("detail")
    return ": ".join(filter(None, (place, message if isinstance(message, str) else "")))


def _code(body: Mapping[str, Any]) -> str:
    names = ("err_code", "code", "error_type", "category", "status")
    return next((str(body[name]) for name in names if isinstance(body.get(name), str | int)), "")
