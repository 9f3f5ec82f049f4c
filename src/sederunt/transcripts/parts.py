"""Finished parts of a running transcription, stored so that no part is repeated after a worker is killed."""

import asyncio
import json
from collections.abc import Callable

from sederunt.storage.objects import Objects
from sederunt.transcription.provider import FinishedPart

TOGETHER = 40  # parts per object: with all in one, a day of sound would write 15 GB of words
SAME_S = 0.02


class PartStore:
    """The finished parts of one audio file.

    Args:
        key: the object that held them until 2026-11; the present objects lie below its name. Small (words only).
    """

    def __init__(self, objects: Objects, key: str) -> None:
        self._objects, self._key = objects, key
        self._folder = f"{key.removesuffix('.json')}/"
        self._stored = 0  # objects

    async def read(self) -> tuple[FinishedPart, ...]:
        """Return the parts that earlier tries finished, by time."""
        keys = sorted(await self._objects.keys(self._folder))
        self._stored = max((int(key.removeprefix(self._folder).removesuffix(".json")) + 1 for key in keys), default=0)
        if await self._objects.size(self._key) is not None:
            keys.append(self._key)
        stored_parts = [
            FinishedPart.from_json(part) for key in keys for part in json.loads(await self._objects.get(key))
        ]
        parts: list[FinishedPart] = []
        for part in sorted(
            stored_parts, key=lambda part: part.start
        ):  # two versions of the program may both have written some
            if not parts or part.start >= parts[-1].end - SAME_S:
                parts.append(part)
        return tuple(parts)

    def writer(self) -> Callable[[FinishedPart], None]:
        """Return a function for the provider's thread that stores a part before the next one begins."""
        loop, latest = asyncio.get_running_loop(), list[FinishedPart]()

        def keep(part: FinishedPart) -> None:
            latest.append(part)
            data = json.dumps([each.to_json() for each in latest]).encode()
            key = f"{self._folder}{self._stored:06d}.json"
            asyncio.run_coroutine_threadsafe(self._objects.put(key, data), loop).result()
            if len(latest) == TOGETHER:
                latest.clear()
                self._stored += 1

        return keep
