"""`sederunt transcribe`, `sederunt models` and the bench, as a person runs them."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from sederunt.bench.transcribe import measure
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import resolution

CLIPS = Path(str(files("sederunt.practice") / "speech"))


def sederunt(*arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sederunt.cli.main", *arguments, "--data", str(data)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(autouse=True)
def _needs_tiny(models: Path) -> None:
    if not resolution.is_present(WhisperSettings(), models, "tiny.en"):
        pytest.skip("Whisper 'tiny.en' is not installed: pip install sederunt[models]")


def test_a_file_is_transcribed_to_segments_with_words(models: Path, errors: Callable[[str, str], float]) -> None:
    done = sederunt("transcribe", str(CLIPS / "jfk.wav"), "--model", "tiny.en", "--json", data=models)
    assert done.returncode == 0, done.stderr
    transcript = json.loads(done.stdout)
    said = (
        "And so, my fellow Americans: ask not what your country can do for you, ask what you can do for your country."
    )
    assert errors(said, " ".join(segment["transcript"] for segment in transcript["segments"])) < 0.1
    first = transcript["segments"][0]
    assert first["speaker_name"] is None
    assert first["potential_speaker_names"] == []
    assert first["utterances"][0]["words"][0]["word"].lower().startswith("and")


def test_text_goes_to_standard_output_alone(models: Path) -> None:
    done = sederunt("transcribe", str(CLIPS / "librivox_0880.wav"), "--model", "tiny.en", data=models)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[00:00:00] ")
    assert len(done.stdout.splitlines()) == 1


def test_a_file_that_is_no_recording_is_told_in_a_sentence(models: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.mp3").write_text("not a recording")
    done = sederunt("transcribe", str(tmp_path / "notes.mp3"), data=models)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr


def test_a_missing_model_names_the_remedies(models: Path) -> None:
    done = sederunt("transcribe", str(CLIPS / "jfk.wav"), "--model", "small", data=models)
    assert done.returncode == 1
    assert "sederunt models pull small" in done.stderr


def test_models_are_listed_verified_and_those_of_packages_not_removed(models: Path) -> None:
    listed = json.loads(sederunt("models", "list", "--json", data=models).stdout)
    assert "tiny.en" in {row["name"] for row in listed}
    verified = sederunt("models", "verify", data=models)
    assert verified.returncode == 0
    assert "tiny.en (package): sound" in verified.stdout
    removed = sederunt("models", "rm", "tiny.en", data=models)
    assert removed.returncode == 1
    assert "belongs to an installed package" in removed.stderr


def test_the_bench_measures_words_cost_and_memory(models: Path) -> None:
    figures = measure("sederunt", "tiny.en", "clips", CLIPS, models)
    assert figures.words > 150
    assert figures.word_errors is not None
    assert figures.word_errors < 12
    assert figures.lost == 0
    assert 0 < figures.cpu_per_s < 1
    assert 100 < figures.peak_rss_mb < 600
