"""The metrics of this process, in the text format of Prometheus. Each application has its own registry, for tests."""

import asyncio
from contextlib import AbstractContextManager
from time import monotonic

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from sederunt.api.monitoring.gauges import GaugeSources, InstallationGauges

SCRAPE_S = 1.0  # a scrape is cached for so long: it needs no key, and queries the database and every queue
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
        self._scraped: tuple[float, bytes] | None = None  # (time, answer)
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request. `route` is the template of the path, never the path itself."""
        series = self._known.get((method, route, status))
        if series is None:
            series = (self._answered.labels(method, route, str(status)), self._seconds.labels(route))
            self._known[method, route, status] = series
        series[0].inc()
        series[1].observe(seconds)

    def listening(self, kind: str) -> AbstractContextManager[object]:
        """Count a socket as open until the block ends."""
        return self._listeners.labels(kind).track_inprogress()

    def socket_closed(self, kind: str, code: int) -> None:
        """Count a socket that either side has closed."""
        self._closed.labels(kind, str(code)).inc()

    async def scrape(self, sources: GaugeSources) -> bytes:
        """Return all metrics of this process and of the installation, read at most once a second."""
        async with self._scraping:
            if self._scraped is None or monotonic() >= self._scraped[0] + SCRAPE_S:
                await self.installation.read(sources)
                self._scraped = monotonic(), self.text()
            return self._scraped[1]

    def text(self) -> bytes:
        return generate_latest(self._registry)
