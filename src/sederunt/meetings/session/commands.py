"""Commands to a bot while a host holds it: stop, chat, change-avatar. They come as messages; a stop also on the row."""

import asyncio
import base64
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from sederunt.errors import DestinationError, MediaError

LARGEST_PICTURE = 700_000  # bytes: messages of NATS are up to 1 MiB, and base64 adds a third
_KNOWN = "stop, chat, change-avatar, picture or are-you-there"

Act = Callable[[str], Coroutine[Any, Any, None]]
Look = Callable[[], Coroutine[Any, Any, bytes]]


class Commands:
    """The inbox of one bot on its host.

    Args:
        cut_off: set by the bus when another host may hold this bot by now.
    """

    def __init__(self, cut_off: asyncio.Event | None = None) -> None:
        self.stop = asyncio.Event()
        self.cut_off = cut_off or asyncio.Event()
        self.moved = asyncio.Event()  # another holder is in the meeting, or will be: leave, write nothing more
        self.left = asyncio.Event()  # … and this holder's recording is on this disk
        self.picture: bytes | None = None  # of the last change-avatar; the next page shows it too
        self._say: Act | None = None
        self._show: Act | None = None
        self.look: Look | None = None  # takes a picture of the page

    async def wait(self, *others: Coroutine[Any, Any, Any], within_s: float | None = None) -> None:
        """Wait for a stop, a cut-off, a move, the first of the others to finish, or the end of `within_s` seconds."""
        interruptions = (self.stop.wait(), self.cut_off.wait(), self.moved.wait())
        tasks = [asyncio.ensure_future(each) for each in (*interruptions, *others)]
        try:
            await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    def can_act(self, *, say: Act | None, show: Act | None) -> None:
        """Set (or remove) the functions that post into the meeting's chat and show the picture at an address."""
        self._say, self._show = say, show

    async def give_place(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Answer the next holder of this bot. {"do": "leave"} ends this stay; the answer is sent once the whole
        recording is durable.
        """
        if order.get("do") == "leave":
            self.moved.set()
            await self.left.wait()
        return {"ok": True}

    async def carry_out(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out one command and answer it: {"ok": true} or {"ok": false, "message": why}.

        With `later`, the bot has a seat or soon will, and cannot speak yet: ask again. With `by_caller`, the argument
        cannot be used, whatever the meeting does.
        """
        match order.get("do"):
            case "stop":
                self.stop.set()
                return {"ok": True}
            case "chat":
                return await _tried(self._say, order.get("message"), "The meeting did not take the message")
            case "change-avatar":
                return await _tried(self._show, order.get("avatar_url"), "The picture is not shown")
            case "picture":
                return await _picture(self.look)
            case "are-you-there":
                return {"ok": True}
            case unknown:
                return {"ok": False, "message": f"Unknown order '{unknown}': expected {_KNOWN}."}


async def _picture(look: Look | None) -> dict[str, Any]:
    # A PNG in base64 that fits into a message.
    if look is None:
        return {"ok": False, "message": "The bot has no page right now."}
    try:
        data = await look()
    except Exception as error:  # the page may be too busy; the meeting goes on
        return {"ok": False, "message": f"The page could not be pictured: {error}"}
    if len(data) > LARGEST_PICTURE:
        return {"ok": False, "message": "The picture of the page is too large to be passed on."}
    return {"ok": True, "png": base64.b64encode(data).decode()}


async def _tried(act: Act | None, argument: object, failure: str) -> dict[str, Any]:
    if act is None:
        return {"ok": False, "later": True, "message": "The bot is not in the meeting."}
    try:
        await act(str(argument or ""))
    except (DestinationError, MediaError) as error:
        return {"ok": False, "by_caller": True, "message": f"{failure}: {error}"}
    except Exception as error:  # whatever happened, the caller gets the message and the meeting goes on
        return {"ok": False, "message": f"{failure}: {error}"}
    return {"ok": True}
