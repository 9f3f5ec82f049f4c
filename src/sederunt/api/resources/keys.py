"""API keys: their scopes, expiry and last use. The key itself is shown once."""

from datetime import timedelta
from functools import partial
from typing import Any

from starlette.responses import Response

from sederunt.accounts.keys import EVERYTHING, Scope, scopes_of
from sederunt.api.call import Call
from sederunt.api.failures import json_response, message_response
from sederunt.api.resources.lists import page_of_list
from sederunt.api.schemas.account_requests import KeyFields, RotationFields
from sederunt.api.schemas.views import moment
from sederunt.database.accounts import ApiKey


async def create_key(call: Call) -> Response:
    """Answer POST /key"""
    fields = await call.fields(KeyFields)
    days = fields.expires_in_days
    text, key = await call.context.stores.keys.create(
        call.account_id,
        fields.name,
        scopes=[Scope(scope) for scope in fields.scopes or EVERYTHING],
        expires_at=call.context.clock.now() + timedelta(days=days) if days else None,
        most=call.context.ledger.most("api_keys"),
    )
    return json_response({**key_values(key), "key": text})


async def rotate_key(call: Call) -> Response:
    """Answer POST /key/{id}/rotate"""
    fields = await call.fields(RotationFields)
    overlap = timedelta(hours=fields.overlap_hours)
    most = call.context.ledger.most("api_keys")
    text, key = await call.context.stores.keys.rotate(call.account_id, call.id("key"), overlap, most=most)
    return json_response({**key_values(key), "key": text})


async def list_keys(call: Call) -> Response:
    """Answer GET /key: revoked ones too, oldest first."""
    return await page_of_list(call, partial(call.context.stores.keys.page, call.account_id), key_values)


async def revoke_key(call: Call) -> Response:
    """Answer DELETE /key/{id}"""
    await call.context.stores.keys.revoke(call.account_id, call.id("key"))
    return message_response("The key was revoked: within 5 seconds no process answers to it any more.")


def key_values(key: ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.id),
        "name": key.name,
        "prefix": key.prefix,
        "scopes": sorted(scopes_of(key)),
        "created_at": moment(key.created_at),
        "expires_at": moment(key.expires_at),
        "last_used_at": moment(key.last_used_at),
        "revoked_at": moment(key.revoked_at),
    }
