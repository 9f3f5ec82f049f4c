"""What hosts and workers count, as Prometheus reads it: out of their last pulses, each process with its own series."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from sederunt.bus.pulse import Pulse
from sederunt.tally import MEASURES, TallyRow, Told, cumulated


class TallyCollector(Collector):
    """Shows the tallies that were heard last."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._heard: Mapping[tuple[str, str], Told] = {}
        registry.register(self)

    def hear(self, living: Iterable[Pulse]) -> None:
        """Take what the living processes told last."""
        self._heard = {(pulse.role, pulse.name): pulse.facts.get("tally", {}) for pulse in living}

    def collect(self) -> Iterator[Metric]:
        """Yield every measure of the table, with a series for each process and label."""
        for measure in MEASURES.values():
            yield self._histogram(measure) if measure.buckets else self._counter(measure)

    def _counter(self, measure: TallyRow) -> Metric:
        family = CounterMetricFamily(f"sederunt_{measure.name}", measure.text, labels=("role", "name", measure.label))
        for who, told in self._heard.items():
            for label, total in told.get(measure.name, {}).items():
                family.add_metric((*who, label), float(total))
        return family

    def _histogram(self, measure: TallyRow) -> Metric:
        family = HistogramMetricFamily(f"sederunt_{measure.name}", measure.text, labels=("role", "name", measure.label))
        bounds = [*map(str, measure.buckets), "+Inf"]
        for who, told in self._heard.items():
            for label, (total, *counts) in told.get(measure.name, {}).items():
                buckets = [*zip(bounds, map(float, cumulated(counts)), strict=True)]
                family.add_metric((*who, label), buckets, float(total))
        return family
