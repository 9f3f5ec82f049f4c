"""The REST half of a simulated vendor: a table of operations, strict bodies, answers that fail as they are told to."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import multipart
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from harness.vendors.faults import ANSWERS, Fault
from harness.vendors.ledger import Request
from harness.vendors.recognition import NoSound
from harness.vendors.shapes import Refusal

if TYPE_CHECKING:
    from harness.vendors.vendor import Vendor

HTML = "<html><head><title>Bad gateway</title></head><body><h1>502 Bad gateway</h1></body></html>"


@dataclass(kw_only=True)
class Asked:
    """One request, its body read."""

    operation: str
    path: Mapping[str, str]  # what stood at the route's places
    query: list[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes
    noted: Request

    def json(self) -> Any:
        """The body as JSON. Refusal where it is none, or is not called so."""
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise Refusal(415, f"Content-Type must be application/json, not {self.headers.get('content-type')}")
        try:
            self.noted.fields = json.loads(self.body)
        except ValueError as error:
            raise Refusal(400, f"The body is no JSON: {error}") from error
        return self.noted.fields

    def form(self) -> list[Part]:
        """The parts of a multipart form, in their order. Refusal where it is none."""
        kind, options = multipart.parse_options_header(self.headers.get("content-type", ""))
        if kind != "multipart/form-data" or "boundary" not in options:
            raise Refusal(415, "Content-Type must be multipart/form-data")
        try:
            parser = multipart.MultipartParser(io.BytesIO(self.body), options["boundary"], spool_limit=2**31 - 1)
            parts = [
                Part(name=part.name, file_name=part.filename, kind=part.content_type, data=part.raw) for part in parser
            ]
        except multipart.MultipartError as error:
            raise Refusal(400, f"The form is broken: {error}") from error
        self.noted.fields = [(part.name, part.data.decode() if part.file_name is None else "…") for part in parts]
        return parts


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a form."""

    name: str
    file_name: str | None
    kind: str
    data: bytes


@dataclass(kw_only=True)
class Reply:
    """An answer: JSON, or text."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked for."""

    name: str
    method: str
    path: str
    act: Callable[[Any, Asked], Awaitable[Reply]]


def app(vendor: Vendor, more: Sequence[BaseRoute]) -> Starlette:
    """Every operation of a vendor, and routes beside them."""
    routes = [
        Route(operation.path, _endpoint(vendor, operation), methods=[operation.method])
        for operation in vendor.operations
    ]
    return Starlette(routes=[*more, *routes, Route("/{path:path}", _unknown(vendor))])


@contextlib.asynccontextmanager
async def serving(app: Starlette) -> AsyncIterator[int]:
    """Serve on a loopback port, which is told."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=_Protocol, ws="none", lifespan="off", log_level="critical", access_log=False)
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]  # the test's own
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await running


class _Protocol(HttpToolsProtocol):
    """Lets an endpoint drop its connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["transport"] = self.transport  # type: ignore[typeddict-unknown-key]


def _unknown(vendor: Vendor) -> Callable[[HttpRequest], Awaitable[Response]]:
    return _endpoint(vendor, Operation("unknown", "GET", "", _nothing_there))


async def _nothing_there(_vendor: Any, asked: Asked) -> Reply:
    raise Refusal(404, f"There is nothing at {asked.noted.method} {asked.noted.path}", code="not_found")


def _endpoint(vendor: Vendor, operation: Operation) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def endpoint(request: HttpRequest) -> Response:
        noted = Request(
            operation=operation.name,
            method=request.method,
            path=request.url.path,
            query=list(request.query_params.multi_items()),
            headers=dict(request.headers),
            size=int(request.headers.get("content-length", 0)),
            at=time.monotonic(),
        )
        vendor.ledger.requests.append(noted)
        fault = vendor.faults.take(operation.name, ANSWERS)
        if fault is not None and fault.kind in ("refused", "drop"):
            return _dropped(vendor, request)
        reply = await _answered(vendor, operation, request, noted, fault)
        noted.status = reply.status
        if fault is not None and fault.kind == "lost":
            noted.status = 0
            return _dropped(vendor, request)
        vendor.ledger.note()
        return _spoiled(request, _response(reply), fault)

    return endpoint


async def _answered(
    vendor: Vendor, operation: Operation, request: HttpRequest, noted: Request, fault: Fault | None
) -> Reply:
    try:
        if noted.size > vendor.limits.file_bytes:
            raise Refusal(413, f"The body has {noted.size} bytes, at most {vendor.limits.file_bytes} are taken")
        body = await request.body()
        noted.size = len(body)
        if fault is not None and fault.kind == "status":
            headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
            return _refused(vendor, Refusal(fault.status, fault.message or "Told to fail", headers=headers))
        if fault is not None and fault.kind == "html":
            return Reply(status=fault.status or 502, body=HTML, headers={"content-type": "text/html"})
        if fault is not None and fault.kind == "redirect":
            return Reply(status=fault.status or 307, headers={"location": fault.message or str(request.url)})
        vendor.authorised(request.headers)
        asked = Asked(
            operation=operation.name,
            path=request.path_params,
            query=noted.query,
            headers=request.headers,
            body=body,
            noted=noted,
        )
        return await operation.act(vendor, asked)
    except Refusal as refusal:
        noted.refusal = "" if refusal.told else f"{noted.method} {noted.path}: {refusal}"
        return _refused(vendor, refusal)
    except NoSound as fault_of_sound:
        noted.refusal = f"{noted.method} {noted.path}: {fault_of_sound}"
        return _refused(vendor, Refusal(400, str(fault_of_sound), code="corrupt_audio"))


def _refused(vendor: Vendor, refusal: Refusal) -> Reply:
    return Reply(status=refusal.status, body=vendor.error_body(refusal), headers=refusal.headers)


def _response(reply: Reply) -> Response:
    if isinstance(reply.body, str):
        return Response(reply.body, reply.status, {"content-type": "text/plain", **reply.headers})
    body = b"" if reply.body is None else json.dumps(reply.body).encode()
    return Response(body, reply.status, {"content-type": "application/json", **reply.headers})


def _spoiled(request: HttpRequest, response: Response, fault: Fault | None) -> Response:
    if fault is None or fault.kind not in ("slow", "half_body", "bad_json", "other_answer"):
        return response
    if fault.kind == "other_answer":
        return _response(Reply(status=response.status_code, body=fault.value))
    whole = bytes(response.body)
    if fault.kind == "bad_json":
        headers = {"content-type": response.headers["content-type"]}
        return Response(whole[: len(whole) // 2], response.status_code, headers)
    return _Pieces(request, whole, response, fault)


def _dropped(vendor: Vendor, request: HttpRequest) -> Response:
    vendor.ledger.note()
    return _Pieces(request, b"", Response(), None)


class _Pieces(Response):
    """An answer that comes slowly, or in half, or not at all."""

    def __init__(self, request: HttpRequest, whole: bytes, like: Response, fault: Fault | None) -> None:
        super().__init__(whole, like.status_code, dict(like.headers))
        self._transport, self._fault = request.scope["transport"], fault

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._fault is None:
            self._transport.abort()
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        whole = bytes(self.body)
        if self._fault.kind == "half_body":
            await send({"type": "http.response.body", "body": whole[: len(whole) // 2], "more_body": True})
            self._transport.close()  # after what was written
            return
        size = max(1, len(whole) // 10)
        for first in range(0, len(whole), size):
            await asyncio.sleep(self._fault.seconds * size / max(size, len(whole)))
            await send({"type": "http.response.body", "body": whole[first : first + size], "more_body": True})
        await send({"type": "http.response.body", "body": b""})
