"""Follow a request through every process that works on it: its id in all logs, and its trace if wanted.

Code that takes a request, a message or a job enters `continuing`; within it, logs carry `request_id`, written messages
carry both (`carried`), and spans are children of the span that wrote the message. W3C's `traceparent` is passed on even
if nothing is traced here. Spans go to an OpenTelemetry collector once `configure` has named one; before that, and
without the extra `traces`, a span costs nothing.
"""

import functools
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from sederunt import counters, log
from sederunt.errors import SetupError
from sederunt.settings import TraceSettings

if TYPE_CHECKING:  # a process that traces nothing loads none of it
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span, Tracer

ORIGIN_FIELDS = frozenset({"request_id", "traceparent"})  # of a message
REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")

Kind = Literal["internal", "server", "client", "producer", "consumer"]
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The request behind some work; both fields are empty if there is none, as in housekeeping."""

    request_id: str = ""
    traceparent: str = ""  # of the span around the work, in W3C's format

    @property
    def trace_id(self) -> str:
        """Return the id of the trace; empty if there is none."""
        match = _TRACEPARENT.fullmatch(self.traceparent)
        return match.group(1) if match else ""


_NOBODY = Origin()
_origin: ContextVar[Origin] = ContextVar("sederunt.origin", default=_NOBODY)
_tracer: "Tracer | None" = None


def origin_in(message: Mapping[str, Any]) -> Origin:
    """Return the origin that a message carries. Malformed values count as absent."""
    request_id, traceparent = str(message.get("request_id") or ""), str(message.get("traceparent") or "")
    return Origin(
        request_id=request_id if REQUEST_ID.fullmatch(request_id) else "",
        traceparent=traceparent if _TRACEPARENT.fullmatch(traceparent) else "",
    )


def carried() -> dict[str, str]:
    """Return the fields that a message written now has to carry."""
    origin = _origin.get()
    fields = {"request_id": origin.request_id, "traceparent": origin.traceparent}
    return {name: value for name, value in fields.items() if value}


@contextmanager
def continuing(origin: Origin) -> Iterator[None]:
    """Run the block as work for a request."""
    token = _origin.set(origin)
    fields = {"request_id": origin.request_id, "trace_id": origin.trace_id}
    try:
        with log.bound(**{name: value for name, value in fields.items() if value}):
            yield
    finally:
        _origin.reset(token)


def configure(settings: TraceSettings, role: str, *, processor: "SpanProcessor | None" = None) -> None:
    """Send this process's spans to the collector that the settings name, if they name one.

    Args:
        processor: takes the spans instead.

        Raises SetupError if OpenTelemetry is not installed.
    """
    global _tracer
    if settings.endpoint is None and processor is None:
        _tracer = None
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
    except ImportError:
        raise SetupError(
            "SEDERUNT_TRACES__ENDPOINT needs OpenTelemetry, which is not installed: pip install 'sederunt[traces]'."
        ) from None
    provider = TracerProvider(
        resource=Resource.create({"service.name": f"sederunt-{role}"}),
        sampler=ParentBased(TraceIdRatioBased(settings.share)),
    )
    provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.endpoint)))
    _tracer = provider.get_tracer("sederunt")


@contextmanager
def span(
    name: str,
    *,
    kind: Kind = "internal",
    began_at: datetime | None = None,
    attributes: Mapping[str, str | int] = MappingProxyType({}),
) -> Iterator["Span | None"]:
    """Record the block as a span; provide None if nothing is traced. Attributes hold no content."""
    if _tracer is None:
        yield None
        return
    from opentelemetry.trace import SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    propagator, origin = TraceContextTextMapPropagator(), _origin.get()
    with _tracer.start_as_current_span(
        name,
        context=propagator.extract({"traceparent": origin.traceparent} if origin.traceparent else {}),
        kind=SpanKind[kind.upper()],
        attributes=dict(attributes),
        start_time=None if began_at is None else round(began_at.timestamp() * 1e9),
        record_exception=False,  # its message may hold content
        set_status_on_exception=False,
    ) as active_span:
        carrier: dict[str, str] = {}
        propagator.inject(carrier)
        try:
            with continuing(replace(origin, traceparent=carrier.get("traceparent", ""))):
                yield active_span
        except BaseException as error:
            active_span.set_status(StatusCode.ERROR, type(error).__name__)
            raise


def traced(
    name: str,
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Make each call of a coroutine function a span, and count how long it took."""

    def around(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(function)
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            started_at = monotonic()
            try:
                with span(name):
                    return await function(*args, **kwargs)
            finally:
                counters.add("step_seconds", name, monotonic() - started_at)

        return call

    return around
