"""One request is one id and one trace, whatever passes it on; who traces nothing pays nothing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import structlog
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from sederunt import tracing
from sederunt.api.monitoring.metrics import Metrics
from sederunt.api.transport.middleware import RequestMiddleware, request_info_of
from sederunt.database import outbox
from sederunt.settings import TraceSettings
from sederunt.tracing import Origin, carried, continuing, origin_in

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Every span that ended."""
    exporter = InMemorySpanExporter()
    tracing.configure(TraceSettings(), "test", processor=SimpleSpanProcessor(exporter))
    yield exporter
    tracing.configure(TraceSettings(), "test")


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"request_id": "a b", "traceparent": "x"},
        {"request_id": "a" * 65, "traceparent": f"00-{'0' * 32}-{SPAN}-01"},
        {"request_id": None, "traceparent": f"00-{TRACE}-{'0' * 16}-01"},
        {"request_id": "a\n", "traceparent": f"{PARENT}\n"},
        {"request_id": {"a": 1}, "traceparent": [PARENT]},
    ],
)
def test_what_is_not_well_formed_counts_as_not_there(message: dict[str, Any]) -> None:
    assert origin_in(message) == Origin()


def test_messages_carry_what_is_being_done_and_logs_name_it() -> None:
    assert carried() == {}
    told = {"request_id": "order-7", "traceparent": PARENT}
    with continuing(origin_in(told)):
        assert carried() == told
        job = outbox.job("job.attend", "bot", uuid4(), "created")
        assert {name: job.payload[name] for name in told} == told
        assert structlog.contextvars.get_contextvars() == {"request_id": "order-7", "trace_id": TRACE}
    assert carried() == {}
    assert structlog.contextvars.get_contextvars() == {}
    assert set(outbox.deliver("bot", uuid4(), 1).payload) == {"id", "resource"}


def test_spans_are_children_of_what_wrote_the_message(spans: InMemorySpanExporter) -> None:
    with continuing(Origin(request_id="a", traceparent=PARENT)), tracing.span("attend", kind="consumer"):
        message = json.dumps(carried())
    with continuing(origin_in(json.loads(message))), tracing.span("assemble", attributes={"sederunt.bot.id": "7"}):
        pass
    attend, assemble = spans.get_finished_spans()
    assert attend.context is not None
    assert assemble.context is not None
    assert attend.parent is not None
    assert assemble.parent is not None
    assert {f"{span.context.trace_id:032x}" for span in (attend, assemble)} == {TRACE}
    assert (f"{attend.parent.span_id:016x}", assemble.parent.span_id) == (SPAN, attend.context.span_id)
    assert dict(assemble.attributes or {}) == {"sederunt.bot.id": "7"}


def test_a_fault_is_told_by_its_kind_and_never_by_its_words(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="secret"), tracing.span("fetch"):
        raise ValueError("the secret word")
    (span,) = spans.get_finished_spans()
    assert (span.status.description, span.events) == ("ValueError", ())


async def asked(headers: list[tuple[bytes, bytes]]) -> tuple[dict[str, str], dict[str, str]]:
    """What is carried while a request is answered, and the headers of its answer."""
    seen: dict[str, str] = {}
    answered: dict[str, str] = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.update(carried())
        request_info_of(Request(scope)).route = "/bot/{id}"
        await JSONResponse({})(scope, receive, send)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered.update({name.decode(): value.decode() for name, value in message["headers"]})

    scope = {"type": "http", "method": "GET", "path": "/bot/7", "headers": headers}
    await RequestMiddleware(app, Metrics())(scope, receive, send)
    return seen, answered


async def test_a_request_brings_its_own_id_and_trace_or_gets_an_id() -> None:
    seen, answered = await asked([(b"x-request-id", b"mine"), (b"traceparent", PARENT.encode())])
    assert seen == {"request_id": "mine", "traceparent": PARENT}
    assert answered["x-request-id"] == "mine"
    seen, answered = await asked([(b"x-request-id", b"not mine\xff")])
    assert seen == {"request_id": answered["x-request-id"]}
    assert len(answered["x-request-id"]) == 24


async def test_a_request_is_a_span_named_by_its_route(spans: InMemorySpanExporter) -> None:
    await asked([])
    (span,) = spans.get_finished_spans()
    assert span.name == "GET /bot/{id}"
    told = {"http.request.method": "GET", "http.route": "/bot/{id}", "http.response.status_code": 200}
    assert dict(span.attributes or {}) == told


def test_roles_that_trace_nothing_load_nothing_of_it() -> None:
    program = (
        "import sys, sederunt.jobs.roles, sederunt.jobs.job, sederunt.webhooks.sender; from sederunt import tracing;"
        "from sederunt.settings import TraceSettings; tracing.configure(TraceSettings(), 'worker');"
        "span = tracing.span('a'); span.__enter__(); span.__exit__(None, None, None);"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"
