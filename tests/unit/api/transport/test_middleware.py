"""What the server is told where the application cannot start."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from harness.fake_clock import FakeClock
from sederunt.accounting import Ledger
from sederunt.api.access.refusal_delay import LONGEST_S, REFUSALS, RefusalDelay
from sederunt.api.monitoring.metrics import Metrics
from sederunt.api.transport.middleware import RequestMiddleware
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
    door = RequestMiddleware(Starlette(lifespan=context), Metrics())
    with pytest.raises(type(fault)):
        await door({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, said.get, heard.put)
    message = await heard.get()
    assert message["type"] == "lifespan.startup.failed"
    return str(message["message"])


async def test_what_the_installation_lacks_is_a_sentence() -> None:
    assert await told_at_start(SetupError("No NATS: start it.")) == "sederunt: No NATS: start it."


async def test_a_fault_of_the_program_keeps_its_traceback() -> None:
    assert "Traceback" in await told_at_start(ValueError("odd"))


@pytest.mark.parametrize(
    ("kind", "refusal", "turned_away"),
    [
        ("http", {"type": "http.response.start", "status": 401, "headers": []}, 429),
        ("websocket", {"type": "websocket.http.response.start", "status": 401, "headers": []}, 1008),
        ("websocket", {"type": "websocket.close", "code": 1008}, 1008),
    ],
)
async def test_who_is_refused_without_end_is_turned_away_before_anything_is_looked_up(
    clock: FakeClock, kind: str, refusal: Message, turned_away: int
) -> None:
    asked, pauses, said = 0, list[float](), list[Message]()

    async def refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal asked
        asked += 1
        await send({**refusal})

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def say(message: Message) -> None:
        said.append(message)

    async def nothing() -> Message:
        raise AssertionError("nothing of the request is read")

    ledger = Ledger()
    door = RequestMiddleware(refuse, Metrics(), ledger)
    door._brakes = RefusalDelay(clock.monotonic, pause)
    scope = {"type": kind, "method": "GET", "path": "/api/v1/bot", "headers": [], "client": ("192.0.2.1", 1)}
    within = int(REFUSALS.default + LONGEST_S * REFUSALS.per_s) + 1
    for _ in range(within + 2):
        await door({**scope}, nothing, say)
    assert asked == within
    assert ledger.told()["refusals"]["refused"] == 2
    assert max(pauses) == LONGEST_S
    last = next(message for message in reversed(said) if message["type"].endswith((".start", ".close")))
    assert last.get("status", last.get("code")) == turned_away
    if kind == "http":
        assert (b"connection", b"close") in last["headers"]
