"""How a role that runs by itself is told to end."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from sederunt.cli.roles import _until_signalled
from sederunt.jobs.drain import Drain
from sederunt.settings import Settings


def test_a_role_that_is_told_to_hang_up_drains_and_hanging_up_again_cuts_nothing_short(tmp_path: Path) -> None:
    done = []

    async def work(drain: Drain) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
            await drain.asked.wait()
            await asyncio.sleep(0)
        done.append("what was held")

    _until_signalled(Settings(data=tmp_path), "host", work, 60)
    assert done == ["what was held"]


def test_a_role_whose_thread_never_comes_back_ends_and_says_where_it_stood(tmp_path: Path) -> None:
    code = """
import asyncio, os, signal, sys, time
from pathlib import Path
from sederunt.cli import roles
from sederunt.settings import Settings

roles.ENDS_S = 0.3

async def work(drain):
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    def waits_for_ever():
        loop.call_soon_threadsafe(started.set)
        time.sleep(600)

    stuck = asyncio.ensure_future(asyncio.to_thread(waits_for_ever))
    await started.wait()  # a call that no thread has taken yet would be cancelled for good
    os.kill(os.getpid(), signal.SIGTERM)
    await drain.asked.wait()
    stuck.cancel()

roles._until_signalled(Settings(data=Path(sys.argv[1])), "worker", work, 0.1)
"""
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "in waits_for_ever" in ended.stderr
