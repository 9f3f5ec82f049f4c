"""One window of sound through the network: tokens, their times, and how far they can be trusted."""

import threading
import weakref
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sederunt.transcription.whisper.loops import loop_in
from sederunt.transcription.whisper.speech import RATE, Samples

# Frames of 10 ms. The encoder may be given fewer than the 3000 it was trained on, at a cost that falls with them;
# cut at the sound's very end tiny.en loops, so there is room behind it, and never less than ten seconds in all.
FULL_CONTEXT, HALF_CONTEXT, LEAST_CONTEXT, ROOM = 3000, 1500, 1000, 200
# Rounding contexts up to few lengths would spare memory (the inference engine keeps some for each that it meets, 60 MB
# in twelve minutes), and costs words: half a second more lost a sentence of a fast speaker.
# Text that packs better than this repeats itself; a mean log-probability under this is a guess.
MOST_COMPRESSION, LEAST_SCORE = 2.4, -1.0
# With a probability of silence above this, a guess or a loop is no text at all, and in faint sound nothing is.
# Measured: speech that was read right had at most 0.36, noise and music at least 0.51.
SILENCE = 0.5
# Tokens of timestamps count 20 ms each.
TOKEN_S = 0.02
# Nobody says a word in less time than this. So many such words in a row, and speech behind them, are a passage read
# twice: the second time has no sound of its own.
FASTEST_S, CROWD = 0.03, 5
# Decoding two windows at once takes as long as encoding and decoding one, and a fifth to a quarter less than one after
# the other. Three keep the core half as long again and save hardly more.
WINDOWS_AT_ONCE = 2
# Shorter sound (frames of 10 ms) holds no word, and is too short for words to be given times in it.
LEAST_SOUND = 4
# No window holds more text than this many tokens per second; a loop does.
TOKENS_PER_S, LEAST_TOKENS = 12, 40


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with the space before it, as the model wrote it. Seconds from the start of the window."""

    text: str
    start: float
    end: float
    probability: float


@dataclass(frozen=True, slots=True)
class TokenPhrase:
    """What the model put between two timestamps."""

    start: float
    end: float | None  # None where the model left it open
    words: tuple[TimedWord, ...]


@dataclass(frozen=True, slots=True)
class Decoded:
    """One reading of a window."""

    phrases: tuple[TokenPhrase, ...]
    text: str
    score: float  # mean log-probability per token
    silence: float  # probability that there is no speech
    language: str
    rounds_heard: bool = False  # the sound repeats itself as often as the text does

    @property
    def repeats(self) -> bool:
        """Return whether the text goes in circles, or says something twice in the time of once, and the sound does
        not.
        """
        return not self.rounds_heard and (circles(self.text) or _crowds(self.phrases))

    @property
    def is_guess(self) -> bool:
        return self.score < LEAST_SCORE

    @property
    def is_doubted(self) -> bool:
        """Return whether the network itself rather thinks that nobody speaks."""
        return self.silence > SILENCE

    @property
    def is_silence(self) -> bool:
        """Return whether it doubts that anyone speaks, and reads nothing sensible."""
        return self.is_doubted and (self.is_guess or self.repeats)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingOptions:
    """How a window is to be read."""

    language: str = "en"
    prompt: tuple[int, ...] = ()  # tokens of what came before, or of custom vocabulary
    beams: int = 1
    context: int = LEAST_CONTEXT  # frames the encoder sees at least
    forbid_repeats: bool = False


@dataclass(frozen=True, slots=True)
class Encoded:
    """A window behind the encoder."""

    output: Any
    sound: int  # frames of it that are sound

    @property
    def seconds(self) -> float:
        return self.sound * 160 / RATE


class KeptEncoding:
    """What a thread encoded last, for as long as somebody has the sound."""

    def __init__(self, samples: Samples, context: int, encoded: Encoded) -> None:
        self._samples, self._context = weakref.ref(samples, self._forget), context
        self._encoded: Encoded | None = encoded

    def of(self, samples: Samples, context: int) -> Encoded | None:
        """Return the encoding of this sound with this context, if it is the one kept."""
        return self._encoded if self._samples() is samples and self._context == context else None

    def _forget(self, _samples: weakref.ref[Samples]) -> None:
        self._encoded = None


class Network:
    """A loaded Whisper model: sound in, words out. Safe to use from several threads."""

    def __init__(self, model: Any) -> None:
        self._model = model  # faster_whisper.WhisperModel; its parts are used, its loop is not
        self.multilingual: bool = model.model.is_multilingual
        self.languages: frozenset[str] = frozenset(model.supported_languages)
        # Outputs of several windows are put together in the processor's memory, in numbers that numpy knows.
        can_batch = model.model.device == "cpu" and model.model.compute_type in ("float32", "int8_float32")
        self.windows_at_once = WINDOWS_AT_ONCE if can_batch else 1
        self._tokenizers: dict[str, Any] = {}
        self._latest = threading.local()

    def read(self, samples: Samples, reading: ReadingOptions) -> Decoded:
        """Decode up to 30 s of sound."""
        return self.read_encoded([self.encode(samples, context=reading.context)], reading)[0]

    def encode(self, samples: Samples, *, context: int = LEAST_CONTEXT) -> Encoded:
        """Return the encoder's output: the dear half. Whoever asks again in the same thread, to read otherwise, gets it
        again.
        """
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
        # Silence behind the sound is zero in these features, as faster-whisper pads them.
        padded_features = np.zeros((features.shape[0], context), np.float32)
        padded_features[:, :sound] = features[:, :sound]
        return Encoded(self._model.encode(padded_features), sound)

    def odds(self, samples: Samples, *, thorough: bool = False) -> Mapping[str, float]:
        """Return probability per language of some speech.

        Args:
            thorough: whether with all the context that the network was trained with.
        """
        return self.language_odds(self.encode(samples, context=FULL_CONTEXT if thorough else LEAST_CONTEXT))

    def language_odds(self, encoded: Encoded) -> dict[str, float]:
        """Return probability per language of what was encoded; multilingual models only."""
        return {token[2:-2]: float(odds) for token, odds in self._model.model.detect_language(encoded.output)[0]}

    def tokens(self, text: str) -> list[int]:
        """Return the text as tokens of this model."""
        tokens: list[int] = self._tokenizer("en").encode(text)
        return tokens

    def read_encoded(self, windows: Sequence[Encoded], reading: ReadingOptions) -> list[Decoded]:
        """Decode what `encode` returned, all of one context: a step of the decoder waits for its weights, so two texts
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

    def continue_text(self, samples: Samples, before: str, *, language: str, context: int) -> list[TimedWord] | None:
        """Decode the words behind a beginning that is known, for drafts: no timestamps, no second try.

        None where the text goes in circles. Times are the attention's, from the start of the samples.
        """
        encoded = self.encode(samples, context=context)
        tokenizer = self._tokenizer(language)
        prefix_tokens: list[int] = tokenizer.encode(before) if before else []
        prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps, *prefix_tokens]
        room = LEAST_TOKENS // 2 + round(TOKENS_PER_S * encoded.seconds)
        result = self._model.model.generate(
            encoded.output, [prompt], beam_size=1, max_length=min(448, len(prompt) + room), suppress_tokens=[-1]
        )[0]
        text_tokens = [token for token in result.sequences_ids[0] if token < tokenizer.eot]
        tokens = text_tokens[len(prefix_tokens) :]  # what was given comes back
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
    """Return the encoder's outputs as one, in the memory of the processor; one alone stays where it is."""
    if len(outputs) == 1:
        return outputs[0]
    from ctranslate2 import StorageView

    return StorageView.from_array(np.concatenate([np.asarray(output) for output in outputs]))


def context_for(sound: int, minimum: int) -> int:
    """Return the frames that the encoder is given for so many frames of sound."""
    return min(FULL_CONTEXT, max(minimum, sound + ROOM))


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Text tokens between two timestamps, in seconds of the window."""

    start: float
    end: float | None
    tokens: tuple[int, ...]


def split_at_timestamps(tokens: Sequence[int], first_timestamp: int, first_special: int) -> list[TokenSpan]:
    """Cut a token sequence at its timestamps; text before the first one starts at 0, an open end stays open."""
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
    """Return whether a text says the same again and again."""
    return compression(text) > MOST_COMPRESSION or loop_in(text.split()) is not None


def compression(text: str) -> float:
    """Return how well a text packs: ordinary speech stays under 2.4."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def _crowds(phrases: Sequence[TokenPhrase]) -> bool:
    """Return whether words that take no time stand before one that does; at the end they are the echo of a pause."""
    crowd = 0
    for word in (word for phrase in phrases for word in phrase.words):
        if word.end - word.start < FASTEST_S:
            crowd += 1
        elif crowd >= CROWD:
            return True
        else:
            crowd = 0
    return False
