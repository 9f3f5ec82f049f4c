"""Connections that bring no request: they have little time, and never shut others out."""

import asyncio
import select
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress

import pytest
import uvicorn
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from harness.api_room import on_a_socket
from sederunt.accounting import Ledger
from sederunt.api.transport.connections import ConnectionLimits
from sederunt.api.transport.protocols import protocols

HALF = b"GET /health HTTP/1.1\r\nHost: a\r\nX-"


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Read the whole body, then say yes."""
    while (await receive()).get("more_body"):
        pass
    await PlainTextResponse("yes")(scope, receive, send)


async def open_and_say(stack: AsyncExitStack, port: int, text: bytes) -> asyncio.StreamReader:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    stack.callback(writer.close)
    writer.write(text)
    await writer.drain()
    return reader


async def whole_answer(port: int) -> bytes:
    async with AsyncExitStack() as stack:
        asked = await open_and_say(stack, port, b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return await asyncio.wait_for(asked.read(), 60)


@pytest.mark.parametrize(
    "limits",
    [
        ConnectionLimits(most=10_000),
        ConnectionLimits(most=100, most_half_per_address=10_000),
        ConnectionLimits(most=100),
    ],
)
async def test_half_requests_without_a_key_shut_nobody_out(limits: ConnectionLimits) -> None:
    async with AsyncExitStack() as stack:
        ledger = Ledger()
        port = await stack.enter_async_context(on_a_socket(application, **protocols(limits, ledger)))
        for _ in range(1_100):
            await open_and_say(stack, port, HALF)
        assert (await whole_answer(port)).endswith(b"yes")
        told = ledger.told()["half_open_connections"]
        most = min(limits.most, limits.most_half_per_address)
        assert most - 2 <= told["used"] <= most
        assert (told["refused"] > 0) == (limits.most_half_per_address < limits.most)
    assert ledger.held("half_open_connections").keys() <= {"127.0.0.1"}


@pytest.mark.parametrize(
    "half",
    [
        b"",
        HALF,
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nxxx",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + HALF,
    ],
    ids=["nothing", "half a head", "half a body", "half a second head"],
)
async def test_a_request_that_does_not_come_to_an_end_is_told_so(half: bytes) -> None:
    limits = ConnectionLimits(most=100, head_s=0.1, body_s=0.1)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(on_a_socket(application, **protocols(limits)))
        waiting = await open_and_say(stack, port, half)
        answer = await asyncio.wait_for(waiting.read(), 60)
        assert b"HTTP/1.1 408 Request Timeout" in answer
        assert answer.endswith(b'{"message": "The request took too long to arrive."}')


async def test_an_answer_that_takes_long_is_waited_for() -> None:
    release, entered = asyncio.Event(), asyncio.Semaphore(0)

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        entered.release()
        await release.wait()
        await application(scope, receive, send)

    limits = ConnectionLimits(most=3, head_s=0.1, body_s=0.1)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(on_a_socket(slow, **protocols(limits)))
        request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        answered = [await open_and_say(stack, port, request) for _ in range(3)]
        for _ in answered:
            await entered.acquire()
        one_more = await open_and_say(stack, port, request)
        assert b"503 Service Unavailable" in await asyncio.wait_for(one_more.read(), 60)
        release.set()
        assert all([(await asyncio.wait_for(reader.read(), 60)).endswith(b"yes") for reader in answered])


async def test_who_has_just_come_is_answered_by_an_api_that_ends() -> None:
    limits = protocols(ConnectionLimits(most=100))
    config = uvicorn.Config(application, port=0, lifespan="off", log_config=None, access_log=False, **limits)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())  # `serve` would take the test's signals
    async with asyncio.timeout(60), AsyncExitStack() as stack:
        while not server.started:  # noqa: ASYNC110  # uvicorn tells nobody
            await asyncio.sleep(0.01)
        listener = server.servers[0]
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.sockets[0].getsockname()[1])
        stack.callback(writer.close)
        while not server.server_state.connections:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        server.should_exit = True
        while listener.is_serving():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = await reader.read()
        await serving
    assert answer.endswith(b"yes")
    assert b"connection: close" in answer.lower()


async def test_a_body_in_crumbs_ends_with_its_connection() -> None:
    """Without a key: four of them kept every other caller waiting for seconds."""
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(on_a_socket(application, **protocols(ConnectionLimits(most=100))))
        head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        with suppress(ConnectionError):
            asked = await open_and_say(stack, port, head + b"1\r\nx\r\n" * 20_000)
            assert await asyncio.wait_for(asked.read(), 10) == b""
        assert (await whole_answer(port)).endswith(b"yes")


PIECE = b"x" * 100_000


async def large(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with more than any line holds, at once or without an end; or say yes."""

    async def endless() -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0)
            yield PIECE

    if scope["path"] == "/endless":
        await StreamingResponse(endless())(scope, receive, send)
    else:
        await PlainTextResponse(PIECE * 400 if scope["path"] == "/large" else "yes")(scope, receive, send)


def asks_and_never_reads(stack: AsyncExitStack, port: int, path: str) -> socket.socket:
    line = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return line


async def until_cut(line: socket.socket) -> None:
    """Wait until the other side has ended it; what it sent stays unread."""
    ends = select.poll()
    ends.register(line, 0)
    assert await asyncio.to_thread(ends.poll, 60_000)


@pytest.mark.parametrize("path", ["/large", "/endless"])
async def test_who_does_not_read_an_answer_is_let_go(path: str) -> None:
    async with AsyncExitStack() as stack:
        limits = ConnectionLimits(most=100, taken_s=0.5)
        port = await stack.enter_async_context(on_a_socket(large, **protocols(limits)))
        await until_cut(asks_and_never_reads(stack, port, path))
        assert (await whole_answer(port)).endswith(b"yes")


async def test_answers_that_nobody_reads_hold_little_memory() -> None:
    async with AsyncExitStack() as stack:
        limits = ConnectionLimits(most=100, most_unread_bytes=50e6)
        port = await stack.enter_async_context(on_a_socket(large, **protocols(limits)))
        lines = [asks_and_never_reads(stack, port, "/large") for _ in range(4)]
        cut = [asyncio.create_task(until_cut(line)) for line in lines]
        ended = iter(asyncio.as_completed(cut))
        for _ in range(3):
            await next(ended)
        (read_later,) = (line for line, one in zip(lines, cut, strict=True) if not one.done())
        read_later.shutdown(socket.SHUT_RDWR)


async def test_answers_that_nobody_reads_shut_nobody_out() -> None:
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(on_a_socket(large, **protocols(ConnectionLimits(most=10))))
        for _ in range(10):
            line = asks_and_never_reads(stack, port, "/endless")
            assert await asyncio.to_thread(line.recv, 1)
        async with asyncio.timeout(60):
            while not (await whole_answer(port)).endswith(b"yes"):  # until an answer has filled its line
                pass


async def test_requests_behind_one_another_are_so_many() -> None:
    """Without a key and without reading: four connections kept every other caller waiting for seconds."""
    seen = 0

    async def counting(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal seen
        seen += scope.get("path") == "/many"
        await application(scope, receive, send)

    many = b"GET /many HTTP/1.1\r\nHost: a\r\n\r\n"
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(on_a_socket(counting, **protocols(ConnectionLimits(most=100))))
        few = await open_and_say(stack, port, many * 30)
        await asyncio.wait_for(few.readuntil(b"yes"), 10)
        for _ in range(29):
            await asyncio.wait_for(few.readuntil(b"yes"), 10)
        with suppress(ConnectionError):
            asked = await open_and_say(stack, port, many * 20_000)
            await asyncio.wait_for(asked.read(), 10)
        assert (await whole_answer(port)).endswith(b"yes")
        assert 30 <= seen < 200
