"""What a vendor's socket may answer before it is one: pages in its place, and addresses to go on to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.live import CloudRealtime
from sederunt.transcription.deepgram.vendor import VENDOR
from sederunt.transcription.models import find
from sederunt.transcription.sessions import Order, Over, SessionEvent

PAGE = b"<html><h1>We are back soon</h1></html>"
WITHIN_S = 10.0

Answer = Callable[[Request], Response | None]


class Handshakes:
    """A server, and what was asked of it."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[str] = []
        self.opened = asyncio.Event()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def server(answer: Callable[[Handshakes, Request], Response | None]) -> AsyncIterator[Handshakes]:
    seen = Handshakes()

    def process(_connection: ServerConnection, request: Request) -> Response | None:
        seen.asked.append(request.path.partition("?")[0])
        return answer(seen, request)

    async def listen(connection: ServerConnection) -> None:
        seen.opened.set()
        await connection.wait_closed()

    async with serve(listen, "127.0.0.1", 0, process_request=process) as running:
        seen.port = next(iter(running.sockets)).getsockname()[1]
        yield seen


def page(status: int, body: bytes = PAGE, **headers: str) -> Response:
    return Response(status, "", Headers({"content-length": str(len(body)), "connection": "close", **headers}), body)


@asynccontextmanager
async def session(address: str) -> AsyncIterator["asyncio.Future[Over]"]:
    """A session at this address, and how it ends."""
    ended: asyncio.Future[Over] = asyncio.get_running_loop().create_future()

    def tell(event: SessionEvent | Over) -> None:
        if isinstance(event, Over) and not ended.done():
            ended.set_result(event)

    model = find("deepgram-realtime")
    assert model is not None
    assert VENDOR.live is not None
    settings = Settings(providers={"deepgram": {"socket_url": address}})
    order = Order(model=model, access=Access(key="k", label="the operator's key"), lang="en")
    begun = CloudRealtime(VENDOR, VENDOR.live).open(settings, order, tell)
    try:
        yield ended
    finally:
        begun.abandon()


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_a_page_in_a_sockets_place_is_tried_again(status: int) -> None:
    body = b"" if status == 204 else PAGE
    async with server(lambda _seen, _request: page(status, body)) as seen, session(f"ws://{seen.host}") as ended:
        over = await asyncio.wait_for(ended, WITHIN_S)
    assert over.retry
    assert "could not open a session just now" in over.cause
    assert str(status) in over.cause


async def test_a_refusal_still_ends_it() -> None:
    async with server(lambda _seen, _request: page(400)) as seen, session(f"ws://{seen.host}") as ended:
        assert not (await asyncio.wait_for(ended, WITHIN_S)).retry


@pytest.mark.parametrize("scheme", ["ws", "http", "HTTP", "WS"])
async def test_a_socket_whose_address_is_written_as_that_of_pages_is_opened(scheme: str) -> None:
    async with server(lambda _seen, _request: None) as seen, session(f"{scheme}://{seen.host}"):
        await asyncio.wait_for(seen.opened.wait(), WITHIN_S)
    assert seen.asked == ["/v1/listen"]


@pytest.mark.parametrize("place", ["http://{host}/moved", "HTTP://{host}/moved", "/moved", "ws://{host}/moved"])
async def test_a_redirect_to_where_pages_are_is_followed_to_the_socket_there(place: str) -> None:
    def answer(seen: Handshakes, request: Request) -> Response | None:
        return None if request.path == "/moved" else page(307, b"", location=place.format(host=seen.host))

    async with server(answer) as seen, session(f"ws://{seen.host}"):
        await asyncio.wait_for(seen.opened.wait(), WITHIN_S)
    assert seen.asked == ["/v1/listen", "/moved"]


async def test_a_redirect_to_somewhere_without_a_socket_is_tried_again() -> None:
    def answer(_seen: Handshakes, _request: Request) -> Response:
        return page(302, b"", location="mailto:nobody@example.org")

    async with server(answer) as seen, session(f"ws://{seen.host}") as ended:
        assert (await asyncio.wait_for(ended, WITHIN_S)).retry
