"""Pieces on their way to storage: written whole to this host's disk, stored, and only then removed from it."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from uuid import UUID
from weakref import WeakValueDictionary

from sederunt import log
from sederunt.recordings.piece_keys import FOLDERS, SOUND, files_prefix
from sederunt.storage.objects import Objects

PAUSES_S = (0.5, 2.0, 5.0, 15.0, 30.0)  # between tries while a disk or storage takes nothing; the last one repeats
OLDER_AT_ONCE = 20  # stored after a new piece: the next one must not wait until an hour's backlog is stored
MOST_REFUSED = 3  # then storage is away, and each further piece might take minutes to be refused
STORE_S = 4.0  # how long the next piece waits for storage to take this one: storage may hang, the disk must not wait
STALE_S = 60.0  # no write takes longer than this

# Folder → the lock under which its pieces are stored. See `PieceSpool._store`.
_TURNS: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

logger = log.get(component="meetings")


def pauses() -> Iterator[float]:
    """Yield the seconds between tries, growing, without end."""
    return chain(PAUSES_S, repeat(PAUSES_S[-1]))


class PieceSpool:
    """One bot's folder on this host.

    Args:
        folder: the spool of all bots.
    """

    def __init__(self, folder: Path, bot_id: UUID, objects: Objects) -> None:
        self._folder, self._bot_id, self._objects = folder / str(bot_id), bot_id, objects
        self._turn = _TURNS.setdefault(self._folder, asyncio.Lock())
        self._refused = False  # by storage, and logged: an outage is logged once, not with every piece
        self._storing: asyncio.Task[None] | None = None
        self.in_haste = False  # callers of `keep` have no time for older pieces

    async def keep(self, name: str, make: Callable[[], bytes]) -> None:
        """Make a piece (in a thread) and store it. A piece that storage does not take now stays here; it is retried
        after each later piece that storage takes, and by `upload`. Storage that hangs is not waited for.

        Raises OSError if this disk does not take the piece, and what `make` raises: then there is no piece.
        """
        path = self._folder / name
        await asyncio.to_thread(_write_durably, path, make)
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store_with_older(path), name=f"store {path.name}")
            await asyncio.wait({self._storing}, timeout=STORE_S)

    async def _store_with_older(self, path: Path) -> None:
        if await self._store(path):
            for older in self._waiting()[:OLDER_AT_ONCE]:
                if self.in_haste or not await self._store(older):
                    return

    async def upload(self) -> int:
        """Store the pieces that an outage or a dead host left here; return how many remain."""
        refusals = 0
        for path in self._waiting():
            refusals += not await self._store(path)
            if refusals == MOST_REFUSED:
                break
        return len(self._waiting())

    async def sweep(self) -> int:
        """Store the waiting pieces, and remove the folder with the last one; return how many pieces remain."""
        remaining = await self.upload()
        if not remaining:
            self.tidy()
        return remaining

    def tidy(self) -> None:
        """Remove the folder if it holds nothing but writes that a kill cut short, which were never promised."""
        for part in self._folder.glob("*.part"):
            if time.time() - part.stat().st_mtime > STALE_S:
                part.unlink()
        with suppress(OSError):  # a write is under way, or the folder is gone
            self._folder.rmdir()

    async def discard(self) -> None:
        """Remove everything here without storing it: nobody may have it any more."""
        async with self._turn:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def waiting_until_s(self) -> float:
        """Return the end of the last sound that waits here, in seconds of the recording; 0 if none waits."""
        paths = sorted(self._folder.glob(f"*{SOUND}"))
        try:
            return await asyncio.to_thread(lambda: _end_s(paths[-1].read_bytes())) if paths else 0.0
        except OSError:  # stored meanwhile
            return 0.0

    async def stored_until_s(self) -> float:
        """Return the end of the last sound in storage, in seconds of the recording. Raises what storage raises."""
        keys = await self._objects.keys(files_prefix(self._bot_id, SOUND))
        return _end_s(await self._objects.get(max(keys))) if keys else 0.0

    def _waiting(self) -> list[Path]:
        # Whole pieces, the oldest of each kind first.
        return [path for kind in FOLDERS for path in sorted(self._folder.glob(f"*{kind}"))]

    async def _store(self, path: Path) -> bool:
        # Stores one piece, verifies it, and removes it here; False if storage does not take it now. One at a time: a
        # copy that is still on its way when another one is merged or deleted would reappear afterwards.
        async with self._turn:
            if not path.exists():
                return True  # another call stored it
            key = files_prefix(self._bot_id, path.suffix) + path.name
            try:
                stat_before = path.stat()
                await self._objects.put_file(key, path)
                stored_size = await self._objects.size(key)
                if stored_size != stat_before.st_size:
                    raise OSError(f"storage has {stored_size} of {stat_before.st_size} bytes")
                if path.stat().st_mtime_ns != stat_before.st_mtime_ns:
                    return True  # written anew meanwhile: the new content is stored later
                path.unlink()
            except Exception:
                if not self._refused:
                    logger.exception("pieces stay in the spool", action="piece_kept", bot_id=str(self._bot_id))
                self._refused = True
                return False
        self._refused = False
        return True


def _end_s(piece: bytes) -> float:
    from sederunt.media.pieces import read_piece  # imports PyAV and numpy, which a host loads with its first bot

    packets = read_piece(piece, salvage=True)
    return max((packet.start + packet.duration for packet in packets), default=0.0)


def _write_durably(path: Path, make: Callable[[], bytes]) -> None:
    content = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f"{path.suffix}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
