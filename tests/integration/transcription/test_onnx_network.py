"""Networks in the ONNX format behind the engine's seam, by tiny ones with random weights: shapes, times, the whole way
from a setting to a transcript. What real ones understand is not tested here.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from harness.tiny_onnx import write_onnx
from sederunt.errors import SetupError
from sederunt.practice import clips
from sederunt.settings import LiveSettings, Settings, WhisperSettings
from sederunt.transcription.models import find
from sederunt.transcription.provider import FinishedPart, Task
from sederunt.transcription.whisper import PROVIDER, files, resolution
from sederunt.transcription.whisper.catalog import ONNX, folder, is_english_only
from sederunt.transcription.whisper.decoding import Decoded, ReadingOptions
from sederunt.transcription.whisper.live import selector
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.onnx_network import OnnxNetwork, load_onnx, providers, sentences, words_of

KINDS = tuple(files.ONNX_PARTS)


@pytest.fixture(scope="module")
def sound() -> np.ndarray:
    return np.random.default_rng(3).normal(0, 0.1, 16_000 * 7).astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_words_within_the_sound(kind: str, sound: np.ndarray, tmp_path: Path) -> None:
    network = load_onnx(write_onnx(tmp_path / "m", kind), WhisperSettings(), None)
    found = network.read(sound, ReadingOptions())
    words = [word for phrase in found.phrases for word in phrase.words]
    assert len(words) > 5
    assert "".join(word.text for word in words).split() == found.text.split()
    assert all(0 <= word.start <= word.end <= 7 and 0 < word.probability <= 1 for word in words)
    assert [word.start for word in words] == sorted(word.start for word in words)
    assert words[-1].end > 6
    assert found.score < 0
    assert network.languages == {"en"}
    with ThreadPoolExecutor(4) as threads:  # one session, several windows at once
        again: list[Decoded] = list(threads.map(lambda _: network.read(sound, ReadingOptions()), range(8)))
    assert all(each == found for each in again)
    assert network.read(sound[:200], ReadingOptions()).text == network.read(sound[:200], ReadingOptions()).text


def test_a_folder_is_a_model_like_every_other(tmp_path: Path) -> None:
    """Named by path: read by the provider window by window, in parts, and resumed from them; live Whisper stays."""
    folder = write_onnx(tmp_path / "m", "nemo-conformer-tdt", languages=["de", "en"])
    settings = Settings(data=tmp_path / "data", whisper=WhisperSettings(path=folder))
    model = find("vendor1")
    assert model is not None
    assert PROVIDER.fault(settings, model) is None
    clip = next(iter(clips.catalogue().values()))
    parts: list[FinishedPart] = []
    heard = PROVIDER.transcribe(settings, Task(path=clip.path, model=model, lang="de", on_part=parts.append))
    assert heard.utterances
    assert [u for part in parts for u in part.utterances] == list(heard.utterances)
    again = PROVIDER.transcribe(settings, Task(path=clip.path, model=model, lang="de", resume=parts))
    assert again.utterances == heard.utterances
    whisper = load_whisper(settings.whisper, settings.data)
    assert isinstance(whisper.network, OnnxNetwork)
    assert whisper.languages == {"de", "en"}
    assert whisper.manner("de", ["Sederunt"]).prompt == ()
    assert selector.model_for(settings, "de") == "auto"
    assert selector.model_for(settings, "en") in ("tiny.en", "auto")
    named = settings.model_copy(update={"live": LiveSettings(model=str(folder))})
    with pytest.raises(SetupError, match="does not write live lines"):
        selector.LanguageSelector(named, "de", ()).reader()


def test_a_network_is_known_by_its_name_its_hub_id_and_where_it_was_downloaded_from(tmp_path: Path) -> None:
    name, known = "parakeet-tdt-0.6b-v3", ONNX["parakeet-tdt-0.6b-v3"]
    copy = write_onnx(tmp_path / "copy", "nemo-conformer-tdt")
    files.write_manifest(copy, files.Manifest(known.repository, "main", {}))
    for model in (name, known.repository):
        write_onnx(tmp_path / "models" / folder(model), "nemo-conformer-tdt")
    for model in (name, known.repository, str(copy)):
        assert load_whisper(WhisperSettings(model=model), tmp_path).languages == known.languages
    assert not is_english_only(known.repository)
    assert is_english_only(ONNX["parakeet-tdt-0.6b-v2"].repository)


def test_a_directory_is_complete_or_says_what_it_lacks(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "m", "nemo-conformer-tdt")
    assert files.is_model(folder)
    assert files.quantization(folder, "nemo-conformer-tdt") is None
    for part in files.ONNX_PARTS["nemo-conformer-tdt"]:
        (folder / f"{part}.int8.onnx").write_bytes((folder / f"{part}.onnx").read_bytes())
    assert files.quantization(folder, "nemo-conformer-tdt") == "int8"
    assert load_onnx(folder, WhisperSettings(), None).languages == {"en"}
    (folder / "vocab.txt").unlink()
    with pytest.raises(SetupError, match=r"no speech model that we read .* lacks vocab\.txt"):
        resolution.resolve(WhisperSettings(path=folder), tmp_path)
    (folder / "config.json").write_text(json.dumps({"model_type": "something-else"}), encoding="utf-8")
    assert not files.is_model(folder)


def test_a_network_that_does_not_load_is_told_with_its_device(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "m", "nemo-conformer-ctc")
    (folder / "model.onnx").write_bytes(b"not onnx")
    with pytest.raises(SetupError, match="does not load on device cpu"):
        load_whisper(WhisperSettings(path=folder), tmp_path)


def test_a_device_that_is_not_there_is_told_with_what_to_do() -> None:
    assert providers("auto", ["CPUExecutionProvider"]) == ("CPUExecutionProvider",)
    assert providers("auto", ["CUDAExecutionProvider", "CPUExecutionProvider"])[0] == "CUDAExecutionProvider"
    with pytest.raises(SetupError, match="SEDERUNT_WHISPER__DEVICE=cpu"):
        providers("cuda", ["AzureExecutionProvider", "CPUExecutionProvider"])


def test_words_are_put_together_from_tokens() -> None:
    words = words_of(
        [" so", " be", " it", "er", ".", " yes"], [0.1, 0.4, 1.0, 1.1, 1.2, 4.0], [0.0] * 4 + [-1.0] * 2, 4.1
    )
    assert [(word.text, word.start, word.end) for word in words] == [
        (" so", 0.1, 0.4),
        (" be", 0.4, 1.0),
        (" iter.", 1.0, pytest.approx(1.8)),  # the pause behind it is not its own
        (" yes", 4.0, 4.1),
    ]
    assert words[3].probability == pytest.approx(0.368, abs=0.001)
    assert [len(phrase.words) for phrase in sentences(words)] == [3, 1]
    assert words_of([], [], [], 1.0) == ()
    assert sentences(()) == ()
