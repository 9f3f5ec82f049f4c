"""Transducers and CTC networks in the ONNX format for the engine: Parakeet and similar ones, read by `onnx-asr`.

They write from left to right what they hear: no loops, nothing invented in silence, and no language detection. Words
consist of tokens with the moment at which the network chose them; a word lasts until the next token.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files
from sederunt.transcription.whisper.catalog import ENGLISH_ALONE
from sederunt.transcription.whisper.decoding import Decoded, ReadingOptions, TimedWord, TokenPhrase
from sederunt.transcription.whisper.speech import RATE, Samples

LEAST_SAMPLES = RATE // 10  # shorter sound has no frame for some networks
LONGEST_TOKEN_S = 0.6  # nobody draws a token out for longer: what follows is a pause
_SENTENCE_ENDS = (".", "?", "!", "…")
_PROVIDERS = {
    "cpu": ("CPUExecutionProvider",),
    "cuda": ("CUDAExecutionProvider", "CPUExecutionProvider"),
}


class OnnxNetwork:
    """A loaded network that `onnx-asr` reads.

    Args:
        model: the result of `onnx_asr.load_model(…).with_timestamps()`.
    """

    multilingual = False

    def __init__(self, model: Any, languages: frozenset[str]) -> None:
        self._model = model
        self.languages = languages

    def read(self, samples: Samples, reading: ReadingOptions, /) -> Decoded:
        """Transcribe a window; most options do not apply."""
        padded_samples = np.pad(samples, (0, max(0, LEAST_SAMPLES - len(samples))))
        recognition = self._model.recognize(padded_samples, sample_rate=RATE)
        logs = [float(value) for value in recognition.logprobs or ()]
        words = words_of(recognition.tokens or (), recognition.timestamps or (), logs, len(samples) / RATE)
        return Decoded(
            phrases=sentences(words),
            text=recognition.text.strip(),
            score=sum(logs) / len(logs) if logs else 0.0,
            silence=0.0,
            language=reading.language,
        )

    def odds(self, samples: Samples, *, thorough: bool = False) -> Mapping[str, float]:
        """Return nothing: the network writes any language it knows, without telling which."""
        return {}

    def tokens(self, text: str) -> list[int]:
        """Return nothing: the network takes no prompt."""
        return []


def load_onnx(directory: Path, settings: WhisperSettings, languages: frozenset[str] | None) -> OnnxNetwork:
    """Load the network of a directory.

    Args:
        languages: those that it writes; None for `languages` in its config.json, or English.

    Raises SetupError without the extra `onnx`, or if the device is not available; ValueError for broken files.
    """
    try:
        import onnx_asr
        import onnxruntime
    except ImportError as fault:
        raise SetupError("Models in the ONNX format need one more package: pip install 'sederunt[onnx]'") from fault
    kind = files.onnx_kind(directory)
    assert kind is not None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.inter_op_num_threads = 1
    chosen_providers = providers(settings.device, onnxruntime.get_available_providers())
    try:
        model = onnx_asr.load_model(
            kind,
            directory,
            quantization=files.quantization(directory, kind),
            sess_options=options,
            providers=chosen_providers,
        )
    except Exception as fault:  # the runtime's errors have no common base class
        raise ValueError(str(fault)) from fault
    return OnnxNetwork(model.with_timestamps(), languages or _said(directory))


def providers(device: str, available: Sequence[str]) -> Sequence[str]:
    """Return the execution providers for a device. Raises SetupError if ONNX Runtime was not built for it."""
    if device == "auto":
        device = "cuda" if _PROVIDERS["cuda"][0] in available else "cpu"
    chosen_providers = _PROVIDERS[device]
    if chosen_providers[0] not in available:
        raise SetupError(
            f"ONNX Runtime has no {chosen_providers[0]} here (it has {', '.join(available)}): install onnxruntime-gpu "
            "in place of onnxruntime, or set SEDERUNT_WHISPER__DEVICE=cpu."
        )
    return chosen_providers


def words_of(
    tokens: Sequence[str], at_s: Sequence[float], logs: Sequence[float], seconds: float
) -> tuple[TimedWord, ...]:
    """Join tokens into words; a token with a leading space begins a word."""
    words: list[TimedWord] = []
    first = 0
    for place in range(1, len(tokens) + 1):
        if place < len(tokens) and not tokens[place].startswith(" "):
            continue
        word_logs = logs[first:place]
        start, last = (min(at_s[index], seconds) for index in (first, place - 1))
        following = at_s[place] if place < len(tokens) else seconds
        text = "".join(tokens[first:place])
        if text.strip():
            end = max(last, min(following, last + LONGEST_TOKEN_S, seconds))
            probability = math.exp(sum(word_logs) / len(word_logs)) if word_logs else 1.0
            words.append(TimedWord(text=f" {text.strip()}", start=start, end=end, probability=min(1.0, probability)))
        first = place
    return tuple(words)


def sentences(words: Sequence[TimedWord]) -> tuple[TokenPhrase, ...]:
    """Cut words into phrases at the ends of sentences."""
    phrases: list[TokenPhrase] = []
    first = 0
    for place, word in enumerate(words, 1):
        if place == len(words) or word.text.endswith(_SENTENCE_ENDS):
            part = tuple(words[first:place])
            phrases.append(TokenPhrase(part[0].start, part[-1].end, part))
            first = place
    return tuple(phrases)


def _said(directory: Path) -> frozenset[str]:
    languages = json.loads((directory / "config.json").read_text(encoding="utf-8")).get("languages")
    return frozenset(map(str, languages)) if isinstance(languages, list) and languages else ENGLISH_ALONE
