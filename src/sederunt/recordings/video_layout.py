"""What a recording's pictures do not contain: their owners, who spoke when, which are shared screens."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sederunt.clock import unix_ms
from sederunt.media.composition import VideoLayout
from sederunt.media.layout import Spoke
from sederunt.model.bot import Bot
from sederunt.model.events import camera_track, screen_track, since_of
from sederunt.model.participant import Participant, SpeakingKind


def layout_of(
    bot: Bot, duration_s: float, participants: Sequence[Participant], sources: Mapping[str, str]
) -> VideoLayout:
    """Return how to compose a bot's pictures. `sources`: source → participant key, as in the roster."""
    zero_ms = unix_ms(bot.recording_started_at) if bot.recording_started_at else 0
    cameras = _cameras(sources, zero_ms)
    return VideoLayout(
        duration_s=duration_s,
        spoken=[
            Spoke(source=camera.track, start=max(start, camera.start), end=min(end, camera.end))
            for person in participants
            for start, end in _turns(person, zero_ms, duration_s)
            for camera in cameras
            if camera.key == person.key and start < camera.end and end > camera.start
        ],
        screens=[track for source in sources if since_of(source) is None and (track := screen_track(source))],
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Camera:
    """A video track while it shows one person, in seconds of the recording."""

    track: str
    key: str
    start: float
    end: float = math.inf


def _cameras(sources: Mapping[str, str], zero_ms: int) -> list[_Camera]:
    """Return the owners of each video track over time: sites reuse the line of somebody who left for a newcomer."""
    owners_by_track: dict[str, list[tuple[float, str]]] = {}
    for source, key in sources.items():
        name, at_ms = since_of(source) or (source, None)
        if track := camera_track(name):
            owners_by_track.setdefault(track, []).append(
                (-math.inf if at_ms is None else (at_ms - zero_ms) / 1000, key)
            )
    cameras: list[_Camera] = []
    for track, owners in owners_by_track.items():
        # The present owner is also listed without a moment; entries with moments are complete.
        owners = sorted(owner for owner in owners if len(owners) == 1 or owner[0] > -math.inf)
        ends = [start for start, _ in owners[1:]] + [math.inf]
        cameras += [
            _Camera(track=track, key=key, start=start, end=end) for (start, key), end in zip(owners, ends, strict=True)
        ]
    return cameras


def _turns(person: Participant, zero_ms: int, duration_s: float) -> list[tuple[float, float]]:
    """Return when somebody spoke, in seconds of the recording. An open turn lasts to the end."""
    turns: list[tuple[float, float]] = []
    began_s: float | None = None
    for event in person.events:
        at_s = (event.timestamp - zero_ms) / 1000
        if event.type is SpeakingKind.STARTED:
            began_s = at_s if began_s is None else began_s
        elif began_s is not None:
            turns.append((began_s, at_s))
            began_s = None
    return turns if began_s is None else [*turns, (began_s, duration_s)]
