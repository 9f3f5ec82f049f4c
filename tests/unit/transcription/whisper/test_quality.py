"""Which care and which model a task is read with."""

from dataclasses import replace
from pathlib import Path

import pytest

from sederunt.settings import Settings, WhisperSettings
from sederunt.transcription import models
from sederunt.transcription.provider import Task
from sederunt.transcription.whisper import provider, resolution
from sederunt.transcription.whisper.decoding import LEAST_CONTEXT, ROOM
from sederunt.transcription.whisper.provider import model_for, quality_of
from sederunt.transcription.whisper.quality import QUALITIES
from sederunt.transcription.whisper.windows import WINDOW_S


def task(model: str, lang: str | None = "en") -> Task:
    row = models.find(model)
    assert row is not None
    return Task(path=Path("talk.wav"), model=row, lang=lang)


@pytest.mark.parametrize(
    ("model", "installation", "quality"),
    [
        ("vendor1", "balanced", "balanced"),
        ("vendor1", "best", "best"),
        ("whisper-fast", "best", "fast"),
        ("vendor1-best", "fast", "best"),
    ],
)
def test_the_request_chooses_and_the_installation_where_it_does_not(
    model: str, installation: str, quality: str
) -> None:
    settings = Settings(whisper=WhisperSettings.model_validate({"quality": installation}))
    assert quality_of(settings, task(model)) is QUALITIES[quality]


@pytest.mark.parametrize(
    ("lang", "whisper", "installed", "model"),
    [
        ("en-GB", WhisperSettings(), True, "tiny.en"),
        ("en", WhisperSettings(), False, None),
        ("de", WhisperSettings(), True, None),
        (None, WhisperSettings(), True, None),
        ("en", WhisperSettings(model="small"), True, None),
        ("en", WhisperSettings(path=Path("mine")), True, None),
    ],
)
def test_english_alone_goes_to_the_small_model_and_a_model_that_is_named_stays(
    monkeypatch: pytest.MonkeyPatch, lang: str | None, whisper: WhisperSettings, installed: bool, model: str | None
) -> None:
    monkeypatch.setattr(resolution, "is_present", lambda *_: installed)
    settings = Settings(whisper=whisper)
    wanted = task("whisper-fast", lang)
    assert provider.model_for(settings, wanted, QUALITIES["fast"]) == model
    assert model_for(settings, replace(wanted, model=task("vendor1").model), QUALITIES["balanced"]) is None


def test_the_best_sees_the_context_of_a_whole_window_in_every_reading() -> None:
    contexts = {name: quality.context for name, quality in QUALITIES.items()}
    assert contexts == {"fast": LEAST_CONTEXT, "balanced": LEAST_CONTEXT, "best": round(WINDOW_S * 100) + ROOM}


def test_more_texts_are_followed_the_better_the_quality() -> None:
    assert [QUALITIES[name].beams for name in ("fast", "balanced", "best")] == [1, 2, 5]
