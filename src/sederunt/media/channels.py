"""Two channels with a person each, as recordings of telephone calls have them, told from every other stereo. Pure.

In such a file the one is loud where the other is silent. A room, music or a mix for the ears has nearly everything in
both. Each channel's loudness is compared with what its own speech has, for one end of a line is often far softer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
FRAME = 320  # samples: loudness is compared in steps of 20 ms
SILENT_DB = -100.0
# A channel is heard from so far below its speech's level on, and so far above its noise (its quietest tenth).
HEARD_DB, ABOVE_NOISE_DB = -25.0, 8.0
# It is heard alone where the other is not, or is so much softer (each by its own level).
ALONE_DB = 15.0
# Both are heard alone for so many seconds, and for so much of the time in which anything is heard; together for most.
ALONE_S, ALONE_SHARE, MOSTLY = 1.0, 0.03, 0.6
# What is so much softer than the other channel is the other's echo, unless the channel's own speech is this near.
ECHO_DB, BESIDE, NEAR = 10.0, 5, 15  # frames: what is loud for a moment echoes; words begin and end softly

Stereo = NDArray[np.float32]  # (samples, 2), 16 kHz
Samples = NDArray[np.float32]
Loudness = NDArray[np.float32]  # (frames, 2), dB
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class CallChannel:
    """One of two channels in which different people speak."""

    number: int
    levels_db: tuple[float, float]  # of the speech of both

    @property
    def name(self) -> str:
        return f"channel-{self.number}"


def separate_channels(blocks: Iterable[Stereo]) -> tuple[CallChannel, CallChannel] | None:
    """Return both channels where each has somebody of its own; None for every other sound."""
    heard = [loudness(block) for block in blocks]
    found = np.concatenate(heard) if heard else np.zeros((0, 2), np.float32)
    if not len(found) or float(found.max(axis=0).min()) <= SILENT_DB:
        return None
    levels = _levels(found)
    floors = np.percentile(found, 10, axis=0) - levels
    relative = found - levels
    active = relative > np.maximum(HEARD_DB, floors + ABOVE_NOISE_DB)
    softer = relative[:, ::-1] < relative - ALONE_DB
    alone = (active & (softer | ~active[:, ::-1])).sum(axis=0)
    anything = int(active.any(axis=1).sum())
    least = max(ALONE_S * RATE / FRAME, ALONE_SHARE * anything)
    if int(alone.min()) < least or int(alone.sum()) < MOSTLY * anything:
        return None
    both = (float(levels[0]), float(levels[1]))
    return CallChannel(number=0, levels_db=both), CallChannel(number=1, levels_db=both)


def one_channel(blocks: Iterable[Stereo], channel: CallChannel) -> Iterator[Samples]:
    """Yield the sound of one channel; silence where it has only what it picked up of the other."""
    reach = BESIDE + NEAR
    held, seen = np.zeros((0, 2), np.float32), 0  # `seen`: frames of `held` that were given, and are looked back at
    for block in chain(blocks, [None]):
        ended = block is None
        held = held if block is None else np.concatenate([held, block])
        last = len(held) // FRAME if not ended else -(-len(held) // FRAME)
        until = last if ended else max(seen, last - reach)
        if until > seen:
            silent = np.repeat(echoes(loudness(held[: last * FRAME]), channel), FRAME)
            part = slice(seen * FRAME, min(until * FRAME, len(held)))
            yield np.where(silent[part], np.float32(0), held[part, channel.number])
        kept = max(0, until - reach)
        held, seen = held[kept * FRAME :], until - kept


def echoes(heard: Loudness, channel: CallChannel) -> Flags:
    """Return in which frames a channel has nothing but what it picked up of the other."""
    relative = heard - np.asarray(channel.levels_db, np.float32)
    own, other = relative[:, channel.number], _widest(relative[:, 1 - channel.number], BESIDE)
    softer = own < other - ECHO_DB
    speaks = _widest((~softer & (own > HEARD_DB)).astype(np.float32), NEAR) > 0
    return np.asarray(softer & (other > HEARD_DB) & ~speaks)


def loudness(samples: Stereo) -> Loudness:
    """Return how loud each frame is, in dB of full scale; a last frame may be shorter."""
    padded = np.pad(samples, ((0, -len(samples) % FRAME), (0, 0))).reshape(-1, FRAME, 2)
    powers = np.maximum((padded**2).mean(axis=1), 10 ** (SILENT_DB / 10))
    return np.asarray(10 * np.log10(powers), np.float32)


def _levels(heard: Loudness) -> NDArray[np.float32]:
    """Return how loud what is loud is on average, however much of the time nobody speaks."""
    powers = 10 ** (heard.astype(np.float64) / 10)
    return np.asarray((powers * heard).sum(axis=0) / powers.sum(axis=0), np.float32)


def _widest(values: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """Return the greatest value so near to each place."""
    padded = np.pad(values, reach, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1))
