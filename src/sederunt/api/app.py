"""The ASGI application: routes that need a key; signed files, sockets and probes that need none; one middleware.

It uses Starlette's routing with our own table instead of FastAPI, whose validation does not fit our errors (all faults
at once, our sentences, nothing coerced) and costs some 60 µs a request (measured).
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path as FilePath

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.routing import Route as Path
from starlette.types import ASGIApp

from sederunt.accounting import Ledger, limits_of
from sederunt.api.access.permissions import refuse_unpermitted
from sederunt.api.access.sessions import caller_of, note_deed
from sederunt.api.call import Call
from sederunt.api.context import ApiContext, open_context
from sederunt.api.docs import DOCS_POLICY, docs_page
from sederunt.api.failures import answer_to, http_exception, text_response
from sederunt.api.idempotency import HEADER, REPEATED
from sederunt.api.monitoring import probes
from sederunt.api.monitoring.metrics import Metrics
from sederunt.api.openapi import PREFIX, document
from sederunt.api.route import Route
from sederunt.api.route_index import RouteIndex
from sederunt.api.routes import ROUTES
from sederunt.api.sockets import endpoints
from sederunt.api.transport import files
from sederunt.api.transport.middleware import RequestMiddleware, request_info_of
from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.settings import Settings

_FIRST_ID = re.compile(rb'{"id": "([0-9a-f-]{36})"')
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_LLMS = FilePath(__file__).with_name("llms.txt").read_text(encoding="utf-8")
# The published client's name, and conditional requests.
_READERS_HEADERS = ("If-None-Match", "X-Request-Id", "X-Skribby-Client")
# Further headers of a language model's client in a web page.
_MCP_HEADERS = ("Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Last-Event-ID")
_FILES = "/files/{resource}/{id}/{name:path}"

OpenHandler = Callable[[ApiContext, Request], Awaitable[Response]]


def create_app(
    settings: Settings,
    clock: Clock = SYSTEM_CLOCK,
    pages: Sequence[BaseRoute] = (),
    beside: Callable[[Starlette], AbstractAsyncContextManager[None]] = lambda _app: nullcontext(),
    ledger: Ledger | None = None,
) -> ASGIApp:
    """Make the application of one process, with the console's pages, if any, and its background tasks.

    Its context is opened when the server starts and closed when it stops. The ledger counts the use of budgets.
    """
    metrics = Metrics()
    budget_ledger = ledger or Ledger(limits_of(settings), settings.account_weights)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with open_context(settings, clock, metrics, budget_ledger) as context:
            app.state.context = context
            async with beside(app):
                yield

    app = Starlette(
        routes=[
            RouteIndex(PREFIX, _routes_with_keys()),
            *_routes_without(),
            *pages,
            WebSocketRoute(endpoints.PATH, endpoints.realtime),
            WebSocketRoute("/{path:path}", endpoints.nowhere),
        ],
        lifespan=lifespan,
        middleware=_cors(settings),
        exception_handlers={404: http_exception, 405: http_exception},
    )
    app.router.redirect_slashes = False  # the middleware strips them: a redirect to one would loop for ever
    return RequestMiddleware(app, metrics, budget_ledger)


def _routes_with_keys() -> list[Path]:
    """Return one route per path, so that the answer to a wrong method lists all methods of the path."""
    paths: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method] = route
    routes = [
        Path(PREFIX + path, _with_key(table, path), methods=list(table))
        for path, table in sorted(paths.items(), key=lambda entry: "{" in entry[0])  # fixed words before ids
    ]
    fixed_routes = [route for route in routes if not route.param_convertors]
    return [*fixed_routes, *map(_other_methods, fixed_routes), *routes[len(fixed_routes) :]]


def _other_methods(route: Path) -> Path:
    """Refuse other methods of a fixed path; otherwise its last word would be taken for an id."""

    async def refuse(_request: Request) -> Response:
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(route.methods or ()))})

    return Path(route.path, refuse, methods=[method for method in _METHODS if method not in (route.methods or ())])


def _routes_without() -> list[Path]:
    openapi_text = json.dumps(document())

    async def openapi(_context: ApiContext, _request: Request) -> Response:
        return text_response(openapi_text)

    async def docs(_context: ApiContext, _request: Request) -> Response:
        return HTMLResponse(docs_page(), headers={"Content-Security-Policy": DOCS_POLICY})

    async def llms(_context: ApiContext, _request: Request) -> Response:
        return PlainTextResponse(_LLMS)

    # Both at the root and below the version prefix, where a caller may look first.
    table: list[tuple[str, OpenHandler, bool]] = [
        ("/openapi.json", openapi, False),
        ("/docs", docs, False),
        ("/llms.txt", llms, False),
        ("/health", probes.health, True),
        ("/ready", probes.ready, True),
        ("/metrics", probes.metrics, True),
    ]
    open_paths = [
        Path(prefix + path, _without_key(handler, path, quiet=quiet), methods=["GET"])
        for prefix in ("", PREFIX)
        for path, handler, quiet in table
    ]
    return [*open_paths, Path(_FILES, _without_key(files.get_file, _FILES, quiet=False), methods=["GET"])]


def _with_key(table: Mapping[str, Route], path: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        info = request_info_of(request)
        info.route = path
        context: ApiContext = request.app.state.context
        try:
            caller = await caller_of(context, request)
            info.comes_from(caller)
            route = table["GET" if request.method == "HEAD" else request.method]
            refuse_unpermitted(caller, route.needed)
            answer = await route.handler(Call(context, request, caller))
            if route.changes:
                id_match = _FIRST_ID.match(bytes(answer.body[:60]))
                path_id: str | None = request.path_params.get("id")
                await note_deed(
                    context.stores.sign_ins, caller, route.name, path_id or (id_match[1].decode() if id_match else None)
                )
            return answer
        except Exception as error:
            return answer_to(error)

    return endpoint


def _without_key(handler: OpenHandler, path: str, *, quiet: bool) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        info = request_info_of(request)
        info.route, info.quiet = path, quiet
        try:
            return await handler(request.app.state.context, request)
        except Exception as error:
            return answer_to(error)

    return endpoint


def _cors(settings: Settings) -> list[Middleware]:
    if not settings.api.cors_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(settings.api.cors_origins),
            allow_methods=["GET", "POST", "PATCH", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", HEADER, *_READERS_HEADERS, *_MCP_HEADERS],
            expose_headers=[REPEATED, "ETag", "Retry-After", "X-Request-Id"],
        )
    ]
