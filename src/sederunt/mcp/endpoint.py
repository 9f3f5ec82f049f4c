"""`/mcp`: the protocol over HTTP, stateless, with the API's keys. Its library is loaded by the first request.

A page that pretends to be us could lead a browser here (DNS rebinding). So requests from pages are accepted only from
origins that the operator knows: the public address, the loopback, and those of `SEDERUNT_API__CORS_ORIGINS`.
"""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sederunt import log
from sederunt.api.failures import answer_to
from sederunt.api.transport.bodies import refuse_parts, whole_body
from sederunt.api.transport.middleware import request_info_of
from sederunt.errors import Forbidden
from sederunt.mcp.backend import Backend, service_inside
from sederunt.settings import ApiSettings

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
LONGEST_BODY = 1_000_000
# The error about each invalid argument takes two hundred letters, and every caller waits meanwhile.
MOST_COMMAS = 2_000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

logger = log.get(component="mcp")


def is_installed() -> bool:
    """Return whether the protocol's library (the extra `mcp`) is installed, with the server that we need.

    Older releases lack the server. `importlib.util.find_spec` would import its package: the finder is asked directly.
    """
    spec = importlib.util.find_spec("mcp")
    for name in ("mcp.server", "mcp.server.mcpserver"):
        if spec is None:
            break
        spec = PathFinder.find_spec(name, spec.submodule_search_locations or [])
    return spec is not None


class McpEndpoint:
    """Serves `/mcp`. `app` is the application that the tools call; it is set once it exists."""

    def __init__(self, settings: ApiSettings) -> None:
        self.app: ASGIApp | None = None
        self._settings = settings
        self._sessions: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._closing = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def routes(self) -> list[BaseRoute]:
        """Return the route, or none if the library is missing or the operator switched the endpoint off."""
        if not self._settings.mcp or not is_installed():
            return []
        return [Route(PATH, endpoint=_RouteApp(self), methods=["POST"])]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Stop the protocol's tasks, which the first request starts, when the application ends."""
        try:
            yield
        finally:
            self._closing.set()
            if self._running is not None:
                with suppress(asyncio.CancelledError):
                    await self._running

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        request_info_of(request).route = PATH
        try:
            refuse_strangers(request.headers.get("origin"), self._settings)
            caller = await request.app.state.context.auth.caller(request.headers.get("authorization"))
            request_info_of(request).comes_from(caller)
            body = await whole_body(request, LONGEST_BODY)
            refuse_parts(body, MOST_COMMAS)
            sessions = await self._opened()
        except Exception as error:
            answer: Response = answer_to(error)
            await answer(scope, receive, send)
            return
        await sessions.asgi_app(scope, _again(body, receive), send)

    async def _opened(self) -> "StreamableHTTPSessionManager":
        """Return the session manager, started by the first request. Raises a failed start; the next request retries."""
        if self._sessions is None:
            self._sessions = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._sessions))
        return await asyncio.shield(self._sessions)  # others wait for it too, even if this caller hangs up

    async def _run(self, ready: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
        """Hold the protocol's tasks from the first request to the end: they must end in the task that started them."""
        try:
            sessions = await asyncio.to_thread(self._made)
            async with sessions.run():
                ready.set_result(sessions)
                await self._closing.wait()
        except Exception as error:
            self._sessions = None
            if ready.done():
                logger.error("the protocol's tasks ended", action="mcp_ended", exc_info=error)
            else:
                ready.set_exception(error)

    def _made(self) -> "StreamableHTTPSessionManager":
        from mcp.server.transport_security import TransportSecuritySettings

        from sederunt.mcp.server import create_server

        server = create_server(self._caller_of)
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=LONGEST_BODY,
            # `refuse_strangers` is stricter about pages, and lets programs use any host name.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        logger.info("the first request of a language model's client", action="mcp_opened")
        return server.session_manager

    def _caller_of(self, ctx: "Context[Any, Any]") -> AbstractAsyncContextManager[Backend]:
        request = ctx.request_context.request
        assert self.app is not None
        assert isinstance(request, Request)
        headers: Mapping[str, str] = request.headers
        return service_inside(self.app, headers, request.url.scheme)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that replays a body already read, then passes on later messages."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


class _RouteApp:
    """The route's application. Starlette would take a plain function for a request handler."""

    def __init__(self, endpoint: McpEndpoint) -> None:
        self._mcp = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._mcp.serve(scope, receive, send)


def refuse_strangers(origin: str | None, settings: ApiSettings) -> None:
    """Raise Forbidden for a page of an unknown origin. Programs send no origin."""
    if origin is None or origin in settings.cors_origins or origin == _origin_of(settings.public_url):
        return
    try:
        if urlsplit(origin).hostname in _LOOPBACK:
            return
    except ValueError:
        pass
    raise Forbidden(f"Pages of {origin[:100]} may not come here: SEDERUNT_API__CORS_ORIGINS names those that may.")


def _origin_of(url: str | None) -> str | None:
    parts = urlsplit(url or "")
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else None
