"""A worker's own test of its ears, by a real model: one that hears, one that is torn, one that is gone."""

import shutil
from pathlib import Path

import pytest

from sederunt.cli.speech_trial import SpeechTrial
from sederunt.settings import load
from sederunt.transcription.whisper.resolution import resolve


async def test_a_model_that_is_torn_or_gone_is_noticed_and_one_that_was_never_there_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load(data=tmp_path)
    installed = resolve(settings.whisper, tmp_path, "tiny.en").directory
    model = tmp_path / "ears"
    monkeypatch.setenv("SEDERUNT_WHISPER__PATH", str(model))
    never_there = SpeechTrial(settings)
    assert await never_there.try_once() == "ok"
    shutil.copytree(installed, model)
    trial = SpeechTrial(settings)
    assert await trial.try_once() == "ok"
    (model / "model.bin").write_bytes(b"torn")
    assert await trial.try_once() not in ("ok", "no model")
    shutil.rmtree(model)
    assert await trial.try_once() == trial.state() == "no model"
