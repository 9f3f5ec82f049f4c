"""What the server is told where the application cannot start."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.types import Message

from sederunt.api.door import Door
from sederunt.api.metrics import Metrics
from sederunt.errors import SetupError


async def told_at_start(fault: Exception) -> str:
    """The message of the server's protocol when the rooms cannot be opened."""

    @asynccontextmanager
    async def context(_app: Starlette) -> AsyncIterator[None]:
        raise fault
        yield

    said: asyncio.Queue[Message] = asyncio.Queue()
    heard: asyncio.Queue[Message] = asyncio.Queue()
    await said.put({"type": "lifespan.startup"})
    door = Door(Starlette(lifespan=context), Metrics())
    with pytest.raises(type(fault)):
        await door({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, said.get, heard.put)
    message = await heard.get()
    assert message["type"] == "lifespan.startup.failed"
    return str(message["message"])


async def test_what_the_installation_lacks_is_a_sentence() -> None:
    assert await told_at_start(SetupError("No NATS: start it.")) == "sederunt: No NATS: start it."


async def test_a_fault_of_the_program_keeps_its_traceback() -> None:
    assert "Traceback" in await told_at_start(ValueError("odd"))
