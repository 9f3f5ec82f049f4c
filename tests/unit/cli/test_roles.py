"""How a role that runs by itself is told to end."""

import asyncio
import os
import signal

from sederunt.cli.roles import _until_signalled
from sederunt.jobs.drain import Drain


def test_a_role_that_is_told_to_hang_up_drains_and_hanging_up_again_cuts_nothing_short() -> None:
    done = []

    async def work(drain: Drain) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
            await drain.asked.wait()
            await asyncio.sleep(0)
        done.append("what was held")

    _until_signalled(work, 60)
    assert done == ["what was held"]
