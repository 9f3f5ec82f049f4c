"""One page's line to the server: a WebSocket that carries screens one way and deeds the other."""

import asyncio
import contextlib
import dataclasses
import json
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from sederunt import log
from sederunt.practice.camera import CameraFeed, Colour
from sederunt.practice.meeting import Meeting
from sederunt.practice.people import Visitor
from sederunt.practice.script import Variant
from sederunt.practice.sfu import Peer

logger = log.get(component="practice")


async def visit(socket: WebSocket, meeting: Meeting | None) -> None:
    """Serve one page until it closes its socket. Without a meeting the page learns that the code is invalid."""
    await socket.accept()
    outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    if meeting is None:
        outbox.put_nowait({"hello": {"variant": dataclasses.asdict(Variant())}, "show": "invalid"})
        await _run(socket, outbox, None)
        return
    visitor = meeting.arrive(outbox.put_nowait, {"user_agent": socket.headers.get("user-agent", "")})
    greeting = meeting.site.greeting(meeting, dict(socket.cookies))
    hello = {
        "code": meeting.code,
        "bot": visitor.id,
        "title": meeting.script.title,
        "variant": dataclasses.asdict(meeting.variant),
    }
    if len(meeting.visitors) > meeting.variant.stalls:
        outbox.put_nowait({"hello": hello | greeting, "show": greeting["show"]})
    try:
        await _run(socket, outbox, Visit(meeting, visitor))
    finally:
        meeting.go(visitor)


async def keep_line(socket: WebSocket, meeting: Meeting | None) -> None:
    """Hold the socket that the site itself would have open (`?code=…&bot=…`): signals go out on it until it closes."""
    await socket.accept()
    visitor = meeting.visitors.get(socket.query_params.get("bot", "")) if meeting else None
    if meeting is None or visitor is None:
        await socket.close()
        return
    outbox: asyncio.Queue[str] = asyncio.Queue()
    visitor.line = outbox.put_nowait
    if visitor.standing == "in_call":
        meeting.site.roster_changed(meeting, visitor, meeting.cast.people)
    sending = asyncio.create_task(_send(socket, outbox))
    try:
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                await socket.receive_text()
    finally:
        visitor.line = None
        sending.cancel()


class Visit:
    """What a page may ask for: one method per `do`."""

    def __init__(self, meeting: Meeting, visitor: Visitor) -> None:
        self._meeting = meeting
        self._visitor = visitor
        self._waiting: asyncio.Task[None] | None = None
        self._camera: CameraFeed | None = None

    async def take(self, message: dict[str, Any]) -> None:
        deed = getattr(self, f"do_{message['do']}", None)
        if deed is None:
            logger.warning("A page asked for something unknown", action="page_message_refused", do=message["do"])
            return
        await deed(message)

    async def do_ask(self, message: dict[str, Any]) -> None:
        self._visitor.facts |= {name: message[name] for name in ("passcode", "email") if name in message}
        self._meeting.knock(self._visitor, str(message["name"]))

    async def do_offer(self, message: dict[str, Any]) -> None:
        if (peer := self._new_peer()) is not None:
            self._visitor.tell({"answer": await peer.answer(message["sdp"])})

    async def do_negotiate(self, _message: dict[str, Any]) -> None:
        if (peer := self._new_peer()) is not None:
            self._visitor.tell({"offer": await peer.offer()})

    async def do_answer(self, message: dict[str, Any]) -> None:
        if self._visitor.peer is not None:
            await self._visitor.peer.take_answer(message["sdp"])

    async def do_publish(self, message: dict[str, Any]) -> None:
        """Take the camera that the page shows. Only one at a time."""
        if self._camera is not None:
            await self._camera.close()
        self._camera = CameraFeed(self._saw)
        self._visitor.tell({"published": await self._camera.answer(message["sdp"])})

    def _saw(self, number: int, colour: Colour) -> None:
        self._visitor.facts |= {"camera_pictures": number, "camera_colour": colour}
        if number == 1:
            self._meeting.events.add("camera_seen", bot=self._visitor.id, name=self._visitor.name)

    async def do_chat(self, message: dict[str, Any]) -> None:
        if self._visitor.person is not None and self._visitor.standing == "in_call" and self._meeting.variant.chat:
            self._meeting.chat(self._visitor.person, str(message["text"]), bot=self._visitor.id)

    async def do_leave(self, _message: dict[str, Any]) -> None:
        self._meeting.go(self._visitor)

    async def do_facts(self, message: dict[str, Any]) -> None:
        self._visitor.facts |= message["facts"]

    async def do_note(self, message: dict[str, Any]) -> None:
        self._meeting.events.add("note", bot=self._visitor.id, note=message["note"], about=message.get("about", ""))

    async def close(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        if self._camera is not None:
            await self._camera.close()

    def _new_peer(self) -> Peer | None:
        """Begin a media line in place of the one before; None for a page that is not in the call any more."""
        meeting, visitor = self._meeting, self._visitor
        if visitor.standing != "in_call":
            return None
        if self._waiting is not None:
            self._waiting.cancel()
        meeting.close_peer(visitor)
        visitor.peer = Peer(
            meeting.site.plan(meeting.variant),
            on_message=lambda label, data: meeting.site.page_sent(meeting, visitor, label, data),
            on_key_frame=meeting.media.key_frame,
            hears=visitor.facts.get("sound") is not False and meeting.sends_sound_to(visitor),
        )
        self._waiting = asyncio.create_task(self._report_connected(visitor.peer))
        return visitor.peer

    async def _report_connected(self, peer: Peer) -> None:
        await peer.connected.wait()
        if peer.plan.channels:
            await peer.channels_open.wait()
        self._meeting.media_connected(self._visitor)


async def _run(socket: WebSocket, outbox: "asyncio.Queue[dict[str, Any]]", guest: Visit | None) -> None:
    sending = asyncio.create_task(_send(socket, outbox))
    try:
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                message = json.loads(await socket.receive_text())
                if guest is not None:
                    await guest.take(message)
    finally:
        sending.cancel()
        if guest is not None:
            await guest.close()


async def _send(socket: WebSocket, outbox: "asyncio.Queue[Any]") -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            message = await outbox.get()
            await socket.send_text(message if isinstance(message, str) else json.dumps(message))
