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

    def wait(self, trace_id: str, names: Iterable[str], *, began_by: str, timeout_s: float = 60) -> list[TakenSpan]:
        """Return the spans of a trace once some of each of these names are there, and the parent of every one.

        A span is sent when it ends, so a parent comes after its children, and often from another process.
        began_by is the span of the caller, who sends us none.
        """
        wanted = set(names)

        def missing() -> set[str]:
            spans = self._of(trace_id)
            parents = {span.parent_id for span in spans} - {span.span_id for span in spans} - {began_by}
            return (wanted - {span.name for span in spans}) | {
                f"the parent of {span.name} ({span.service})" for span in spans if span.parent_id in parents
            }

        with self._changed:
            assert self._changed.wait_for(lambda: not missing(), timeout_s), f"did not come: {sorted(missing())}"
            return self._of(trace_id)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _of(self, trace_id: str) -> list[TakenSpan]:
        return [span for span in self._spans if span.trace_id == trace_id]

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
