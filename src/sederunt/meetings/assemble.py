"""Pieces become one recording: fetched, merged, stored, verified; only then are the pieces removed.

Runs as often as it must: `tracks.json` is written last, so its presence says that everything before it is stored.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sederunt import log
from sederunt.errors import BrokenMedia
from sederunt.media.assembly import AssemblyFacts, assemble
from sederunt.model.bot import Bot, Verdict
from sederunt.storage.objects import Objects

logger = log.get(room="meetings")


async def assemble_recording(bot: Bot, objects: Objects, scratch: Path) -> dict[str, Any] | None:
    """Make and store the bot's one recording and its tracks; returns what `tracks.json` holds, None for an empty stay.

    Args:
        scratch: a folder for temporary files; what a crash leaves there is removed with the next start.
    """
    prefix = f"bots/{bot.id}"
    if await objects.size(f"{prefix}/tracks.json") is None:
        duration_s = _duration_s(bot)
        keys = sorted(await objects.keys(f"{prefix}/pieces/"))
        if duration_s <= 0 and not keys:
            return None
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            await _fetch_merge_store(objects, prefix, keys, duration_s, Path(folder))
    await objects.delete_prefix(f"{prefix}/pieces/")
    found: dict[str, Any] = json.loads(await objects.get(f"{prefix}/tracks.json"))
    return found


async def _fetch_merge_store(objects: Objects, prefix: str, keys: list[str], duration_s: float, folder: Path) -> None:
    pieces = folder / "pieces"
    pieces.mkdir()
    for key in keys:
        await objects.get_file(key, pieces / key.rsplit("/", 1)[1])
    mixed, tracks = folder / "recording.webm", folder / "tracks"
    tracks.mkdir()
    facts: AssemblyFacts = await asyncio.to_thread(
        assemble, _read_all(pieces), mixed=mixed, tracks=tracks, duration_s=duration_s
    )
    for path in sorted(tracks.iterdir()):
        await _store(objects, f"{prefix}/tracks/{path.name}", path)
    await _store(objects, f"{prefix}/recording.webm", mixed)
    await objects.put(f"{prefix}/tracks.json", json.dumps(asdict(facts)).encode())


async def _store(objects: Objects, key: str, path: Path) -> None:
    await objects.put_file(key, path)
    stored = await objects.size(key)
    if stored != path.stat().st_size:
        raise BrokenMedia(f"stored {stored} of {path.stat().st_size} bytes of {key}; the pieces are kept")


def _read_all(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.iterdir()):
        yield path.read_bytes()


def _duration_s(bot: Bot) -> float:
    if bot.recording_started_at is None or bot.recording_ended_at is None:
        return 0.0
    return (bot.recording_ended_at - bot.recording_started_at).total_seconds()


def verdict_of(bot: Bot, heard_s: float) -> Verdict:
    """Whether what was delivered is sound: something heard, or truly nothing to hear, or a deaf capture."""
    if heard_s > 0:
        return Verdict.HEALTHY
    return (
        Verdict.CAPTURE_FAILED
        if bot.capture.get("shown_speaking") and not bot.capture.get("packets")
        else (Verdict.SILENT_ROOM)
    )
