"""Writes sound and pictures in pieces of a few seconds, each durable on this disk before it goes to storage."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar
from uuid import UUID

from sederunt import log
from sederunt.clock import Clock
from sederunt.errors import BrokenMedia
from sederunt.media.pieces import write_piece
from sederunt.media.timeline import Span
from sederunt.media.video import VideoFrame, VideoPieces
from sederunt.meetings.record.spool import PAUSES_S, PieceSpool
from sederunt.model.audio import Packet
from sederunt.recordings.piece_keys import PICTURES, SOUND, SPANS
from sederunt.recordings.spans import written_spans

SPANS_EVERY = 15  # pieces
UPLOAD_S = 10.0  # a bot that comes back must not wait for storage that hangs

logger = log.get(component="meetings")

Item = TypeVar("Item")


class PieceBuffer(Generic[Item]):
    """Holds items since the last piece, and makes the next piece of them.

    Args:
        name: of a piece, with a placeholder for its number.
    """

    def __init__(self, spool: PieceSpool, name: str, write: Callable[[Sequence[Item]], bytes]) -> None:
        self._spool, self._name, self._write = spool, name, write
        self._waiting: list[Item] = []
        self._refused = False  # by the disk, and logged
        self._turn = asyncio.Lock()  # a refused piece returns its number, so no later piece may overtake it
        self.pieces = 0

    @property
    def is_cut(self) -> bool:
        """Return whether no items are in memory only."""
        return not self._waiting

    @property
    def is_refused(self) -> bool:
        """Return whether this disk did not take the last piece, so that items since then are in memory only."""
        return self._refused

    def add(self, items: Sequence[Item]) -> None:
        """Keep items for the next piece."""
        self._waiting.extend(items)

    async def cut(self) -> bool:
        """Make all items so far durable; False if there were none, or they could not be written."""
        async with self._turn:
            return await self._cut()

    async def _cut(self) -> bool:
        items, self._waiting = self._waiting, []
        if not items:
            return False
        name = self._name.format(self.pieces)
        self.pieces += 1
        try:
            await self._spool.keep(name, partial(self._write, items))
        except OSError:
            self._waiting = items + self._waiting  # a full disk: keep them in memory and try with the next piece
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


class PieceWriter:
    """Closes a piece of sound, and one of pictures, every `piece_s` seconds.

    Args:
        stay: prefix of the names of the pieces: `recorder.stay_name`.
        spans: returns who was in mixed tracks so far; if a kill loses some, speaking events still show it.
    """

    def __init__(
        self,
        spool: PieceSpool,
        *,
        bot_id: UUID,
        stay: str,
        piece_s: float,
        spans: Callable[[], Sequence[Span]],
        clock: Clock,
    ) -> None:
        self._spool, self._bot_id, self._stay, self._piece_s, self._spans, self._clock = (
            spool,
            bot_id,
            stay,
            piece_s,
            spans,
            clock,
        )
        self.sound: PieceBuffer[Packet] = PieceBuffer(spool, f"{stay}-{{:06d}}{SOUND}", write_piece)
        self.pictures: PieceBuffer[VideoFrame] = PieceBuffer(spool, f"{stay}-{{:06d}}{PICTURES}", VideoPieces().write)
        self._over = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

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
        """Make all sound and pictures so far durable."""
        if await self.sound.cut() and self.sound.pieces % SPANS_EVERY == 1:  # the list grows with the meeting
            await self._keep_spans()
        await self.pictures.cut()

    async def stop(self) -> None:
        """Stop closing pieces by time. From now on older pieces are not stored first."""
        self._over.set()
        self._spool.in_haste = True
        if self._writing is not None:
            await self._writing  # never cancelled: a write that nobody awaits could end after the sweep

    async def close(self) -> None:
        """Make the rest durable on this disk within a minute, and briefly try to store the waiting pieces.

        Storage may be away: the end of a stay waits for it elsewhere, a return to the meeting does not.
        """
        await self._cut_all()
        await self._keep_spans()
        with suppress(TimeoutError):
            async with asyncio.timeout(UPLOAD_S):
                await self._spool.upload()

    async def _cut_all(self) -> None:
        # Retries, because the rest is only in memory; but not for ever, because the bot may have to go back.
        for pause_s in (*PAUSES_S, None):
            await self.cut()
            if self.sound.is_cut and self.pictures.is_cut:
                return
            if pause_s is not None:
                await self._clock.sleep(pause_s)
        logger.error("the last piece is lost: this disk takes nothing", action="piece_lost", bot_id=str(self._bot_id))

    async def _keep_spans(self) -> None:
        # Replaces the spans written before. Never raises for a full disk.
        spans = self._spans()
        if not spans:
            return
        try:
            await self._spool.keep(f"{self._stay}{SPANS}", partial(written_spans, spans))
        except OSError:
            logger.exception("spans not kept", action="spans_failed", bot_id=str(self._bot_id))
