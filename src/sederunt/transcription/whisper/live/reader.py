"""A draft or a final of one utterance through the network. Blocks; called from the engine's threads."""

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
    """How drafts are read."""

    steadiness: Steadiness = field(default_factory=Steadiness)
    context: int = 800  # frames of 10 ms that the encoder sees at least
    prefixed: bool = True  # the stable words are given, not found again
    window_s: float = 8.0  # a longer draft is read from a stable word on that is not further back
    kept_s: float = 3.0  # than this, at least


# What was said so shortly before an utterance is heard along with it, up to so much together: a network understands
# short clauses badly by themselves. So much costs the encoder no more than a single word does. Where that does not read
# well, or cannot be, the last so many tokens of what ended so shortly before are told. Where 20 s were heard together,
# finals came a quarter of a second later at the 95th percentile, and those of six talkers on one core a second (clean
# clips, tiny.en).
GOES_ON_S, TOGETHER_S = 1.0, 8.0
FOLLOWS_S, TOLD_TOKENS = 2.0, 40
# Words at the seam that both readings have are the earlier one's, if they begin so close behind it.
SEAM_S = 0.5
# So many words in a row twice are rather the network's than the speaker's: told what was said, it begins to recite.
RECITED = 4


@dataclass(frozen=True, slots=True)
class HeardUtterance:
    """An utterance that was read as a final, and its sound."""

    said: Said
    first: int  # its first sample in the stream
    samples: NDArray[np.int16]

    def lead(self, first: int, most_s: float) -> speech.Samples:
        """Return what sounds from here up to a sample of the stream, from a pause on where it is longer than that."""
        samples = as_float(self.samples[: max(0, first - self.first)])
        silent = np.zeros(max(0, first - self.first - len(self.samples)), np.float32)
        whole = np.concatenate([samples, silent])
        whole = whole[len(whole) % FRAME :]
        length_s = len(whole) / RATE
        if length_s > most_s:
            pause_s = windows.best_pause(speech.listen(whole), length_s - most_s, length_s) if most_s > 0 else None
            whole = whole[:0] if pause_s is None else whole[round(pause_s / FRAME_S) * FRAME :]
        return whole


class Reader:
    """Reads one stream; remembers what was said last."""

    def __init__(self, network: Network, manner: Manner, drafting: Drafting | None = None) -> None:
        self._network, self._manner = network, manner
        self._drafting = drafting or Drafting()
        self._latest: HeardUtterance | None = None  # the latest reading by `final`
        self._before: HeardUtterance | None = None  # the latest of an utterance before that one

    def draft(self, utterance: OpenUtterance) -> Said | None:
        """Read what an open utterance seems to say, and remember it in the utterance. None where it cannot be told."""
        how = self._drafting
        sound_s = utterance.seconds
        utterance.drafted = len(utterance.samples)
        start_s = self._window(utterance)
        samples = as_float(utterance.samples[round(start_s * RATE) :])
        stable = utterance.hypothesis.stable
        known = [word for word in stable if word.start >= start_s - 0.01] if how.prefixed else []
        found = self._network.continue_text(
            samples, "".join(word.text for word in known), language=self._manner.language, context=how.context
        )
        if found is None:
            return None
        words = [TimedWord(w.text, w.start + start_s, w.end + start_s, w.probability) for w in found]
        if not how.prefixed:
            words = words[len([word for word in stable if word.start >= start_s - 0.01]) :]
        utterance.hypothesis = utterance.hypothesis.next(words, sound_s, how.steadiness)
        shown = utterance.hypothesis.shown(sound_s, how.steadiness)
        return said(utterance, shown) if shown else None

    def final(self, utterance: OpenUtterance) -> tuple[Said, float]:
        """Read what an utterance says afresh, and where the next has to go on if this one was cut in
        mid-speech.
        """
        if self._latest is not None and self._latest.said.key != utterance.key:
            self._before = self._latest
        alone = as_float(utterance.samples)
        if not speech.listen(alone).has_speech():
            return _said_of(utterance, ()), utterance.seconds
        before = self._before if self._before and follows(self._before.said, utterance) else None
        near = before if before and utterance.first / RATE - before.said.end <= GOES_ON_S else None
        lead = near.lead(utterance.first, TOGETHER_S - utterance.seconds) if near else alone[:0]
        found, end_s = self._read(utterance, np.concatenate([lead, alone]), before)
        if len(lead) and not found.words:
            found, end_s = self._read(utterance, alone, before)
            lead = lead[:0]
        if before and not len(lead) and recites(found.transcript, before.said.transcript):
            found, end_s = self._read(utterance, alone, None)
        self._latest = HeardUtterance(found, utterance.first, utterance.samples)
        return found, end_s

    def _read(
        self, utterance: OpenUtterance, samples: speech.Samples, before: HeardUtterance | None
    ) -> tuple[Said, float]:
        """Read an utterance at the end of some sound; what is told of it is what `before` does not say."""
        lead_s = len(samples) / RATE - utterance.seconds
        told = self._network.tokens(f" {before.said.transcript}")[-TOLD_TOKENS:] if before and not lead_s else ()
        manner = replace(self._manner, prompt=(*self._manner.prompt, *told))
        activity = speech.listen(samples)
        # What is left before a cut in mid-speech goes to the next utterance (Track.done), before a pause nowhere.
        clean = utterance.clean
        passage = reading.read(self._network, samples, activity, manner, clean=clean, last=clean, told_s=lead_s)
        first_s = utterance.first / RATE - lead_s
        phrases = untold(passage.phrases, before.said, first_s) if before and lead_s else passage.phrases
        found = _said_of(utterance, wording.utterances(phrases, activity, first_s))
        return found, max(FRAME_S, passage.end - lead_s)

    def _window(self, utterance: OpenUtterance) -> float:
        """Return where the draft's sound begins: a stable word's start, once the whole is too long."""
        how = self._drafting
        start_s = utterance.window / RATE
        if utterance.seconds - start_s <= how.window_s:
            return start_s
        starts = [word.start for word in utterance.hypothesis.stable if word.start <= utterance.seconds - how.kept_s]
        if starts and starts[-1] > start_s:
            utterance.window = round(starts[-1] * RATE) // FRAME * FRAME
        return utterance.window / RATE


def untold(phrases: Sequence[TokenPhrase], before: Said, first_s: float) -> tuple[TokenPhrase, ...]:
    """Return phrases without what was said before; theirs begin at a second of the stream."""
    behind = before.end - first_s
    kept = [[word for word in phrase.words if (word.start + word.end) / 2 > behind] for phrase in phrases]
    opening = next((words for words in kept if words), [])
    if opening and opening[0].start - behind < SEAM_S:
        del opening[: _said_twice([word.word for word in before.words], [word.text for word in opening])]
    return tuple(replace(phrase, words=tuple(words)) for phrase, words in zip(phrases, kept, strict=True) if words)


def _said_twice(before: Sequence[str], opening: Sequence[str]) -> int:
    """Return how many opening words are the last ones before: over a pause the network draws words out."""
    last, first = [folded(word) for word in before], [folded(word) for word in opening]
    return next((n for n in range(min(len(last), len(first)), 0, -1) if last[-n:] == first[:n]), 0)


def recites(text: str, before: str) -> bool:
    """Return whether a text repeats what went before it, or itself."""
    words, known = ([folded(word) for word in each.split()] for each in (text, before))
    runs = [tuple(words[n : n + RECITED]) for n in range(len(words) - RECITED + 1)]
    earlier = {tuple(known[n : n + RECITED]) for n in range(len(known) - RECITED + 1)}
    return words == known or len(set(runs)) < len(runs) or not earlier.isdisjoint(runs)


def follows(said: Said, utterance: OpenUtterance) -> bool:
    """Return whether an utterance goes on where something ended. Seconds of the stream."""
    return bool(said.transcript) and utterance.first / RATE - said.end <= FOLLOWS_S


def said(utterance: OpenUtterance, words: Sequence[TimedWord]) -> Said:
    """Return words of an utterance as a draft. Seconds of the stream."""
    offset = utterance.first / RATE
    heard = np.where(utterance.heard.loud, np.float32(speech.SURE), utterance.heard.speech)
    activity = speech.SpeechActivity(heard, heard)
    phrase = TokenPhrase(words[0].start, None, tuple(words))
    return _said_of(utterance, wording.utterances([phrase], activity, offset))


def _said_of(utterance: OpenUtterance, found: Sequence[Utterance]) -> Said:
    words: tuple[Word, ...] = tuple(word for part in found for word in part.words)
    offset = utterance.first / RATE
    return Said(
        key=utterance.key,
        start=found[0].start if found else offset,
        end=found[-1].end if found else offset + utterance.seconds,
        transcript=join(part.transcript for part in found),
        confidence=round(sum(word.confidence for word in words) / len(words), 4) if words else 0.0,
        words=words,
    )
