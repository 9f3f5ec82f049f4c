"""Distinguish recordings of telephone calls, with one person per channel, from all other stereo sound. Pure.

In such a file one channel is loud while the other is silent. A room, music or an ordinary stereo mix has nearly
everything in both. Each channel's loudness is relative to its own speech, as one end of a line is often far softer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
FRAME = 320  # samples: loudness is compared in steps of 20 ms
SILENT_DB = -100.0
# A channel is active above these levels, relative to its speech and to its noise (its quietest tenth).
HEARD_DB, ABOVE_NOISE_DB = -25.0, 8.0
# It is active alone if the other is not, or is this much softer (each relative to its own level).
ALONE_DB = 15.0
# Each must be active alone for so many seconds, and for this share of all active time; both together for MOSTLY of it.
ALONE_S, ALONE_SHARE, MOSTLY = 1.0, 0.03, 0.6
# Sound this much softer than the other channel is its echo, unless the channel's own speech is this near.
ECHO_DB, BESIDE, NEAR = 10.0, 5, 15  # BESIDE, NEAR in frames: loud moments echo; words begin and end softly

Stereo = NDArray[np.float32]  # (samples, 2), 16 kHz
Samples = NDArray[np.float32]
Loudness = NDArray[np.float32]  # (frames, 2), dB
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class CallChannel:
    """One of two channels in which different people speak."""

    number: int
    levels_db: tuple[float, float]  # of both channels' speech

    @property
    def name(self) -> str:
        return f"channel-{self.number}"


def separate_channels(blocks: Iterable[Stereo]) -> tuple[CallChannel, CallChannel] | None:
    """Return both channels if each has its own speaker; None for any other sound."""
    parts = [loudness(block) for block in blocks]
    frames_db = np.concatenate(parts) if parts else np.zeros((0, 2), np.float32)
    if not len(frames_db) or float(frames_db.max(axis=0).min()) <= SILENT_DB:
        return None
    levels = _levels(frames_db)
    floors = np.percentile(frames_db, 10, axis=0) - levels
    relative = frames_db - levels
    is_active = relative > np.maximum(HEARD_DB, floors + ABOVE_NOISE_DB)
    is_softer = relative[:, ::-1] < relative - ALONE_DB
    alone_frames = (is_active & (is_softer | ~is_active[:, ::-1])).sum(axis=0)
    active_frames = int(is_active.any(axis=1).sum())
    least_frames = max(ALONE_S * RATE / FRAME, ALONE_SHARE * active_frames)
    if int(alone_frames.min()) < least_frames or int(alone_frames.sum()) < MOSTLY * active_frames:
        return None
    levels_db = (float(levels[0]), float(levels[1]))
    return CallChannel(number=0, levels_db=levels_db), CallChannel(number=1, levels_db=levels_db)


def one_channel(blocks: Iterable[Stereo], channel: CallChannel) -> Iterator[Samples]:
    """Yield the sound of one channel, with silence in place of the other's echo."""
    reach = BESIDE + NEAR
    buffer, seen_frames = np.zeros((0, 2), np.float32), 0  # frames of `buffer` that were yielded, kept to look back at
    for block in chain(blocks, [None]):
        is_end = block is None
        buffer = buffer if block is None else np.concatenate([buffer, block])
        last_frame = len(buffer) // FRAME if not is_end else -(-len(buffer) // FRAME)
        end_frame = last_frame if is_end else max(seen_frames, last_frame - reach)
        if end_frame > seen_frames:
            is_echo = np.repeat(echoes(loudness(buffer[: last_frame * FRAME]), channel), FRAME)
            part = slice(seen_frames * FRAME, min(end_frame * FRAME, len(buffer)))
            yield np.where(is_echo[part], np.float32(0), buffer[part, channel.number])
        first_kept = max(0, end_frame - reach)
        buffer, seen_frames = buffer[first_kept * FRAME :], end_frame - first_kept


def echoes(frames_db: Loudness, channel: CallChannel) -> Flags:
    """Return the frames in which a channel has nothing but the other's echo."""
    relative = frames_db - np.asarray(channel.levels_db, np.float32)
    own_db, other_db = relative[:, channel.number], _widest(relative[:, 1 - channel.number], BESIDE)
    is_softer = own_db < other_db - ECHO_DB
    is_speaking = _widest((~is_softer & (own_db > HEARD_DB)).astype(np.float32), NEAR) > 0
    return np.asarray(is_softer & (other_db > HEARD_DB) & ~is_speaking)


def loudness(samples: Stereo) -> Loudness:
    """Return the loudness of each frame in dB of full scale; the last frame may be shorter."""
    padded = np.pad(samples, ((0, -len(samples) % FRAME), (0, 0))).reshape(-1, FRAME, 2)
    powers = np.maximum((padded**2).mean(axis=1), 10 ** (SILENT_DB / 10))
    return np.asarray(10 * np.log10(powers), np.float32)


def _levels(frames_db: Loudness) -> NDArray[np.float32]:
    """Return the power-weighted mean loudness, which silence hardly affects."""
    powers = 10 ** (frames_db.astype(np.float64) / 10)
    return np.asarray((powers * frames_db).sum(axis=0) / powers.sum(axis=0), np.float32)


def _widest(values: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """Return the greatest value within `reach` of each position."""
    padded = np.pad(values, reach, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1))
