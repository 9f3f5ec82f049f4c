"""How a role that runs by itself is told to end."""

import asyncio
import os
import signal
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
