"""Factories: words, utterances and participants whose arguments are only what a test is about."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.transcript import Utterance, Word

MakeUtterance = Callable[..., Utterance]
MakeParticipant = Callable[..., Participant]


@pytest.fixture
def say() -> MakeUtterance:
    """`say("hello there", 2.0)`: one word each `pace` seconds from there on; `speakers` labels the words."""

    def make(
        text: str, start: float, pace: float = 0.5, confidence: float = 0.9, speakers: Sequence[int] | None = None
    ) -> Utterance:
        parts = text.split()
        words = tuple(
            Word(
                word=part,
                start=start + n * pace,
                end=start + (n + 1) * pace,
                confidence=confidence,
                speaker=speakers[n] if speakers else 0,
            )
            for n, part in enumerate(parts)
        )
        return Utterance(
            start=start,
            end=words[-1].end,
            speaker=0,
            confidence=confidence,
            transcript=text,
            words=words,
        )

    return make


@pytest.fixture
def person() -> MakeParticipant:
    """`person("ada", "Ada", (1.0, 3.0))`: marked as speaking from second 1 to 3 of a recording that began at 0 ms."""

    def make(key: str, name: str, *spoke: tuple[float, float]) -> Participant:
        events = tuple(
            SpeakingEvent(type=kind, timestamp=round(moment * 1000))
            for start, end in spoke
            for kind, moment in ((SpeakingKind.STARTED, start), (SpeakingKind.STOPPED, end))
        )
        return Participant(
            key=key, name=name, avatar=None, first_seen_at=datetime(2026, 1, 1, tzinfo=UTC), events=events
        )

    return make
