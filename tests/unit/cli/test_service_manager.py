"""How often a service manager is told that a process lives, and who tells it."""

import asyncio
import os
from pathlib import Path

import pytest

from sederunt.cli.run_files import alive_file
from sederunt.cli.service_manager import BEATS, TOUCH_EVERY_S, beat_every_s, watched

WATCHED = {"NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "7"}


def test_a_process_beats_several_times_in_the_time_that_it_is_given() -> None:
    assert beat_every_s(WATCHED, 7) == 120 / BEATS


@pytest.mark.parametrize(
    "environment",
    [
        {},
        WATCHED | {"WATCHDOG_PID": "8"},  # a child's, which inherited it
        WATCHED | {"WATCHDOG_USEC": "0"},
        {"NOTIFY_SOCKET": "/run/systemd/notify"},
        {"WATCHDOG_USEC": "120000000"},
    ],
)
def test_whom_nobody_watches_beats_for_nobody(environment: dict[str, str]) -> None:
    assert beat_every_s(environment, 7) is None


async def test_a_file_is_as_old_as_the_last_sign_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beats: asyncio.Queue[float] = asyncio.Queue()
    sleep = asyncio.sleep

    async def note(pause_s: float) -> None:
        beats.put_nowait(pause_s)
        await sleep(0)

    monkeypatch.setattr("sederunt.cli.service_manager.asyncio.sleep", note)
    file = alive_file(tmp_path, "host")
    async with watched(tmp_path, "host"), asyncio.timeout(30):
        assert await beats.get() == TOUCH_EVERY_S
        os.utime(file, (1, 1))
        while file.stat().st_mtime == 1:
            await beats.get()
