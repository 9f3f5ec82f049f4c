"""The control API: plain HTTP and JSON, for tests and demonstrations that run in another process.

POST   /meetings                    {"script": {…}, "code": "…"}  → {"code", "url"}; an empty body is the demo script
GET    /meetings                    · GET /meetings/<code>  → people, bots, chat, script
DELETE /meetings/<code>
POST   /meetings/<code>/<deed>      admit · deny · kick · command · network · notice  {"bot": id or name, …}
                                    say · join · leave · mute · unmute · share · unshare · chat  {"who", "clip", "text"}
                                    start · end
GET    /meetings/<code>/events      ?after=N&kind=K&wait_s=S&<field>=<value>  waits for the first that fits
GET    /meetings/<code>/packets     ?bot=…&after=N  → what was sent, per packet
"""

import asyncio
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast, get_args

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from sederunt.errors import InvalidConfig, RequestError
from sederunt.practice import clips, script
from sederunt.practice.meeting import Meeting
from sederunt.practice.script import Deed, ScriptedAct

if TYPE_CHECKING:
    from sederunt.practice.server import PracticeServer


def act(meeting: Meeting, deed: str, arguments: dict[str, Any]) -> None:
    """Do one deed now. NotFound for unknown people, bots and deeds; Conflict where it does not fit."""
    bot = arguments.get("bot")
    about_bots: dict[str, Callable[[], None]] = {
        "admit": lambda: meeting.admit(meeting.visitor(bot, standing="knocking")),
        "deny": lambda: meeting.deny(meeting.visitor(bot, standing="knocking"), arguments.get("screen", "denied")),
        "kick": lambda: meeting.kick(meeting.visitor(bot)),
        "command": lambda: meeting.visitor(bot).tell({"command": _needed(arguments, "command")}),
        "network": lambda: meeting.network(meeting.visitor(bot, standing="in_call"), _needed(arguments, "state")),
        "notice": lambda: meeting.visitor(bot).tell({"notice": _needed(arguments, "notice")}),
        "start": meeting.start,
    }
    if deed in about_bots:
        about_bots[deed]()
    elif deed in get_args(Deed):
        given = {name: arguments[name] for name in ("who", "clip", "text") if arguments.get(name)}
        meeting.act(ScriptedAct(at_s=0, do=cast(Deed, deed), **given))
    else:
        raise InvalidConfig({"deed": [f"There is no deed {deed}; known: {', '.join([*about_bots, *get_args(Deed)])}."]})


def _needed(arguments: dict[str, Any], name: str) -> Any:
    if not arguments.get(name):
        raise InvalidConfig({name: [f"This deed needs {name}."]})
    return arguments[name]


def describe(meeting: Meeting) -> dict[str, Any]:
    """Return who is here, what was written, and the script."""
    return {
        "code": meeting.code,
        "url": meeting.url,
        "is_over": meeting.is_over,
        "people": [dataclasses.asdict(person) for person in meeting.cast.people],
        "bots": [visitor.to_data() for visitor in meeting.visitors.values()],
        "chat": [
            {"sender": message.sender.name, "text": message.text, "at_ms": message.at_ms}
            for message in meeting.messages
        ],
        "script": script.to_data(meeting.script),
        "reference": meeting.script.reference(),
    }


def packets(meeting: Meeting, bot: str | None, after: int) -> list[dict[str, Any]]:
    """Return what was sent to a bot, packet by packet, oldest first; also to one that has left."""
    visitor = meeting.visitor(bot)
    sent = visitor.peer.sent if visitor.peer else visitor.sent
    return [packet._asdict() for packet in list(sent)[after:]]


def app(server: "PracticeServer", token: str = "") -> Starlette:
    """Return the application; with a token only below it, as the first part of every path."""

    def meeting(request: Request) -> Meeting:
        return server.meeting(request.path_params["code"])

    async def create(request: Request) -> Response:
        body = await request.json() if await request.body() else {}
        made = await server.open_meeting(body.get("script"), code=body.get("code"))
        return JSONResponse({"code": made.code, "url": made.url}, 201)

    async def index(_request: Request) -> Response:
        found = [{"code": made.code, "url": made.url, "is_over": made.is_over} for made in server.meetings.values()]
        return JSONResponse({"meetings": found, "host_rules": server.host_rules})

    async def show(request: Request) -> Response:
        return JSONResponse(describe(meeting(request)))

    async def delete(request: Request) -> Response:
        await server.close_meeting(meeting(request).code)
        return Response(status_code=204)

    async def do(request: Request) -> Response:
        arguments = await request.json() if await request.body() else {}
        if arguments.get("clip"):
            await asyncio.to_thread(clips.load, arguments["clip"])  # encoded before the beat needs it
        act(meeting(request), request.path_params["deed"], arguments)
        return Response(status_code=204)

    async def events(request: Request) -> Response:
        query = dict(request.query_params)
        after, kind, wait_s = int(query.pop("after", 0)), query.pop("kind", None), float(query.pop("wait_s", 0))
        log = meeting(request).events
        if wait_s:
            try:
                return JSONResponse([(await log.wait_for(kind, after=after, timeout_s=wait_s, **query)).to_data()])
            except TimeoutError as error:
                return JSONResponse({"message": str(error)}, 408)
        return JSONResponse([event.to_data() for event in log.after(after, kind)])

    async def sent(request: Request) -> Response:
        query = request.query_params
        return JSONResponse(packets(meeting(request), query.get("bot"), int(query.get("after", 0))))

    async def refused(_request: Request, error: Exception) -> Response:
        fields = error.fields if isinstance(error, InvalidConfig) else {}
        return JSONResponse({"message": str(error), "fields": fields}, getattr(error, "status", 400))

    routes = [
        Route("/meetings", create, methods=["POST"]),
        Route("/meetings", index),
        Route("/meetings/{code}", show),
        Route("/meetings/{code}", delete, methods=["DELETE"]),
        Route("/meetings/{code}/events", events),
        Route("/meetings/{code}/packets", sent),
        Route("/meetings/{code}/{deed}", do, methods=["POST"]),
    ]
    mounted = [Mount(f"/{token}", routes=routes)] if token else routes
    return Starlette(routes=mounted, exception_handlers={RequestError: refused})
