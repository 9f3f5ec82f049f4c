"""The protocol's own client, over HTTP and over standard input and output."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from sederunt.mcp.content import NOTE, UNTRUSTED

Transport = Literal["http", "stdio"]


class Tools:
    """A client, and what its tools answer."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers; the same as text and as data."""
        result = await self.client.call_tool(tool, arguments)
        text = _text(result)
        assert not result.is_error, text
        answer: dict[str, Any] = result.structured_content
        assert json.loads(text) == answer
        return answer

    async def content(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The meeting's content of an answer, which says what it is."""
        answer = await self.ask(tool, **arguments)
        assert answer["note"] == NOTE
        found: dict[str, Any] = answer[UNTRUSTED]
        return found

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The sentence of a tool that refuses."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result
        return _text(result)


def _text(result: Any) -> str:
    assert len(result.content) == 1
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@asynccontextmanager
async def tools_of(transport: Transport, url: str, key: str) -> AsyncIterator[Tools]:
    """Connect to a service (its address without a path) as this key's owner."""
    async with AsyncExitStack() as stack:
        if transport == "stdio":
            server: Any = StdioServerParameters(
                command=sys.executable,
                args=["-m", "sederunt.cli.main", "mcp"],
                env={"SEDERUNT_URL": url, "SEDERUNT_KEY": key},
            )
        else:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=90)
            )
            server = streamable_http_client(f"{url}/mcp", http_client=http)
        yield Tools(await stack.enter_async_context(Client(server)))
