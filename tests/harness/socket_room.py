"""The application behind uvicorn, and bots whose feeds a test fills as a host would."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from harness.api_room import ApiRoom
from harness.fake_clock import FakeClock
from harness.listener import Listener, listening
from sederunt.bus import streams
from sederunt.model.bot import Bot

SOCKETS_PER_ACCOUNT = 30  # of a stage


@dataclass(frozen=True)
class Stage:
    """A running service whose time a test moves."""

    room: ApiRoom
    clock: FakeClock
    port: int

    async def bot(self, status: str = "recording", **fields: Any) -> dict[str, Any]:
        """A bot with sockets, in a status; its events were not told to its feed."""
        return await self.room.bot_in(status, **{"realtime_audio": True, **fields})

    async def row(self, bot: dict[str, Any]) -> Bot:
        """The bot as the service knows it."""
        return await self.room.bots.get(UUID(bot["id"]))

    def address(self, bot: dict[str, Any], kind: str = "websocket_url") -> str:
        """Where this test's server has one of the bot's sockets."""
        return str(bot[kind]).replace("ws://api.test", f"ws://127.0.0.1:{self.port}")

    def listen(
        self, bot: dict[str, Any], kind: str = "websocket_url", since: int | None = None
    ) -> AbstractAsyncContextManager[Listener]:
        return listening(self.address(bot, kind), since)

    async def tell(self, bot: dict[str, Any], *messages: dict[str, Any]) -> None:
        """Put messages into the bot's feed."""
        for message in messages:
            subject = streams.events_subject(bot["id"])
            await self.room.bus.publish(subject, json.dumps(message).encode(), str(uuid4()))

    async def move(self, bot: dict[str, Any], old: str, new: str) -> None:
        await self.tell(bot, {"type": "status-update", "data": {"old_status": old, "new_status": new}})

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and the hub notice it."""
        async with asyncio.timeout(60):
            while not self.clock.sleepers:  # noqa: ASYNC110  # a clock has no event for who goes to sleep
                await asyncio.sleep(0)
        self.clock.advance(seconds)
