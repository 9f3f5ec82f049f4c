"""A caller's keys at transcription vendors, which its bots use."""

from functools import partial
from typing import Any

from starlette.responses import Response

from sederunt.accounts.credential_check import CheckedKey, KeyVerdict, checked_key
from sederunt.accounts.credentials import Credential
from sederunt.api.call import Call
from sederunt.api.failures import json_response, message_response
from sederunt.api.resources.lists import page_of_list
from sederunt.api.schemas.account_requests import CredentialFields
from sederunt.api.schemas.views import moment
from sederunt.errors import InvalidConfig
from sederunt.transcription.access import Access

KEY_CHECKS, CHECK_AGAIN_S = "key_checks", 5


async def add_credential(call: Call) -> Response:
    """Answer POST /credential"""
    fields = await call.fields(CredentialFields)
    verdict: KeyVerdict | None = None
    if fields.check:
        label = "this key"
        access = Access(key=fields.key, label=label, region=fields.region, organisation=fields.organisation)
        check = await _checked(call, fields.provider, access)
        if check.verdict is KeyVerdict.REJECTED:
            raise InvalidConfig({"key": [check.message]})
        verdict = check.verdict
    credential = await call.context.stores.credentials.add(
        call.account_id,
        fields.provider,
        fields.key,
        region=fields.region,
        organisation=fields.organisation,
        most=call.context.ledger.most("credentials"),
    )
    return json_response({**credential_values(credential), "verdict": verdict})


async def check_credential(call: Call) -> Response:
    """Answer POST /credential/{id}/check"""
    credential = await call.context.stores.credentials.open(call.id("credential"), call.account_id)
    label = "this credential"
    access = Access(key=credential.key, label=label, region=credential.region, organisation=credential.organisation)
    check = await _checked(call, credential.provider, access)
    return json_response({"verdict": check.verdict.value, "message": check.message})


async def _checked(call: Call, provider: str, access: Access) -> CheckedKey:
    """Ask the vendor, which occupies a thread until it answers. Raises TooManyRequests."""
    sentence = "Vendors are being asked about enough keys of this account: try again when they have answered."
    with call.context.ledger.place(KEY_CHECKS, call.account_id, full=sentence, again_s=CHECK_AGAIN_S):
        return await checked_key(call.context.settings, provider, access)


async def list_credentials(call: Call) -> Response:
    """Answer GET /credential: oldest first."""
    return await page_of_list(call, partial(call.context.stores.credentials.page, call.account_id), credential_values)


async def remove_credential(call: Call) -> Response:
    """Answer DELETE /credential/{id}"""
    await call.context.stores.credentials.remove(call.id("credential"), call.account_id)
    return message_response("The credential was removed.")


def credential_values(credential: Credential) -> dict[str, Any]:
    """Return a credential as lists show it, with only the last characters of the key."""
    return {
        "id": str(credential.id),
        "provider": credential.provider,
        "hint": credential.hint,
        "region": credential.region,
        "organisation": credential.organisation,
        "created_at": moment(credential.created_at),
    }
