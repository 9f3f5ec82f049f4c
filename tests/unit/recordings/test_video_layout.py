"""The directions for composing pictures, out of the roster."""

from harness.some_bot import NINE as ZERO
from harness.some_bot import some_bot
from sederunt.media.layout import Spoke
from sederunt.model.bot import Bot
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.status import BotStatus
from sederunt.recordings.video_layout import layout_of

ZERO_MS = round(ZERO.timestamp() * 1000)


def _bot() -> Bot:
    return some_bot(config={"video": True}, status=BotStatus.PROCESSING, recording_started_at=ZERO)


def _person(key: str, *turns: tuple[float, float | None]) -> Participant:
    events = []
    for start, end in turns:
        events.append(SpeakingEvent(type=SpeakingKind.STARTED, timestamp=ZERO_MS + round(start * 1000)))
        if end is not None:
            events.append(SpeakingEvent(type=SpeakingKind.STOPPED, timestamp=ZERO_MS + round(end * 1000)))
    return Participant(key=key, name=key, avatar=None, first_seen_at=ZERO, events=tuple(events))


def test_speaking_events_become_turns_of_the_camera_that_shows_the_speaker() -> None:
    people = [_person("ada", (1, 3), (7.5, 9)), _person("charles", (4, None))]
    layout = layout_of(_bot(), 12.0, people, {"7": "ada", "camera:track-5": "ada", "camera:track-6": "charles"})
    assert layout.spoken == [
        Spoke(source="track-5", start=1, end=3),
        Spoke(source="track-5", start=7.5, end=9),
        Spoke(source="track-6", start=4, end=12),
    ]
    assert layout.duration_s == 12


def test_a_camera_track_that_changed_hands_shows_each_for_as_long_as_they_had_it() -> None:
    people = [_person("ada", (1, 3), (6, 9)), _person("cleo", (8, 11))]
    sources = {"camera:track-5": "cleo"} | {
        f"camera:track-5@{ZERO_MS + at}": key for at, key in ((500, "ada"), (7000, ""), (10_000, "cleo"))
    }
    assert layout_of(_bot(), 12.0, people, sources).spoken == [
        Spoke(source="track-5", start=1, end=3),
        Spoke(source="track-5", start=6, end=7),
        Spoke(source="track-5", start=10, end=11),
    ]


def test_people_without_a_camera_are_not_shown_large_and_screens_are_told() -> None:
    layout = layout_of(_bot(), 12.0, [_person("ada", (1, 3))], {"7": "ada", "screen:track-9": "ada"})
    assert layout.spoken == []
    assert layout.screens == ["track-9"]
