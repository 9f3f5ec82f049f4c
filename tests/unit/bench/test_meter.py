"""A meter counts from its first sample on, for every process of the tree."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from sederunt.bench import meter as meter_module
from sederunt.bench.meter import TreeMeter

BUSY = "import time, sys\nwhile time.process_time() < 0.5: pass\nprint('worked', flush=True)\nsys.stdin.read()"
SPENT_S = 0.5 - 0.05  # the kernel counts user and system time in hundredths of a second, each cut off, by process
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"


def test_what_a_child_spent_before_the_first_sample_is_not_counted() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        meter = TreeMeter([parent.pid])
        meter.sample()
        meter.sample()
        assert meter.cpu_s < 0.25
        assert meter.total_cpu_s >= SPENT_S
        parent.communicate()


def test_a_process_that_begins_after_the_first_sample_counts_whole() -> None:
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sys, subprocess\nsys.stdin.readline()\nsubprocess.run([sys.executable, '-c', {BUSY!r}])",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        meter = TreeMeter([parent.pid])
        meter.sample()
        parent.stdin.write(b"go\n")
        parent.stdin.flush()
        parent.stdout.readline()
        meter.sample()
        assert meter.cpu_s >= SPENT_S
        parent.communicate()


def test_a_share_of_a_core_is_of_the_time_that_passed_however_slow_reading_is(monkeypatch: pytest.MonkeyPatch) -> None:
    read_at = iter((100.0, 108.0))
    monkeypatch.setattr(meter_module, "time", SimpleNamespace(monotonic=lambda: next(read_at)))
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        meter = TreeMeter([process.pid])
        meter.sample()
        process.stdout.readline()
        meter.sample()
        assert meter.cpu_percent == pytest.approx(100 * meter.cpu_s / 8)
        process.communicate()
