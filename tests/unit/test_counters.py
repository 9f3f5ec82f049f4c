"""What hosts and workers count reaches the metrics with their heartbeats, as Prometheus reads it."""

import json
import re
from pathlib import Path

import pytest

from sederunt.api.monitoring.metrics import Metrics
from sederunt.bus.heartbeat import Heartbeats
from sederunt.counters import MEASURES, ProcessCounters
from sederunt.tracing import traced


def heard(tally: ProcessCounters) -> str:
    """The metrics after a host's heartbeat."""
    metrics, heartbeats = Metrics(), Heartbeats(lambda: 0.0)
    facts = json.loads(json.dumps(tally.told()))  # as the bus brings it
    heartbeats.hear(
        {"role": "host", "name": "a", "pid": 1, "tally": facts, "browsers": {"cpu_s": 7.5, "resident": 1e6}}
    )
    metrics.installation.hear(heartbeats)
    return metrics.text().decode()


def test_amounts_are_counted_in_their_buckets_and_together() -> None:
    tally = ProcessCounters()
    for amount in (0.1, 0.2, 4.0, 9_999.0):
        tally.add("lobby_seconds", "in_call", amount)
    tally.add("packets", "heard", 50)
    tally.add("packets", "heard", 7)
    text = heard(tally)
    lobby = 'name="a",role="host",then="in_call"'
    for bound, count in (("0.1", 1), ("0.25", 2), ("2.5", 2), ("5.0", 3), ("1800.0", 3), ("+Inf", 4)):
        assert _line(text, f'sederunt_lobby_seconds_bucket{{le="{bound}",{lobby}}}') == count
    assert _line(text, f"sederunt_lobby_seconds_sum{{{lobby}}}") == pytest.approx(10_003.3)
    assert _line(text, f"sederunt_lobby_seconds_count{{{lobby}}}") == 4
    assert _line(text, 'sederunt_packets_total{name="a",role="host",state="heard"}') == 57
    assert _line(text, 'sederunt_browser_cpu_seconds{name="a"}') == 7.5


def _line(text: str, series: str) -> float:
    labels = set(series.partition("{")[2].rstrip("}").split(","))
    name = series.partition("{")[0]
    for line in text.splitlines():
        found, _, rest = line.partition("{")
        if found == name and set(rest.rpartition("}")[0].split(",")) == labels:
            return float(line.rsplit(" ", 1)[1])
    raise AssertionError(f"{series} is not served")


def test_what_is_not_in_the_table_cannot_be_counted() -> None:
    with pytest.raises(KeyError):
        ProcessCounters().add("surprises", "a")
    assert ProcessCounters().told() == {}
    assert all(measure.buckets == tuple(sorted(measure.buckets)) for measure in MEASURES.values())


async def test_each_step_is_timed_also_where_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = ProcessCounters()
    monkeypatch.setattr("sederunt.counters.add", tally.add)

    @traced("knock")
    async def knock(answer: bool) -> bool:
        if not answer:
            raise OSError
        return answer

    assert await knock(True)
    with pytest.raises(OSError):
        await knock(False)
    total, *counts = tally.told()["step_seconds"]["knock"]
    assert total >= 0
    assert sum(counts) == 2


def test_every_counter_is_moved_somewhere_and_has_its_row() -> None:
    source = Path(__file__).parents[2] / "src"
    text = "".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py"))
    moved = set(re.findall(r"counters\.add\(\s*\"(\w+)\"", text))
    assert MEASURES.keys() - moved == set(), "nobody calls counters.add with these rows of MEASURES"
    assert moved - MEASURES.keys() == set(), "give these a row in MEASURES (src/sederunt/counters.py)"
