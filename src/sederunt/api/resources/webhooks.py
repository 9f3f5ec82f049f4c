"""Management of webhooks by their owner: the secret, deliveries, replays, and tests of a receiver."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from starlette.responses import Response

from sederunt.accounts.webhook_secrets import Secrets
from sederunt.api.call import Call
from sederunt.api.failures import json_response
from sederunt.api.resources.lists import list_response, looking, texts_of
from sederunt.api.schemas.account_requests import ReplayFields, RotationFields, WebhookTestFields
from sederunt.api.schemas.values import MILLISECONDS_FROM, uuid_of
from sederunt.api.schemas.views import moment, page_json
from sederunt.database.deliveries import Delivery, DeliveryState
from sederunt.database.delivery_lists import trial
from sederunt.database.search import cursor_number
from sederunt.errors import InvalidConfig, TooManyRequests
from sederunt.webhooks.destinations import Destinations
from sederunt.webhooks.sender import body_of, send

TEST_AGAIN_S = 5


async def get_secret(call: Call) -> Response:
    """Answer GET /webhook-secret"""
    return json_response(secret_values(await call.context.stores.webhook_secrets.get(call.account_id)))


async def rotate_secret(call: Call) -> Response:
    """Answer POST /webhook-secret/rotate"""
    fields = await call.fields(RotationFields)
    overlap = timedelta(hours=fields.overlap_hours)
    return json_response(secret_values(await call.context.stores.webhook_secrets.renew(call.account_id, overlap)))


async def list_deliveries(call: Call) -> Response:
    """Answer GET /webhook-delivery: newest first."""
    async with looking(call):
        page = await deliveries_values(call)
    return await list_response(call, page_json(texts_of(page["data"], dict), page["next_cursor"]))


async def deliveries_values(call: Call) -> dict[str, Any]:
    """Return the page of deliveries that the query asks for. Raises InvalidConfig."""
    query = call.request.query_params
    page = await call.context.stores.deliveries.find(
        call.account_id,
        state=call.word("state", DeliveryState),
        resource_id=_resource_id(query.get("resource_id")),
        before=cursor_number(query.get("cursor") or None),
        limit=call.integer("limit", default=50, least=1, most=200),
    )
    return {
        "data": [delivery_values(delivery) for delivery in page.deliveries],
        "next_cursor": None if page.before is None else str(page.before),
    }


async def get_delivery(call: Call) -> Response:
    """Answer GET /webhook-delivery/{id}"""
    return json_response(delivery_values(await _delivery(call)))


async def replay_delivery(call: Call) -> Response:
    """Answer POST /webhook-delivery/{id}/replay"""
    delivery = await _delivery(call)
    await call.context.stores.deliveries.replay(delivery.id, call.account_id)
    return json_response(delivery_values(await _delivery(call)))


async def replay_deliveries(call: Call) -> Response:
    """Answer POST /webhook-delivery/replay"""
    fields = await call.fields(ReplayFields)
    # Unix seconds, or milliseconds if the number is too large for seconds; earlier than 1970 means 1970.
    seconds = fields.since / 1000 if fields.since > MILLISECONDS_FROM else fields.since
    since = datetime.fromtimestamp(max(seconds, 0), UTC)
    state = DeliveryState(fields.state)
    count = await call.context.stores.deliveries.replay_since(call.account_id, since, state)
    return json_response({"replayed": count})


async def test_webhook(call: Call) -> Response:
    """Answer POST /webhook/test: one attempt, now; what came of it is the answer, and stands among the deliveries."""
    fields = await call.fields(WebhookTestFields)
    stores, clock = call.context.stores, call.context.clock
    delivery = trial(call.account_id, fields.webhook_url, clock.now())
    secrets = await stores.webhook_secrets.signing(call.account_id)
    webhooks = call.context.settings.webhooks
    destinations = Destinations(ledger=call.context.ledger)
    if destinations.pause_s(delivery.url, call.account_id, clock.monotonic()):  # connections are shared by all accounts
        sentence = "Enough attempts of this account are under way: try again when one of them was answered."
        raise TooManyRequests(sentence, TEST_AGAIN_S, "webhook_attempts")
    with destinations.attempt(delivery.url, call.account_id):
        result = await send(
            stores.client,
            delivery,
            secrets,
            clock=clock,
            timeout_s=webhooks.timeout_s,
            skribby_signature=webhooks.skribby_signature,
        )
    is_delivered = result.attempt.status is not None and 200 <= result.attempt.status < 300
    state = DeliveryState.DELIVERED if is_delivered else DeliveryState.GIVEN_UP
    delivery = replace(delivery, attempts=(result.attempt,), state=state)
    await stores.deliveries.keep_test(delivery)
    return json_response(delivery_values(delivery))


def secret_values(secrets: Secrets) -> dict[str, Any]:
    """Return the current signing secrets."""
    return {
        "secret": secrets.newest,
        "secret_before": secrets.before,
        "secret_before_until": moment(secrets.before_until),
    }


def delivery_values(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": str(delivery.id),
        "resource": delivery.resource,
        "resource_id": str(delivery.resource_id),
        "type": delivery.type,
        "webhook_url": delivery.url,
        "state": delivery.state,
        "created_at": moment(delivery.created_at),
        "next_attempt_at": moment(delivery.next_attempt_at),
        "payload": json.loads(body_of(delivery)),
        "attempts": [
            {"at": moment(attempt.at), "http_status": attempt.status, "ms": attempt.ms, "answer": attempt.answer}
            for attempt in delivery.attempts
        ],
    }


async def _delivery(call: Call) -> Delivery:
    return await call.context.stores.deliveries.get(call.id("delivery"), call.account_id)


def _resource_id(text: str | None) -> UUID | None:
    if text is None:
        return None
    try:
        return uuid_of(text)
    except ValueError:
        raise InvalidConfig({"resource_id": ["resource_id must be a UUID."]}) from None
