"""Finished parts of a running transcription, kept in storage so that a killed worker repeats none of them."""

import asyncio
import json
from collections.abc import Callable

from sederunt.storage.objects import Objects
from sederunt.transcription.provider import FinishedPart


class PartStore:
    """The finished parts of one audio file.

    Args:
        key: the object that holds them; small (words only), written whole after each part.
    """

    def __init__(self, objects: Objects, key: str) -> None:
        self._objects, self._key = objects, key
        self._parts: list[FinishedPart] = []

    async def read(self) -> tuple[FinishedPart, ...]:
        """Return what an earlier try finished."""
        if await self._objects.size(self._key) is not None:
            stored = json.loads(await self._objects.get(self._key))
            self._parts = [FinishedPart.from_json(part) for part in stored]
        return tuple(self._parts)

    def writer(self) -> Callable[[FinishedPart], None]:
        """Return what stores a part, for the provider's thread: each is kept before the next is begun."""
        loop = asyncio.get_running_loop()

        def keep(part: FinishedPart) -> None:
            self._parts.append(part)
            data = json.dumps([each.to_json() for each in self._parts]).encode()
            asyncio.run_coroutine_threadsafe(self._objects.put(self._key, data), loop).result()

        return keep
