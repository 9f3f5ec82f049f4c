"""One attempt at a receiver: the body, the Standard Webhooks headers that sign it, and the result."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import httpx2
from standardwebhooks import Webhook

from sederunt import __version__, foreign_json
from sederunt.clock import Clock, retry_after_s
from sederunt.database.deliveries import Attempt, Delivery
from sederunt.errors import DestinationError
from sederunt.tracing import carried, traced

_ID_FIELDS = {"bot": "bot_id", "recording": "recording_id"}
ANSWER_KEPT = 250  # characters kept of the receiver's answer
_ANSWER_READ = 4 * ANSWER_KEPT  # most bytes read of it; the rest stays in the socket


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptResult:
    attempt: Attempt
    retryable: bool  # False if no later attempt can differ
    retry_after_s: float | None = None  # as the receiver asked


@traced("POST webhook")
async def send(
    client: httpx2.AsyncClient,
    delivery: Delivery,
    secrets: Sequence[str],
    *,
    clock: Clock,
    timeout_s: float,
    skribby_signature: bool = False,
) -> AttemptResult:
    """Send the webhook and return the result. Never raises for anything the receiver does.

    `client` is guarded and follows no redirect: a 3xx is a failed attempt like any other answer.
    """
    body = body_of(delivery)
    at = clock.now()
    trace_values = carried()
    fields = {"request_id": "x-request-id", "traceparent": "traceparent"}
    headers = headers_of(delivery, body, secrets, at) | {fields[name]: value for name, value in trace_values.items()}
    if skribby_signature:
        headers |= skribby_headers(delivery, body, secrets, at)
    began_s = clock.monotonic()
    status: int | None = None
    retryable = True
    requested_pause_s: float | None = None
    try:
        async with asyncio.timeout(timeout_s):
            request = client.stream("POST", delivery.url, content=body.encode(), headers=headers)
            async with request as response:
                status = response.status_code
                requested_pause_s = retry_after_s(response.headers.get("retry-after"), at)
                answer_bytes = b""
                async for block in response.aiter_raw():  # not decompressed: it could unpack to gigabytes
                    answer_bytes += block
                    if len(answer_bytes) >= _ANSWER_READ:
                        break
                answer = answer_bytes[:_ANSWER_READ].decode(errors="replace")
    except TimeoutError:
        answer = answer_late(status, timeout_s)
    except DestinationError as error:
        answer, retryable = str(error), error.retryable
    except httpx2.InvalidURL as error:
        answer, retryable = f"Not an address: {error}", False
    except (httpx2.HTTPError, OSError) as error:
        answer = f"{type(error).__name__}: {error}"
    ms = round((clock.monotonic() - began_s) * 1000)
    attempt = Attempt(at=at, status=status, ms=ms, answer=answer[:ANSWER_KEPT])
    return AttemptResult(attempt=attempt, retryable=retryable, retry_after_s=requested_pause_s)


def body_of(delivery: Delivery) -> str:
    """Return the JSON that is signed and sent, the same text in every attempt."""
    message = {
        _ID_FIELDS[delivery.resource]: str(delivery.resource_id),
        "type": delivery.type,
        "data": dict(delivery.data),
        "custom_metadata": dict(delivery.custom_metadata),
    }
    return foreign_json.whole(json.dumps(message, ensure_ascii=False, separators=(",", ":")))


def headers_of(delivery: Delivery, body: str, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """Return the headers of an attempt. `webhook-id` is the same in every attempt, so a receiver can tell a repeat;
    timestamp and signature are not.

    There is one signature per secret: a receiver accepts the message if one of them fits a secret that it knows.
    """
    return {
        "content-type": "application/json",
        "user-agent": f"sederunt/{__version__}",
        "webhook-id": str(delivery.id),
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(str(delivery.id), now, body) for secret in secrets),
    }


def skribby_headers(delivery: Delivery, body: str, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """Return the headers that receivers of the hosted service check: a hex HMAC-SHA256 over "timestamp.body".

    The key is the newest secret as displayed, prefix included.
    """
    timestamp = str(int(now.timestamp()))
    digest = (
        hmac.new(secrets[0].encode(), f"{timestamp}.{body}".encode(), hashlib.sha256).hexdigest() if secrets else ""
    )
    return {
        "x-skribby-signature": f"sha256={digest}",
        "x-skribby-timestamp": timestamp,
        "x-skribby-webhook-id": str(delivery.id),
    }


def answer_late(status: int | None, timeout_s: float) -> str:
    """Return the note for a timeout, either before the status or while the body was read."""
    if status is None:
        return f"No answer within {timeout_s:g} s."
    return f"(The answer's body did not end within {timeout_s:g} s.)"
