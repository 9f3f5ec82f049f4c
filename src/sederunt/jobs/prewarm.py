"""Starts browsers shortly before scheduled bots are due; unused ones end by themselves."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

from sederunt import log
from sederunt.clock import Clock
from sederunt.database.waiting import WaitingBots

AHEAD = timedelta(minutes=1)
LOOK_EVERY_S = 5.0

logger = log.get(component="jobs")


async def prewarm(waiting: WaitingBots, clock: Clock, wake: Callable[[], None]) -> NoReturn:
    """Call `wake` while a bot is due within a minute. Every host does, because any of them may get the bot."""
    while True:
        try:
            if await waiting.due(clock.now() + AHEAD):
                wake()
        except Exception as error:  # a database that is away costs the first bot two seconds, not the role
            logger.warning("bots that are due were not looked at", action="look_failed", error=str(error)[:200])
        await asyncio.sleep(LOOK_EVERY_S)
