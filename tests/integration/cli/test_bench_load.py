"""`sederunt bench load`, small, as a person runs it; and what it reckons from what it measured."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from harness.postgres import postgres_server
from sederunt.bench.load import LoadStep, curve, limits
from sederunt.bench.processes import child


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sederunt.cli.main", "bench", "load", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_bench_of_load_loses_no_webhook_and_plots_what_a_bot_costs() -> None:
    done = bench("--bots", "4", "--seconds", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^(\d+) bots in their meetings: api", done.stdout, re.M) == ["1", "2", "4"]
    assert "20 webhooks in all; of 4 of 4 bots each of the 5 came once and in order." in done.stdout
    assert len(re.findall(r"^ +\d █", done.stdout, re.M)) == 3
    assert "The first limit is " in done.stdout


def test_it_measures_with_postgresql_that_nobody_uses() -> None:
    with postgres_server() as server:
        address = server.fresh_database()
        first, again = (bench("--bots", "1", "--seconds", "1", "--database", address) for _ in range(2))
    assert first.returncode == 0, first.stdout + first.stderr
    assert "of 1 of 1 bots" in first.stdout
    assert again.returncode == 1
    assert "There are bots in this database. Give the bench an empty one" in again.stderr


async def test_what_a_quiet_child_logged_is_shown_where_it_failed(capfd: pytest.CaptureFixture[str]) -> None:
    async with child("sederunt.of_no_such_name", quiet=True) as process:
        await process.wait()
    assert "ended with exit code 1" in (said := capfd.readouterr().err)
    assert "No module named sederunt.of_no_such_name" in said
    async with child("timeit", "-n", "1", "import sys; sys.stderr.write('all is well')", quiet=True) as process:
        await process.wait()
    assert not capfd.readouterr().err


def step(bots: int, **cores: float) -> LoadStep:
    return LoadStep(bots=bots, cores=cores, resident_mb={}, post_ms=[], seated_s=[], late_ms=[], bench_cores=0.1)


@pytest.mark.parametrize(
    ("last", "cores", "words"),
    [
        (step(100, api=0.09, host=0.3), 8, "one core of the host process: about 300 bots"),
        (step(100, api=0.2, host=0.25), 2, "one core of the host process: about 360 bots"),
        (step(100, api=0.2, host=0.25), 1, "this machine's 1 cores: about 200 bots"),
    ],
)
def test_what_is_full_first_is_named(last: LoadStep, cores: int, words: str) -> None:
    assert words in next(limits([step(50, host=0.9), last], cores))


def test_events_that_come_late_name_the_database_and_the_step() -> None:
    steps = [step(50, host=0.1), replace(step(100, host=0.2), late_ms=[1500.0]), step(200, host=0.3)]
    (said,) = limits(steps, 2)
    assert "with 100 bots, events wait 1.5 s" in said


def test_where_no_cpu_was_counted_nothing_is_reckoned_from_it() -> None:
    idle = step(1, api=0.0, host=0.0)
    assert [line.split() for line in curve([idle])][1] == ["1", "█", "0.000"]
    (said,) = limits([idle], 2)
    assert said.startswith("No process used CPU that can be measured")


def test_the_curve_is_of_the_share_of_each_bot() -> None:
    title, first, second = curve([step(10, api=0.1), step(20, api=0.1)])
    assert title == "Control plane, % of a core per bot:"
    assert first.split() == ["10", "█" * 40, "1.000"]
    assert second.split() == ["20", "█" * 20, "0.500"]
