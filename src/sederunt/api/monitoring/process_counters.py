"""The counters of hosts and workers for Prometheus, read from their last heartbeats; one series per process."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from sederunt.bus.heartbeat import Heartbeat
from sederunt.counters import MEASURES, CounterRow, Told, cumulated


class ProcessCountersCollector(Collector):
    """Exports the counters of the last heartbeats."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._heard: Mapping[tuple[str, str], Told] = {}
        registry.register(self)

    def hear(self, heartbeats: Iterable[Heartbeat]) -> None:
        """Store the counters from the last heartbeats of the living processes."""
        self._heard = {(heartbeat.role, heartbeat.name): heartbeat.facts.get("tally", {}) for heartbeat in heartbeats}

    def collect(self) -> Iterator[Metric]:
        """Yield every measure of the table, with a series for each process and label."""
        for measure in MEASURES.values():
            yield self._histogram(measure) if measure.buckets else self._counter(measure)

    def _counter(self, measure: CounterRow) -> Metric:
        family = CounterMetricFamily(f"sederunt_{measure.name}", measure.text, labels=("role", "name", measure.label))
        for process, counters in self._heard.items():
            for label, total in counters.get(measure.name, {}).items():
                family.add_metric((*process, label), float(total))
        return family

    def _histogram(self, measure: CounterRow) -> Metric:
        family = HistogramMetricFamily(f"sederunt_{measure.name}", measure.text, labels=("role", "name", measure.label))
        bounds = [*map(str, measure.buckets), "+Inf"]
        for process, counters in self._heard.items():
            for label, (total, *counts) in counters.get(measure.name, {}).items():
                buckets = [*zip(bounds, map(float, cumulated(counts)), strict=True)]
                family.add_metric((*process, label), buckets, float(total))
        return family
