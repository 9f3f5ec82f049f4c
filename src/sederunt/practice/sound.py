"""Who is heard right now: clips under way, the slots they use, and the frames of each tick of 20 ms."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sederunt.practice import clips
from sederunt.practice.clips import Clip, OpusFrame
from sederunt.practice.sfu import SlotFrame

TICK_S = 0.02
_DTX_AFTER = 10  # ticks of quiet before DTX begins
_DTX_EVERY = 20  # one packet in so many while it lasts


@dataclass(slots=True)
class PlayingClip:
    """One clip under way."""

    csrc: int
    clip: Clip
    position: int = 0
    quiet: int = 0  # ticks since the last audible packet
    pause_level: int = field(init=False)

    def __post_init__(self) -> None:
        self.pause_level = self.clip.pause_level

    @property
    def is_over(self) -> bool:
        return self.position >= len(self.clip.frames)


@dataclass(slots=True)
class _Slot:
    utterance: PlayingClip | None = None
    last_csrc: int = 0
    was_sending: bool = False
    used_at: int = field(default=-1)


class MeetingSound:
    """The audio of one meeting. Pure: no clock, no socket; `tick` is called every 20 ms of meeting time."""

    def __init__(
        self,
        *,
        slots: int,
        mode: Literal["per_person", "mixed"],
        idle: Literal["nothing", "silence"],
        dtx: bool,
        owners: Sequence[int] = (),
    ) -> None:
        """`owners`: whose each slot is, by CSRC, where slots are not given to whoever speaks; `slots` many."""
        self._mode = mode
        self._idle = idle
        self._dtx = dtx
        self._slots = [_Slot() for _ in range(slots if mode == "per_person" else 1)]
        self._owners = {csrc: self._slots[number] for number, csrc in enumerate(owners)}
        self._mixed: list[PlayingClip] = []
        self._mixer = clips.ClipEncoder() if mode == "mixed" else None
        self._turn = itertools.count()

    def say(self, csrc: int, clip: Clip) -> bool:
        """Begin a clip; False when every slot is taken (the real sites send the loudest three as well)."""
        utterance = PlayingClip(csrc, clip)
        if self._mode == "mixed":
            self._mixed.append(utterance)
            return True
        own = [self._owners[csrc]] if csrc in self._owners else self._slots if not self._owners else []
        free = [slot for slot in own if slot.utterance is None]
        if not free:
            return False
        slot = min(free, key=lambda slot: (slot.last_csrc != csrc, slot.used_at))
        slot.utterance, slot.last_csrc, slot.used_at = utterance, csrc, next(self._turn)
        return True

    def hush(self, csrc: int) -> None:
        """Stop that voice in the middle of its clip."""
        self._mixed = [utterance for utterance in self._mixed if utterance.csrc != csrc]
        for slot in self._slots:
            if slot.utterance is not None and slot.utterance.csrc == csrc:
                slot.utterance = None

    def speaking(self) -> list[int]:
        """Return the CSRCs of the clips under way."""
        slots = [slot.utterance for slot in self._slots if slot.utterance is not None]
        return [utterance.csrc for utterance in [*slots, *self._mixed]]

    def tick(self) -> tuple[list[SlotFrame], list[int]]:
        """Make the frames of the next 20 ms; returns them and the CSRCs whose clip ended with them."""
        frames = list(self._mixed_frames() if self._mode == "mixed" else self._slot_frames())
        finished = [utterance.csrc for utterance in self._mixed if utterance.is_over]
        self._mixed = [utterance for utterance in self._mixed if not utterance.is_over]
        for slot in self._slots:
            if slot.utterance is not None and slot.utterance.is_over:
                finished.append(slot.utterance.csrc)
                slot.utterance = None
        return frames, finished

    def _slot_frames(self) -> Iterator[SlotFrame]:
        for number, slot in enumerate(self._slots):
            frame, csrcs = self._next(slot)
            if frame is not None:
                yield SlotFrame(number, frame, csrcs, not slot.was_sending)
            slot.was_sending = frame is not None

    def _next(self, slot: _Slot) -> tuple[OpusFrame | None, tuple[int, ...]]:
        if slot.utterance is None:
            return (clips.silence() if self._idle == "silence" else None), ()
        frame = _advance(slot.utterance)
        return (None if self._dtx and _in_pause(slot.utterance) else frame), (slot.utterance.csrc,)

    def _mixed_frames(self) -> Iterator[SlotFrame]:
        slot = self._slots[0]
        if self._mixed:
            csrcs = tuple(dict.fromkeys(utterance.csrc for utterance in self._mixed))
            yield SlotFrame(0, self._mix(), csrcs, not slot.was_sending)
        elif self._idle == "silence":
            yield SlotFrame(0, clips.silence(), (), not slot.was_sending)
        slot.was_sending = bool(self._mixed) or self._idle == "silence"

    def _mix(self) -> OpusFrame:
        """Mix what is spoken: one voice goes out as it was encoded; several are added up and encoded for all bots at
        once.
        """
        blocks = [_samples(utterance) for utterance in self._mixed]
        frames = [_advance(utterance) for utterance in self._mixed]
        if len(frames) == 1 or self._mixer is None:
            return frames[0]
        total = np.clip(np.sum(blocks, axis=0, dtype=np.int32), -32768, 32767).astype(np.int16)
        return self._mixer.encode(total)[0]


def _advance(utterance: PlayingClip) -> OpusFrame:
    frame = utterance.clip.frames[utterance.position]
    utterance.position += 1
    utterance.quiet = utterance.quiet + 1 if frame.level >= utterance.pause_level else 0
    return frame


def _in_pause(utterance: PlayingClip) -> bool:
    return utterance.quiet > _DTX_AFTER and utterance.quiet % _DTX_EVERY != 0


def _samples(utterance: PlayingClip) -> clips.Samples:
    at = utterance.position * clips.FRAME
    return utterance.clip.samples[at : at + clips.FRAME]
