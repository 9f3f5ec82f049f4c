"""`sederunt bench listeners`, small, as a person runs it: nothing lost, nothing out of order."""

import re
import subprocess
import sys


def test_the_bench_of_listeners_hears_everything_in_order() -> None:
    command = [sys.executable, "-m", "sederunt.cli.main", "bench", "listeners"]
    small = ["--listeners", "12", "--bots", "4", "--seconds", "2", "--no-deaf"]
    done = subprocess.run([*command, *small], capture_output=True, text=True, timeout=120)
    found = re.findall(
        r"^(.*): (\d+) events each, (\d+) of (\d+) heard all of them once and in order", done.stdout, re.M
    )
    assert found == [
        ("12 listeners on one bot", "20", "12", "12"),
        ("4 bots with a listener each", "10", "4", "4"),
    ], done.stdout + done.stderr
    assert done.returncode in (0, 1)  # 1: this machine was too busy for the limit of latency; the bench says so
