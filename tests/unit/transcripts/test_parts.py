"""Finished parts: each is stored when it is finished, in objects that stay small; an earlier program's are read."""

import asyncio
import json
from collections.abc import Iterable

from obstore.store import MemoryStore

from sederunt.storage.objects import Objects
from sederunt.transcription.provider import FinishedPart
from sederunt.transcripts.parts import TOGETHER, PartStore

KEY = "recordings/1/transcript/parts.json"


def parts(*starts: float) -> list[FinishedPart]:
    return [FinishedPart(start=start, end=start + 1.0) for start in starts]


async def keep(store: PartStore, new: Iterable[FinishedPart]) -> None:
    write = store.writer()
    for part in new:
        await asyncio.to_thread(write, part)


async def test_every_part_is_there_for_the_next_try_and_none_is_written_again_and_again() -> None:
    objects = Objects(MemoryStore())
    written = parts(*range(2 * TOGETHER + 5))
    await keep(PartStore(objects, KEY), written)
    assert len(await objects.keys("recordings/1/transcript/parts/")) == 3
    again = PartStore(objects, KEY)
    assert list(await again.read()) == written
    later = parts(500.0, 400.0)
    await keep(again, later)
    assert list(await PartStore(objects, KEY).read()) == [*written, *reversed(later)]


async def test_what_an_earlier_program_stored_counts_and_no_time_counts_twice() -> None:
    objects = Objects(MemoryStore())
    await keep(PartStore(objects, KEY), parts(0.0, 1.0))
    await objects.put(KEY, json.dumps([part.to_json() for part in parts(0.0, 0.5, 2.0)]).encode())
    found = await PartStore(objects, KEY).read()
    assert [part.start for part in found] == [0.0, 1.0, 2.0]
