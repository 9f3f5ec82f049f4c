"""An OpenTelemetry collector on a loopback port: takes spans by OTLP over HTTP, and lets a test wait for them."""

import gzip
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, kw_only=True)
class TakenSpan:
    """One span as it arrived."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str  # empty for the first of a trace
    attributes: dict[str, str]


class Collector:
    """Keeps every span that it was sent."""

    def __init__(self) -> None:
        self._spans: list[TakenSpan] = []
        self._changed = threading.Condition()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.headers.get("content-encoding") == "gzip":
                    raw = gzip.decompress(raw)
                collector._take(ExportTraceServiceRequest.FromString(raw))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1/traces"

    def wait(self, trace_id: str, names: Iterable[str], *, timeout_s: float = 60) -> list[TakenSpan]:
        """Return the spans of a trace once some of each of these names are there."""
        wanted = set(names)
        with self._changed:
            found = self._changed.wait_for(lambda: wanted <= self._names(trace_id), timeout_s)
            assert found, f"of {sorted(wanted)} came {sorted(self._names(trace_id))}"
            return [span for span in self._spans if span.trace_id == trace_id]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _names(self, trace_id: str) -> set[str]:
        return {span.name for span in self._spans if span.trace_id == trace_id}

    def _take(self, request: ExportTraceServiceRequest) -> None:
        with self._changed:
            for group in request.resource_spans:
                service = {a.key: a.value.string_value for a in group.resource.attributes}["service.name"]
                for span in (span for scope in group.scope_spans for span in scope.spans):
                    self._spans.append(
                        TakenSpan(
                            service=service,
                            name=span.name,
                            trace_id=span.trace_id.hex(),
                            span_id=span.span_id.hex(),
                            parent_id=span.parent_span_id.hex(),
                            attributes={a.key: a.value.string_value for a in span.attributes},
                        )
                    )
            self._changed.notify_all()
