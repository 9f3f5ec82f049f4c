"""A worker's own test of its ears, by a real model: one that hears, one that is torn, one that is gone."""

import shutil
from pathlib import Path

import pytest

from harness.tiny_onnx import write_onnx
from sederunt.cli.checks import check_whisper
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
    assert await SpeechTrial(settings).try_once() == "no model", (
        "a worker that rested meanwhile knows that there was one"
    )


async def test_a_network_that_writes_no_english_is_not_called_deaf_for_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its clip is English; that it loads and reads is all that can be told."""
    model = write_onnx(tmp_path / "german", "nemo-conformer-tdt", languages=["de"])
    monkeypatch.setenv("SEDERUNT_WHISPER__PATH", str(model))
    settings = load(data=tmp_path)
    assert "it writes no English" in await check_whisper(settings)
    assert await SpeechTrial(settings).try_once() == "ok"
    (model / "encoder-model.onnx").write_bytes(b"torn")
    assert "does not load" in await SpeechTrial(settings).try_once()
    write_onnx(model, "nemo-conformer-tdt", languages=["de", "en"])
    assert "where “" in await SpeechTrial(settings).try_once(), "the words of one that writes English count"
