"""Records sound and pictures: puts the page's frames in order of time and turns them into durable pieces.

Memory holds at most one piece length of sound and pictures, so a killed host loses at most that; more only while this
disk takes nothing. Nothing is decoded.
"""

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.media.activity import Activity
from sederunt.media.timeline import Span, Timeline
from sederunt.media.video import ALL_VIDEO, VideoTimeline
from sederunt.meetings.record.piece_writer import PieceWriter
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.audio import CapturedFrame, Codec, Packet

RENEW_MS = 60_000  # how often sound without a pause is reported again, because claims that are not repeated expire
HOLE_MS = 3000  # after this long without sound, a holder that was cut off keeps nothing more


def stay_name(epoch: int, page: int) -> str:
    """Return the prefix of the names of one page's pieces; later pages and later holders sort after it."""
    return f"{epoch:06d}.{page:02d}"


class Recorder:
    """One bot's recording while it is in the meeting. Call `start`, and `close` when it is over.

    Args:
        stay: names the recorded page among all pages of all holders: `stay_name`.
        started_ms: Unix milliseconds of the recording's zero; set by the first holder and kept by later ones.
        piece_s: how often a piece is closed.
        batch_ms: how long the page gathers packets, so that more recent ones may still be on their way.
        on_speech: called with (source, speaking, at_ms) when a source begins or stops to carry sound.
        on_packets: called with packets placed in time, those of each source in order.
        cut_off: set when another host may have the bot by now. Sound without a break still counts. Sound after a break
            does not: its pieces would hide the gap before it, which this holder cannot write.
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
        on_speech: Callable[[str, bool, int], None],
        on_packets: Callable[[Sequence[Packet]], None] | None = None,
        cut_off: asyncio.Event | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._started_ms, self._batch_ms = started_ms, batch_ms
        self._on_speech, self._on_packets = on_speech, on_packets
        self._cut_off, self._is_over = cut_off or asyncio.Event(), False
        self._timeline, self._pictures = Timeline(started_ms), VideoTimeline(started_ms)
        self._activity = Activity()
        spans = self._timeline.spans
        self._writer = PieceWriter(spool, bot_id=bot_id, stay=stay, piece_s=piece_s, spans=spans, clock=clock)
        self._frames, self._renewed_ms = 0, started_ms
        self._backend: str | None = None  # of the last sound
        self._first_frame_ms: float | None = None  # of usable sound
        self.last_frame_ms: float | None = None

    def start(self) -> None:
        """Close a piece every `piece_s` from now on."""
        self._writer.start()

    def frames_arrived(self, frames: Sequence[CapturedFrame]) -> None:
        """Take one batch from the page. Never waits, never raises for odd input."""
        pictures = [frame for frame in frames if frame.codec in ALL_VIDEO]
        sound = [frame for frame in frames if frame.codec not in ALL_VIDEO] if pictures else frames
        usable = [frame for frame in sound if frame.codec is not Codec.OTHER_AUDIO]
        if self._cut_off.is_set() and self._is_behind_a_hole(usable):
            return
        self._frames += len(sound)
        if usable:
            self._backend = "worklet" if usable[-1].codec is Codec.PCM16 else "encoded"
            self._first_frame_ms = self._first_frame_ms or usable[0].at_ms
            self.last_frame_ms = usable[-1].at_ms
        self._take(self._timeline.add(sound))
        if pictures:
            self._writer.pictures.add(self._pictures.add(pictures))

    def _is_behind_a_hole(self, sound: Sequence[CapturedFrame]) -> bool:
        if sound and self.last_frame_ms is not None and sound[0].at_ms - self.last_frame_ms > HOLE_MS:
            self._is_over = True
        return self._is_over

    def tick(self, now_ms: int) -> None:
        """Advance the time without a frame: release frames that waited for earlier ones, report sources that fell
        silent and, from time to time, those that go on.
        """
        until_ms = now_ms - self._batch_ms
        self._take(self._timeline.add((), now_ms=until_ms), now_s=(until_ms - self._started_ms) / 1000)
        if until_ms - self._renewed_ms >= RENEW_MS:
            self._renewed_ms = until_ms
            for source in sorted(self._activity.speaking()):
                self._on_speech(source, True, until_ms)

    def _take(self, packets: Sequence[Packet], *, now_s: float | None = None) -> None:
        self._writer.sound.add(packets)
        if packets and self._on_packets is not None:
            self._on_packets(packets)
        for source, speaking, at_s in self._activity.feed(packets, now_s=now_s):
            self._on_speech(source, speaking, self._started_ms + round(at_s * 1000))

    async def cut(self) -> None:
        """Make all sound and pictures so far durable."""
        await self._writer.cut()

    async def secure(self) -> None:
        """Make everything so far durable, also packets that wait for earlier ones: the stay is over, the page open."""
        self._take(self._timeline.flush())
        await self._writer.cut()

    async def close(self) -> None:
        """Make the rest durable on this disk within a minute, and briefly try to store the waiting pieces."""
        await self._writer.stop()
        self._take(self._timeline.flush())
        self._writer.pictures.add(self._pictures.flush())
        await self._writer.close()

    @property
    def is_refused(self) -> bool:
        """Return whether the disk accepts no pieces, so that captured media is in memory only."""
        return self._writer.sound.is_refused or self._writer.pictures.is_refused

    def spans(self, since_s: float) -> Sequence[Span]:
        """Return who contributed to mixed tracks since a moment, in seconds of the recording."""
        return self._timeline.spans(since_s)

    def facts(self) -> dict[str, object]:
        """Return what was captured, for the bot's `capture` field."""
        facts = {
            **self._timeline.facts(),
            "frames": self._frames,
            "backend": self._backend,
            "pieces": self._writer.sound.pieces,
            "first_audio_ms": round(self._first_frame_ms) if self._first_frame_ms else None,
        }
        picture_facts = self._pictures.facts()
        if not (picture_facts["packets"] or picture_facts["other"]):
            return facts
        return {**facts, "video": {**picture_facts, "pieces": self._writer.pictures.pieces}}
