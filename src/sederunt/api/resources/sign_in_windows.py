"""Sign a meeting account in with the bot's own browser, which runs on a host and is operated remotely.

This needs the permission to manage the account. Each key or person has access only to the windows that it opened.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from starlette.responses import Response

from sederunt.api.access.sessions import note_deed
from sederunt.api.call import Call
from sederunt.api.failures import json_response, message_response
from sederunt.api.resources.hosts import ask_a_host
from sederunt.api.schemas.account_requests import SignInInputFields, SignInKeepFields, SignInWindowFields
from sederunt.bus.connection import NoResponder
from sederunt.bus.streams import window_subject, windows_subject
from sederunt.errors import Conflict, NotFound

OPEN_S, LOOK_S, ACT_S, KEEP_S = 60.0, 10.0, 15.0, 30.0


async def open_window(call: Call) -> Response:
    """Answer POST /sign-in-window: a browser on a host, at the service's sign-in."""
    fields = await call.fields(SignInWindowFields)
    window_id = str(uuid4())
    message = {**_who(call), "window_id": window_id, "service": fields.service, "email": fields.email}
    answer = await ask_a_host(call.context, windows_subject, message, within_s=OPEN_S)
    if not answer.get("ok"):
        raise Conflict(str(answer.get("message") or answer.get("error")))
    return json_response({"id": window_id, "service": fields.service, "email": fields.email})


async def look(call: Call) -> Response:
    """Answer GET /sign-in-window/{id}/picture: the next after the one that is known; nulls while nothing changes."""
    after = call.integer("after", default=0, least=0, most=2**31)
    answer = await asked(call, "look", {"after": after}, LOOK_S)
    if "jpeg" not in answer:
        return json_response({"number": None, "page": None, "address": None, "jpeg": None})
    parts = urlsplit(answer["url"])
    # The query may hold secrets; host and path are enough to see where a password goes.
    address = quote(f"{parts.scheme}://{parts.netloc}{parts.path}"[:300], safe=":/%")
    numbers = {name: answer.get(name) for name in ("number", "page")}
    return json_response({**numbers, "address": address, "jpeg": answer["jpeg"]})


async def act(call: Call) -> Response:
    """Answer POST /sign-in-window/{id}/input: pointer and keys."""
    fields = await call.fields(SignInInputFields)
    answer = await asked(call, "act", {"inputs": fields.inputs, "page": fields.page}, ACT_S)
    if not answer.get("ok"):
        raise Conflict(str(answer.get("message")))
    return message_response("The browser has it.")


async def keep(call: Call) -> Response:
    """Answer POST /sign-in-window/{id}/keep: what the browser remembers becomes the meeting account; it closes."""
    fields = await call.fields(SignInKeepFields)
    answer = await asked(call, "end", {"keep": True, "anyway": fields.anyway}, KEEP_S)
    if answer.get("doubt"):
        return json_response({"kept": False, "meeting_account_id": None, "message": answer["message"]})
    if not answer.get("ok"):
        raise Conflict(str(answer.get("message")))
    await note_deed(call.context.stores.sign_ins, call.caller, "keepMeetingAccount", answer["id"])
    message = "The account is signed in; bots can use it from now on."
    return json_response({"kept": True, "meeting_account_id": answer["id"], "message": message})


async def close(call: Call) -> Response:
    """Answer DELETE /sign-in-window/{id}: nothing is kept."""
    await asked(call, "end", {}, ACT_S)
    return message_response("The browser was closed; nothing was kept.")


async def asked(call: Call, action: str, arguments: Mapping[str, Any], within_s: float) -> Mapping[str, Any]:
    """Ask the host of a window. Raises NotFound if this caller has no such window, or no longer."""
    subject = window_subject(str(call.id("sign-in window")), action)
    try:
        answer = await call.context.bus.request(subject, {**_who(call), **arguments}, within_s=within_s)
    except NoResponder:
        answer = {"gone": True}
    if answer.get("gone") or answer.get("error"):
        raise NotFound("There is no sign-in window with this id, or none any more: open another one.")
    return answer


def _who(call: Call) -> dict[str, str]:
    return {"account_id": str(call.account_id), "opened_by": str(call.caller.person_id or call.caller.key_id)}
