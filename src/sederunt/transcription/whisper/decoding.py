"""Decodes one window of sound: tokens, their times, and how far they can be trusted."""

import threading
import weakref
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sederunt.transcription.whisper.loops import loop_in
from sederunt.transcription.whisper.speech import RATE, Samples

# Frames of 10 ms. The encoder accepts fewer than the 3000 it was trained on, and costs less with fewer. tiny.en loops
# if the context ends with the sound, so there is ROOM after it, and at least ten seconds in all.
FULL_CONTEXT, HALF_CONTEXT, LEAST_CONTEXT, ROOM = 3000, 1500, 1000, 200
# Rounding contexts up to few lengths would save memory (the inference engine keeps some per length, 60 MB in twelve
# minutes), but costs words: half a second more lost a sentence of a fast speaker.
# Text that compresses better than the first repeats itself; a mean log-probability below the second is a guess.
MOST_COMPRESSION, LEAST_SCORE = 2.4, -1.0
# Above this probability of silence, guesses and loops are dropped, and in faint sound everything is.
# Measured: speech that was read correctly had at most 0.36, noise and music at least 0.51.
SILENCE = 0.5
# Unit of the timestamp tokens.
TOKEN_S = 0.02
# Nobody says a word in less time than FASTEST_S. CROWD such words in a row, with speech after them, are a passage read
# twice: the second reading has no sound of its own.
FASTEST_S, CROWD = 0.03, 5
# Decoding two windows at once takes as long as encoding and decoding one, and 20 to 25 % less than one after the
# other. Three occupy the core for half as long again and save hardly more.
WINDOWS_AT_ONCE = 2
# Shorter sound (frames of 10 ms) holds no word, and is too short to align words to it.
LEAST_SOUND = 4
# No window holds more tokens per second than this, unless the network loops.
TOKENS_PER_S, LEAST_TOKENS = 12, 40


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with its leading space, as the model wrote it. Seconds from the start of the window."""

    text: str
    start: float
    end: float
    probability: float


@dataclass(frozen=True, slots=True)
class TokenPhrase:
    """The words that the model wrote between two timestamps."""

    start: float
    end: float | None  # None if the model left it open
    words: tuple[TimedWord, ...]


@dataclass(frozen=True, slots=True)
class Decoded:
    """One reading of a window."""

    phrases: tuple[TokenPhrase, ...]
    text: str
    score: float  # mean log-probability per token
    silence: float  # probability that there is no speech
    language: str
    rounds_heard: bool = False  # the sound repeats itself as often as the text

    @property
    def repeats(self) -> bool:
        """Return whether the text repeats itself, or says something twice in the time of once, unlike the sound."""
        return not self.rounds_heard and (circles(self.text) or _crowds(self.phrases))

    @property
    def is_guess(self) -> bool:
        return self.score < LEAST_SCORE

    @property
    def is_doubted(self) -> bool:
        """Return whether the network itself assumes that nobody speaks."""
        return self.silence > SILENCE

    @property
    def is_silence(self) -> bool:
        """Return whether the network doubts that anyone speaks, and reads nothing sensible."""
        return self.is_doubted and (self.is_guess or self.repeats)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingOptions:
    """How to read a window."""

    language: str = "en"
    prompt: tuple[int, ...] = ()  # tokens of the preceding text, or of custom vocabulary
    beams: int = 1
    context: int = LEAST_CONTEXT  # the least frames that the encoder sees
    forbid_repeats: bool = False


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded window."""

    output: Any
    sound: int  # frames of it that are sound

    @property
    def seconds(self) -> float:
        return self.sound * 160 / RATE


class KeptEncoding:
    """The latest encoding of a thread, kept as long as its sound is in use."""

    def __init__(self, samples: Samples, context: int, encoded: Encoded) -> None:
        self._samples, self._context = weakref.ref(samples, self._forget), context
        self._encoded: Encoded | None = encoded

    def of(self, samples: Samples, context: int) -> Encoded | None:
        """Return the encoding if it is of this sound with this context."""
        return self._encoded if self._samples() is samples and self._context == context else None

    def _forget(self, _samples: weakref.ref[Samples]) -> None:
        self._encoded = None


class Network:
    """A loaded Whisper model: sound in, words out. Safe to use from several threads."""

    def __init__(self, model: Any) -> None:
        self._model = model  # faster_whisper.WhisperModel; its parts are used, its loop is not
        self.multilingual: bool = model.model.is_multilingual
        self.languages: frozenset[str] = frozenset(model.supported_languages)
        # Outputs of several windows are stacked in the processor's memory, in types that numpy knows.
        can_batch = model.model.device == "cpu" and model.model.compute_type in ("float32", "int8_float32")
        self.windows_at_once = WINDOWS_AT_ONCE if can_batch else 1
        self._tokenizers: dict[str, Any] = {}
        self._latest = threading.local()

    def read(self, samples: Samples, reading: ReadingOptions) -> Decoded:
        """Decode up to 30 s of sound."""
        return self.read_encoded([self.encode(samples, context=reading.context)], reading)[0]

    def encode(self, samples: Samples, *, context: int = LEAST_CONTEXT) -> Encoded:
        """Return the encoder's output, the expensive half. A repeated call in the same thread returns it again."""
        context = context_for(len(samples) // 160, context)
        latest: KeptEncoding | None = getattr(self._latest, "kept", None)
        encoded = latest.of(samples, context) if latest else None
        if encoded is None:
            encoded = self._encoded(samples, context)
            self._latest.kept = KeptEncoding(samples, context, encoded)
        return encoded

    def _encoded(self, samples: Samples, context: int) -> Encoded:
        features = self._model.feature_extractor(samples)
        sound = min(features.shape[-1], len(samples) // 160, FULL_CONTEXT)
        # Silence after the sound is zero in these features, as faster-whisper pads them.
        padded_features = np.zeros((features.shape[0], context), np.float32)
        padded_features[:, :sound] = features[:, :sound]
        return Encoded(self._model.encode(padded_features), sound)

    def odds(self, samples: Samples, *, thorough: bool = False) -> Mapping[str, float]:
        """Return the probability of each language in some speech.

        Args:
            thorough: use the full context that the network was trained with.
        """
        return self.language_odds(self.encode(samples, context=FULL_CONTEXT if thorough else LEAST_CONTEXT))

    def language_odds(self, encoded: Encoded) -> dict[str, float]:
        """Return the probability of each language in encoded speech; multilingual models only."""
        return {token[2:-2]: float(odds) for token, odds in self._model.model.detect_language(encoded.output)[0]}

    def tokens(self, text: str) -> list[int]:
        """Return the text as tokens of this model."""
        tokens: list[int] = self._tokenizer("en").encode(text)
        return tokens

    def read_encoded(self, windows: Sequence[Encoded], reading: ReadingOptions) -> list[Decoded]:
        """Decode windows from `encode`, all with the same context. A decoder step waits for its weights, so two texts
        cost little more than one.
        """
        tokenizer = self._tokenizer(reading.language)
        seconds = max(window.seconds for window in windows)
        prompt = [tokenizer.sot_prev, *reading.prompt] if reading.prompt else []
        prompt += tokenizer.sot_sequence
        results = self._model.model.generate(
            _stacked([window.output for window in windows]),
            [prompt] * len(windows),
            beam_size=reading.beams,
            no_repeat_ngram_size=4 if reading.forbid_repeats else 0,
            max_length=min(448, len(prompt) + LEAST_TOKENS + round(TOKENS_PER_S * seconds)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=[-1],
            max_initial_timestamp_index=50,
        )
        return [
            Decoded(
                phrases=self._phrases(tokenizer, tokens := result.sequences_ids[0], window),
                text=tokenizer.decode(tokens).strip(),
                score=result.scores[0] * len(tokens) / (len(tokens) + 1),
                silence=float(result.no_speech_prob),
                language=reading.language,
            )
            for window, result in zip(windows, results, strict=True)
        ]

    def continue_text(self, samples: Samples, beginning: str, *, language: str, context: int) -> list[TimedWord] | None:
        """Decode the words after a known beginning, for drafts: no timestamps, no second try.

        Return None if the text repeats itself. Times come from the attention and count from the start of the samples.
        """
        encoded = self.encode(samples, context=context)
        tokenizer = self._tokenizer(language)
        prefix_tokens: list[int] = tokenizer.encode(beginning) if beginning else []
        prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps, *prefix_tokens]
        most_new_tokens = LEAST_TOKENS // 2 + round(TOKENS_PER_S * encoded.seconds)
        result = self._model.model.generate(
            encoded.output,
            [prompt],
            beam_size=1,
            max_length=min(448, len(prompt) + most_new_tokens),
            suppress_tokens=[-1],
        )[0]
        text_tokens = [token for token in result.sequences_ids[0] if token < tokenizer.eot]
        tokens = text_tokens[len(prefix_tokens) :]  # the prefix is part of the output
        if not tokens:
            return []
        text = tokenizer.decode(tokens)
        if circles(text):
            return None
        words, token_count = [], 0
        for word, length in self._words(tokenizer, [*prefix_tokens, *tokens], encoded):
            token_count += length
            if token_count > len(prefix_tokens):
                words.append(word)
        return words

    def _phrases(self, tokenizer: Any, tokens: list[int], encoded: Encoded) -> tuple[TokenPhrase, ...]:
        spans = split_at_timestamps(tokens, tokenizer.timestamp_begin, tokenizer.eot)
        text = [token for span in spans for token in span.tokens]
        if not text or encoded.sound < LEAST_SOUND:
            return ()
        words = iter(self._words(tokenizer, text, encoded))
        phrases, pending = [], next(words, None)
        position = token_count = 0
        for span in spans:
            position += len(span.tokens)
            span_words = []
            # A word belongs to the span that holds its first token.
            while pending is not None and token_count < position:
                span_words.append(pending[0])
                token_count += pending[1]
                pending = next(words, None)
            if span_words:
                phrases.append(TokenPhrase(span.start, span.end, tuple(span_words)))
        return tuple(phrases)

    def _words(self, tokenizer: Any, text: list[int], encoded: Encoded) -> list[tuple[TimedWord, int]]:
        """Return words with their number of tokens, aligned to the sound by the decoder's attention."""
        limit = encoded.seconds
        return [
            (
                TimedWord(
                    text=word["word"],
                    start=min(float(word["start"]), limit),
                    end=min(float(word["end"]), limit),
                    probability=float(word["probability"]),
                ),
                len(word["tokens"]),
            )
            for word in self._model.find_alignment(tokenizer, [text], encoded.output, encoded.sound)[0]
            if word["tokens"] != [tokenizer.eot]
        ]

    def _tokenizer(self, language: str) -> Any:
        from faster_whisper.tokenizer import Tokenizer

        if language not in self._tokenizers:
            self._tokenizers[language] = Tokenizer(
                self._model.hf_tokenizer, self.multilingual, task="transcribe", language=language
            )
        return self._tokenizers[language]


def _stacked(outputs: Sequence[Any]) -> Any:
    """Return the encoder's outputs stacked in the processor's memory; a single one stays where it is."""
    if len(outputs) == 1:
        return outputs[0]
    from ctranslate2 import StorageView

    return StorageView.from_array(np.concatenate([np.asarray(output) for output in outputs]))


def context_for(sound: int, minimum: int) -> int:
    """Return the number of frames to encode for so many frames of sound."""
    return min(FULL_CONTEXT, max(minimum, sound + ROOM))


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Text tokens between two timestamps, in seconds of the window."""

    start: float
    end: float | None
    tokens: tuple[int, ...]


def split_at_timestamps(tokens: Sequence[int], first_timestamp: int, first_special: int) -> list[TokenSpan]:
    """Cut a token sequence at its timestamps; text before the first one starts at 0, the last end may be open."""
    spans: list[TokenSpan] = []
    start, text = 0.0, list[int]()
    for token in tokens:
        if token >= first_timestamp:
            moment = (token - first_timestamp) * TOKEN_S
            if text:
                spans.append(TokenSpan(start, moment, tuple(text)))
                text = []
            start = moment
        elif token < first_special:
            text.append(token)
    if text:
        spans.append(TokenSpan(start, None, tuple(text)))
    return spans


def circles(text: str) -> bool:
    """Return whether a text repeats itself again and again."""
    return compression(text) > MOST_COMPRESSION or loop_in(text.split()) is not None


def compression(text: str) -> float:
    """Return the compression ratio of a text; ordinary speech stays below 2.4."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def _crowds(phrases: Sequence[TokenPhrase]) -> bool:
    """Return whether words that take no time precede one that does; at the end they are the echo of a pause."""
    crowd = 0
    for word in (word for phrase in phrases for word in phrase.words):
        if word.end - word.start < FASTEST_S:
            crowd += 1
        elif crowd >= CROWD:
            return True
        else:
            crowd = 0
    return False
