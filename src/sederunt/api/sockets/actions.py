"""The table of actions for clients of the event socket. Success is silent; a refusal is an exception."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field

from sederunt import foreign_json
from sederunt.api.context import ApiContext
from sederunt.api.resources.bot_commands import change_avatar, order_stop, post_chat
from sederunt.api.schemas import values as v
from sederunt.api.schemas.faults import valid
from sederunt.api.schemas.requests import AvatarFields, Body
from sederunt.errors import RequestError
from sederunt.model.bot import Bot


class ChatData(Body):
    """A message for the meeting's chat, as a listener sends it."""

    REQUIRED = ("content",)

    content: Annotated[str, *v.text()] = Field("")


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """An action: the data that it takes, and the function that carries it out."""

    data: type[Body]
    act: Callable[[ApiContext, Bot, Any], Awaitable[None]]
    at_once: bool = False  # does not wait for earlier actions


async def _chat(context: ApiContext, bot: Bot, data: ChatData) -> None:
    await post_chat(context, bot, data.content)


async def _avatar(context: ApiContext, bot: Bot, data: AvatarFields) -> None:
    await change_avatar(context, bot, data.avatar_url)


async def _stop(context: ApiContext, bot: Bot, _data: Body) -> None:
    await order_stop(context, bot.id, bot.account_id)


ACTIONS: Mapping[str, Action] = {
    "chat-message": Action(data=ChatData, act=_chat),
    "change-avatar": Action(data=AvatarFields, act=_avatar),
    "stop": Action(data=Body, act=_stop, at_once=True),
}


@dataclass(frozen=True, slots=True)
class ListenerAction:
    """A valid frame: an action and its data."""

    action: Action
    data: BaseModel

    async def carry_out(self, context: ApiContext, target: Bot) -> None:
        """Carry out the action. Raises what a REST request would raise: RequestError, BusAway."""
        bot = await context.bots.get(target.id, target.account_id)
        await self.action.act(context, bot, self.data)


def order_of(frame: str | bytes) -> ListenerAction:
    """Return the action of a frame. Raises RequestError."""
    if isinstance(frame, bytes):
        raise RequestError("Binary frames are not understood: send JSON as text.")
    try:
        message = foreign_json.read(frame, keeps_halves=True)
    except ValueError:
        raise RequestError("This is no JSON.") from None
    name = message.get("action") if isinstance(message, dict) else None
    if not isinstance(name, str) or name not in ACTIONS:
        raise RequestError(f"action must be one of: {', '.join(ACTIONS)}.")
    action = ACTIONS[name]
    data = message.get("data")
    if data is not None and not isinstance(data, dict):
        raise RequestError("data must be an object.")
    return ListenerAction(action, valid(action.data, data or {}))
