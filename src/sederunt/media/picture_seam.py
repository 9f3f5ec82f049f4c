"""Where the pictures of two recordings of one meeting meet: a new holder began to record while the old one still did.

Pure. Both kept what the same senders encoded, and a picture tells only what has changed since the one before it. So a
source is the old recording's up to the first key frame that the new one has of it, and the new one's from there on: a
decoder that got both by turns would draw each change over the wrong picture until the next key frame.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from sederunt.media.seam import NEAR_S
from sederunt.media.video import VideoFrame


@dataclass(frozen=True, kw_only=True, slots=True)
class PictureFit:
    """What of a recording's pictures is kept, and where they lie."""

    shift_s: float = 0.0  # added to their times
    until_s: Mapping[str, float] = field(default_factory=dict)  # source → where it ends, by times that are shifted

    def of(self, frames: Iterable[VideoFrame]) -> list[VideoFrame]:
        """Return what is kept of frames, at their places."""
        placed_frames = (replace(frame, start=max(frame.start + self.shift_s, 0.0)) for frame in frames)
        return [frame for frame in placed_frames if frame.start < self.until_s.get(frame.source, math.inf)]


def picture_ends(earlier: Sequence[VideoFrame], later: Sequence[VideoFrame]) -> Mapping[str, float]:
    """Return source of the earlier recording → when the later one goes on with it; the others have no end.

    A source is the same where it bears the same name, which may be another person's by now: a decoder knows names
    alone. It is also the same where its first key frame is, to the last bit: another page may give it another name.

    Args:
        earlier, later: what was recorded about the time of the change, by the same clock.
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
    """Yield each source that has the very key frame, and when it ends: before either of the two.

    Only near it: covered cameras are all alike.
    """
    for frame in earlier:
        if frame.keyframe and frame.payload == key.payload and abs(frame.start - key.start) <= NEAR_S:
            yield frame.source, min(frame.start, key.start)
