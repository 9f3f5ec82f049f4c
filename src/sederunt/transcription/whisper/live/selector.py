"""Selects the network and the language for a stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sederunt.errors import SetupError
from sederunt.settings import Settings
from sederunt.transcription.languages import is_known, primary_tag
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.catalog import AUTO_NAME, SMALLEST
from sederunt.transcription.whisper.decoding import Network
from sederunt.transcription.whisper.engine import Whisper, odds_of, pooled
from sederunt.transcription.whisper.live.reader import Reader
from sederunt.transcription.whisper.live.track import OpenUtterance, as_float
from sederunt.transcription.whisper.loading import load_whisper

ENGLISH = "en"
# The language is decided on utterances of at least _LEAST_S seconds, at most _MOST of them.
_LEAST_S, _MOST = 2.0, 4
# If each utterance is English with less than this probability, the language is another one.
FOREIGN = 0.1


def model_for(settings: Settings, lang: str | None) -> str | None:
    """Return the model that reads a language live; None for that of the batch engine.

    English, and an unknown language, begins with tiny.en if that is installed.
    """
    if settings.live.model != AUTO_NAME:
        return settings.live.model
    if not resolution.writes_live(settings.whisper, settings.data):
        return AUTO_NAME if primary_tag(lang) not in (None, ENGLISH) else _small(settings) or AUTO_NAME
    is_english = primary_tag(lang) in (None, ENGLISH)
    return _small(settings) if is_english and not settings.whisper.path else None


def _small(settings: Settings) -> str | None:
    return SMALLEST if resolution.is_present(settings.whisper, settings.data, SMALLEST) else None


def fault(settings: Settings) -> str | None:
    """Return the remedies if no model for live speech is on this machine."""
    for model in (model_for(settings, ENGLISH), model_for(settings, None)):
        if not resolution.is_present(settings.whisper, settings.data, model):
            return resolution.remedies(model or settings.whisper.model, offline=settings.whisper.offline)
    return None


def load_first(settings: Settings, lang: str | None) -> None:
    """Load the model that a stream begins with. Blocks. Raises SetupError."""
    _load(settings, model_for(settings, lang))


class LanguageSelector:
    """Selects readers for one stream. If no language was named, its first utterances decide; until then it is English.

    Loads models on first use: blocks, and may raise SetupError.
    """

    def __init__(
        self, settings: Settings, lang: str | None, vocabulary: Sequence[str], load: Load | None = None
    ) -> None:
        self._settings, self._vocabulary = settings, vocabulary
        self._lang = lang if is_known(lang) else None
        self._load: Load = load or _load
        self._reader: Reader | None = None
        self._odds: list[dict[str, float]] = []
        self._decided = self._lang is not None
        self.found: str | None = None  # the detected language

    def reader(self) -> Reader:
        """Return the reader for drafts."""
        if self._reader is None:
            self._reader = self._reading(self._lang)
        return self._reader

    def reader_for(self, utterance: OpenUtterance) -> Reader:
        """Return the reader for a final, which may decide the language."""
        if not self._decided and utterance.seconds >= _LEAST_S:
            self._ask(utterance)
        return self.reader()

    def _ask(self, utterance: OpenUtterance) -> None:
        can_write_live = resolution.writes_live(self._settings.whisper, self._settings.data)
        listener = self._load(self._settings, None if can_write_live else AUTO_NAME).network
        if not listener.multilingual:
            self._decided = True
            return
        self._odds.append(odds_of(listener, as_float(utterance.samples)))
        guess = pooled(self._odds)
        if guess.sure:
            self.found = guess.tag
        if guess.sure or len(self._odds) >= _MOST:
            self._decided = True
            if guess.tag != ENGLISH and (guess.sure or clearly_foreign(self._odds)):
                self._reader = self._reading(guess.tag)

    def _reading(self, lang: str | None) -> Reader:
        whisper = self._load(self._settings, model_for(self._settings, lang))
        tag = primary_tag(lang) or ENGLISH
        language = tag if tag in whisper.languages else ENGLISH
        if (
            language != tag and whisper.network.multilingual and self._lang is not None
        ):  # assume one of Whisper's languages
            self._lang, self._decided = None, False
            return self._reading(None)
        if not isinstance(whisper.network, Network):
            raise SetupError(
                f"'{whisper.name}' does not write live lines: set SEDERUNT_LIVE__MODEL to a Whisper model."
            )
        return Reader(whisper.network, whisper.manner(language, self._vocabulary))


def clearly_foreign(odds: Sequence[dict[str, float]]) -> bool:
    """Return whether speech of unsure language is at least not English: then reading it in its likeliest language is
    better than an English-only network.
    """
    return all(window_odds.get(ENGLISH, 0.0) < FOREIGN for window_odds in odds)


Load = Callable[[Settings, str | None], Whisper]


def _load(settings: Settings, model: str | None) -> Whisper:
    return load_whisper(settings.whisper, Path(settings.data), model, workers=settings.live.threads)
