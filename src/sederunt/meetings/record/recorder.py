"""Keeps what is heard and seen: frames from the page get their place in time, and become pieces that are durable.

Memory holds at most one piece length of sound and pictures, so a killed host loses at most that; more only while this
disk takes nothing. Nothing is decoded.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar
from uuid import UUID

from sederunt import log
from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.errors import BrokenMedia
from sederunt.media.activity import Activity
from sederunt.media.pieces import write_piece
from sederunt.media.timeline import Span, Timeline
from sederunt.media.video import VIDEO_CODECS, VideoFrame, VideoPieces, VideoTimeline
from sederunt.meetings.record.spool import PAUSES_S, PieceSpool
from sederunt.model.audio import CapturedFrame, Codec, Packet
from sederunt.recordings.piece_keys import PICTURES, SOUND
from sederunt.recordings.spans import keep_spans
from sederunt.storage.objects import Objects

SPANS_EVERY = 15  # pieces
UPLOAD_S = 10.0  # a bot that comes back must not wait for a storage that hangs
_VIDEO = frozenset((*VIDEO_CODECS, Codec.OTHER_VIDEO))

logger = log.get(component="meetings")

Item = TypeVar("Item")


def stay_name(epoch: int, page: int) -> str:
    """Begins the names of what one page recorded. Those of later pages and later holders sort after earlier ones."""
    return f"{epoch:06d}.{page:02d}"


class PieceBuffer(Generic[Item]):
    """What came since the last piece, and how it becomes the next one.

    Args:
        name: of a piece, with a place for its number.
    """

    def __init__(self, spool: PieceSpool, name: str, write: Callable[[Sequence[Item]], bytes]) -> None:
        self._spool, self._name, self._write = spool, name, write
        self._waiting: list[Item] = []
        self._refused = False  # and said so
        self.pieces = 0

    @property
    def is_cut(self) -> bool:
        """Whether nothing is in memory alone."""
        return not self._waiting

    def add(self, items: Sequence[Item]) -> None:
        self._waiting.extend(items)

    async def cut(self) -> bool:
        """Make everything so far durable; False where there was nothing, or it could not be written."""
        items, self._waiting = self._waiting, []
        if not items:
            return False
        name = self._name.format(self.pieces)
        self.pieces += 1
        try:
            await self._spool.keep(name, partial(self._write, items))
        except OSError:
            self._waiting = items + self._waiting  # a full disk: keep it in memory and try with the next piece
            self.pieces -= 1
            if not self._refused:
                logger.exception("piece not written", action="piece_failed", piece=name)
            self._refused = True
            return False
        except BrokenMedia as error:
            logger.warning("piece holds nothing that can be decoded", action="piece_empty", piece=name, why=str(error))
            return False
        self._refused = False
        return True


class Recorder:
    """One bot's recording while it sits in the meeting. `start`, and `close` when it is over.

    Args:
        stay: names the page that is recorded, of all pages of all holders: `stay_name`.
        started_ms: Unix milliseconds of the recording's zero; the first holder's, kept by later ones.
        piece_s: how often a piece is closed.
        batch_ms: how long the page gathers packets; what it read so lately may still be on its way.
        on_speech: called with (source, speaking, at_ms) when a source begins or stops to carry sound.
        on_packets: called with packets that have their place, those of each source in order.
        clock: for the pauses while this disk takes nothing.
    """

    def __init__(
        self,
        *,
        bot_id: UUID,
        stay: str,
        started_ms: int,
        piece_s: float,
        batch_ms: int,
        spool: PieceSpool,
        objects: Objects,
        on_speech: Callable[[str, bool, int], None],
        on_packets: Callable[[Sequence[Packet]], None] | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._bot_id, self._stay, self._started_ms, self._piece_s = bot_id, stay, started_ms, piece_s
        self._batch_ms = batch_ms
        self._spool, self._objects, self._on_speech, self._on_packets = spool, objects, on_speech, on_packets
        self._timeline, self._pictures = Timeline(started_ms), VideoTimeline(started_ms)
        self._activity = Activity()
        self._sound: PieceBuffer[Packet] = PieceBuffer(spool, f"{stay}-{{:06d}}{SOUND}", write_piece)
        self._film: PieceBuffer[VideoFrame] = PieceBuffer(spool, f"{stay}-{{:06d}}{PICTURES}", VideoPieces().write)
        self._over = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self.frames = 0
        self.backend: str | None = None  # how the last sound was heard
        self.first_frame_ms: float | None = None  # of sound
        self.last_frame_ms: float | None = None

    def frames_arrived(self, frames: Sequence[CapturedFrame]) -> None:
        """Take one batch from the page. Never waits, never raises for odd input."""
        pictures = [frame for frame in frames if frame.codec in _VIDEO]
        sound = [frame for frame in frames if frame.codec not in _VIDEO] if pictures else frames
        self.frames += len(sound)
        if sound:
            self.backend = "worklet" if sound[-1].codec is Codec.PCM16 else "encoded"
            self.first_frame_ms = self.first_frame_ms or sound[0].at_ms
            self.last_frame_ms = sound[-1].at_ms
        self._take(self._timeline.add(sound))
        if pictures:
            self._film.add(self._pictures.add(pictures))

    def tick(self, now_ms: int) -> None:
        """Time goes on though nothing may arrive: what waited for its order goes, who fell silent is told."""
        told_ms = now_ms - self._batch_ms
        self._take(self._timeline.add((), now_ms=told_ms), now_s=(told_ms - self._started_ms) / 1000)

    def _take(self, packets: Sequence[Packet], *, now_s: float | None = None) -> None:
        self._sound.add(packets)
        if packets and self._on_packets is not None:
            self._on_packets(packets)
        for source, speaking, at_s in self._activity.feed(packets, now_s=now_s):
            self._on_speech(source, speaking, self._started_ms + round(at_s * 1000))

    def start(self) -> None:
        """Close a piece every `piece_s` from now on."""
        self._writing = asyncio.create_task(self._write_until_over(), name=f"recorder {self._bot_id}")

    async def _write_until_over(self) -> None:
        while not self._over.is_set():
            try:
                async with asyncio.timeout(self._piece_s):
                    await self._over.wait()
            except TimeoutError:
                await self.cut()

    async def cut(self) -> None:
        """Make everything heard and seen so far durable."""
        if await self._sound.cut() and self._sound.pieces % SPANS_EVERY == 1:
            await self._keep_spans()
        await self._film.cut()

    async def _keep_spans(self) -> None:
        """Not every time: the list grows with the meeting. What a kill loses of it, speaking events still tell."""
        spans = self._timeline.spans()
        if not spans:
            return
        try:
            await keep_spans(self._objects, self._bot_id, self._stay, spans)
        except Exception:
            logger.exception("spans not kept", action="spans_failed", bot_id=str(self._bot_id))

    async def close(self) -> None:
        """Make the rest durable on this disk, within a minute, and try shortly to store what waits there.

        Storage may be away: whoever concludes the stay waits for it, and who comes back to the meeting does not.
        """
        self._over.set()
        self._spool.in_haste = True
        if self._writing is not None:
            await self._writing  # never cancelled: a write that nobody waits for could end after the sweep
        self._take(self._timeline.flush())
        self._film.add(self._pictures.flush())
        await self._cut_all()
        await self._keep_spans()
        with suppress(TimeoutError):
            async with asyncio.timeout(UPLOAD_S):
                await self._spool.upload()

    async def _cut_all(self) -> None:
        """What this disk does not take is nowhere else; but a bot whose page broke has a meeting to go back to."""
        for pause_s in (*PAUSES_S, None):
            await self.cut()
            if self._sound.is_cut and self._film.is_cut:
                return
            if pause_s is not None:
                await self._clock.sleep(pause_s)
        logger.error("the last piece is lost: this disk takes nothing", action="piece_lost", bot_id=str(self._bot_id))

    def spans(self, since_s: float) -> Sequence[Span]:
        """Who contributed to mixed tracks since a moment, in seconds of the recording."""
        return self._timeline.spans(since_s)

    def facts(self) -> dict[str, object]:
        """What was captured, for the bot's `capture` field."""
        facts = {
            **self._timeline.facts(),
            "frames": self.frames,
            "backend": self.backend,
            "pieces": self._sound.pieces,
            "first_audio_ms": round(self.first_frame_ms) if self.first_frame_ms else None,
        }
        seen = self._pictures.facts()
        return {**facts, "video": {**seen, "pieces": self._film.pieces}} if seen["packets"] else facts
