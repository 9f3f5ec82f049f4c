"""Merge pieces into one recording, store and verify it; only then remove the pieces.

It can run again at any time: `tracks.json` is written last, so its presence means that everything else is stored.
"""

import asyncio
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import av

from sederunt import log
from sederunt.errors import BadAnswer, BrokenMedia, MediaError
from sederunt.media.assembly import AssemblyFacts, assemble
from sederunt.media.composition import VideoLayout, compose
from sederunt.media.probe import probe
from sederunt.media.seam import Fit
from sederunt.media.spool import FittedPiece, Fitting, Timed
from sederunt.media.video import VideoFrame
from sederunt.model.audio import Packet
from sederunt.model.bot import HOST_LOST, SHORTEST_GAP_S, Bot, Gap, Verdict
from sederunt.model.participant import Participant
from sederunt.recordings.piece_keys import PICTURES, SOUND, files_prefix
from sederunt.recordings.seams import extents_of, fits_of, picture_fits_of, stay_of
from sederunt.recordings.video_layout import layout_of
from sederunt.storage.objects import Objects
from sederunt.tracing import traced

FETCH_S = 300.0  # most time for storage to return one piece
STOPPING_S = 20.0  # how long a thread may take to notice that its work is cancelled
COMPOSING = asyncio.Semaphore(max(1, (os.cpu_count() or 1) // 2))  # at once per worker: each takes minutes of a core
SLACK_S = 1.0  # allowed difference between a composed recording and its sound

logger = log.get(component="meetings")

T = TypeVar("T")
Item = TypeVar("Item", bound=Timed)
Progress = Callable[[float], None]


@traced("assemble pieces")
async def assemble_recording(
    bot: Bot,
    objects: Objects,
    scratch: Path,
    *,
    participants: Sequence[Participant] = (),
    sources: Mapping[str, str] | None = None,
    believes_damage: bool = True,
) -> dict[str, Any] | None:
    """Make and store the bot's recording and its tracks; returns the content of `tracks.json`, None for an empty stay.

    Damaged pieces stay in storage although their readable part is merged: the store may be at fault.

    Args:
        believes_damage: whether to accept a damaged piece. If not, it raises BadAnswer: the store may return it whole
            later.
        scratch: a folder for temporary files; the next start removes what a crash leaves there.
        participants, sources: the roster, with speaking events; they decide whose picture is large in a video.
    """
    prefix = f"bots/{bot.id}"
    facts = await _facts(objects, prefix)
    sound, pictures = await _pieces(objects, bot.id, SOUND), await _pieces(objects, bot.id, PICTURES)
    while facts is None or _lacks_some(facts, [*sound, *pictures]):
        duration_s = _duration_s(bot)
        if duration_s <= 0 and not sound:
            return None
        layout = layout_of(bot, duration_s, participants, sources or {})
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            await _merge_and_store(objects, prefix, sound, pictures, layout, Path(folder), believes_damage)
        facts = await _facts(objects, prefix)
        sound, pictures = await _pieces(objects, bot.id, SOUND), await _pieces(objects, bot.id, PICTURES)
    if not facts.get("damaged_pieces"):
        await _remove_merged(objects, bot.id, SOUND, facts)
    if not facts.get("video_failed"):
        await _remove_merged(objects, bot.id, PICTURES, facts)
    return facts


async def _facts(objects: Objects, prefix: str) -> dict[str, Any] | None:
    """Return the facts of an earlier merge; None if there was none."""
    if await objects.size(f"{prefix}/tracks.json") is None:
        return None
    facts: dict[str, Any] = json.loads(await objects.get(f"{prefix}/tracks.json"))
    return facts


def _lacks_some(facts: Mapping[str, Any], keys: Sequence[str]) -> bool:
    """Return whether a host added pieces after the merge while all merged ones still exist.

    If one is missing, their removal has begun: merging again would turn it into silence.
    """
    return "merged" in facts and set(facts["merged"]) < set(keys)


async def _remove_merged(objects: Objects, bot_id: UUID, kind: str, facts: Mapping[str, Any]) -> None:
    """Remove the merged pieces; others stay until the bot's media are deleted."""
    keys = await _pieces(objects, bot_id, kind)
    merged_keys = set(facts.get("merged", keys))
    if merged_keys.issuperset(keys):
        await objects.delete_prefix(files_prefix(bot_id, kind))
        return
    logger.warning("pieces came too late", action="pieces_late", bot_id=str(bot_id), count=len(set(keys) - merged_keys))
    for key in merged_keys.intersection(keys):
        await objects.delete(key)


async def _pieces(objects: Objects, bot_id: UUID, kind: str) -> list[str]:
    return sorted(await objects.keys(files_prefix(bot_id, kind)))


async def _merge_and_store(
    objects: Objects,
    prefix: str,
    keys: list[str],
    pictures: list[str],
    layout: VideoLayout,
    folder: Path,
    believes_damage: bool,
) -> None:
    mixed_path, tracks = folder / "sound.webm", folder / "tracks"
    tracks.mkdir()

    def merge(pieces: Iterator[bytes | FittedPiece[Packet]], progress: Progress) -> AssemblyFacts:
        return assemble(pieces, mixed=mixed_path, tracks=tracks, duration_s=layout.duration_s, progress=progress)

    fits, extents = await fits_of(objects, keys), await extents_of(objects, keys)
    facts = asdict(await _with_pieces(objects, keys, merge, fits))
    if facts["damaged_pieces"] and not believes_damage:
        raise BadAnswer(f"{facts['damaged_pieces']} of {len(keys)} pieces of {prefix} came damaged out of the storage.")
    for path in sorted(tracks.iterdir()):
        await _store(objects, f"{prefix}/tracks/{path.name}", path)
        path.unlink()
    recording = mixed_path
    if pictures:
        try:
            recording = folder / "recording.webm"
            facts["video"] = await _film(
                objects, pictures, fits, mixed_path, recording, replace(layout, duration_s=facts["duration_s"])
            )
        except (MediaError, av.FFmpegError, ValueError) as error:
            # The sound must survive without the pictures, which stay until the bot is deleted.
            logger.exception("pictures not composed", action="composition_failed", object=prefix)
            recording, facts["video_failed"] = mixed_path, str(error)[:300]
    await _store(objects, f"{prefix}/recording.webm", recording)
    facts["merged"], facts["stays"] = [*keys, *pictures], extents
    await objects.put(f"{prefix}/tracks.json", json.dumps(facts).encode())


async def _film(
    objects: Objects, keys: list[str], sound: Mapping[str, Fit], mixed_path: Path, target: Path, layout: VideoLayout
) -> dict[str, Any]:
    """Compose the pictures with the sound into `target`, and check the result.

    Args:
        sound: stay → how its sound was fitted; its pictures follow.
    """

    def work(pieces: Iterator[bytes | FittedPiece[VideoFrame]], progress: Progress) -> dict[str, Any]:
        facts = compose(pieces, audio=mixed_path, target=target, layout=layout, progress=progress)
        composed = probe(target)
        if facts.sources and not composed.has_video:
            raise BrokenMedia(f"The composed recording has no pictures, of {facts.frames_read} that were kept.")
        if abs(composed.duration_s - layout.duration_s) > SLACK_S:
            raise BrokenMedia(f"The composed recording has {composed.duration_s} s, its sound {layout.duration_s} s.")
        return asdict(facts)

    async with COMPOSING:
        return await _with_pieces(objects, keys, work, await picture_fits_of(objects, keys, sound))


async def _with_pieces(
    objects: Objects,
    keys: Sequence[str],
    work: Callable[[Iterator[bytes | FittedPiece[Item]], Progress], T],
    fits: Mapping[str, Fitting[Item]],
) -> T:
    """Run `work` in a thread that receives the pieces one by one. If the caller is cancelled, the thread ends soon.

    Args:
        fits: stay → which part of its pieces is kept, and where.
    """
    loop = asyncio.get_running_loop()
    stop_event = threading.Event()

    def check(_share: float = 0.0) -> None:
        if stop_event.is_set():
            raise InterruptedError("nobody waits for this work any more")

    def pieces() -> Iterator[bytes | FittedPiece[Item]]:
        for key in keys:
            check()
            piece = asyncio.run_coroutine_threadsafe(objects.get(key), loop).result(FETCH_S)
            fit = fits.get(stay_of(key))
            yield piece if fit is None else FittedPiece(data=piece, fit=fit)

    task = asyncio.ensure_future(asyncio.to_thread(work, pieces(), check))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop_event.set()
        await asyncio.wait({task}, timeout=STOPPING_S)  # the caller is about to remove its files
        raise


async def _store(objects: Objects, key: str, path: Path) -> None:
    await objects.put_file(key, path)
    stored_size = await objects.size(key)
    if stored_size != path.stat().st_size:
        raise BrokenMedia(f"stored {stored_size} of {path.stat().st_size} bytes of {key}; the pieces are kept")


def _duration_s(bot: Bot) -> float:
    if bot.recording_started_at is None or bot.recording_ended_at is None:
        return 0.0
    return (bot.recording_ended_at - bot.recording_started_at).total_seconds()


def remaining_gaps(gaps: Iterable[Gap], stays: Sequence[Sequence[float]]) -> tuple[Gap, ...]:
    """Return the gaps without the parts that a lost host had recorded.

    A host that was cut off stores its last pieces once its link is back; the next host did not know of them when it
    marked the gap.

    Args:
        stays: first and last second of sound of each stay.
    """
    remaining: list[Gap] = []
    for gap in gaps:
        open_gap = gap
        if gap.cause == HOST_LOST:
            stay_ends = [end for start, end in stays if start < gap.end - SHORTEST_GAP_S]
            open_gap = replace(gap, start=round(max(gap.start, *stay_ends, 0.0), 3))
        if open_gap == gap or open_gap.end - open_gap.start >= SHORTEST_GAP_S:
            remaining.append(open_gap)
    return tuple(remaining)


def verdict_of(bot: Bot, heard_s: float) -> Verdict:
    """Return whether sound was captured, there was none to capture, or the capture failed."""
    if heard_s > 0:
        return Verdict.HEALTHY
    return (
        Verdict.CAPTURE_FAILED
        if bot.capture.get("shown_speaking") and not bot.capture.get("packets")
        else (Verdict.SILENT_ROOM)
    )
