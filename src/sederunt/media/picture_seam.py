"""Join the pictures of two overlapping recordings of one meeting, by an old and a new holder. Pure.

Both stored what the same senders encoded, and a picture contains only the changes since the one before it. So a
source's pictures come from the old recording up to the first key frame in the new one, and from the new one after it.
A decoder that got both alternately would draw changes over the wrong picture until the next key frame.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from sederunt.media.seam import NEAR_S
from sederunt.media.video import VideoFrame


@dataclass(frozen=True, kw_only=True, slots=True)
class PictureFit:
    """Which of a recording's pictures are kept, and where."""

    shift_s: float = 0.0  # added to their times
    until_s: Mapping[str, float] = field(default_factory=dict)  # source → its end, in shifted times

    def of(self, frames: Iterable[VideoFrame]) -> list[VideoFrame]:
        """Return the frames to keep, at their places."""
        placed_frames = (replace(frame, start=max(frame.start + self.shift_s, 0.0)) for frame in frames)
        return [frame for frame in placed_frames if frame.start < self.until_s.get(frame.source, math.inf)]


def picture_ends(earlier: Sequence[VideoFrame], later: Sequence[VideoFrame]) -> Mapping[str, float]:
    """Return source of the earlier recording → when the later one continues it; other sources have no end.

    Sources are the same if they have the same name, even if another person has it by now: a decoder knows only names.
    They are also the same if their first key frames are identical: another page may use another name.

    Args:
        earlier, later: the frames around the change, by the same clock.
    """
    ends: dict[str, float] = {}
    for key in _first_keys(later):
        for source, at_s in ((key.source, key.start), *_twins(key, earlier)):
            ends[source] = min(ends.get(source, math.inf), at_s)
    return ends


def _first_keys(frames: Sequence[VideoFrame]) -> Iterable[VideoFrame]:
    first_frames: dict[str, VideoFrame] = {}
    for frame in sorted(frames, key=attrgetter("start")):
        if frame.keyframe:
            first_frames.setdefault(frame.source, frame)
    return first_frames.values()


def _twins(key: VideoFrame, earlier: Sequence[VideoFrame]) -> Iterator[tuple[str, float]]:
    """Yield each source with the same key frame, and its end: the earlier time of the two.

    Only nearby frames count: covered cameras all look alike.
    """
    for frame in earlier:
        if frame.keyframe and frame.payload == key.payload and abs(frame.start - key.start) <= NEAR_S:
            yield frame.source, min(frame.start, key.start)
