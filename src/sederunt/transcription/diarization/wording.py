"""Words get the number of the voice that says them. Pure.

The times of words and of voices are exact to some tenths of a second. So a change of voice moves to the end of a
sentence, or to a pause, if there is one nearby.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.diarization.diarizer import VoiceSpan

# A word outside all spans belongs to a voice within this distance, or else to the previous speaker.
NEAR_S = 0.5
# A change of voice that lasts for one word and less than this is an error.
SHORT_S = 0.5
# Limits of how far a change of voice is moved, and the pause that counts as a border.
MOVED_S, MOVED_WORDS, PAUSE_S = 0.6, 2, 0.25

_SENTENCE_ENDS = (".", "?", "!", "。", "？", "！")


def by_voice(utterances: Sequence[Utterance], spans: Sequence[VoiceSpan]) -> tuple[Utterance, ...]:
    """Return the utterances with `speaker` set on each word; an utterance gets the speaker of most of its words."""
    index = _Index(spans)
    words = [word for utterance in utterances for word in (utterance.words or (_as_word(utterance),))]
    voices = _settled(words, _heard(words, index))
    labelled_utterances, at = [], 0
    for utterance in utterances:
        count = max(1, len(utterance.words))
        word_voices = voices[at : at + count]
        at += count
        labelled_words = tuple(
            replace(word, speaker=voice) for word, voice in zip(utterance.words, word_voices, strict=False)
        )
        labelled_utterances.append(
            replace(utterance, speaker=max(word_voices, key=word_voices.count), words=labelled_words)
        )
    return tuple(labelled_utterances)


def _as_word(utterance: Utterance) -> Word:
    return Word(word=utterance.transcript, start=utterance.start, end=utterance.end, confidence=utterance.confidence)


class _Index:
    """Spans by time."""

    def __init__(self, spans: Sequence[VoiceSpan]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]
        self._longest = max((span.end - span.start for span in self._spans), default=0.0)

    def shares(self, start: float, end: float) -> dict[int, float]:
        """Return the seconds that each voice speaks between two moments."""
        seconds_by_voice: dict[int, float] = {}
        for span in self._spans[bisect_left(self._starts, start - self._longest) : bisect_left(self._starts, end)]:
            if (seconds := min(span.end, end) - max(span.start, start)) > 0:
                seconds_by_voice[span.voice] = seconds_by_voice.get(span.voice, 0.0) + seconds
        return seconds_by_voice


def _heard(words: Sequence[Word], index: _Index) -> list[int]:
    """Return each word's voice by its time alone; where two speak, the previous speaker keeps it."""
    voices: list[int] = []
    last_voice = 0
    for word in words:
        shares = index.shares(word.start, max(word.end, word.start + 0.02))
        shares = shares or index.shares(word.start - NEAR_S, word.end + NEAR_S)
        if shares and shares.get(last_voice, 0.0) < 0.99 * max(shares.values()):
            last_voice = max(shares, key=lambda voice: shares[voice])
        voices.append(last_voice)
    return voices


def _settled(words: Sequence[Word], voices: list[int]) -> list[int]:
    """Return voices without short one-word changes, and with changes moved to the borders of sentences."""
    new_voices = list(voices)
    for n in range(1, len(words) - 1):
        is_alone = new_voices[n - 1] == new_voices[n + 1] != new_voices[n]
        if is_alone and words[n].end - words[n].start < SHORT_S and _gap(words, n) + _gap(words, n + 1) < SHORT_S:
            new_voices[n] = new_voices[n - 1]
    for n in range(1, len(words)):
        if new_voices[n] != new_voices[n - 1] and not _is_border(words, n):
            _move(words, new_voices, n)
    return new_voices


def _move(words: Sequence[Word], voices: list[int], change: int) -> None:
    """Move a change of voice before word `change` to the nearest border between sentences."""
    voice_before, voice_after = voices[change - 1], voices[change]
    for distance in range(1, MOVED_WORDS + 1):
        for border in (change - distance, change + distance):
            if not 0 < border < len(words) or not _is_border(words, border):
                continue
            moved_words = range(min(border, change), max(border, change))
            old_voice, new_voice = (voice_after, voice_before) if border > change else (voice_before, voice_after)
            is_near = abs(words[border].start - words[change].start) <= MOVED_S
            if is_near and all(voices[n] == old_voice for n in moved_words):
                voices[moved_words.start : moved_words.stop] = [new_voice] * len(moved_words)
                return


def _is_border(words: Sequence[Word], n: int) -> bool:
    return words[n - 1].word.rstrip("\"'”’)").endswith(_SENTENCE_ENDS) or _gap(words, n) >= PAUSE_S


def _gap(words: Sequence[Word], n: int) -> float:
    return words[n].start - words[n - 1].end
