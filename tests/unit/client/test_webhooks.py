"""Webhooks as the service really signs them are taken, everything else is not."""

import base64
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest

from sederunt.database.deliveries import Delivery, DeliveryState
from sederunt.webhooks.sender import body_of, headers_of, skribby_headers
from sederunt_client import WebhookEvent, WebhookRejected, verify_webhook

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = AT.timestamp()
ID = UUID("019a0000-0000-7000-8000-000000000001")


Sign = Callable[[Delivery, str, Sequence[str], datetime], dict[str, str]]


def fresh() -> str:
    return "whsec_" + base64.b64encode(os.urandom(32)).decode()


SECRET, BEFORE = fresh(), fresh()


@pytest.fixture
def delivery() -> Delivery:
    return Delivery(
        id=ID,
        account_id=ID,
        resource="bot",
        resource_id=ID,
        type="status_update",
        data={"old_status": "joining", "new_status": "recording", "said": "Grüße"},
        custom_metadata={"room": "7"},
        url="https://receiver.example/hook",
        created_at=AT,
        state=DeliveryState.PENDING,
        next_attempt_at=None,
    )


def test_what_the_service_signs_is_taken(delivery: Delivery) -> None:
    body = body_of(delivery)
    expected = WebhookEvent(
        id=str(ID),
        type="status_update",
        data=delivery.data,
        bot_id=str(ID),
        recording_id=None,
        custom_metadata={"room": "7"},
    )
    standard = headers_of(delivery, body, [SECRET], AT)
    hosted = skribby_headers(delivery, body, [SECRET], AT)
    assert verify_webhook(body.encode(), standard, SECRET, now=NOW) == expected
    assert verify_webhook(body, {name.title(): value for name, value in hosted.items()}, SECRET, now=NOW) == expected


def test_while_secrets_change_either_side_may_be_first(delivery: Delivery) -> None:
    body = body_of(delivery)
    both = headers_of(delivery, body, [SECRET, BEFORE], AT)
    for known in (SECRET, BEFORE, [fresh(), BEFORE]):
        assert verify_webhook(body, both, known, now=NOW).id == str(ID)


@pytest.mark.parametrize("sign", [headers_of, skribby_headers])
def test_what_is_forged_or_old_is_not_taken(delivery: Delivery, sign: Sign) -> None:
    body = body_of(delivery)
    headers = sign(delivery, body, [SECRET], AT)
    with pytest.raises(WebhookRejected, match="does not belong"):
        verify_webhook(body.replace("recording", "finished"), headers, SECRET, now=NOW)
    with pytest.raises(WebhookRejected, match="does not belong"):
        verify_webhook(body, headers, BEFORE, now=NOW)
    with pytest.raises(WebhookRejected, match="signed 301 s ago"):
        verify_webhook(body, headers, SECRET, now=NOW + 301)
    stamp = next(name for name in headers if name.endswith("timestamp"))
    with pytest.raises(WebhookRejected, match="does not belong"):
        verify_webhook(body, {**headers, stamp: str(int(NOW) + 100)}, SECRET, now=NOW)
    with pytest.raises(WebhookRejected, match="missing"):
        verify_webhook(body, {name: value for name, value in headers.items() if name != stamp}, SECRET, now=NOW)


def test_a_secret_that_is_none_is_told_as_such(delivery: Delivery) -> None:
    body = body_of(delivery)
    with pytest.raises(WebhookRejected, match="whsec_"):
        verify_webhook(body, headers_of(delivery, body, [SECRET], AT), "whsec_!", now=NOW)
