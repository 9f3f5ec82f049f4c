"""Pieces on their way to storage: written whole to this host's disk, stored, and only then removed from the disk."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import UUID

from sederunt import log
from sederunt.storage.objects import Objects

SOUND, PICTURES = ".mka", ".mkv"
# Kind of piece → its folder in storage.
FOLDERS: Mapping[str, str] = {SOUND: "pieces", PICTURES: "video"}

logger = log.get(room="meetings")


def pieces_prefix(bot_id: UUID, kind: str) -> str:
    """Where all pieces of a kind lie in storage."""
    return f"bots/{bot_id}/{FOLDERS[kind]}/"


class Spool:
    """One bot's folder on this host.

    Args:
        folder: the spool of all bots.
    """

    def __init__(self, folder: Path, bot_id: UUID, objects: Objects) -> None:
        self._folder, self._bot_id, self._objects = folder / str(bot_id), bot_id, objects

    async def keep(self, name: str, make: Callable[[], bytes]) -> None:
        """Make a piece (in a thread) and store it. What storage does not take now stays here for `sweep`.

        Raises OSError when this disk does not take it, and whatever `make` raises: then there is no piece.
        """
        path = self._folder / name
        await asyncio.to_thread(_write_durably, path, make)
        try:
            key = self._key(path)
            await self._objects.put_file(key, path)
            if await self._objects.size(key) == path.stat().st_size:
                path.unlink()
        except Exception:
            logger.exception("piece stays in the spool", action="piece_kept", bot_id=str(self._bot_id))

    async def sweep(self) -> int:
        """Store what an outage or a dead host left here; returns how many pieces remain. Nobody may be writing."""
        remaining = 0
        for path in sorted(path for kind in FOLDERS for path in self._folder.glob(f"*{kind}")):
            try:
                await self._objects.put_file(self._key(path), path)
                path.unlink()
            except Exception:
                logger.exception("piece stays in the spool", action="piece_kept", bot_id=str(self._bot_id))
                remaining += 1
        if not remaining and self._folder.exists():
            for leftover in self._folder.glob("*.part"):
                leftover.unlink()  # a write that a kill cut short: its content was never promised
            self._folder.rmdir()
        return remaining

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
