"""The outermost layer: a request id, one log line and one count per request, and all errors in our format.

Plain ASGI: a middleware of the framework's own kind costs more than this whole file.
"""

import math
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sederunt import log, tracing
from sederunt.accounting import Ledger
from sederunt.accounts.keys import Caller
from sederunt.api.access.refusal_delay import LONGEST_S, REFUSALS, Holder, RefusalDelay, Shown
from sederunt.api.failures import answer_to
from sederunt.api.monitoring.metrics import Metrics
from sederunt.api.transport.fair_uploads import Traffic
from sederunt.errors import TooManyRequests
from sederunt.tracing import Origin

logger = log.get(component="api")

INFO = "sederunt.request_info"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UNKNOWN_ROUTE = "(none)"


@dataclass(slots=True)
class RequestInfo:
    """Facts about one request, collected while it is processed."""

    request_id: str
    traffic: Traffic
    route: str = _UNKNOWN_ROUTE  # template of the path: the path itself may hold secrets
    key_id: str | None = None
    good: Shown | None = None  # the credential that identified its caller
    quiet: bool = False  # polled by machines all the time: not worth a log line
    status: int = 0

    def comes_from(self, caller: Caller) -> None:
        self.key_id = str(caller.key_id or caller.person_id)
        self.good = "key" if caller.key_id else "session"


class RequestMiddleware:
    """Wraps the application. The ledger counts refusals because of a budget."""

    def __init__(self, app: ASGIApp, metrics: Metrics, ledger: Ledger | None = None) -> None:
        self._app = app
        self._metrics, self._ledger = metrics, ledger or Ledger()
        self._traffic = Traffic()
        self._brakes = RefusalDelay()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, _plainly(send))
            return
        holder = self._brakes.holder(scope)
        if holder is not None and not await self._brakes.lets_pass(holder):
            self._ledger.refuse(REFUSALS.name)
            await _turn_away(scope, receive, send)
            return
        # Clients join a base address with one slash or two, and some end with one.
        path = scope["path"]
        if "//" in path:
            path = re.sub(r"/{2,}", "/", path)
        scope["path"] = path.rstrip("/") or "/"
        if scope["type"] != "http":
            await self._app(scope, receive, self._noting_refusal(scope, holder, send))
            return
        origin = _origin_of(scope)
        info = scope[INFO] = RequestInfo(origin.request_id, self._traffic)
        start = time.perf_counter()

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                info.status = message["status"]
                message["headers"] += _always(info, message["headers"])
            await send(message)

        with tracing.continuing(origin), _traced(scope["method"], info):
            try:
                with self._traffic.answering():
                    await self._app(scope, receive, send_noted)
            except Exception as error:
                response = answer_to(error)
                if not info.status:
                    await response(scope, receive, send_noted)
            finally:
                if holder is not None:
                    self._brakes.answered(scope, holder, info.status, good=info.good)
                self._note(scope["method"], info, time.perf_counter() - start)

    def _noting_refusal(self, scope: Scope, holder: Holder | None, send: Send) -> Send:
        """Return a `send` that counts a refusal if a socket is closed before it was opened."""
        is_open = holder is None

        async def send_noted(message: Message) -> None:
            nonlocal is_open
            if not is_open and holder is not None:
                refusals = {"websocket.close": 403, "websocket.http.response.start": message.get("status", 403)}
                self._brakes.answered(scope, holder, refusals.get(message["type"], 200), good=None)
            is_open = True
            await send(message)

        return send_noted

    def _note(self, method: str, info: RequestInfo, seconds: float) -> None:
        method = method if method in _METHODS else "OTHER"
        self._metrics.answered(method, info.route, info.status, seconds)
        if not info.quiet:
            logger.info(
                "request answered",
                action="request_answered",
                method=method,
                route=info.route,
                status=info.status,
                ms=round(seconds * 1000, 2),
                key_id=info.key_id,
            )


def _always(info: RequestInfo, headers: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the headers of every answer: the request id and, unless it is there already, nosniff."""
    yield b"x-request-id", info.request_id.encode()
    if all(name != b"x-content-type-options" for name, _ in headers):
        yield b"x-content-type-options", b"nosniff"


async def _turn_away(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a caller that was refused too often, and hang up without a log line."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    sentence = "You were refused too often: try again in a moment."
    answer = answer_to(TooManyRequests(sentence, math.ceil(LONGEST_S), REFUSALS.name))
    answer.headers["Connection"] = "close"
    await answer(scope, receive, send)


def request_info_of(request: Request) -> RequestInfo:
    info: RequestInfo = request.scope[INFO]
    return info


def _origin_of(scope: Scope) -> Origin:
    """Return the caller's own request id and trace if they are harmless, else a fresh id and no trace."""
    headers: list[tuple[bytes, Any]] = scope["headers"]
    trace_headers = {
        name: value.decode("latin-1") for name, value in headers if name in (b"x-request-id", b"traceparent")
    }
    origin = tracing.origin_in(
        {"request_id": trace_headers.get(b"x-request-id"), "traceparent": trace_headers.get(b"traceparent")}
    )
    return origin if origin.request_id else replace(origin, request_id=secrets.token_hex(12))


@contextmanager
def _traced(method: str, info: RequestInfo) -> Iterator[None]:
    """Trace a request. Even probes get a span, because the route is not known before the answer."""
    with tracing.span(method, kind="server", attributes={"http.request.method": method}) as span:
        try:
            yield
        finally:
            if span is not None:
                span.update_name(f"{method} {info.route}")
                span.set_attributes({"http.route": info.route, "http.response.status_code": info.status})


def _plainly(send: Send) -> Send:
    """Report one of our own errors at startup as a sentence, where the server would print a traceback."""

    async def send_sentence(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            name, _, sentence = message["message"].strip().rpartition("\n")[2].partition(": ")
            if name.startswith("sederunt.") and sentence:
                message = {**message, "message": f"sederunt: {sentence}"}
        await send(message)

    return send_sentence
