"""Webhooks as a receiver gets them: is it the service's, and what does it say?"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sederunt_client.errors import WebhookRejected

_STANDARD = ("webhook-id", "webhook-timestamp", "webhook-signature")
_HOSTED = ("x-skribby-webhook-id", "x-skribby-timestamp", "x-skribby-signature")


@dataclass(frozen=True, kw_only=True)
class WebhookEvent:
    """A webhook that the service signed."""

    id: str  # the same in every attempt: by it a repeat is known
    type: str
    data: Mapping[str, Any]
    bot_id: str | None  # one of the two is there
    recording_id: str | None
    custom_metadata: Mapping[str, str]


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_s: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Return what a webhook says, if it is signed with this secret and was signed a moment ago.

    Takes the Standard Webhooks headers, and where they are missing `X-Skribby-Signature` and its companions.

    Args:
        body: as it was received, byte for byte: what a framework parsed and wrote again has another signature.
        headers: of the request; case does not matter.
        secret: `whsec_…`, as `get_webhook_secret` tells it; several while it is being changed.
        tolerance_s: how far the clocks may be apart.
        now: Unix time to compare with, for tests.

    Raises WebhookRejected.
    """
    raw = body.encode() if isinstance(body, str) else body
    known = {name.lower(): value for name, value in headers.items()}
    secrets = [secret] if isinstance(secret, str) else list(secret)
    standard = "webhook-signature" in known
    names = _STANDARD if standard else _HOSTED
    try:
        id_, timestamp, signatures = (known[name] for name in names)
        age = abs((time.time() if now is None else now) - int(timestamp))
    except (KeyError, ValueError):
        raise WebhookRejected("The headers of a signed webhook are missing or not readable.") from None
    made = _standard_signatures if standard else _hosted_signatures
    expected = [signature for each in secrets for signature in made(each, id_, timestamp, raw)]
    # Each is compared, whatever the others said: how long it takes tells nothing.
    found = [hmac.compare_digest(a.encode(), b.encode()) for a in expected for b in signatures.split()]
    if not any(found):
        raise WebhookRejected("The signature does not belong to this body and secret.")
    if age > tolerance_s:
        raise WebhookRejected(f"The webhook was signed {age:.0f} s ago: more than {tolerance_s:g} s.")
    return _event(id_, raw)


def _standard_signatures(secret: str, id_: str, timestamp: str, body: bytes) -> list[str]:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise WebhookRejected("The secret is not one of the service: whsec_ and base64.") from None
    digest = hmac.new(key, f"{id_}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return [f"v1,{base64.b64encode(digest).decode()}"]


def _hosted_signatures(secret: str, _id: str, timestamp: str, body: bytes) -> list[str]:
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return [f"sha256={digest}"]


def _event(id_: str, body: bytes) -> WebhookEvent:
    told = json.loads(body)
    return WebhookEvent(
        id=id_,
        type=told["type"],
        data=told["data"],
        bot_id=told.get("bot_id"),
        recording_id=told.get("recording_id"),
        custom_metadata=told.get("custom_metadata") or {},
    )
