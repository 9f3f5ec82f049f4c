"""Commands for a bot at work, by REST and by socket: stop, post to the chat, show another picture."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sederunt import log
from sederunt.api.context import ApiContext
from sederunt.bus.connection import BusAway, NoResponder
from sederunt.errors import Conflict, InvalidConfig, NotFound, Superseded
from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus, StopReason, Trigger

logger = log.get(component="api")

STOP_S = 2.0  # how long to wait for the host to receive a stop; the row has it anyway
ACT_S = 30.0  # the page types, sends and checks that the message is there
SETTLING_S = 25.0  # how long a bot that was just let in may be unable to act
ASK_AGAIN_S = 0.25


async def order_stop(context: ApiContext, bot_id: UUID, account_id: UUID) -> None:
    """Order a running bot to leave its meeting. Raises Conflict, NotFound."""
    bot = await context.bots.request_stop(bot_id, account_id)
    if not await _stopped_unheld(context, bot):
        try:
            await context.bus.command(bot.id, {"do": "stop"}, within_s=STOP_S)
        except NoResponder:
            logger.info("nobody holds the bot, the row has the stop", action="stop_kept", bot_id=str(bot.id))
        except BusAway:
            logger.warning("stop not passed on, the row has it", action="stop_kept", bot_id=str(bot.id))
    logger.info("bot stopped", action="stop_requested", bot_id=str(bot.id))


async def _stopped_unheld(context: ApiContext, bot: Bot) -> bool:
    """Stop a bot that no host has claimed, without waiting for a host. Return False if a host has it."""
    if bot.status is not BotStatus.BOOTING or bot.epoch:
        return False
    try:
        await context.bots.record_transition(
            bot.id, Trigger.STOPPED, reason=StopReason.MANUALLY_STOPPED, epoch=bot.epoch
        )
    except Superseded:  # claimed at this moment
        return False
    except NotFound:  # deleted at this moment
        pass
    return True


async def post_chat(context: ApiContext, bot: Bot, message: str) -> None:
    """Post to the meeting's chat; returns when the message is there. Raises Conflict, BusAway."""
    await _act(context, bot, {"do": "chat", "message": message}, "post to the chat", "message")


async def change_avatar(context: ApiContext, bot: Bot, avatar_url: str) -> None:
    """Show another picture; returns when the bot has it. Raises InvalidConfig, Conflict, BusAway."""
    await _act(context, bot, {"do": "change-avatar", "avatar_url": avatar_url}, "show a picture", "avatar_url")


async def _act(context: ApiContext, bot: Bot, order: Mapping[str, Any], action: str, field: str) -> None:
    if bot.status is not BotStatus.RECORDING:
        raise Conflict(f"Only a bot that is in its meeting can {action}; this one is {bot.status}.")
    try:
        answer = await _answer(context, bot, order)
    except NoResponder:
        raise Conflict(f"The bot cannot be reached right now; it is {bot.status}.") from None
    if not answer.get("ok"):
        reason = answer.get("message") or answer.get("error") or "The meeting did not take it."
        if answer.get("by_caller"):
            raise InvalidConfig({field: [f"{field}: {reason}"]})
        current_bot = await context.bots.get(bot.id)  # it may be over because the meeting is
        raise Conflict(f"{reason} The bot is {current_bot.status}.")


async def _answer(context: ApiContext, bot: Bot, order: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the host's answer. The command is repeated while a bot that was just admitted still closes notices."""
    deadline = time.monotonic() + SETTLING_S
    while True:
        answer = await context.bus.command(bot.id, order, within_s=ACT_S)
        if not answer.get("later") or time.monotonic() > deadline:
            return answer
        await asyncio.sleep(ASK_AGAIN_S)
