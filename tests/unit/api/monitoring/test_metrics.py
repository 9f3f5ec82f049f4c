"""The metrics that are served, and the files and the page that name them."""

import re
from pathlib import Path

import pytest

from sederunt.api.monitoring.metrics import Metrics
from sederunt.bus.heartbeat import Heartbeats

ROOT = Path(__file__).parents[4]
_OF_HISTOGRAMS = re.compile("_(bucket|count|sum)$")


def served() -> set[str]:
    """The names of every metric of ours, whether it has a value yet or not."""
    text = Metrics().text().decode()
    return {name for name in re.findall(r"^# TYPE (sederunt_\w+) ", text, re.M) if not name.endswith("_created")}


@pytest.mark.parametrize("path", ["deploy/observability/grafana.json", "deploy/observability/alerts.yaml"])
def test_no_panel_and_no_alert_names_a_metric_that_is_not_served(path: str) -> None:
    named = set(re.findall(r"\bsederunt_\w+", (ROOT / path).read_text()))
    assert named
    assert {_OF_HISTOGRAMS.sub("", name) for name in named} <= served()


def test_the_page_for_operators_names_exactly_what_is_served() -> None:
    section = (ROOT / "docs/operations.md").read_text().split("## What an api process counts")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(sederunt_\w+)`", section, re.M)) == served()


def test_what_processes_tell_is_served_and_forgotten_with_them() -> None:
    metrics, now = Metrics(), [0.0]
    heartbeats = Heartbeats(lambda: now[0])
    seats = {"total": 9, "held": 2, "free": 7}
    heartbeats.hear(
        {"role": "host", "name": "a", "pid": 1, "parts": {"browser": "missing"}, "seats": seats, "load": 0.5}
    )
    metrics.installation.hear(heartbeats)
    text = metrics.text().decode()
    assert 'sederunt_part_faults{part="browser",role="host"} 1.0' in text
    assert 'sederunt_host_load{name="a"} 0.5' in text
    assert 'sederunt_seats{state="held"} 2.0' in text
    assert 'sederunt_seats{state="free"} 0.0' in text
    now[0] = 60.0
    metrics.installation.hear(heartbeats)
    text = metrics.text().decode()
    assert "sederunt_host_load{" not in text
    assert 'sederunt_processes{role="host",state="silent"} 1.0' in text
