"""What holds for every request: keys, tenants, shapes of refusals, ids, limits, logs."""

import asyncio
import contextlib
import gzip
import json
import re
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from harness.api_room import GOOD_BOT, PREFIX, ApiRoom, api_room, on_a_socket
from harness.fake_clock import FakeClock
from sederunt.api.monitoring import metrics
from sederunt.api.route import Route
from sederunt.api.routes import ROUTES
from sederunt.jobs import readiness
from sederunt.jobs.readiness import STORED_S
from sederunt.settings import BusSettings, StorageSettings
from sederunt.storage.objects import Objects

BODIES: dict[str, Any] = {
    "BotFields": GOOD_BOT,
    "ChatFields": {"message": "x"},
    "CapacityFields": {"count": 1},
    "RecordingFields": {"recording_url": "https://a.example/talk.mp3", "transcription_model": "whisper"},
}
UNKNOWN = "0195f2c4-6a1e-7b3d-9f00-000000000001"
PARTS = ("database", "bus", "data", "storage")
BY_ID = [route for route in ROUTES if "{id}" in route.path]


async def ask(client: httpx2.AsyncClient, route: Route, id_: str = UNKNOWN) -> httpx2.Response:
    body = BODIES.get(route.body.model.__name__, route.body.example) if route.body else None
    path = route.path.replace("{id}", id_).replace("{correction}", UNKNOWN)
    return await client.request(route.method, path, json=body)


async def test_every_route_wants_a_key(room: ApiRoom) -> None:
    headers = [None, "", "Bearer", "Bearer ", "Bearer sk_wrong", f"Basic {room.key}", f"Bearer {room.key}x"]
    for header in headers:
        async with room.client_of(None, **({"Authorization": header} if header is not None else {})) as caller:
            for route in ROUTES:
                answer = await ask(caller, route)
                assert (answer.status_code, answer.json()) == (401, {"message": "Unauthenticated."}), route.name
                assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_key_of_odd_bytes_is_a_wrong_key(room: ApiRoom) -> None:
    for header in (b"Bearer \xff\xfe", b"Bearer sk_" + b"x" * 10_000):
        assert (await room.client.get("/bot", headers={b"Authorization": header})).status_code == 401


@pytest.mark.parametrize("id_", [UNKNOWN, "nobody", "7", "{0195f2c4-6a1e-7b3d-9f00-0000000001}", "%00", "x" * 2000])
async def test_an_unknown_or_malformed_id_is_404(room: ApiRoom, id_: str) -> None:
    for route in BY_ID:
        answer = await ask(room.client, route, id_)
        assert (answer.status_code, list(answer.json())) == (404, ["message"]), route.name


async def test_no_route_shows_or_touches_what_is_anothers(room: ApiRoom, wav: bytes) -> None:
    bot = await room.bot_in("scheduled", custom_metadata={"a": "1"})
    recording = await room.recording(wav)
    async with await room.other_account() as other:
        for route in ROUTES:
            resource = recording if route.path.startswith("/recording") else bot
            answer = await ask(other, route, resource["id"])
            if "{id}" in route.path:
                assert answer.status_code == 404, route.name
            assert bot["id"] not in answer.text, route.name
            assert recording["id"] not in answer.text, route.name
        again = await other.post("/recording", json={"meeting_bot_id": bot["id"]})
        assert again.json()["errors"] == {"meeting_bot_id": ["meeting_bot_id is not the id of one of your bots."]}
    assert await room.look(bot) == bot
    assert (await room.client.get(f"/recording/{recording['id']}")).status_code == 200


@pytest.mark.parametrize(
    "path", ["/bots", "/bot/x/y/z", "/", "", "/../health", "/bot/scheduled/x", "/../../files/bots/x"]
)
async def test_an_unknown_path_is_404_in_our_shape(room: ApiRoom, path: str) -> None:
    answer = await room.client.get(path)
    assert (answer.status_code, answer.json()) == (404, {"message": "There is nothing at this path."})


async def test_a_method_that_a_path_has_not_is_405_and_says_what_it_has(room: ApiRoom) -> None:
    for path in {route.path for route in ROUTES}:
        here = {route.method for route in ROUTES if route.path == path}
        for unknown in {"GET", "POST", "PUT", "PATCH", "DELETE"} - here:
            answer = await room.client.request(unknown, path.replace("{id}", UNKNOWN))
            assert (answer.status_code, list(answer.json())) == (405, ["message"]), (unknown, path)
            assert set(answer.headers["allow"].split(", ")) - {"HEAD"} == here


@pytest.mark.parametrize("path", ["//bot", "/bot/", "//bot//"])
async def test_doubled_and_trailing_slashes_do_not_matter(room: ApiRoom, path: str) -> None:
    assert (await room.client.get(f"http://api.test{PREFIX}{path}")).status_code == 200


async def test_a_body_over_the_limit_is_413_whether_it_says_so_or_not(room: ApiRoom) -> None:
    async def endless() -> Any:
        for _ in range(5000):
            yield b" " * 1000

    for route in (route for route in ROUTES if route.body):
        path = route.path.replace("{id}", (await room.bot_in("scheduled"))["id"])
        declared = await room.client.request(route.method, path, content=b" " * 1_000_001)
        streamed = await room.client.request(route.method, path, content=endless())
        for answer in (declared, streamed):
            assert answer.status_code == 413, (route.name, answer.text)
            assert "1,000,000" in answer.json()["message"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"NaN", b"\xff\xfe", b"[" * 90_000, b'{"a":' + b"1" * 5000 + b"}", b"null", b"[]"]
)
async def test_what_is_no_json_object_is_400_on_every_route_that_takes_one(room: ApiRoom, body: bytes) -> None:
    made = await room.bot_in("scheduled")
    for route in (route for route in ROUTES if route.body):
        path = route.path.replace("{id}", made["id"])
        answer = await room.client.request(route.method, path, content=body)
        assert answer.status_code == 400, (route.name, answer.text)
        assert answer.json()["errors"], answer.text


async def test_a_key_that_asks_too_often_is_told_when_to_come_again(
    tmp_path: Path, bus_settings: BusSettings, clock: FakeClock
) -> None:
    async with api_room(tmp_path / "few", bus_settings, clock, api={"requests_per_minute": 3}) as room:
        answers = [await room.client.get("/bot") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[-1].headers["retry-after"] == "20"
        assert answers[-1].json()["budget"] == "requests"
        async with await room.other_account() as other:
            assert (await other.get("/bot")).status_code == 200
        clock.advance(20)
        assert (await room.client.get("/bot")).status_code == 200


async def test_a_revoked_key_is_refused_within_seconds(room: ApiRoom, clock: FakeClock) -> None:
    text, key = await room.keys.create(room.account_id, "leaving")
    async with room.client_of(text) as caller:
        assert (await caller.get("/bot")).status_code == 200
        await room.keys.revoke(room.account_id, key.id)
        clock.advance(4)
        assert (await caller.get("/bot")).status_code == 401


async def test_every_answer_has_a_request_id_and_a_harmless_one_is_kept(room: ApiRoom) -> None:
    assert re.fullmatch("[0-9a-f]{24}", (await room.client.get("/nothing")).headers["x-request-id"])
    kept = await room.client.get("/bot", headers={"X-Request-Id": "order-7:a"})
    assert kept.headers["x-request-id"] == "order-7:a"
    for odd in ("a b", "x" * 65, '"', ""):
        answer = await room.client.get("/bot", headers={"X-Request-Id": odd})
        assert re.fullmatch("[0-9a-f]{24}", answer.headers["x-request-id"])


async def test_no_answer_is_taken_for_what_it_does_not_say_it_is(room: ApiRoom) -> None:
    for path in ("/bot", "/nowhere", "/bot/x", "/openapi.json", "/docs", "/metrics"):
        answer = await room.client.get(path)
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"], path
    assert "default-src 'none'" in (await room.client.get("/docs")).headers["content-security-policy"]


async def test_browsers_elsewhere_get_nothing_unless_the_operator_says_so(
    room: ApiRoom, tmp_path: Path, bus_settings: BusSettings
) -> None:
    origin = {"Origin": "https://app.example"}
    answer = await room.client.get("/bot", headers=origin)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    asked = {**origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    assert (await room.client.options("/bot", headers=asked)).status_code == 405
    async with api_room(tmp_path / "open", bus_settings, api={"cors_origins": ("https://app.example",)}) as opened:
        answer = await opened.client.get("/bot", headers=origin)
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert "ETag" in answer.headers["access-control-expose-headers"]
        sdk = {**asked, "Access-Control-Request-Headers": "authorization,content-type,if-none-match,x-skribby-client"}
        assert (await opened.client.options("/bot", headers=sdk)).status_code == 200
        tools, call = "http://api.test/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        said = "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version,mcp-session-id"
        allowed = await opened.client.options(tools, headers={**asked, "Access-Control-Request-Headers": said})
        assert allowed.status_code == 200, allowed.text
        accept = {"Accept": "application/json, text/event-stream"}
        listed = await opened.client.post(tools, json=call, headers={**accept, **origin})
        assert listed.headers["access-control-allow-origin"] == "https://app.example"
        assert "send_bot" in listed.text
        for evil in ({"Origin": "https://evil.example"}, {"Origin": "null"}):
            other = await opened.client.get("/bot", headers=evil)
            assert "access-control-allow-origin" not in other.headers
            assert (await opened.client.options(tools, headers={**asked, **evil})).status_code == 400
            assert (await opened.client.post(tools, json=call, headers={**accept, **evil})).status_code == 403


async def test_probes_need_no_key_and_tell_the_truth(room: ApiRoom) -> None:
    async with room.client_of(None) as anyone:
        health, ready, metrics = [
            await anyone.get(f"http://api.test/{name}") for name in ("health", "ready", "metrics")
        ]
    assert (health.status_code, health.json()["status"]) == (200, "ok")
    starting = dict.fromkeys(("host", "worker"), "starting")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", **dict.fromkeys(PARTS, "ok"), **starting})
    assert "sederunt_http_requests_total" in metrics.text


async def test_what_cannot_be_used_is_not_ready_and_is_named(
    tmp_path: Path, bus_settings: BusSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, store, data, aside = FakeClock(), tmp_path / "store", tmp_path / "data", tmp_path / "aside"
    async with api_room(data, bus_settings, clock, storage=StorageSettings(url=store.as_uri())) as opened:

        async def faults() -> tuple[int, dict[str, str]]:
            answer = await opened.client.get("/ready")
            return answer.status_code, {name: answer.json()[name] for name in PARTS if answer.json()[name] != "ok"}

        assert await faults() == (200, {})
        store.rename(aside)
        store.write_text("no folder")
        clock.advance(STORED_S)
        assert await faults() == (503, {"storage": "away"})
        store.unlink()
        aside.rename(store)
        clock.advance(STORED_S)
        assert await faults() == (200, {})
        with monkeypatch.context() as bucket:
            bucket.setattr(Objects, "check", never_answered)
            bucket.setattr(readiness, "ANSWER_S", 2.0)
            clock.advance(STORED_S)
            assert await faults() == (503, {"storage": "away"})
        clock.advance(STORED_S)
        assert await faults() == (200, {}), "though that request hangs on"
        data.rename(aside)
        assert await faults() == (503, {"database": "away", "data": "missing", "storage": "away"})
        assert not data.exists()
        aside.rename(data)
        assert await faults() == (200, {})
        with closing(sqlite3.connect(data / "sederunt.db", isolation_level=None)) as another:
            another.execute("BEGIN IMMEDIATE")
            clock.advance(STORED_S)
            monkeypatch.setattr(readiness, "ANSWER_S", 0.2)  # shorter than a writer waits
            assert await faults() == (503, {"database": "away"})
        monkeypatch.undo()
        assert await faults() == (200, {})


async def never_answered(_: Objects) -> None:
    await asyncio.Event().wait()


async def test_the_documentation_is_one_page_and_the_document_describes_every_route(room: ApiRoom) -> None:
    async with room.client_of(None) as anyone:
        page = await anyone.get("http://api.test/docs")
        document = (await anyone.get("/openapi.json")).json()
    assert page.headers["content-type"].startswith("text/html")
    assert not re.search(r"(src|href)=['\"]?https?://", page.text)
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert described == {(route.method, route.path) for route in ROUTES}
    assert document["openapi"].startswith("3.1")
    for _, path in described:
        assert path in page.text


async def test_paths_with_secrets_are_counted_by_their_template(room: ApiRoom) -> None:
    async with room.client_of(None) as anyone:
        await anyone.get("http://api.test/files/bots/x/y?signature=abcdefgh")
        await anyone.get("http://api.test/realtime-guess/sk_abcdefgh")
        text = (await anyone.get("http://api.test/metrics")).text
    assert 'route="/files/{resource}/{id}/{name:path}"' in text
    assert "abcdefgh" not in text


async def test_metrics_are_made_once_a_second_whoever_asks(room: ApiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(metrics, "monotonic", lambda: now[0])
    async with room.client_of(None) as anyone:
        asked = await asyncio.gather(*(anyone.get("http://api.test/metrics") for _ in range(20)))
        first = {answer.text for answer in asked}
        assert len(first) == 1
        await anyone.get("http://api.test/health")
        now[0] += metrics.SCRAPE_S / 2
        assert (await anyone.get("/metrics")).text in first
        now[0] += metrics.SCRAPE_S
        assert 'route="/health"' in (await anyone.get("/metrics")).text


async def test_a_compressed_body_is_refused_by_that_name(room: ApiRoom) -> None:
    body = gzip.compress(json.dumps(GOOD_BOT).encode())
    answer = await room.client.post("/bot", content=body, headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 400
    assert "must not be compressed (Content-Encoding: gzip)" in answer.json()["message"]


async def told(port: int, *pieces: bytes) -> tuple[bytes, dict[str, Any]]:
    """(head, body) of the answer to these bytes, of which the service need not take all."""

    def ask() -> bytes:  # by a plain socket: it gives what had arrived before the connection was cut
        with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
            with contextlib.suppress(ConnectionError):
                for piece in pieces:
                    line.sendall(piece)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while data := line.recv(65_536):
                    answer += data
            return answer

    head, body = (await asyncio.to_thread(ask)).split(b"\r\n\r\n")
    return head, json.loads(body)


async def test_what_is_no_http_is_refused_in_json_too(room: ApiRoom) -> None:
    async with on_a_socket(room.app) as port:
        head, body = await told(port, b"FETCH /api/v1/bot HTTP/1.1\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"content-type: application/json" in head
    assert body == {"message": "Invalid HTTP request received."}


async def test_an_idle_connection_is_ended_by_the_client() -> None:
    """Many clients end theirs after five seconds; if we did so too, a request could meet the end."""
    async with on_a_socket(nothing_here) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /health HTTP/1.1\r\nhost: a\r\n\r\n")
        await reader.readuntil(b"\r\n0\r\n\r\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 6)
        writer.close()


async def nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 404})
    await send({"type": "http.response.body", "body": b"x"})


@pytest.mark.parametrize("more", [b"x" * 70_000, b"x: y\r\n" * 12_000], ids=["one", "many"])
async def test_headers_without_end_are_refused(room: ApiRoom, more: bytes) -> None:
    async with on_a_socket(room.app) as port:
        head, body = await told(port, b"GET /health HTTP/1.1\r\na: b\r\n", more, more, more, more, more)
    assert head.startswith(b"HTTP/1.1 431 ")
    assert "larger than 65,536 bytes" in body["message"]
