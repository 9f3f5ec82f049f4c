"""The picture that a bot's camera shows: uploaded with the bot, or at an address the caller named."""

import asyncio

from sederunt import log
from sederunt.addresses import guarded_client, opened
from sederunt.errors import DestinationError, UnsupportedMedia
from sederunt.media.still import still
from sederunt.model.bot import Bot
from sederunt.settings import Settings
from sederunt.storage.objects import Objects

MOST_BYTES = 5_000_000
FETCH_S = 15.0  # a picture is not worth being late for a meeting
IDLE_S = 5.0

logger = log.get(component="meetings")


async def picture_of(bot: Bot, settings: Settings, objects: Objects) -> bytes | None:
    """The bot's picture, ready for its page. None where it has none, or the picture cannot be had: the log says why."""
    try:
        data = await _raw(bot, settings, objects)
        return None if data is None else await asyncio.to_thread(still, data)
    except (DestinationError, FileNotFoundError, UnsupportedMedia, TimeoutError) as error:
        why = str(error) or f"It did not come within {FETCH_S:g} s."
        logger.warning("bot goes without its picture", action="avatar_failed", bot_id=str(bot.id), why=why)
        return None


async def picture_at(address: str, settings: Settings) -> bytes:
    """The picture at an address that a caller named, ready for a page.

    Raises DestinationError, UnsupportedMedia, TimeoutError.
    """
    return await asyncio.to_thread(still, await _fetched(address, settings))


async def _raw(bot: Bot, settings: Settings, objects: Objects) -> bytes | None:
    if bot.config.bot_avatar_object is not None:
        return await objects.get(bot.config.bot_avatar_object)
    if bot.config.bot_avatar_url is None:
        return None
    return await _fetched(bot.config.bot_avatar_url, settings)


async def _fetched(address: str, settings: Settings) -> bytes:
    allow_private = settings.allow_private_addresses
    async with (
        asyncio.timeout(FETCH_S),
        guarded_client(allow_private=allow_private, timeout_s=IDLE_S) as client,
        opened(client, address, allow_private=allow_private) as response,
    ):
        data = b""
        async for block in response.aiter_bytes(1 << 16):
            data += block
            if len(data) > MOST_BYTES:
                raise DestinationError("The picture is larger than 5 MB.", retryable=False)
        return data
