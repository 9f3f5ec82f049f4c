"""When sound is told to have been, where the engine could not look at all of it. Nothing is read here."""

import numpy as np
import pytest

from sederunt.settings import Settings
from sederunt.transcription.sessions import Onset, Over, SessionEvent, Warned
from sederunt.transcription.whisper.live.engine import LOST, MOST_WAITING_S, Engine, Place
from sederunt.transcription.whisper.live.pace import Pace
from sederunt.transcription.whisper.live.selector import LanguageSelector
from sederunt.transcription.whisper.live.track import Cuts, Track
from sederunt.transcription.whisper.speech import RATE


def test_sound_that_was_dropped_makes_nothing_early(track: Track) -> None:
    events: list[SessionEvent] = []
    engine, place = Engine(Pace(step_s=1.0)), Place(LanguageSelector(Settings(), "en", ()), events.append, track)
    engine.join(place)
    silence, speech = np.zeros(RATE, np.int16), np.full(RATE, 30_000, np.int16)
    place.busy = True
    for second in range(200):
        engine.feed(place, speech if second == 190 else silence)
    place.busy = False
    assert place.waiting <= MOST_WAITING_S * RATE
    engine.work_once()
    assert [event.at for event in events if isinstance(event, Onset)] == [pytest.approx(190 - Cuts().lead_s, abs=0.1)]
    assert Warned(LOST) in events


def test_a_stream_whose_turn_cannot_be_told_ends_alone(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(step_s: float, *, pressed: bool = False) -> None:
        raise MemoryError

    engine, told, others = Engine(Pace(step_s=1.0)), list[SessionEvent](), list[SessionEvent]()
    place = Place(LanguageSelector(Settings(), "en", ()), told.append, track)
    other = Place(LanguageSelector(Settings(), "en", ()), others.append, Track())
    monkeypatch.setattr(track, "turn", broken)
    engine.join(place)
    engine.join(other)
    engine.finish(other)
    while engine.work_once():
        pass
    assert told == [Over("MemoryError: ", retry=False)]
    assert others == [Over()]
