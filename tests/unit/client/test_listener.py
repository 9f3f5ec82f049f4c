"""A listener does not wait for ever on a line that is dead, and hangs up where its block ends."""

import asyncio
import json
import threading
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from sederunt_client import AsyncClient, Client, LiveEvent, SederuntClientError, live


class Service:
    """Says `connected` and nothing more, until the connection after `silent` others, on which the bot ends."""

    def __init__(self) -> None:
        self.silent = 2
        self.asked: list[str] = []
        self.left = threading.Event()
        self._server: Server = serve(self._talk, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}/realtime/b/events/t"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _talk(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.asked.append(connection.request.path.partition("?")[2])
        connection.send(json.dumps({"type": "connected", "data": {}, "seq": 3}))
        if len(self.asked) > self.silent:
            connection.send(json.dumps({"type": "stop", "seq": 4}))
            return
        try:
            connection.recv()
        except ConnectionClosed:
            self.left.set()

    def close(self) -> None:
        self._server.shutdown()


@pytest.fixture
def service() -> Iterator[Service]:
    opened = Service()
    yield opened
    opened.close()


def heard(service: Service, is_async: bool) -> list[LiveEvent]:
    if not is_async:
        with Client("http://h", "k") as blocking, blocking.listen(service.url) as listener:
            return list(listener)

    async def hear() -> list[LiveEvent]:
        async with AsyncClient("http://h", "k") as awaited, awaited.listen(service.url) as listener:
            return [event async for event in listener]

    return asyncio.run(hear())


@pytest.mark.parametrize("is_async", [False, True])
def test_a_line_on_which_nothing_comes_any_more_is_made_anew(
    service: Service, is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "QUIET_S", 0.1)
    assert [event.type for event in heard(service, is_async)] == ["connected", "stop"]
    assert service.asked == ["", "since=3", "since=3"]


@pytest.mark.parametrize("is_async", [False, True])
def test_the_end_of_its_block_hangs_up_for_good(service: Service, is_async: bool) -> None:
    if is_async:

        async def hear() -> list[LiveEvent]:
            async with AsyncClient("http://h", "k") as awaited:
                async with awaited.listen(service.url) as listener:
                    events = aiter(listener)
                    assert (await anext(events)).type == "connected"
                assert await asyncio.to_thread(service.left.wait, 10)
                return [event async for event in events]

        rest = asyncio.run(hear())
    else:
        with Client("http://h", "k") as blocking:
            with blocking.listen(service.url) as listener:
                events = iter(listener)
                assert next(events).type == "connected"
            assert service.left.wait(10)
            rest = list(events)
    assert (rest, len(service.asked)) == ([], 1)


def test_one_that_is_closed_while_the_service_is_away_ends() -> None:
    listener = Client("http://h", "k").listen("ws://127.0.0.1:1/x")
    listening = threading.Thread(target=list, args=(listener,), daemon=True)
    listening.start()
    listener.close()
    listening.join(5)
    assert not listening.is_alive()


@pytest.mark.parametrize("address", ["018f2c3e-7d1a-7000-8000-000000000000", "http://h/realtime/b/events/t", ""])
def test_what_is_no_address_of_a_socket_is_told_as_such(address: str) -> None:
    for client in (Client("http://h", "k"), AsyncClient("http://h", "k")):
        with pytest.raises(SederuntClientError, match="`websocket_url`"):
            client.listen(address)
        with pytest.raises(SederuntClientError, match="`websocket_audio_url`"):
            client.audio(address)
