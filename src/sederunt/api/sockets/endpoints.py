"""The three sockets of a bot: who may open them, outgoing and incoming messages, and how each socket ends.

A listener is refused before the handshake, with the status and body that a REST request would get. After the handshake
it gets everything in frames, and is disconnected with a code of `realtime/messages`.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Hashable
from contextlib import aclosing, asynccontextmanager
from uuid import UUID

from starlette.websockets import WebSocket, WebSocketDisconnect

from sederunt import log
from sederunt.accounting import Rate
from sederunt.api.context import ApiContext
from sederunt.api.failures import answer_to
from sederunt.api.schemas.views import is_realtime
from sederunt.api.sockets.actions import ListenerAction, order_of
from sederunt.bus import feeds
from sederunt.bus.streams import FEED_AGE_S
from sederunt.bus.tasks import end
from sederunt.errors import Conflict, InvalidConfig, LimitReached, NotFound, Unauthorized
from sederunt.model.bot import Bot
from sederunt.model.budgets import count_of
from sederunt.model.status import ENDINGS, BotStatus
from sederunt.realtime import messages
from sederunt.realtime.addresses import SocketKind, holder_of, may_open
from sederunt.realtime.messages import Closing
from sederunt.realtime.snapshot import final_values

PATH = "/realtime/{id}/{kind}/{token}"

PATIENCE_S = 10.0  # a listener that reads nothing for so long is too slow
BREATH = 50  # messages to one listener before others are served: sending does not wait while the buffer has room
FRAMES_PER_MINUTE = count_of("frames")  # of one client; further frames wait to be read
MOST_ORDERS = count_of("orders")  # queued actions of one client

# A bot that was detected may be about to try again; the other endings are final.
_OVER = ENDINGS - {BotStatus.BOT_DETECTED}

logger = log.get(component="api")

Outgoing = AsyncGenerator[str | bytes | Closing, None]


async def realtime(websocket: WebSocket) -> None:
    """Serve all sockets of all bots."""
    context: ApiContext = websocket.app.state.context
    async with contextlib.AsyncExitStack() as stack:
        try:
            bot, kind = await _opened(context, websocket)
            holder = holder_of(websocket.path_params["token"])
            holding = context.socket_holders.hold(bot.account_id, holder, acts=kind is SocketKind.EVENTS)
            revocation = await stack.enter_async_context(holding)
            since = since_of(websocket.query_params.get("since"))
            outgoing = await stack.enter_async_context(outgoing_of(context, bot, kind, since))
        except Exception as error:
            await websocket.send_denial_response(answer_to(error))
            return
        await websocket.accept()
        stack.enter_context(context.metrics.listening(kind))
        await _Connection(websocket, context, bot, kind).serve(outgoing, revocation)


async def nowhere(websocket: WebSocket) -> None:
    """Refuse every other path, since the framework's own refusal is a bare 403."""
    await websocket.send_denial_response(answer_to(NotFound("There is no socket at this path.")))


async def _opened(context: ApiContext, websocket: WebSocket) -> tuple[Bot, SocketKind]:
    """Return the bot and the kind of socket that this address opens. Raises NotFound, Unauthorized."""
    parts = websocket.path_params
    try:
        kind, bot_id = SocketKind(parts["kind"]), UUID(parts["id"])
    except ValueError:
        raise NotFound("There is no socket at this path.") from None
    bot = await context.bots.get(bot_id)
    if bot.delete_requested or not is_realtime(bot):
        raise NotFound("There is no bot with this id, or it has no sockets.")
    if not may_open(bot, kind, parts["token"], context.links("").derive):
        raise Unauthorized
    return bot, kind


def since_of(text: str | None) -> int | None:
    """Return the sequence number after which a listener resumes. Raises InvalidConfig."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InvalidConfig({"since": ["since must be a whole number: the seq of an event."]})
    return int(text)


@asynccontextmanager
async def outgoing_of(
    context: ApiContext, bot: Bot, kind: SocketKind, since: int | None, *, greets: bool = True
) -> AsyncIterator[Outgoing]:
    """Open the stream of messages for a listener; `greets` as in `Channel.events`. Raises BusAway."""
    if bot.status in _OVER:
        newest = await feeds.last_sequence(context.bus, bot.id)
        if kind is SocketKind.AUDIO or since is None or not newest or _has_lost_events(context, bot):
            final = None
            if kind is not SocketKind.AUDIO and (greets or since != newest or not newest):
                view = await context.bots.view(bot.id, bot.account_id)
                # A meeting of hours takes a good part of a second.
                final = await asyncio.to_thread(lambda: messages.connected(final_values(view), newest))
            yield _afterwards(final)
            return
    async with context.hub.channel(await context.bots.as_told(bot)) as channel:
        outgoing: Outgoing = channel.audio() if kind is SocketKind.AUDIO else channel.events(since, greets=greets)
        async with aclosing(outgoing):
            yield outgoing


def _has_lost_events(context: ApiContext, bot: Bot) -> bool:
    """Return whether the first events of a meeting may have expired in the store."""
    start = bot.scheduled_for or bot.created_at
    return (context.clock.now() - start).total_seconds() > FEED_AGE_S - 60


async def _afterwards(final: str | None) -> Outgoing:
    if final is not None:
        yield final
    yield messages.ENDED


async def _until_over(revocation: asyncio.Event) -> Closing:
    await revocation.wait()
    return messages.REVOKED


class _Connection:
    """The connection of one listener after its handshake."""

    def __init__(self, websocket: WebSocket, context: ApiContext, bot: Bot, kind: SocketKind) -> None:
        self._websocket, self._context, self._bot, self._kind = websocket, context, bot, kind
        self._orders: asyncio.Queue[ListenerAction] = asyncio.Queue(MOST_ORDERS)
        self._pace = Rate.per_minute(FRAMES_PER_MINUTE, context.clock.monotonic)
        self._sent = 0

    async def serve(self, outgoing: Outgoing, revocation: asyncio.Event) -> None:
        """Return when the socket is closed and its client's orders are carried out.

        Args:
            revocation: set when the key or session of the address is no longer valid.
        """
        opened_at, facts = time.monotonic(), {"bot_id": str(self._bot.id), "kind": self._kind.value}
        logger.info("listener came", action="socket_opened", **facts)
        action_task = asyncio.create_task(self._act())
        tasks = [
            asyncio.create_task(coroutine)
            for coroutine in (self._talk(outgoing), self._listen(), _until_over(revocation))
        ]
        try:
            finished_tasks, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            closing = self._closing(finished_tasks.pop())
            await end(*tasks)
            # Nothing is left to close if the other side was first.
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await self._websocket.close(closing.code, closing.reason)
            if closing is not messages.REVOKED:
                await self._orders.join()  # orders sent before the client left are still carried out
        finally:
            await end(action_task, *tasks)
        self._context.metrics.socket_closed(self._kind, closing.code)
        lasted_s = round(time.monotonic() - opened_at, 1)
        logger.info(
            "listener left", action="socket_closed", code=closing.code, sent=self._sent, seconds=lasted_s, **facts
        )

    # Out

    async def _talk(self, outgoing: Outgoing) -> Closing:
        async for item in outgoing:
            if isinstance(item, Closing):
                return item
            await self._send(item)
        return messages.ENDED

    async def _send(self, item: str | bytes) -> None:
        async with asyncio.timeout(PATIENCE_S):
            try:
                if isinstance(item, str):
                    await self._websocket.send_text(item)
                else:
                    await self._websocket.send_bytes(item)
            except RuntimeError:  # the server has closed it already
                raise WebSocketDisconnect(1006) from None
        self._sent += 1
        if self._sent % BREATH == 0:
            await asyncio.sleep(0)

    # In

    async def _listen(self) -> Closing:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return Closing(message.get("code", 1005), "")
            await self._until(self._pace, self)
            await self._until(self._context.socket_holders.frames, self._bot.account_id)
            await self._take(message.get("text") or message.get("bytes") or "")

    async def _until(self, pace: Rate, holder: Hashable) -> None:
        """Wait until another message of this socket may be read."""
        while wait_s := pace.wait_s(holder):
            await self._context.clock.sleep(wait_s)

    async def _take(self, frame: str | bytes) -> None:
        if self._kind is SocketKind.AUDIO:
            return  # a frame of text would reach users of this socket as sound
        try:
            if self._kind is SocketKind.READ_ONLY:
                raise Conflict("This socket is read-only: actions go to websocket_url.")
            order = order_of(frame)
            if order.action.at_once:
                await order.carry_out(self._context, self._bot)
            elif self._orders.full():
                sentence = f"{MOST_ORDERS} actions wait to be carried out: try again when one is done."
                raise LimitReached(sentence, "orders")
            else:
                self._orders.put_nowait(order)
        except Exception as error:
            await self._refuse(error)

    async def _act(self) -> None:
        """Carry out orders one after another, so that chat messages keep their order."""
        while True:
            order = await self._orders.get()
            try:
                await order.carry_out(self._context, self._bot)
            except Exception as error:
                with contextlib.suppress(WebSocketDisconnect, TimeoutError, RuntimeError):  # it left meanwhile
                    await self._refuse(error)
            finally:
                self._orders.task_done()

    async def _refuse(self, error: Exception) -> None:
        """Send the message that a REST request would get as its answer."""
        answer = json.loads(bytes(answer_to(error).body))
        await self._send(messages.error(answer["message"]))

    # The end

    def _closing(self, task: "asyncio.Task[Closing]") -> Closing:
        """Return how the socket closes, from the task that finished first."""
        match task.exception():
            case None:
                return task.result()
            case WebSocketDisconnect(code=code):
                return Closing(code, "")
            case TimeoutError():
                return messages.TOO_SLOW
            case fault:
                logger.error("listener lost", action="socket_failed", bot_id=str(self._bot.id), exc_info=fault)
                return messages.OUR_FAULT
