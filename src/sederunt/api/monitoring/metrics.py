"""What this process counts, in the text format of Prometheus. A registry per application, so that tests stay apart."""

import asyncio
from contextlib import AbstractContextManager
from time import monotonic

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from sederunt.api.monitoring.gauges import GaugeSources, InstallationGauges

SCRAPE_S = 1.0  # that a scrape is told again: it needs no key, and asks the database and every queue
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The counters of the API."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._answered = Counter(
            "sederunt_http_requests_total", "Answers given.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "sederunt_http_request_seconds", "Time to the end of an answer.", ("route",),
            buckets=_BUCKETS, registry=self._registry,
        )  # fmt: skip
        self.uploads = Gauge("sederunt_uploads", "Uploads under way.", registry=self._registry)
        self.uploaded_bytes = Counter("sederunt_uploaded_bytes_total", "Bytes taken in.", registry=self._registry)
        self._listeners = Gauge("sederunt_listeners", "Open sockets.", ("kind",), registry=self._registry)
        self._closed = Counter(
            "sederunt_sockets_closed_total", "Sockets closed, by the code.", ("kind", "code"), registry=self._registry
        )
        self.installation = InstallationGauges(self._registry)
        self._scraping = asyncio.Lock()
        self._scraped: tuple[float, bytes] | None = None  # when, and what was told
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered. `route` is the template of the path, never the path."""
        series = self._known.get((method, route, status))
        if series is None:
            series = (self._answered.labels(method, route, str(status)), self._seconds.labels(route))
            self._known[method, route, status] = series
        series[0].inc()
        series[1].observe(seconds)

    def listening(self, kind: str) -> AbstractContextManager[object]:
        """Count a socket as open for as long as the block lasts."""
        return self._listeners.labels(kind).track_inprogress()

    def socket_closed(self, kind: str, code: int) -> None:
        """Count a socket that was closed, by whom ever."""
        self._closed.labels(kind, str(code)).inc()

    async def scrape(self, sources: GaugeSources) -> bytes:
        """Return every metric of this process and of the installation, made once a second for all who ask."""
        async with self._scraping:
            if self._scraped is None or monotonic() >= self._scraped[0] + SCRAPE_S:
                await self.installation.read(sources)
                self._scraped = monotonic(), self.text()
            return self._scraped[1]

    def text(self) -> bytes:
        """Write every metric as Prometheus reads it."""
        return generate_latest(self._registry)
