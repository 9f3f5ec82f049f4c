"""Accounts with which bots sign in to meetings: add, list, check at their site, remove."""

from functools import partial
from typing import Any

from starlette.responses import Response

from sederunt.accounts.meeting_accounts import AccountVerdict, MeetingAccount, SignIn
from sederunt.api.call import Call
from sederunt.api.failures import json_response, message_response
from sederunt.api.resources.hosts import ask_a_host
from sederunt.api.resources.lists import page_of_list
from sederunt.api.schemas.account_requests import MeetingAccountFields
from sederunt.api.schemas.views import moment
from sederunt.bus.streams import account_check_subject
from sederunt.errors import Conflict
from sederunt.model.bot import Service

CHECK_S = 150.0  # at most two pages: first with the stored browser state, then with the password


async def add_meeting_account(call: Call) -> Response:
    """Answer POST /meeting-account"""
    fields = await call.fields(MeetingAccountFields)
    sign_in = SignIn(service=Service(fields.service), email=fields.email, password=fields.password, state=fields.state)
    most = call.context.ledger.most("meeting_accounts")
    account = await call.context.stores.meeting_accounts.add(call.account_id, sign_in, most=most)
    return json_response(meeting_account_values(account))


async def list_meeting_accounts(call: Call) -> Response:
    """Answer GET /meeting-account: oldest first."""
    read = partial(call.context.stores.meeting_accounts.page, call.account_id)
    return await page_of_list(call, read, meeting_account_values)


async def get_meeting_account(call: Call) -> Response:
    """Answer GET /meeting-account/{id}"""
    account = await call.context.stores.meeting_accounts.get(call.id("meeting account"), call.account_id)
    return json_response(meeting_account_values(account))


async def check_meeting_account(call: Call) -> Response:
    """Answer POST /meeting-account/{id}/check: a host signs in as a bot would, and tells what the site said."""
    account = await call.context.stores.meeting_accounts.get(call.id("meeting account"), call.account_id)
    message = {"account_id": str(call.account_id), "meeting_account_id": str(account.id)}
    answer = await ask_a_host(call.context, account_check_subject, message, within_s=CHECK_S)
    if "verdict" not in answer:
        raise Conflict(str(answer.get("message") or answer.get("error")))
    verdict = AccountVerdict(answer["verdict"])
    return json_response({"verdict": verdict.value, "message": verdict.sentence, "row": answer["row"]})


async def remove_meeting_account(call: Call) -> Response:
    """Answer DELETE /meeting-account/{id}"""
    await call.context.stores.meeting_accounts.remove(call.id("meeting account"), call.account_id)
    return message_response("The meeting account was removed.")


def meeting_account_values(account: MeetingAccount) -> dict[str, Any]:
    return {
        "id": str(account.id),
        "service": account.service,
        "email": account.email,
        "created_at": moment(account.created_at),
        "updated_at": moment(account.updated_at),
    }
