"""What the outside asks of a bot while it is held: stop, chat. Orders arrive as commands; a stop also on the row."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any


class Orders:
    """The inbox of one bot on its host.

    Args:
        cut_off: set by the bus when somebody else may hold this bot by now.
    """

    def __init__(self, cut_off: asyncio.Event | None = None) -> None:
        self.stop = asyncio.Event()
        self.cut_off = cut_off or asyncio.Event()
        self._say: Callable[[str], Coroutine[Any, Any, None]] | None = None

    def can_chat(self, say: Callable[[str], Coroutine[Any, Any, None]] | None) -> None:
        """Set (or take away) what posts into the meeting's chat."""
        self._say = say

    async def obey(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out one command and answer it: {"ok": true} or {"ok": false, "message": why}.

        `later` beside it: the bot has a seat or soon will, and cannot speak yet; ask again.
        """
        match order.get("do"):
            case "stop":
                self.stop.set()
                return {"ok": True}
            case "chat" if self._say is None:
                return {"ok": False, "later": True, "message": "The bot is not in the meeting."}
            case "chat" if self._say is not None:
                try:
                    await self._say(str(order.get("message", "")))
                except Exception as error:  # whatever the site did: the caller gets the sentence, the meeting goes on
                    return {"ok": False, "message": f"The meeting did not take the message: {error}"}
                return {"ok": True}
            case "are-you-there":
                return {"ok": True}
            case unknown:
                return {"ok": False, "message": f"Unknown order '{unknown}': expected stop, chat or are-you-there."}
