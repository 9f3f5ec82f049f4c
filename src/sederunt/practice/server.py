"""The practice server: the sites over TLS under their real names, and the control API beside them.

`async with PracticeServer() as server:` runs everything on the caller's loop. Browsers come with
`--host-resolver-rules=<server.host_rules>` and accept the certificate.
"""

import asyncio
import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from sederunt import log
from sederunt.errors import Conflict, NotFound, SetupError
from sederunt.practice import clips, control, pages, script, sign_in, sites, tls
from sederunt.practice.meeting import Meeting
from sederunt.practice.page_socket import keep_line, visit
from sederunt.practice.sound import TICK_S

# Of meeting time that is made up for. What is lost beyond it, receivers take for a sender whose clock stood still, and
# a recording gets a hole there, perhaps in a word.
CATCH_UP_S = 2.0
# Made up for at twice the speed, not at once: a browser's queue of encoded frames holds 60 and drops what is more, and
# a host who says goodbye in the same millisecond as her last two seconds of speech is heard by nobody.
SHORTEST_TICK_S = TICK_S / 2
HELD_S = 2.0  # a page that is frozen asks again and again; an end of this server must not wait for it

logger = log.get(component="practice")


class PracticeServer:
    """All meetings of one process. Ports of 0 are chosen by the system.

    Args:
        control_token: first part of the control API's paths, so that nobody else on this machine can use it.
    """

    def __init__(
        self, port: int = 0, *, control_port: int = 0, host: str = "127.0.0.1", control_token: str = ""
    ) -> None:
        self.meetings: dict[str, Meeting] = {}
        self._host, self._control_token = host, control_token
        self._sockets = _listen(host, port, control_port)
        self._folder = tempfile.TemporaryDirectory(prefix="sederunt-practice-")
        self.certificate = tls.make(Path(self._folder.name), sites.all_hosts())
        self._servers = (
            _Server(_site_app(self.meetings), self._sockets[0], certificate=self.certificate),
            _Server(control.app(self, control_token), self._sockets[1], certificate=None),
        )
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def port(self) -> int:
        """Return the TLS port of the sites."""
        port: int = self._sockets[0].getsockname()[1]
        return port

    @property
    def control_url(self) -> str:
        """Return the base address of the control API."""
        address = f"http://{self._host}:{self._sockets[1].getsockname()[1]}"
        return f"{address}/{self._control_token}" if self._control_token else address

    @property
    def host_rules(self) -> str:
        """Return rules for Chromium's --host-resolver-rules: every real host name leads here."""
        return ",".join(f"MAP {host} {self._host}:{self.port}" for host in sites.all_hosts())

    async def open_meeting(
        self, what: script.Script | Mapping[str, Any] | None = None, *, code: str | None = None
    ) -> Meeting:
        """Open a meeting. Its clips are encoded before it opens, so that the beat of 20 ms is never held up."""
        made = script.demo() if what is None else what if isinstance(what, script.Script) else script.parse(what)
        site = sites.SITES[made.service]
        code = code or site.new_code()
        if code in self.meetings:
            raise Conflict(f"There is a meeting {code} already.")
        spoken = {act.clip for act in made.acts if act.do == "say"}
        await asyncio.gather(*(asyncio.to_thread(clips.load, clip) for clip in spoken))
        meeting = self.meetings[code] = Meeting(code, made, site)
        logger.info("A practice meeting was opened", action="practice_opened", service=made.service)
        return meeting

    def meeting(self, code: str) -> Meeting:
        """Return a meeting by its code. NotFound."""
        if code not in self.meetings:
            raise NotFound(f"There is no practice meeting {code}.")
        return self.meetings[code]

    async def close_meeting(self, code: str) -> None:
        """End it and forget it."""
        meeting = self.meeting(code)
        del self.meetings[code]
        meeting.end()
        await meeting.close()

    async def __aenter__(self) -> "PracticeServer":
        self._tasks = [asyncio.create_task(server.run()) for server in self._servers]
        self._tasks.append(asyncio.create_task(self._beat()))
        try:
            for server, task in zip(self._servers, self._tasks, strict=False):
                await server.has_begun(task)
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for code in list(self.meetings):
            await self.close_meeting(code)
        for server in self._servers:
            server.should_exit = server.force_exit = True
        self._tasks[-1].cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for listener in self._sockets:
            listener.close()
        self._folder.cleanup()

    async def _beat(self) -> None:
        """Meeting time: 50 ticks a second, catching up where the loop was late, but never more than CATCH_UP_S."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due = max(due + TICK_S, loop.time() - CATCH_UP_S)
            await asyncio.sleep(max(SHORTEST_TICK_S, due - loop.time()))
            for meeting in list(self.meetings.values()):
                try:
                    meeting.tick()
                except Exception:
                    logger.exception("A practice meeting failed", action="practice_failed")
                    meeting.end()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, and with an event that tells when it listens."""

    def __init__(self, app: Starlette, listener: socket.socket, *, certificate: tls.Certificate | None) -> None:
        secure: dict[str, Any] = {}
        if certificate is not None:
            secure = {"ssl_certfile": certificate.certificate, "ssl_keyfile": certificate.key}
        super().__init__(
            uvicorn.Config(app, log_config=None, lifespan="off", access_log=False, timeout_keep_alive=30, **secure)
        )
        self.ready = asyncio.Event()
        self._listener = listener

    async def run(self) -> None:  # type: ignore[override]
        await self.serve(sockets=[self._listener])

    async def has_begun(self, running: asyncio.Task[None]) -> None:
        """Wait until it listens. Raises what `run` ended by instead."""
        ready = asyncio.create_task(self.ready.wait())
        try:
            await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
        finally:
            ready.cancel()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(host: str, *ports: int) -> tuple[socket.socket, ...]:
    with contextlib.ExitStack() as opened:
        listeners = tuple(opened.enter_context(_listener(host, port)) for port in ports)
        opened.pop_all()
    return listeners


def _listener(host: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # that somebody else has the port, bind does not tell where both allow its use again
    except (OSError, OverflowError) as error:
        listener.close()
        reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else "ports are 0 to 65535"
        raise SetupError(f"The practice sites cannot listen on {host}:{port}: {reason}; choose another port.") from None
    return listener


def _site_app(meetings: dict[str, Meeting]) -> Starlette:
    async def static(request: Request) -> Response:
        found = pages.static(request.path_params["service"], request.path_params["name"])
        return found or Response(status_code=404)

    async def challenge(_request: Request) -> Response:
        return HTMLResponse("<!doctype html><title>reCAPTCHA</title><label>I'm not a robot</label>")

    async def page(request: Request) -> Response:
        site = sites.of_host(request.url.hostname or "")
        answer = await site.answer(request, meetings) if site else None
        return answer or PlainTextResponse("404. That's an error.", 404)

    async def line(socket: WebSocket) -> None:
        await visit(socket, meetings.get(socket.query_params.get("code", "")))

    async def own_line(socket: WebSocket) -> None:
        await keep_line(socket, meetings.get(socket.query_params.get("code", "")))

    async def signed_in(request: Request) -> Response:
        return sign_in.session(request)

    async def held(_request: Request) -> Response:
        await asyncio.sleep(HELD_S)
        return Response(status_code=204)

    async def framed(request: Request) -> Response:
        meeting = meetings.get(request.query_params.get("code", ""))
        return JSONResponse({"frame": bool(meeting and meeting.variant.frame)})

    return Starlette(
        routes=[
            WebSocketRoute("/practice/socket", line),
            WebSocketRoute("/{path:path}", own_line),
            Route("/practice/framed", framed),
            Route("/practice/held", held),
            Route("/practice/session", signed_in),
            Route("/practice/recaptcha/anchor", challenge),
            Route("/practice/{service}/{name}", static),
            Route("/{path:path}", page, methods=["GET", "POST"]),
        ]
    )
