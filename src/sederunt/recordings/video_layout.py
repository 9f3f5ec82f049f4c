"""What the pictures of a recording cannot tell: whose they are, who spoke when, which of them are shared screens."""

from collections.abc import Mapping, Sequence

from sederunt.clock import unix_ms
from sederunt.media.composition import VideoLayout
from sederunt.media.layout import Spoke
from sederunt.model.bot import Bot
from sederunt.model.events import camera_track, screen_track
from sederunt.model.participant import Participant, SpeakingKind


def layout_of(
    bot: Bot, duration_s: float, participants: Sequence[Participant], sources: Mapping[str, str]
) -> VideoLayout:
    """Return how to compose a bot's pictures. `sources`: source → participant key, as the roster keeps them."""
    cameras = {key: track for source, key in sources.items() if (track := camera_track(source))}
    zero_ms = unix_ms(bot.recording_started_at) if bot.recording_started_at else 0
    return VideoLayout(
        duration_s=duration_s,
        spoken=[
            Spoke(source=cameras[person.key], start=start, end=end)
            for person in participants
            if person.key in cameras
            for start, end in _turns(person, zero_ms, duration_s)
        ],
        screens=[track for source in sources if (track := screen_track(source))],
    )


def _turns(person: Participant, zero_ms: int, duration_s: float) -> list[tuple[float, float]]:
    """Return when somebody spoke, in seconds of the recording. A turn that was never ended lasts to the end."""
    turns: list[tuple[float, float]] = []
    begun: float | None = None
    for event in person.events:
        at_s = (event.timestamp - zero_ms) / 1000
        if event.type is SpeakingKind.STARTED:
            begun = at_s if begun is None else begun
        elif begun is not None:
            turns.append((begun, at_s))
            begun = None
    return turns if begun is None else [*turns, (begun, duration_s)]
