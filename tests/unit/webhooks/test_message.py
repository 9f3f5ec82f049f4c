"""The webhook on the wire, judged by the library receivers use."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from jsonschema_rs import Draft202012Validator
from standardwebhooks import Webhook, WebhookVerificationError

from harness.fake_clock import FakeClock
from sederunt.api.openapi import document
from sederunt.database.deliveries import Delivery
from sederunt.database.delivery_lists import trial
from sederunt.database.outbox import Resource
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


@pytest.mark.parametrize("resource", ["bot", "recording"])
def test_the_body_is_as_the_document_says(resource: Resource, make_delivery: Callable[..., Delivery]) -> None:
    change = {"old_status": "joining", "new_status": "recording"}
    body = json.loads(body_of(make_delivery(resource=resource, type="status_update", data=change)))
    described = document()
    sent = described["webhooks"][resource]["post"]["requestBody"]["content"]["application/json"]["schema"]
    check = Draft202012Validator({**sent, "components": described["components"]})
    assert check.is_valid(body)
    assert not check.is_valid({**body, "type": "unheard_of"})
    assert not check.is_valid({**body, "data": {"old_status": "joining"}})


def test_the_body_of_a_try_is_as_the_document_says() -> None:
    body = json.loads(body_of(trial(uuid4(), "https://a.example/", FakeClock().now())))
    described = document()
    shape = {"$ref": "#/components/schemas/TestWebhook", "components": described["components"]}
    assert Draft202012Validator(shape).is_valid(body)
