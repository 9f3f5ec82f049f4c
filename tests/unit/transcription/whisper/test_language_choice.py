"""Language tags, and several windows' odds as one guess."""

from typing import Any
from unittest.mock import Mock
from uuid import UUID

import numpy as np
import pytest

from sederunt.transcription.languages import primary_tag
from sederunt.transcription.scheduler import Scheduler, Urgency
from sederunt.transcription.whisper import speech
from sederunt.transcription.whisper.engine import Language, Whisper, chosen, odds_of, pooled
from sederunt.transcription.whisper.live.selector import clearly_foreign
from sederunt.transcription.whisper.sections import SoundBlock
from sederunt.transcription.whisper.speech import RATE, Samples, SpeechActivity


@pytest.mark.parametrize(
    ("tag", "primary"),
    [("en", "en"), ("en-US", "en"), ("PT_br", "pt"), ("zh-Hans", "zh"), ("auto", None), ("multi", None), ("", None)],
)
def test_the_primary_tag_is_what_models_know(tag: str, primary: str | None) -> None:
    assert primary_tag(tag) == primary
    assert primary_tag(None) is None


def test_windows_that_agree_are_sure() -> None:
    guess = pooled([{"en": 0.9, "de": 0.1}, {"en": 0.8, "de": 0.2}])
    assert guess.tag == "en"
    assert guess.sure


def test_windows_that_disagree_are_not() -> None:
    assert not pooled([{"en": 0.6, "de": 0.4}, {"en": 0.35, "de": 0.65}]).sure


def test_one_odd_window_does_not_decide() -> None:
    assert pooled([{"en": 0.9, "cy": 0.1}] * 4 + [{"en": 0.3, "cy": 0.7}]).tag == "en"


@pytest.mark.parametrize(
    ("lang", "guess", "likely", "read_in"),
    [
        ("de-AT", None, "fr", "de"),
        (None, Language("sv", 0.9), "de", "sv"),
        (None, Language("sv", 0.5), "de", "de"),
        (None, None, "de", "de"),
        ("xx", None, "de", "de"),
        (None, Language("sv", 0.5), None, "sv"),
        (None, Language("sv", 0.5), "xx", "sv"),
        (None, None, None, "en"),
    ],
)
def test_who_does_not_surely_tell_a_language_speaks_that_of_the_talk(
    lang: str | None, guess: Language | None, likely: str | None, read_in: str
) -> None:
    assert chosen({"en", "de", "fr", "sv"}, lang, guess, likely) == read_in


def test_a_model_that_writes_english_alone_reads_everything_in_it() -> None:
    assert chosen({"en"}, None, Language("de", 0.9), "de") == "en"


class Listener:
    """Answers by how thoroughly it was asked, and notes it."""

    def __init__(self, odds: dict[bool, dict[str, float]]) -> None:
        self._odds, self.asked = odds, list[bool]()

    def odds(self, _samples: Any, *, thorough: bool = False) -> dict[str, float]:
        self.asked.append(thorough)
        return self._odds[thorough]


@pytest.mark.parametrize(("short", "answer", "asked"), [(0.97, 0.97, [False]), (0.54, 0.80, [False, True])])
def test_a_doubtful_language_is_asked_again_with_all_the_context(
    short: float, answer: float, asked: list[bool]
) -> None:
    listener: Any = Listener({False: {"hi": short, "en": 1 - short}, True: {"hi": 0.80, "en": 0.05}})
    assert odds_of(listener, np.zeros(16_000, np.float32))["hi"] == answer
    assert listener.asked == asked


def test_speech_that_is_hardly_english_is_foreign_although_its_language_is_not_sure() -> None:
    polish = [{"cs": 0.4, "pl": 0.2, "en": 0.01}, {"pt": 0.3, "hi": 0.2, "en": 0.06}]
    assert clearly_foreign(polish)
    assert not clearly_foreign([*polish, {"en": 0.5, "cs": 0.1}])


def test_a_language_is_looked_for_in_turns_one_for_each_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour without speech costs half a minute of CPU: others' recordings wait for a stretch of it, not for all."""
    scheduler = Scheduler(1)
    held: list[int] = []
    with scheduler.workload(UUID(int=1), Urgency.UPLOAD) as workload:

        def listen(samples: Samples) -> SpeechActivity:
            held.append(workload.running)
            return SpeechActivity(np.zeros(0, np.float32), np.zeros(0, np.float32))

        monkeypatch.setattr(speech, "listen", listen)
        noise = SoundBlock(0.0, np.full(60 * RATE, 0.1, np.float32))
        whisper = Whisper("any", Mock(multilingual=True), lambda: None)
        assert whisper.detect_language([lambda _start_s: [noise]], lane=workload.lane()) is None
        assert workload.running == 0
    assert len(held) > 8
    assert held == [1] * len(held)
    assert scheduler._given == len(held) + 1
