"""The application with its console: the API's routes, and the pages beside them."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Path
from starlette.types import ASGIApp

from sederunt.accounting import Ledger
from sederunt.api.access.permissions import Permission
from sederunt.api.app import create_app
from sederunt.api.transport.middleware import request_info_of
from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.console.doctor import DoctorRun
from sederunt.console.page import Handler, endpoint
from sederunt.console.pages import account, bots, openid, recordings, sign_in_windows
from sederunt.console.pages.entry import EntryPages, open_endpoint
from sederunt.console.practice import PracticeSites
from sederunt.console.render import ASSETS, assets_version
from sederunt.mcp.endpoint import McpEndpoint
from sederunt.settings import Settings

_ASSETS = "/assets/{version}/{name:path}"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain"}

# method, path, handler, the permission that its reader needs
PAGES: Sequence[tuple[str, str, Handler, Permission]] = (
    ("GET", "/", account.start, "read"),
    ("GET", "/checkup", account.check_up, "manage"),
    ("POST", "/practice", bots.start_practice, "write"),
    ("GET", "/bots", bots.list_bots, "read"),
    ("GET", "/bots/new", bots.new_bot, "write"),
    ("GET", "/bots/scheduled", bots.scheduled, "read"),
    ("GET", "/bots/{id}", bots.one_bot, "read"),
    ("GET", "/bots/{id}/feed", bots.feed, "read"),
    ("GET", "/bots/{id}/picture.png", bots.picture, "read"),
    ("GET", "/bots/{id}/player.json", bots.player_data, "read"),
    ("GET", "/bots/{id}/peaks.json", bots.peaks, "read"),
    ("GET", "/recordings", recordings.list_recordings, "read"),
    ("GET", "/recordings/{id}", recordings.one_recording, "read"),
    ("GET", "/recordings/{id}/player.json", recordings.player_data, "read"),
    ("GET", "/recordings/{id}/peaks.json", recordings.peaks, "read"),
    ("GET", "/compare", recordings.compare, "read"),
    ("GET", "/calendars", bots.calendars, "read"),
    ("GET", "/search", account.search, "read"),
    ("GET", "/webhooks", account.webhooks, "read"),
    ("GET", "/keys", account.keys, "manage"),
    ("GET", "/sign-in-windows/{id}", sign_in_windows.show_window, "manage"),
    ("GET", "/usage", account.usage, "read"),
    ("GET", "/reference", account.reference, "read"),
    ("GET", "/people", account.people, "read"),
    ("POST", "/profile", account.save_profile, "read"),
    ("POST", "/profile/identity", openid.link_identity, "read"),
    ("DELETE", "/profile/identity", openid.unlink_identity, "read"),
    ("GET", "/operations", account.operations, "manage"),
)


def create_application(settings: Settings, clock: Clock = SYSTEM_CLOCK, ledger: Ledger | None = None) -> ASGIApp:
    """Return the application of the api role: the API, the console, and `/mcp` for language models."""
    mcp = McpEndpoint(settings.api)

    @asynccontextmanager
    async def beside(app: Starlette) -> AsyncIterator[None]:
        async with mcp.open(), _children(app):
            yield

    mcp.app = create_app(settings, clock, pages=[*_routes(), *mcp.routes()], beside=beside, ledger=ledger)
    return mcp.app


def _routes() -> list[BaseRoute]:
    entry = EntryPages()
    provider = openid.OpenIdEntry()
    open_pages = [
        ("GET", "/sign-in", entry.show),
        ("POST", "/sign-in", entry.sign_in),
        ("GET", openid.OUT, provider.out),
        ("GET", openid.BACK, provider.back),
        ("GET", "/welcome", entry.welcome),
        ("POST", "/welcome", entry.accept),
        ("POST", "/sign-out", entry.sign_out),
    ]
    return [
        *(Path(path, open_endpoint(handler, path), methods=[method]) for method, path, handler in open_pages),
        *(
            Path(path, endpoint(handler, path, permission), methods=[method])
            for method, path, handler, permission in PAGES
        ),
        Path(_ASSETS, _asset, methods=["GET"]),
    ]


@asynccontextmanager
async def _children(app: Starlette) -> AsyncIterator[None]:
    """End the processes that pages started on demand together with the application."""
    async with contextlib.AsyncExitStack() as stack:
        for name, child in (("practice_sites", PracticeSites()), ("checkup", DoctorRun())):
            setattr(app.state, name, child)
            stack.push_async_callback(child.close)
        yield


async def _asset(request: Request) -> Response:
    """Answer with an asset; its address changes with its content, so browsers may keep it for ever."""
    request_info_of(request).route, request_info_of(request).quiet = _ASSETS, True
    path = (ASSETS / request.path_params["name"]).resolve()
    if not path.is_relative_to(ASSETS.resolve()) or path.suffix not in _TYPES or not path.is_file():
        return Response("There is no such file.", 404, media_type="text/plain")
    is_current = request.path_params["version"] == assets_version()
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable" if is_current else "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    return FileResponse(path, headers=headers, media_type=_TYPES[path.suffix])
