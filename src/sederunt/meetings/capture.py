"""Keeps what is heard: frames from the page become packets, packets become pieces, pieces become durable.

A piece is written whole to the spool, then stored, then removed from the spool. Memory holds at most one piece
length of audio, so a killed host loses at most that. Nothing is decoded here.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

from sederunt import log
from sederunt.media.activity import Activity
from sederunt.media.pieces import write_piece
from sederunt.media.timeline import Timeline
from sederunt.meetings.spans import keep_spans
from sederunt.model.audio import CapturedFrame, Packet
from sederunt.storage.objects import Objects

SPANS_EVERY = 15  # pieces
UPLOAD_PAUSES_S = (0.5, 2.0, 5.0, 15.0, 30.0)

logger = log.get(room="meetings")


def piece_key(bot_id: UUID, epoch: int, number: int) -> str:
    """Where a piece lies in storage. Epoch first: pieces of a later holder sort after those of an earlier one."""
    return f"bots/{bot_id}/pieces/{epoch:06d}-{number:06d}.mka"


class Recorder:
    """One bot's recording while it sits in the meeting.

    Args:
        started_ms: Unix milliseconds of the recording's zero; the first holder's, kept by later ones.
        piece_s: how often a piece is closed.
        on_speech: called with (source, speaking, at_ms) when a source begins or stops to carry sound.
    """

    def __init__(
        self,
        *,
        bot_id: UUID,
        epoch: int,
        started_ms: int,
        piece_s: float,
        spool: Path,
        objects: Objects,
        on_speech: Callable[[str, bool, int], None],
    ) -> None:
        self._bot_id, self._epoch, self._started_ms, self._piece_s = bot_id, epoch, started_ms, piece_s
        self._spool, self._objects, self._on_speech = spool / str(bot_id), objects, on_speech
        self._timeline = Timeline(started_ms)
        self._activity = Activity()
        self._packets: list[Packet] = []
        self._number = 0
        self.frames = 0
        self.last_frame_ms: float | None = None

    def frames_arrived(self, frames: Sequence[CapturedFrame]) -> None:
        """Take one batch from the page. Never waits, never raises for odd input."""
        self.frames += len(frames)
        if frames:
            self.last_frame_ms = frames[-1].at_ms
        self._take(self._timeline.add(frames))

    def tick(self, now_ms: int) -> None:
        """Time goes on though nothing may arrive: what waited for its order goes, who fell silent is told."""
        self._take(self._timeline.add((), now_ms=now_ms), now_s=(now_ms - self._started_ms) / 1000)

    def _take(self, packets: Sequence[Packet], *, now_s: float | None = None) -> None:
        self._packets.extend(packets)
        for source, speaking, at_s in self._activity.feed(packets, now_s=now_s):
            self._on_speech(source, speaking, self._started_ms + round(at_s * 1000))

    async def run(self) -> None:
        """Close a piece every `piece_s` until cancelled. The caller calls `close` afterwards."""
        while True:
            await asyncio.sleep(self._piece_s)
            await self.close_piece()

    async def close_piece(self) -> None:
        """Make everything heard so far durable."""
        packets, self._packets = self._packets, []
        if not packets:
            return
        number, self._number = self._number, self._number + 1
        path = self._spool / f"{self._epoch:06d}-{number:06d}.mka"
        try:
            await asyncio.to_thread(_write_durably, path, packets)
        except OSError:
            self._packets = packets + self._packets  # a full disk: keep it in memory and try with the next piece
            logger.exception("piece not written", action="piece_failed", bot_id=str(self._bot_id))
            return
        await self._store(path, piece_key(self._bot_id, self._epoch, number))
        if number % SPANS_EVERY == 0:
            await self._keep_spans()

    async def _keep_spans(self) -> None:
        """Not every time: the list grows with the meeting. What a kill loses of it, speaking events still tell."""
        spans = self._timeline.spans()
        if not spans:
            return
        try:
            await keep_spans(self._objects, self._bot_id, self._epoch, spans)
        except Exception:
            logger.exception("spans not kept", action="spans_failed", bot_id=str(self._bot_id))

    async def _store(self, path: Path, key: str) -> None:
        """Move a piece from the spool to storage; what cannot be moved now stays in the spool for the sweep."""
        try:
            await self._objects.put_file(key, path)
            if await self._objects.size(key) == path.stat().st_size:
                path.unlink()
        except Exception:
            logger.exception("piece stays in the spool", action="piece_kept", bot_id=str(self._bot_id))

    async def close(self) -> None:
        """Write the last piece, then everything still in the spool, with pauses while storage is away."""
        self._take(self._timeline.flush())
        await self.close_piece()
        await self._keep_spans()
        for pause_s in (*UPLOAD_PAUSES_S, None):
            if await sweep_spool(self._spool, self._bot_id, self._objects) == 0 or pause_s is None:
                return
            await asyncio.sleep(pause_s)

    def facts(self) -> dict[str, object]:
        """What was captured, for the bot's `capture` field."""
        return {**self._timeline.facts(), "frames": self.frames, "pieces": self._number}


async def sweep_spool(folder: Path, bot_id: UUID, objects: Objects) -> int:
    """Store the pieces that an outage or a dead host left in one bot's spool; returns how many remain."""
    remaining = 0
    for path in sorted(folder.glob("*.mka")):
        key = f"bots/{bot_id}/pieces/{path.name}"
        try:
            await objects.put_file(key, path)
            path.unlink()
        except Exception:
            logger.exception("piece stays in the spool", action="piece_kept", bot_id=str(bot_id))
            remaining += 1
    if not remaining and folder.exists():
        for leftover in folder.glob("*.part"):
            leftover.unlink()  # a write that a kill cut short: its packets were never promised
        folder.rmdir()
    return remaining


def _write_durably(path: Path, packets: Sequence[Packet]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(write_piece(packets))
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
