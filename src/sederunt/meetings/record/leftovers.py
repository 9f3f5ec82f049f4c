"""Handles pieces in a host's spool whose bots have left the host: stores them, or removes them with their bot."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from uuid import UUID

from sederunt import log
from sederunt.clock import Clock
from sederunt.database.bots import Bots
from sederunt.database.retention import Deletions, kept_until
from sederunt.errors import NotFound
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.bot import Bot
from sederunt.storage.objects import Objects

PASS_EVERY_S = 30.0

logger = log.get(component="meetings")


class Leftovers:
    """Stores or removes the pieces of bots whose holders on this machine were killed or cut off.

    Args:
        folder: the spool of all bots.
        held: tells whether this host holds a bot: then the bot's holder handles its pieces.
        take_over: brings the pieces from spools that no host holds any more.
    """

    def __init__(
        self,
        folder: Path,
        *,
        bots: Bots,
        deletions: Deletions,
        objects: Objects,
        clock: Clock,
        held: Callable[[UUID], bool],
        take_over: Callable[[], object] = lambda: None,
    ) -> None:
        self._folder, self._bots, self._deletions, self._objects = folder, bots, deletions, objects
        self._clock, self._held, self._take_over = clock, held, take_over
        self._spools: dict[UUID, PieceSpool] = {}
        self._strangers: set[UUID] = set()

    async def run(self) -> None:
        """Make a pass at once, then one each half minute, for ever."""
        while True:
            try:
                await asyncio.to_thread(self._take_over)
                await self.store()
            except Exception:
                logger.exception("spool not looked through", action="spool_failed")
            await self._clock.sleep(PASS_EVERY_S)

    async def store(self) -> None:
        """Store every piece, or remove it with its deleted bot. Raises what the database raises."""
        bot_ids = []
        for path in sorted(self._folder.iterdir()) if self._folder.exists() else ():
            with suppress(ValueError):  # not the folder of a bot
                bot_ids.append(UUID(path.name))
        self._spools = {id_: self._spools.get(id_) or PieceSpool(self._folder, id_, self._objects) for id_ in bot_ids}
        for bot_id, spool in self._spools.items():
            if self._held(bot_id):
                continue
            try:
                await self._see_to(bot_id, spool)
            except NotFound:
                if bot_id not in self._strangers:
                    self._strangers.add(bot_id)
                    logger.warning(
                        "spool of a bot that nobody knows is kept", action="spool_unknown", bot_id=str(bot_id)
                    )

    async def _see_to(self, bot_id: UUID, spool: PieceSpool) -> None:
        # The folder is removed last: while it exists, a host that was killed in between tries again.
        if not await self._is_gone(bot_id):
            remaining = await spool.upload()
            if not await self._is_gone(bot_id):
                if not remaining:
                    spool.tidy()
                return
        # Includes pieces stored while the bot was being deleted.
        await self._objects.delete_prefix(f"bots/{bot_id}/")
        await spool.discard()

    async def _is_gone(self, bot_id: UUID) -> bool:
        # A bot may have no objects any more if it is deleted or its media has expired. Raises NotFound if the database
        # never had it: it may be the wrong database, or a restored backup.
        try:
            bot = await self._bots.get(bot_id)
        except NotFound:
            if await self._deletions.get(bot_id) is None:
                raise
            return True
        media_until = _media_until(bot)
        return bot.delete_requested or (media_until is not None and media_until <= self._clock.now())


def _media_until(bot: Bot) -> datetime | None:
    # When housekeeping removes a bot's objects; None for a bot that has not ended.
    if bot.finished_at is None:
        return None
    year = bot.config.store_recording_for_1_year
    return bot.recording_available_until or kept_until("bot", for_1_year=year, since=bot.finished_at)
