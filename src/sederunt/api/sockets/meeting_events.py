"""The events of a meeting by plain requests, for clients that cannot hold a socket open."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from sederunt.api.call import Call
from sederunt.api.failures import json_response
from sederunt.api.sockets.endpoints import Outgoing, outgoing_of, since_of
from sederunt.errors import NotFound
from sederunt.realtime.addresses import SocketKind
from sederunt.realtime.messages import Closing

LONGEST_WAIT_S = 25
MOST_EVENTS = 500
_TOGETHER_S = 0.1  # events that follow the first one so soon go into the same answer


@dataclass
class _LiveHeard:
    """The events of one answer."""

    since: int | None
    events: list[dict[str, Any]] = field(default_factory=list)
    is_over: bool = False

    def take(self, item: str | bytes | Closing) -> bool:
        """Take the next message; return whether there is room for another."""
        if isinstance(item, Closing):
            self.is_over = True
            return False
        message: dict[str, Any] = json.loads(item)
        if "seq" in message:  # messages without one, such as drafts, are not stored
            self.events.append(message)
        return len(self.events) < MOST_EVENTS

    @property
    def next(self) -> int:
        """Return the sequence number after which the next request resumes."""
        return int(self.events[-1]["seq"]) if self.events else self.since or 0


async def follow_bot(call: Call) -> Response:
    """Answer GET /bot/{id}/live"""
    bot = await call.context.bots.get(call.id("bot"), call.account_id)
    if bot.delete_requested:
        raise NotFound("There is no bot with this id.")
    since = since_of(call.request.query_params.get("since"))
    wait_s = call.integer("wait", default=0, least=0, most=LONGEST_WAIT_S)
    answer = _LiveHeard(since)
    async with outgoing_of(call.context, bot, SocketKind.READ_ONLY, since, greets=False) as outgoing:
        await _hear(answer, outgoing, wait_s)
    if wait_s:
        await call.context.socket_holders.refuse_who_is_over(call.caller)
    return json_response({"data": answer.events, "next": answer.next, "ended": answer.is_over})


async def _hear(answer: _LiveHeard, outgoing: Outgoing, wait_s: float) -> None:
    """Take the available events; if there are none, wait up to `wait_s` for some."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(wait_s) as patience:
            async for item in outgoing:
                if not answer.take(item):
                    return
                if answer.events:
                    patience.reschedule(min(patience.when() or 0, loop.time() + _TOGETHER_S))
    except TimeoutError:
        pass
