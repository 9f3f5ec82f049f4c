"""The webhook on the wire, judged by the library receivers use."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from sederunt.database.deliveries import Delivery
from sederunt.webhooks.sender import body_of, headers_of

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="


def test_a_receiver_can_verify_it(make_delivery: Callable[..., Delivery]) -> None:
    delivery = make_delivery()
    body = body_of(delivery)
    headers = headers_of(delivery, body, [SECRET], datetime.now(UTC))
    assert Webhook(SECRET).verify(body, headers) == {
        "bot_id": str(delivery.resource_id),
        "type": "status_update",
        "data": {"old_status": "joining", "new_status": "recording"},
        "custom_metadata": {"order": "Ä1"},
    }


def test_a_changed_body_is_noticed(make_delivery: Callable[..., Delivery]) -> None:
    delivery = make_delivery()
    headers = headers_of(delivery, body_of(delivery), [SECRET], datetime.now(UTC))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(body_of(delivery).replace("recording", "failed"), headers)


def test_a_recordings_webhook_names_the_recording(make_delivery: Callable[..., Delivery]) -> None:
    delivery = make_delivery(resource="recording", custom_metadata={})
    message = json.loads(body_of(delivery))
    assert message["recording_id"] == str(delivery.resource_id)
    assert "bot_id" not in message
    assert message["custom_metadata"] == {}


def test_a_repeat_has_the_same_id_and_body(make_delivery: Callable[..., Delivery]) -> None:
    delivery = make_delivery()
    body = body_of(delivery)
    first = headers_of(delivery, body, [SECRET], datetime(2026, 3, 2, 9, tzinfo=UTC))
    second = headers_of(delivery, body_of(delivery), [SECRET], datetime(2026, 3, 2, 10, tzinfo=UTC))
    assert first["webhook-id"] == second["webhook-id"]
    assert first["webhook-timestamp"] != second["webhook-timestamp"]
    assert first["webhook-signature"] != second["webhook-signature"]
