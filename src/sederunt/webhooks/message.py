"""A webhook as it goes over the wire: the body, and the Standard Webhooks headers that sign it."""

import json
from collections.abc import Sequence
from datetime import datetime

from standardwebhooks import Webhook

from sederunt import __version__
from sederunt.database.deliveries import Delivery

_ID_FIELDS = {"bot": "bot_id", "recording": "recording_id"}


def body_of(delivery: Delivery) -> str:
    """The JSON that is signed and sent; the same text in every attempt."""
    message = {
        _ID_FIELDS[delivery.resource]: str(delivery.resource_id),
        "type": delivery.type,
        "data": dict(delivery.data),
        "custom_metadata": dict(delivery.custom_metadata),
    }
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def headers_of(delivery: Delivery, body: str, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """`webhook-id` is the same in every attempt, so a receiver can tell a repeat; timestamp and signature are not.

    One signature for each secret: a receiver takes the message when one of them is by a secret it knows.
    """
    return {
        "content-type": "application/json",
        "user-agent": f"sederunt/{__version__}",
        "webhook-id": str(delivery.id),
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(str(delivery.id), now, body) for secret in secrets),
    }
