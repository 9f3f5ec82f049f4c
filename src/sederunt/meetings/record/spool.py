"""Pieces on their way to storage: written whole to this host's disk, stored, and only then removed from the disk."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import chain, repeat
from pathlib import Path
from uuid import UUID
from weakref import WeakValueDictionary

from sederunt import log
from sederunt.clock import Clock
from sederunt.database.bots import Bots
from sederunt.database.retention import Deletions, kept_until
from sederunt.errors import NotFound
from sederunt.model.bot import Bot
from sederunt.recordings.piece_keys import FOLDERS, SOUND, pieces_prefix
from sederunt.storage.objects import Objects

PAUSES_S = (0.5, 2.0, 5.0, 15.0, 30.0)  # between tries while a disk or storage takes nothing; the last one repeats
OLDER_AT_ONCE = 20  # stored after a new piece: the next one must not wait until an hour's outage is made up for
MOST_REFUSED = 3  # by then storage is away: each of the others might take minutes to be refused as well
STALE_S = 60.0  # nobody is still at a write that began so long ago
PASS_EVERY_S = 30.0

# By folder: the lock under which its pieces are stored. See `PieceSpool._store`.
_TURNS: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

logger = log.get(component="meetings")


def pauses() -> Iterator[float]:
    """Seconds between tries, growing, for as long as it takes."""
    return chain(PAUSES_S, repeat(PAUSES_S[-1]))


class PieceSpool:
    """One bot's folder on this host.

    Args:
        folder: the spool of all bots.
    """

    def __init__(self, folder: Path, bot_id: UUID, objects: Objects) -> None:
        self._folder, self._bot_id, self._objects = folder / str(bot_id), bot_id, objects
        self._turn = _TURNS.setdefault(self._folder, asyncio.Lock())
        self._refused = False  # and said so: an outage is told once, not with every piece
        self.in_haste = False  # whoever waits for `keep` now has no time for older pieces

    async def keep(self, name: str, make: Callable[[], bytes]) -> None:
        """Make a piece (in a thread) and store it. What storage does not take now stays here; it is tried again after
        each later piece that storage takes, and by `upload`.

        Raises OSError when this disk does not take it, and whatever `make` raises: then there is no piece.
        """
        path = self._folder / name
        await asyncio.to_thread(_write_durably, path, make)
        if await self._store(path):
            for older in self._waiting()[:OLDER_AT_ONCE]:
                if self.in_haste or not await self._store(older):
                    return

    async def upload(self) -> int:
        """Store what an outage or a dead host left here; returns how many pieces remain."""
        refused = 0
        for path in self._waiting():
            refused += not await self._store(path)
            if refused == MOST_REFUSED:
                break
        return len(self._waiting())

    async def sweep(self) -> int:
        """The same, and the folder goes with its last piece."""
        remaining = await self.upload()
        if not remaining:
            self.tidy()
        return remaining

    def tidy(self) -> None:
        """Remove the folder if nothing is left in it but writes that a kill cut short: those were never promised."""
        for part in self._folder.glob("*.part"):
            if time.time() - part.stat().st_mtime > STALE_S:
                part.unlink()
        with suppress(OSError):  # somebody writes, or it is gone
            self._folder.rmdir()

    async def discard(self) -> None:
        """Remove everything here unseen: nobody may have it any more."""
        async with self._turn:
            shutil.rmtree(self._folder, ignore_errors=True)

    def newest(self) -> bytes | None:
        """The last piece of sound that waits here; None where none does, or it cannot be read."""
        paths = sorted(self._folder.glob(f"*{SOUND}"))
        try:
            return paths[-1].read_bytes() if paths else None
        except OSError:  # stored meanwhile
            return None

    def _waiting(self) -> list[Path]:
        """Whole pieces, the oldest of each kind first."""
        return [path for kind in FOLDERS for path in sorted(self._folder.glob(f"*{kind}"))]

    async def _store(self, path: Path) -> bool:
        """Store one piece, verify it, and remove it here; False where storage does not take it now.

        One at a time, whoever asks: a copy still on its way when another was merged, or deleted, would come back after.
        """
        async with self._turn:
            if not path.exists():
                return True  # somebody else stored it
            key = self._key(path)
            try:
                await self._objects.put_file(key, path)
                stored, written = await self._objects.size(key), path.stat().st_size
                if stored != written:
                    raise OSError(f"storage has {stored} of {written} bytes")
                path.unlink()
            except Exception:
                if not self._refused:
                    logger.exception("pieces stay in the spool", action="piece_kept", bot_id=str(self._bot_id))
                self._refused = True
                return False
        self._refused = False
        return True

    def _key(self, path: Path) -> str:
        return pieces_prefix(self._bot_id, path.suffix) + path.name


def _write_durably(path: Path, make: Callable[[], bytes]) -> None:
    content = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f"{path.suffix}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)


class Leftovers:
    """What bots left in this host's spool that do not sit here any more: their hosts were killed or cut off.

    Args:
        folder: the spool of all bots.
        held: whether a bot sits here: then its own holder sees to its pieces.
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
    ) -> None:
        self._folder, self._bots, self._deletions, self._objects = folder, bots, deletions, objects
        self._clock, self._held = clock, held
        self._spools: dict[UUID, PieceSpool] = {}
        self._strangers: set[UUID] = set()

    async def run(self) -> None:
        """For ever: a pass at once, then each half minute."""
        while True:
            try:
                await self.store()
            except Exception:
                logger.exception("spool not looked through", action="spool_failed")
            await self._clock.sleep(PASS_EVERY_S)

    async def store(self) -> None:
        """One pass: pieces go to storage, or with the bots that are deleted. Raises what the database raises."""
        found = _bots_in(self._folder)
        self._spools = {id_: self._spools.get(id_) or PieceSpool(self._folder, id_, self._objects) for id_ in found}
        for bot_id, spool in self._spools.items():
            if self._held(bot_id):
                continue
            try:
                await self._see_to(bot_id, spool)
            except NotFound:
                self._tell_stranger(bot_id)

    async def _see_to(self, bot_id: UUID, spool: PieceSpool) -> None:
        """The folder goes last: as long as it is here, who was killed in between looks again."""
        if not await self._is_gone(bot_id):
            remaining = await spool.upload()
            if not await self._is_gone(bot_id):
                if not remaining:
                    spool.tidy()
                return
        # Also what was stored in the moment in which it was deleted.
        await self._objects.delete_prefix(f"bots/{bot_id}/")
        await spool.discard()

    async def _is_gone(self, bot_id: UUID) -> bool:
        """Whether it may have no objects any more: it is deleted, or its media had its time.

        Raises NotFound where the database never heard of it: another database was meant, or a backup came back.
        """
        try:
            bot = await self._bots.get(bot_id)
        except NotFound:
            if await self._deletions.get(bot_id) is None:
                raise
            return True
        media_until = _media_until(bot)
        return bot.delete_requested or (media_until is not None and media_until <= self._clock.now())

    def _tell_stranger(self, bot_id: UUID) -> None:
        if bot_id not in self._strangers:
            self._strangers.add(bot_id)
            logger.warning("spool of a bot that nobody knows is kept", action="spool_unknown", bot_id=str(bot_id))


def _bots_in(folder: Path) -> list[UUID]:
    """The bots that have something in the spool."""
    found = []
    for path in sorted(folder.iterdir()) if folder.exists() else ():
        with suppress(ValueError):  # not ours
            found.append(UUID(path.name))
    return found


def _media_until(bot: Bot) -> datetime | None:
    """When housekeeping removes its objects; None for one that has not ended."""
    if bot.finished_at is None:
        return None
    year = bot.config.store_recording_for_1_year
    return bot.recording_available_until or kept_until("bot", for_1_year=year, since=bot.finished_at)
