"""Reads a draft or a final of one utterance. Blocks; called from the engine's threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.sessions import Said
from sederunt.transcription.text import folded, join
from sederunt.transcription.whisper import reading, speech, windows, wording
from sederunt.transcription.whisper.decoding import Network, TimedWord, TokenPhrase
from sederunt.transcription.whisper.live.hypothesis import Steadiness
from sederunt.transcription.whisper.live.track import OpenUtterance, as_float
from sederunt.transcription.whisper.reading import Manner
from sederunt.transcription.whisper.speech import FRAME, FRAME_S, RATE


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafting:
    """How to read drafts."""

    steadiness: Steadiness = field(default_factory=Steadiness)
    context: int = 800  # the least frames of 10 ms that the encoder sees
    prefixed: bool = True  # the stable words are given to the decoder, not decoded again
    window_s: float = 8.0  # a longer draft is read from a later stable word on
    kept_s: float = 3.0  # the least sound that is then read


# Speech that ended at most GOES_ON_S before an utterance is read along with it, up to TOGETHER_S in all: a network
# understands short clauses badly by themselves, and this much costs the encoder no more than a single word. If that
# does not read well, or is impossible, the prompt has the last TOLD_TOKENS tokens of speech that ended at most
# FOLLOWS_S before. With 20 s together, finals came a quarter of a second later at the 95th percentile, and those of six
# talkers on one core a second later (clean clips, tiny.en).
GOES_ON_S, TOGETHER_S = 1.0, 8.0
FOLLOWS_S, TOLD_TOKENS = 2.0, 40
# Words in both readings belong to the earlier one if they begin this shortly after its end.
SEAM_S = 0.5
# So many repeated words in a row probably come from the network, not the speaker: it recites its prompt.
RECITED = 4


@dataclass(frozen=True, slots=True)
class HeardUtterance:
    """An utterance that was read as a final, and its sound."""

    said: Said
    first: int  # its first sample in the stream
    samples: NDArray[np.int16]

    def lead(self, first: int, most_s: float) -> speech.Samples:
        """Return the sound from here up to a sample of the stream; if it exceeds `most_s`, from a pause on."""
        samples = as_float(self.samples[: max(0, first - self.first)])
        padding = np.zeros(max(0, first - self.first - len(self.samples)), np.float32)
        sound = np.concatenate([samples, padding])
        sound = sound[len(sound) % FRAME :]
        length_s = len(sound) / RATE
        if length_s > most_s:
            pause_s = windows.best_pause(speech.listen(sound), length_s - most_s, length_s) if most_s > 0 else None
            sound = sound[:0] if pause_s is None else sound[round(pause_s / FRAME_S) * FRAME :]
        return sound


class Reader:
    """Reads one stream and remembers its latest utterances."""

    def __init__(self, network: Network, manner: Manner, drafting: Drafting | None = None) -> None:
        self._network, self._manner = network, manner
        self._drafting = drafting or Drafting()
        self._latest: HeardUtterance | None = None  # the latest reading by `final`
        self._before: HeardUtterance | None = None  # the latest of an utterance before that one

    def draft(self, utterance: OpenUtterance) -> Said | None:
        """Read the words of an open utterance so far, and store them in it. None if there are none to show."""
        drafting = self._drafting
        sound_s = utterance.seconds
        utterance.drafted = len(utterance.samples)
        start_s = self._window(utterance)
        samples = as_float(utterance.samples[round(start_s * RATE) :])
        stable = utterance.hypothesis.stable
        prefix_words = [word for word in stable if word.start >= start_s - 0.01] if drafting.prefixed else []
        continuation = self._network.continue_text(
            samples,
            "".join(word.text for word in prefix_words),
            language=self._manner.language,
            context=drafting.context,
        )
        if continuation is None:
            return None
        words = [TimedWord(w.text, w.start + start_s, w.end + start_s, w.probability) for w in continuation]
        if not drafting.prefixed:
            words = words[len([word for word in stable if word.start >= start_s - 0.01]) :]
        utterance.hypothesis = utterance.hypothesis.next(words, sound_s, drafting.steadiness)
        draft_words = utterance.hypothesis.shown(sound_s, drafting.steadiness)
        return said(utterance, draft_words) if draft_words else None

    def final(self, utterance: OpenUtterance) -> tuple[Said, float]:
        """Read an utterance from scratch; also return where the next begins if this one was cut in mid-speech."""
        if self._latest is not None and self._latest.said.key != utterance.key:
            self._before = self._latest
        samples = as_float(utterance.samples)
        if not speech.listen(samples).has_speech():
            return _said_of(utterance, ()), utterance.seconds
        previous = self._before if self._before and follows(self._before.said, utterance) else None
        adjacent = previous if previous and utterance.first / RATE - previous.said.end <= GOES_ON_S else None
        lead = adjacent.lead(utterance.first, TOGETHER_S - utterance.seconds) if adjacent else samples[:0]
        result, end_s = self._read(utterance, np.concatenate([lead, samples]), previous)
        if len(lead) and not result.words:
            result, end_s = self._read(utterance, samples, previous)
            lead = lead[:0]
        if previous and not len(lead) and recites(result.transcript, previous.said.transcript):
            result, end_s = self._read(utterance, samples, None)
        self._latest = HeardUtterance(result, utterance.first, utterance.samples)
        return result, end_s

    def _read(
        self, utterance: OpenUtterance, samples: speech.Samples, previous: HeardUtterance | None
    ) -> tuple[Said, float]:
        """Read an utterance at the end of some sound; the result leaves out the words of `previous`."""
        lead_s = len(samples) / RATE - utterance.seconds
        prompt_tokens = (
            self._network.tokens(f" {previous.said.transcript}")[-TOLD_TOKENS:] if previous and not lead_s else ()
        )
        manner = replace(self._manner, prompt=(*self._manner.prompt, *prompt_tokens))
        activity = speech.listen(samples)
        # Sound left before a cut in mid-speech goes to the next utterance (Track.done); before a pause it does not.
        clean = utterance.clean
        passage = reading.read(self._network, samples, activity, manner, clean=clean, last=clean, told_s=lead_s)
        first_s = utterance.first / RATE - lead_s
        phrases = untold(passage.phrases, previous.said, first_s) if previous and lead_s else passage.phrases
        result = _said_of(utterance, wording.utterances(phrases, activity, first_s))
        return result, max(FRAME_S, passage.end - lead_s)

    def _window(self, utterance: OpenUtterance) -> float:
        """Return where the draft's sound begins: at a stable word, once the utterance is too long."""
        drafting = self._drafting
        start_s = utterance.window / RATE
        if utterance.seconds - start_s <= drafting.window_s:
            return start_s
        starts = [
            word.start for word in utterance.hypothesis.stable if word.start <= utterance.seconds - drafting.kept_s
        ]
        if starts and starts[-1] > start_s:
            utterance.window = round(starts[-1] * RATE) // FRAME * FRAME
        return utterance.window / RATE


def untold(phrases: Sequence[TokenPhrase], previous: Said, first_s: float) -> tuple[TokenPhrase, ...]:
    """Return phrases without the words of `previous`; their times count from `first_s` in the stream."""
    previous_end_s = previous.end - first_s
    words_by_phrase = [
        [word for word in phrase.words if (word.start + word.end) / 2 > previous_end_s] for phrase in phrases
    ]
    opening = next((words for words in words_by_phrase if words), [])
    if opening and opening[0].start - previous_end_s < SEAM_S:
        del opening[: _said_twice([word.word for word in previous.words], [word.text for word in opening])]
    return tuple(
        replace(phrase, words=tuple(words)) for phrase, words in zip(phrases, words_by_phrase, strict=True) if words
    )


def _said_twice(previous: Sequence[str], opening: Sequence[str]) -> int:
    """Return how many opening words repeat the last ones before: the network draws words out over a pause."""
    previous_texts, opening_texts = [folded(word) for word in previous], [folded(word) for word in opening]
    return next(
        (
            n
            for n in range(min(len(previous_texts), len(opening_texts)), 0, -1)
            if previous_texts[-n:] == opening_texts[:n]
        ),
        0,
    )


def recites(text: str, previous: str) -> bool:
    """Return whether a text repeats the previous one, or itself."""
    words, previous_words = ([folded(word) for word in part.split()] for part in (text, previous))
    runs = [tuple(words[n : n + RECITED]) for n in range(len(words) - RECITED + 1)]
    previous_runs = {tuple(previous_words[n : n + RECITED]) for n in range(len(previous_words) - RECITED + 1)}
    return words == previous_words or len(set(runs)) < len(runs) or not previous_runs.isdisjoint(runs)


def follows(previous: Said, utterance: OpenUtterance) -> bool:
    """Return whether an utterance follows shortly after the previous text. Seconds of the stream."""
    return bool(previous.transcript) and utterance.first / RATE - previous.end <= FOLLOWS_S


def said(utterance: OpenUtterance, words: Sequence[TimedWord]) -> Said:
    """Return words of an utterance as a draft. Seconds of the stream."""
    offset = utterance.first / RATE
    probabilities = np.where(utterance.heard.loud, np.float32(speech.SURE), utterance.heard.speech)
    activity = speech.SpeechActivity(probabilities, probabilities)
    phrase = TokenPhrase(words[0].start, None, tuple(words))
    return _said_of(utterance, wording.utterances([phrase], activity, offset))


def _said_of(utterance: OpenUtterance, utterances: Sequence[Utterance]) -> Said:
    words: tuple[Word, ...] = tuple(word for part in utterances for word in part.words)
    offset = utterance.first / RATE
    return Said(
        key=utterance.key,
        start=utterances[0].start if utterances else offset,
        end=utterances[-1].end if utterances else offset + utterance.seconds,
        transcript=join(part.transcript for part in utterances),
        confidence=round(sum(word.confidence for word in words) / len(words), 4) if words else 0.0,
        words=words,
    )
