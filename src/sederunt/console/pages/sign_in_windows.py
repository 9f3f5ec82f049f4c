"""Signing a meeting account in on the bot's own browser: opened on a host, seen and driven from here.

Owners of the account alone, and each only in the windows that they opened themselves.
"""

import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import UUID, uuid4

from starlette.responses import Response

from sederunt.api.account_schemas import MeetingAccountFields
from sederunt.api.failures import json_response
from sederunt.api.faults import read
from sederunt.api.sessions import note_deed
from sederunt.bus.connection import BusAway, NoResponder
from sederunt.bus.pulse import Pulse
from sederunt.bus.streams import window_subject, windows_subject
from sederunt.console.page import Page
from sederunt.errors import Conflict, InvalidConfig, NotFound, RequestError

OPEN_S, LOOK_S, ACT_S, KEEP_S = 60.0, 10.0, 15.0, 30.0


async def open_window(page: Page) -> Response:
    """POST /sign-in-windows: a browser on a host, at the service's sign-in."""
    found = read(MeetingAccountFields, await page.body(), ("service", "email"))
    if found.faults:
        raise InvalidConfig(found.faults)
    window_id = str(uuid4())
    wish = {**_who(page), "window_id": window_id, "service": found.fields.service, "email": found.fields.email}
    answer = await _asked_of_a_host(page, wish)
    if not answer.get("ok"):
        raise Conflict(str(answer.get("message") or answer.get("error")))
    await note_deed(page.context.stores.sign_ins, page.caller, "openSignInWindow", window_id)
    query = f"service={found.fields.service}&email={quote(found.fields.email)}"
    return json_response({"id": window_id, "address": f"/sign-in-windows/{window_id}?{query}"})


async def show_window(page: Page) -> Response:
    """GET /sign-in-windows/{id}: the page around it."""
    await _asked(page, "act", {"inputs": []}, ACT_S)
    asked = page.request.query_params
    return page.render(
        "sign_in_window.html",
        window_id=page.id("sign-in window"),
        service=asked.get("service", ""),
        email=asked.get("email", ""),
    )


async def look(page: Page) -> Response:
    """GET /sign-in-windows/{id}/frame.jpg: the next picture after the one that is known; 204 while nothing changes."""
    after = page.integer("after", default=0, least=0, most=2**31)
    answer = await _asked(page, "look", {"after": after}, LOOK_S)
    if "jpeg" not in answer:
        return Response(status_code=204)
    parts = urlsplit(answer["url"])
    # A page's address may hold what it would not tell: its host and path say where a password goes.
    shown = quote(f"{parts.scheme}://{parts.netloc}{parts.path}"[:300], safe=":/")
    headers = {"Cache-Control": "no-store", "X-Frame": str(answer["number"]), "X-Address": shown}
    return Response(base64.b64decode(answer["jpeg"]), media_type="image/jpeg", headers=headers)


async def act(page: Page) -> Response:
    """POST /sign-in-windows/{id}/input: pointer and keys."""
    inputs = (await _told(page)).get("inputs")
    answer = await _asked(page, "act", {"inputs": inputs if isinstance(inputs, list) else []}, ACT_S)
    if not isinstance(inputs, list):
        raise InvalidConfig({"inputs": ["inputs must be a list of lists, each a name with its arguments."]})
    return json_response({"taken": bool(answer.get("ok"))})


async def keep(page: Page) -> Response:
    """POST /sign-in-windows/{id}/keep: what the browser remembers becomes the meeting account; the window closes."""
    anyway = bool((await _told(page)).get("anyway"))
    answer = await _asked(page, "end", {"keep": True, "anyway": anyway}, KEEP_S)
    if not answer.get("ok"):
        if answer.get("doubt"):
            return json_response({"kept": False, "message": answer["message"]})
        raise Conflict(str(answer.get("message") or answer.get("error")))
    await note_deed(page.context.stores.sign_ins, page.caller, "keepMeetingAccount", answer["id"])
    return json_response({"kept": True, "id": answer["id"]})


async def close(page: Page) -> Response:
    """DELETE /sign-in-windows/{id}: nothing is kept."""
    await _asked(page, "end", {}, ACT_S)
    return json_response({"message": "The browser was closed; nothing was kept."})


async def _told(page: Page) -> Mapping[str, Any]:
    """Return what a request says; nothing where that is no object: whose window it is comes first."""
    body: Any = None
    with suppress(RequestError):
        body = await page.body()
    return body if isinstance(body, dict) else {}


def _who(page: Page) -> dict[str, str]:
    return {"account_id": str(page.account_id), "person_id": str(page.visitor.person.id)}


async def _asked(page: Page, what: str, more: Mapping[str, Any], within_s: float) -> Mapping[str, Any]:
    """Ask the host of a window. Raises NotFound where this person has none of this name, or none any more."""
    window_id: UUID = page.id("sign-in window")
    try:
        answer = await page.context.bus.request(
            window_subject(str(window_id), what), {**_who(page), **more}, within_s=within_s
        )
    except NoResponder:
        answer = {"gone": True}
    if answer.get("gone") or answer.get("error"):
        raise NotFound("This browser is closed. Open another one under Keys.")
    return answer


async def _asked_of_a_host(page: Page, wish: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what the first host said that could be asked, of the least busy one first."""
    hosts = sorted(page.context.installation.pulses.living("host"), key=_free_seats, reverse=True)
    for host in hosts:
        try:
            return await page.context.bus.request(windows_subject(host.name), wish, within_s=OPEN_S)
        except (NoResponder, BusAway):
            continue
    raise Conflict("No host can open a browser right now: see Operations.")


def _free_seats(host: Pulse) -> int:
    seats = host.facts.get("seats")
    return int(seats.get("free", 0)) if isinstance(seats, Mapping) else 0
