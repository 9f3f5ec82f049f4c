"""The picture that a bot's camera shows: uploaded with the bot, or fetched from an address that the caller gave."""

import asyncio
from uuid import UUID

from sederunt import log
from sederunt.addresses import guarded_client, opened
from sederunt.errors import BrokenMedia, DestinationError, MediaError
from sederunt.media.readers import Readers
from sederunt.media.sandboxed_image import sandboxed_image
from sederunt.model.bot import Bot
from sederunt.storage.objects import Objects

MOST_BYTES = 5_000_000
FETCH_S = 15.0  # a picture must not make the bot late for its meeting
IDLE_S = 5.0
DRAW_S = 30.0

logger = log.get(component="meetings")


async def picture_of(bot: Bot, objects: Objects, readers: Readers, *, allow_private: bool) -> bytes | None:
    """Return the bot's picture, ready for its page; None if it has none or cannot get it (the log says why).

    Args:
        readers: provide the place in which the picture is drawn.
        allow_private: whether addresses on private networks may be fetched.
    """
    config = bot.config
    try:
        if config.bot_avatar_object is not None:
            data = await objects.get(config.bot_avatar_object)
        elif config.bot_avatar_url is not None:
            data = await _fetched(config.bot_avatar_url, allow_private)
        else:
            return None
        return await _drawn(data, bot.account_id, readers)
    except (DestinationError, FileNotFoundError, MediaError, TimeoutError) as error:
        reason = str(error) or f"It did not come within {FETCH_S:g} s."
        logger.warning("bot goes without its picture", action="avatar_failed", bot_id=str(bot.id), why=reason)
        return None


async def picture_at(address: str, account_id: UUID, readers: Readers, *, allow_private: bool) -> bytes:
    """Return the picture at an address that a caller gave, ready for a page.

    Raises DestinationError, MediaError, TimeoutError.
    """
    return await _drawn(await _fetched(address, allow_private), account_id, readers)


async def _drawn(data: bytes, account_id: UUID, readers: Readers) -> bytes:
    # The data may be anything, so another process reads them.
    try:
        async with asyncio.timeout(DRAW_S), readers.place(account_id) as gives_way:
            return await sandboxed_image(data, gives_way=gives_way)
    except TimeoutError:
        raise BrokenMedia(f"The picture was not drawn within {DRAW_S:g} s.") from None


async def _fetched(address: str, allow_private: bool) -> bytes:
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
