"""`sederunt mcp`: the service's tools for a language model's client on this machine, by standard input and output."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from sederunt import log
from sederunt.cli.error_messages import plain_errors
from sederunt.errors import SetupError
from sederunt.mcp.backend import Backend, service_at
from sederunt.mcp.endpoint import is_installed


def mcp(
    url: Annotated[str, typer.Option(envvar="SEDERUNT_URL", help="Where the service is.")] = "http://127.0.0.1:8080",
    key: Annotated[
        str | None, typer.Option(envvar="SEDERUNT_KEY", help="An API key; one with the scope `read` only reads.")
    ] = None,
) -> None:
    """Serve the tools of a running service, wherever it is; docs/mcp.md says how to configure clients."""
    log.configure("lines", "warning")
    with plain_errors():
        if not is_installed():
            raise SetupError("This needs the extra `mcp`: pip install 'sederunt[mcp]'")
        if not key:
            raise SetupError("Give an API key: SEDERUNT_KEY, or --key. `sederunt keys create NAME` makes one.")
        asyncio.run(_serve(url, key))


async def _serve(url: str, key: str) -> None:
    from sederunt.mcp.server import create_server

    async with service_at(url, key) as backend:

        @asynccontextmanager
        async def caller_of(_ctx: Any) -> AsyncIterator[Backend]:
            yield backend

        await create_server(caller_of).run_stdio_async()
